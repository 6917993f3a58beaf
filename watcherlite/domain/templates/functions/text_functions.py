"""The functions of templates that return texts, and lists of texts."""

import hashlib
import json
import urllib.parse
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates.scope import VALUE, EvaluationError, Scope

ALGORITHMS = ('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512')


def text_of(value: Any) -> str:
    """Return a value as part of a text."""
    if value is None:
        return ''
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return str(value)


def str_replace(given: Any, scope: Scope, strict: bool = False) -> str | None:
    """Replace names in a text by values.

    :param strict: each name must occur
    """
    text, params = _template(given)
    if text is None or params is None:
        return None
    found, unused = _replaced(text, params, scope)
    if strict and unused:
        raise EvaluationError(
            'The following params were not found in the template; remove them, or use '
            'str_replace',
            sorted(unused),
        )
    return found


def str_replace_strict(given: Any, scope: Scope) -> str | None:
    """Replace names in a text by values; each name must occur."""
    return str_replace(given, scope, strict=True)


def str_replace_vstrict(given: Any, scope: Scope) -> str | None:
    """Replace names in a text by values; each must occur and no value be empty."""
    text, params = _template(given)
    if text is None or params is None:
        return None
    empty = sorted(name for name, value in params.items() if value == '')
    if empty:
        raise EvaluationError('some params are empty; give each a value', empty)
    return str_replace_strict(given, scope)


def _template(given: Any) -> tuple[str | None, dict[str, Any] | None]:
    given = as_mapping(given, 'its arguments')
    text, params = given.get('template'), given.get('params')
    if text is not None and not isinstance(text, str):
        raise EvaluationError(f'its template is {kind(text)}; it must be text')
    return text, None if params is None else as_mapping(params, 'its params')


def _replaced(
    text: str, params: dict[str, Any], scope: Scope
) -> tuple[str, frozenset[str]]:
    """Return the text with its values, and the names that do not occur.

    Longer names first; replaced text is not searched again.
    """
    unused = set(params)
    # The parts at odd positions are replaced.
    pieces = [text]
    for name in sorted(sorted(params), key=len, reverse=True):
        scope.spend(1 + len(pieces) // 16 + len(text) // 256)
        if not name:
            raise EvaluationError('a name among its params is empty; give it a name')
        if not any(name in piece for piece in pieces[::2]):
            continue
        unused.discard(name)
        value = text_of(params[name])
        split: list[str] = []
        for place, piece in enumerate(pieces):
            if place % 2:
                split.append(piece)
                continue
            parts = piece.split(name)
            scope.spend((len(parts) - 1) * (VALUE + len(value)))
            split.append(parts[0])
            for part in parts[1:]:
                split += (value, part)
        pieces = split
    scope.spend(len(text))
    return ''.join(pieces), frozenset(unused)


def list_join(given: Any, scope: Scope) -> str | None:
    """Join the elements of lists."""
    delimiter, *lists = as_list(given, 'its arguments', 2)
    if not isinstance(delimiter, str):
        raise EvaluationError(f'its delimiter is {kind(delimiter)}; it must be text')
    texts: list[str] = []
    for each in lists:
        if each is not None:
            texts += map(text_of, as_list(each, 'the values to join'))
    scope.spend(sum(map(len, texts)) + len(delimiter) * len(texts) + len(texts))
    return delimiter.join(texts)


def str_split(given: Any, scope: Scope) -> list[str] | str | None:
    """Split a text at a delimiter; with an index, return that part."""
    delimiter, text, *index = as_list(given, 'its arguments', 2)
    if text is None:
        return None
    if not isinstance(delimiter, str) or not delimiter:
        raise EvaluationError(
            f'its delimiter is {kind(delimiter) if delimiter else "empty"}'
        )
    if not isinstance(text, str):
        raise EvaluationError(f'the text to split is {kind(text)}; it must be text')
    parts = text.split(delimiter)
    scope.spend(len(text) + VALUE * len(parts))
    if not index:
        return parts
    at = index[0]
    if isinstance(at, str) and at.isdecimal():
        at = int(at[:9])
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < len(parts):
        raise EvaluationError(
            f'Incorrect index to "str_split" should be between 0 and {len(parts) - 1}'
        )
    return parts[at]


def digest(given: Any, scope: Scope) -> str | None:
    """Return the digest of a text, as hexadecimal digits."""
    algorithm, value = as_list(given, 'its arguments', 2, 2)
    if algorithm not in ALGORITHMS:
        raise EvaluationError(f'the algorithm must be one of {", ".join(ALGORITHMS)}')
    if value is None:
        return None
    if not isinstance(value, str):
        raise EvaluationError(f'the value to digest is {kind(value)}; it must be text')
    scope.spend(256)
    data = value.encode(errors='surrogatepass')
    # The digest is for comparison only, not for security.
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()


def make_url(given: Any, scope: Scope) -> str | None:
    """Build a URL."""
    parts = as_mapping(given, 'its arguments')
    host, port = text_of(parts.get('host')), text_of(parts.get('port'))
    if port and not (port.isdecimal() and 0 <= int(port[:9]) <= 65535):
        raise EvaluationError('its port is not a number from 0 to 65535')
    user = _quoted(parts.get('username'))
    if parts.get('password') is not None:
        user += ':' + _quoted(parts['password'])
    place = f'{user}@' if user else ''
    place += f'[{host}]' if ':' in host and not host.startswith('[') else host
    place += f':{port}' if port else ''
    url = f'{text_of(parts.get("scheme"))}:' if parts.get('scheme') else ''
    url += f'//{place}' if place else ''
    path = urllib.parse.quote(text_of(parts.get('path')))
    url += f'/{path}' if place and path and not path.startswith('/') else path
    query = parts.get('query')
    if isinstance(query, dict):
        query = urllib.parse.urlencode({k: text_of(v) for k, v in query.items()})
    url += f'?{text_of(query)}' if query else ''
    url += f'#{_quoted(parts["fragment"])}' if parts.get('fragment') else ''
    scope.spend(len(url))
    return url


def _quoted(value: Any) -> str:
    return urllib.parse.quote(text_of(value), safe='')


def as_list(
    value: Any, what: str, least: int = 0, most: int | None = None
) -> list[Any]:
    """Return a list; raises EvaluationError for other values, or a wrong length."""
    if not isinstance(value, list):
        raise EvaluationError(f'{what}: this is {kind(value)}; it must be a list')
    if len(value) < least or (most is not None and len(value) > most):
        desired = str(least) if least == most else f'{least} or more'
        raise EvaluationError(f'{what}: there are {len(value)}; it must be {desired}')
    return value


def as_mapping(value: Any, what: str) -> dict[str, Any]:
    """Return a mapping; raises EvaluationError for anything else."""
    if not isinstance(value, dict):
        raise EvaluationError(f'{what}: this is {kind(value)}; it must be a mapping')
    return value
