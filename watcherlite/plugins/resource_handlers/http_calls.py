"""Calls over HTTP in templates: schemas, validation and interpretation."""

import dataclasses
import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from watcherlite.plugins.action_types import http_parts

#: Statuses for a missing or deleted object.
GONE = frozenset({404, 410})
#: The placeholder for the id of the resource in a URL.
ID = '{id}'
_SHORTEST_SECRET = 4

_PATH = {
    'type': 'string',
    'description': 'keys and indexes in a response, separated by dots: server.id',
}
_VALUES = {'type': 'array', 'items': {'type': ['string', 'number', 'boolean', 'null']}}
_CALL: Mapping[str, Any] = {
    'method': {'enum': list(http_parts.METHODS)},
    'url': http_parts.URL,
    'headers': http_parts.HEADERS,
    'body': {'type': 'string'},
    'json': {},
    'expected_statuses': http_parts.STATUSES,
    'timeout': {**http_parts.SECONDS, 'default': http_parts.DEFAULT_TIMEOUT},
    'done': _VALUES,
}


def call_schema(
    method: str, *, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the schema of a call with a default method."""
    return {
        'type': 'object',
        'properties': {
            **_CALL,
            'method': {**_CALL['method'], 'default': method},
            **(more or {}),
        },
        'required': ['url'],
        'additionalProperties': False,
    }


STATUS_SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'url': http_parts.URL,
        'headers': http_parts.HEADERS,
        'path': _PATH,
        'done': {**_VALUES, 'minItems': 1},
        'failed': {**_VALUES, 'default': []},
        'interval': {'type': 'number', 'minimum': 0.05, 'maximum': 3600, 'default': 2},
    },
    'required': ['url', 'path', 'done'],
    'additionalProperties': False,
}
FIND_SCHEMA = call_schema('GET', more={'id_path': _PATH})
PATH_SCHEMA = _PATH


@dataclasses.dataclass(frozen=True, slots=True)
class CallResult:
    """The response to a call.

    :param content: of the body, if it is JSON; else None
    """

    status: int
    content: Any


def problems(
    properties: Mapping[str, Any],
    calls: Sequence[str],
    more: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """Yield the problems of calls that the schemas do not find.

    :param calls: the properties that are calls
    :param more: those in the property `operations`
    """
    yield from _header_problems('properties', properties)
    given = {f'properties.{name}': properties.get(name) for name in calls}
    given |= {f'properties.operations.{n}': call for n, call in (more or {}).items()}
    for place, call in given.items():
        if call is None:
            continue
        if call.get('url') is not None:
            yield from http_parts.url_problems(f'{place}.url', call['url'])
        yield from _header_problems(place, call)
        if 'body' in call and 'json' in call:
            yield f'{place}.body: only one of body and json can be sent'
        finds = place == 'properties.find'
        if call.get('done') and properties.get('status') is None and not finds:
            yield f'{place}.done: needs the property status, which defines the request'
    status = properties.get('status') or {}
    if status.get('url') is not None:
        yield from http_parts.url_problems('properties.status.url', status['url'])
    yield from _header_problems('properties.status', status)
    if ID in str((properties.get('create') or {}).get('url')):
        yield f'properties.create.url: {ID} is not available before the creation'


def _header_problems(place: str, given: Mapping[str, Any]) -> Iterator[str]:
    for key in ('headers', 'private_headers'):
        known = {n: v for n, v in (given.get(key) or {}).items() if v is not None}
        yield from http_parts.header_problems(f'{place}.{key}', known, 'Http::Resource')


def expand_id(url: str, physical_id: str | None) -> str:
    """Return a URL with the id of the resource."""
    return url.replace(ID, urllib.parse.quote(physical_id or '', safe=''))


def value_at(content: Any, path: str) -> Any:
    """Return the part of a response at a path; None: it does not exist."""
    for step in path.split('.') if path else ():
        if isinstance(content, Mapping):
            content = content.get(step)
        elif isinstance(content, list) and re.fullmatch(r'-?\d+', step):
            try:
                content = content[int(step)]
            except IndexError:
                return None
        else:
            return None
    return content


def attributes(properties: Mapping[str, Any], content: Any) -> dict[str, Any]:
    """Return the attributes in a response by the property `outputs`."""
    secrets = list((properties.get('private_headers') or {}).values())
    found = {}
    for name, path in (properties.get('outputs') or {}).items():
        value = value_at(content, path)
        if value is not None:
            found[name] = mask_secrets(value, secrets)
    return found


def mask_secrets(value: Any, secrets: Sequence[str]) -> Any:
    """Return a value with the secrets in a response masked."""
    if isinstance(value, str):
        for secret in secrets:
            if len(secret) >= _SHORTEST_SECRET:
                value = value.replace(secret, '***')
        return value
    if isinstance(value, Mapping):
        return {key: mask_secrets(inner, secrets) for key, inner in value.items()}
    if isinstance(value, list):
        return [mask_secrets(inner, secrets) for inner in value]
    return value
