"""Payloads as JSON text, written by one function per class and version.

The functions are made, at first use, from the table that was derived from the
versioned objects, and write the same documents as those do, many times as fast.
A part that several payloads share is written once and handed in as Encoded.
"""

import datetime
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any

from watcherlite.notifications.schema import PAYLOADS

#: Takes the fields of the latest version as keywords; returns JSON text.
Encoder = Callable[..., str]


class Encoded(str):
    """JSON text, put in as it is where a time, a document or a payload goes."""

    __slots__ = ()


# What writes a value that is not null, by kind of field. They stand within an
# f-string in single quotes, so none of them may contain one.
_EXPRESSIONS = {
    'uuid': 'text({value})',
    'string': 'text({value})',
    'boolean': 'boolean({value})',
    'integer': 'integer({value})',
    'datetime': 'time({value})',
    'dict': 'document({value})',
    'list': 'document({value})',
    'uuids': 'document({value})',
    'object': '({value} if {value}.__class__ is Encoded else of_{value}(**{value}))',
}

_SOURCE = """\
def encode(*, {names}):
    try:
        return f'{{{{"watcher_object.name":"{payload}",\
"watcher_object.namespace":"watcher","watcher_object.version":"{version}",\
"watcher_object.data":{{{{{data}}}}}}}}}'
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(explain(error, locals())) from error
"""


def version_of(payload: str, pinned: str) -> str:
    """Return the version to write a class in: the pinned one, or its latest."""
    versions = PAYLOADS[payload]
    return pinned if pinned in versions else list(versions)[-1]


def field_names(payload: str) -> frozenset[str]:
    """Return the fields of the latest version of a class."""
    return frozenset(name for name, *_ in PAYLOADS[payload][version_of(payload, '')])


@functools.cache
def encoder(payload: str, version: str) -> Encoder:
    """Return the function that writes a class in a version.

    It takes every field of the latest version as a keyword, so that a caller
    need not know what an older one leaves out. A nested payload is a mapping of
    its fields, or Encoded. The function raises ValueError, which names the
    field, when one is None that must not be.

    :raises KeyError: there is no such class or version
    """
    fields = PAYLOADS[payload][version]
    scope: dict[str, Any] = {
        'Encoded': Encoded,
        'boolean': _boolean,
        'document': _document,
        'integer': _integer,
        'explain': functools.partial(_explain, payload, version),
        'text': encode_basestring_ascii,
        'time': _time,
    }
    data = []
    for name, kind, nullable, nested, nested_version in fields:
        if nested is not None and nested_version is not None:
            scope[f'of_{name}'] = encoder(nested, nested_version)
        expression = _EXPRESSIONS[kind].format(value=name)
        if nullable:
            expression = f'"null" if {name} is None else {expression}'
        data.append(f'"{name}":{{{expression}}}')
    latest = PAYLOADS[payload][version_of(payload, '')]
    source = _SOURCE.format(
        names=', '.join(name for name, *_ in latest),
        payload=payload,
        version=version,
        data=','.join(data),
    )
    # Nothing but names from the table, a part of this package, is in the source.
    exec(compile(source, f'<{payload} {version}>', 'exec'), scope)  # noqa: S102
    encode: Encoder = scope['encode']
    return encode


def pinned_encoder(payload: str, pinned: str) -> Encoder:
    """Return the function that writes a class in the pinned version, or its latest."""
    return encoder(payload, version_of(payload, pinned))


def encoded_time(value: datetime.datetime | None) -> Encoded | None:
    """Return a time as it stands in payloads: UTC, whole seconds, Z."""
    return None if value is None else Encoded(_time(value))


def encoded_document(value: Mapping[str, Any] | Sequence[Any] | None) -> Encoded | None:
    """Return a mapping or sequence of JSON values, ready to be put in."""
    return None if value is None else Encoded(_document(value))


def _time(value: datetime.datetime) -> str:
    if isinstance(value, Encoded):
        return value
    if value.tzinfo is not datetime.UTC and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC)
    return f'"{value.isoformat()[:19]}Z"'


def _boolean(value: object) -> str:
    if value is None:
        raise TypeError('a boolean is None')
    return 'true' if value else 'false'


def _integer(value: int) -> str:
    if value is None:
        raise TypeError('an integer is None')
    return f'{value:d}'


def _document(value: Mapping[str, Any] | Sequence[Any]) -> str:
    if isinstance(value, Encoded):
        return value
    if value is None:
        raise TypeError('a document is None')
    return _json(value)


def _plain(value: object) -> object:
    """Return what JSON has for mappings and sequences that are no dict or list."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f'a {type(value).__name__} is no JSON')


_json = json.JSONEncoder(separators=(',', ':'), default=_plain).encode


def _explain(
    payload: str, version: str, error: Exception, values: Mapping[str, Any]
) -> str:
    for name, _, nullable, *_ in PAYLOADS[payload][version]:
        if values[name] is None and not nullable:
            return f'{payload} {version}: {name} must not be null'
    return f'{payload} {version}: {error}'
