"""Take credentials out of texts of which nobody knows where they came from.

Rather one word too many than one password too few: what looks like a credential is
replaced, although it may be none. Every pattern works in a time that grows with the
length of the text and no faster, because a text may be the output of a command.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = '***'

#: Names whose value is a secret, whatever stands in front of them: `password` is
#: `admin_password` too. The name must end here, so that `token_type` and
#: `max_tokens` are left alone.
_NAME = (
    r'(?:passw(?:or)?d|passphrase|passcode|pwd|(?<=[_.-])pass|(?<=[a-z])(?-i:Pass)'
    r'|secret|token|credentials?|cookie'
    r'|(?:api|access|secret|private|encryption|signing|shared|account)[_-]?key)\d*'
)
#: A quotation mark, also one within a text that was quoted itself.
_QUOTE = r'(?P<quote>\\*[\'"])'
_QUOTED = _QUOTE + r'(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\]))*)(?P=quote)'
#: A value without quotation marks. A comma belongs to it unless the next name, or
#: nothing, comes behind it.
_BARE = (
    r'(?P<bare>[\'"]?(?:[^\s,;&\'"\\]|\\(?![\'"])|[\'"](?=\w)'
    r'|[,;&](?!\s|$|[\'"]?[\w.-]+[\'"]?\s*[=:]))+)'
)
_ASSIGNED = r'(?P<sep>\\*[\'"]?\s*(?:=>|[:=])\s*+)'

#: A value that says that there is no secret is worth reading.
_NOTHING = frozenset({'none', 'null', 'true', 'false', 'unset', MASK})

_FLAGS = re.IGNORECASE | re.DOTALL

#: What stands before the last name of a place in a template, and behind the first word
#: of what is said of it.
_PLACE = re.compile(
    r'(?:^|[\s(;])(?:resources|properties|parameters|outputs|conditions|environment'
    r'|adopt_stack_data)\.[^\s:;=]*$'
)
_SENTENCE = re.compile(r' [a-z]')

#: Nearly every text has nothing of this, and is done with after one search.
_SUSPICIOUS = (
    *('://', 'pass', 'pwd', 'secret', 'token', 'credential', 'cookie', 'key'),
    *('authorization', 'private_'),
)

_URL = re.compile(r'://\S+')
#: user:password@host, behind :// or behind the host before it
_USERINFO = re.compile(
    r'(?P<start>://|[,;])(?P<user>[^\s:@/,;?#\'"]*):[^\s@/,;?#\'"]+@'
    r'(?=[^\s@/,;?#\'"\\<>)]*(?:[/,;?#\'"\\<>)]|$))'
)
#: The same with a password that should have been quoted: all up to the last @. Not
#: so when what comes behind the colon is a port.
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
#: ('X-Auth-Token', 'abc'), as libraries show headers
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
#: how oslo.config tells of a reload
_RELOADED = re.compile(rf'(?P<name>{_NAME} changed from )\[.*', _FLAGS)
_PRIVATE_KEY = re.compile(
    r'(?P<begin>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).*?'
    r'(?P<end>-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)',
    re.DOTALL,
)
#: Of data also what is called private, whatever the names in it.
_SECRET_KEY = re.compile(rf'.*(?:{_NAME}|authorization)|private_.*', _FLAGS)


def mask_text(text: str) -> str:
    """Return the text with its credentials replaced by `***`.

    Masked are passwords in URLs of any scheme and with any number of hosts, the
    values of names such as `password`, `secret`, `token` or `api_key` in any common
    notation, the headers that carry credentials, and private keys.
    """
    if not is_suspicious(text):
        return text
    text = _URL.sub(_url, text)
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
    """Say whether there may be credentials in a text, JSON with all names included.

    Where it says no, neither `mask_text` nor `mask_data` would change anything.
    """
    # A search for each takes a tenth of the time of a pattern for all, and every
    # action that is stored passes here.
    return any(map(text.casefold().__contains__, _SUSPICIOUS))


def mask_data(data: Any) -> Any:
    """Return the data with its credentials replaced, in what it contains too.

    :param data: texts, mappings, lists and tuples of them; whatever else there is
        in it is returned as it is
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
    """Return the items of a list, without the value of an argument behind its name."""
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
    # These schemes have one word behind them, and then the text goes on.
    rest = re.sub(r'^[^\s,\'"]+', MASK, value)
    return f'{match["name"]}{match["scheme"]}{rest}'


def _quoted(match: re.Match[str]) -> str:
    if not match['value']:
        return match[0]
    quote = match['quote']
    return f'{match["name"]}{match["sep"]}{quote}{MASK}{quote}'


def _pair(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 80) : match.start()]
    # Else it is a list of words, one of which happens to be such a name.
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
    """Return whether the name is the place of a problem, and the text says which.

    `resources.db_password: it was never made` has no credential.
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
