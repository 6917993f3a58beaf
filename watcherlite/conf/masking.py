"""Masking of credentials in texts of unknown origin.

In doubt text is masked: anything that looks like a credential is replaced. Every
pattern is matched in linear time, because a text may be the output of a command.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = '***'

#: Names whose value is a secret, with any prefix: `password` includes `admin_password`.
#: The name must end here, so that `token_type` and `max_tokens` are not masked.
_NAME = (
    r'(?:passw(?:or)?d|passphrase|passcode|pwd|(?<=[_.-])pass|(?<=[a-z])(?-i:Pass)'
    r'|secret|token|credentials?|cookie'
    r'|(?:api|access|secret|private|encryption|signing|shared|account)[_-]?key)\d*'
)
#: A quotation mark, possibly escaped within a quoted text.
_QUOTE = r'(?P<quote>\\*[\'"])'
_QUOTED = _QUOTE + r'(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\]))*)(?P=quote)'
#: An unquoted value. A comma belongs to it unless the next name, or nothing, follows.
_BARE = (
    r'(?P<bare>[\'"]?(?:[^\s,;&\'"\\]|\\(?![\'"])|[\'"](?=\w)'
    r'|[,;&](?!\s|$|[\'"]?[\w.-]+[\'"]?\s*[=:]))+)'
)
_ASSIGNED = r'(?P<sep>\\*[\'"]?\s*(?:=>|[:=])\s*+)'

#: A value that indicates the absence of a secret is left readable.
_NOTHING = frozenset({'none', 'null', 'true', 'false', 'unset', MASK})

_FLAGS = re.IGNORECASE | re.DOTALL

#: The text before the last name of a position in a template, and after the first word
#: of its message.
_PLACE = re.compile(
    r'(?:^|[\s(;])(?:resources|properties|parameters|outputs|conditions|environment'
    r'|adopt_stack_data)\.[^\s:;=]*$'
)
_SENTENCE = re.compile(r' [a-z]')

#: Each pattern except `_URL` matches one of these. Most texts contain none of them.
_NAME_PARTS = (
    'pass',
    'pwd',
    'secret',
    'token',
    'credential',
    'cookie',
    'key',
    'authorization',
    'private_',
)
_URL_PART = '://'

_URL = re.compile(r'://\S+')
#: user:password@host, after :// or after the preceding host
_USERINFO = re.compile(
    r'(?P<start>://|[,;])(?P<user>[^\s:@/,;?#\'"]*):[^\s@/,;?#\'"]+@'
    r'(?=[^\s@/,;?#\'"\\<>)]*(?:[/,;?#\'"\\<>)]|$))'
)
#: The same with an unquoted password: everything up to the last @, unless the text
#: after the colon is a port.
_ODD_USERINFO = re.compile(
    r'(?P<start>://)(?P<user>[^\s:/\'"\[]*):(?!\*\*\*@)'
    r'(?!\d+(?:[/?#,;\'"\\<>)\]}]|$))(?:(?!://)\S)+@'
)

_HEADER = re.compile(
    r'(?P<name>(?:authorization|(?<![\w-])(?:set-)?cookie)\\*[\'"]?\s*:\s*+)'
    r'(?![\'"\\])(?P<scheme>(?:basic|bearer|token|negotiate|apikey)\s+(?=\S))?'
    r'(?P<value>[^\r\n]+)',
    _FLAGS,
)
_QUOTED_HEADER = re.compile(rf'(?P<name>authorization){_ASSIGNED}{_QUOTED}', _FLAGS)
_QUOTED_VALUE = re.compile(
    rf'(?P<name>{_NAME})(?P<sep>\\*[\'"]?\s*(?:=>|[:=])\s*[bu]?){_QUOTED}', _FLAGS
)
_LIST_VALUE = re.compile(
    rf'(?P<name>{_NAME}){_ASSIGNED}(?P<open>[\[(])[^\[\](){{}}]+', _FLAGS
)
_BARE_VALUE = re.compile(
    rf'(?P<name>{_NAME}){_ASSIGNED}(?![\[({{]|[bu]?\\*[\'"]\*\*\*){_BARE}', _FLAGS
)
#: ('X-Auth-Token', 'abc'), the notation of headers in libraries
_PAIR = re.compile(
    rf'(?P<name>(?:{_NAME}|authorization))(?P<sep>\\*[\'"]\s*,\s*[bu]?){_QUOTED}'
    r'(?=\s*[)\]])',
    _FLAGS,
)
#: --os-password abc
_ARGUMENT = re.compile(
    rf'(?P<name>(?<=-){_NAME})(?P<sep>\s+|\\*[\'"]\s*,\s*\\*[\'"])'
    r'(?P<bare>(?!-)[^\s\'"]+)',
    _FLAGS,
)
#: In a list, the name of an argument whose value is the next item.
_ARGUMENT_NAME = re.compile(r'--?[A-Za-z][\w.-]*')
_ELEMENT = re.compile(rf'(?P<name>{_NAME}>)[^<>]+(?=</)', _FLAGS)
#: the notation of oslo.config for changed options
_RELOADED = re.compile(rf'(?P<name>{_NAME} changed from )\[.*', _FLAGS)
_PRIVATE_KEY = re.compile(
    r'(?P<begin>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).*?'
    r'(?P<end>-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)',
    re.DOTALL,
)
#: Also private names, which are masked in data only.
_SECRET_KEY = re.compile(rf'.*(?:{_NAME}|authorization)|private_.*', _FLAGS)


def mask_text(text: str) -> str:
    """Return the text with its credentials replaced by `***`.

    Masked are passwords in URLs of any scheme and with any number of hosts, the values
    of names such as `password`, `secret`, `token` or `api_key` in any common notation,
    headers with credentials, and private keys.
    """
    has_names = _has_names(text)
    if _URL_PART in text:
        text = _URL.sub(_url, text)
    if not has_names:
        return text
    text = _PRIVATE_KEY.sub(rf'\g<begin>{MASK}\g<end>', text)
    text = _RELOADED.sub(rf'\g<name>{MASK}', text)
    text = _QUOTED_HEADER.sub(_quoted, text)
    text = _HEADER.sub(_header, text)
    text = _PAIR.sub(_pair, text)
    text = _QUOTED_VALUE.sub(_quoted, text)
    text = _LIST_VALUE.sub(rf'\g<name>\g<sep>\g<open>{MASK}', text)
    text = _BARE_VALUE.sub(_bare, text)
    text = _ARGUMENT.sub(_argument, text)
    return _ELEMENT.sub(rf'\g<name>{MASK}', text)


def is_suspicious(text: str) -> bool:
    """Return whether a text may contain credentials.

    If not, neither `mask_text` nor `mask_data` would change anything.
    """
    return _URL_PART in text or _has_names(text)


def _has_names(text: str) -> bool:
    # Separate searches take a tenth of the time of a combined pattern, and this is
    # called for every stored action.
    return any(map(text.casefold().__contains__, _NAME_PARTS))


def mask_data(data: Any) -> Any:
    """Return the data with its credentials replaced, recursively.

    :param data: texts, mappings, lists and tuples of them; other values are not changed
    """
    if isinstance(data, str):
        return mask_text(data)
    if isinstance(data, Mapping):
        return {
            key: MASK if _is_secret(key, value) else mask_data(value)
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return type(data)(_masked_items(data))
    return data


def _masked_items(items: Sequence[Any]) -> list[Any]:
    """Return the items of a list, with values after the names of secret arguments
    masked.
    """
    masked: list[Any] = []
    is_value = False
    for item in items:
        hidden = is_value and isinstance(item, str | int) and not _is_flag(item)
        masked.append(MASK if hidden else mask_data(item))
        is_value = _is_flag(item) and _SECRET_KEY.fullmatch(item) is not None
    return masked


def _is_flag(item: Any) -> bool:
    """Return whether an item is the name of an argument: `--os-password`."""
    return isinstance(item, str) and _ARGUMENT_NAME.fullmatch(item) is not None


def _is_secret(key: Any, value: Any) -> bool:
    named = isinstance(key, str) and _SECRET_KEY.fullmatch(key)
    return bool(named and value and not isinstance(value, bool))


def _url(match: re.Match[str]) -> str:
    url = _USERINFO.sub(rf'\g<start>\g<user>:{MASK}@', match[0])
    return _ODD_USERINFO.sub(rf'\g<start>\g<user>:{MASK}@', url)


def _header(match: re.Match[str]) -> str:
    value = match['value']
    if not match['scheme']:
        return f'{match["name"]}{MASK}'
    # These schemes are followed by one word, and then the text continues.
    rest = re.sub(r'^[^\s,\'"]+', MASK, value)
    return f'{match["name"]}{match["scheme"]}{rest}'


def _quoted(match: re.Match[str]) -> str:
    if not match['value']:
        return match[0]
    quote = match['quote']
    return f'{match["name"]}{match["sep"]}{quote}{MASK}{quote}'


def _pair(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 80) : match.start()]
    # Otherwise it is a list of words, one of which happens to be such a name.
    alone = re.search(r'[(\[]\s*[bu]?\\*[\'"][\w.-]*$', before)
    return _quoted(match) if alone else match[0]


def _bare(match: re.Match[str]) -> str:
    value = match['bare']
    kept = value.rstrip(')]}>.')
    if _is_place(match):
        return match[0]
    if kept.casefold() in _NOTHING or not kept.strip('\'"'):
        return match[0]
    return f'{match["name"]}{match["sep"]}{MASK}{value[len(kept) :]}'


def _is_place(match: re.Match[str]) -> bool:
    """Return whether the name is part of the position of a problem in a text.

    `resources.db_password: it was never created` has no credential.
    """
    text = match.string
    before = text[max(0, match.start() - 400) : match.start()]
    return (
        match['sep'] == ': '
        and _PLACE.search(before) is not None
        and _SENTENCE.match(text, match.end()) is not None
    )


def _argument(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 80) : match.start()]
    word = re.split(r'[\s\'"]', before)[-1]
    if not word.startswith('--'):
        return match[0]
    return f'{match["name"]}{match["sep"]}{MASK}'
