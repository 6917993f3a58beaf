"""The wire format of commands and broadcasts. Messages received are not trusted."""

import json
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions

SCHEMA = 'watcherlite.command'
#: Incremented for an incompatible change; a new field is none.
VERSION = 1
#: Bytes; the largest valid message, a list of plan ids, is far below.
SIZE_LIMIT = 1024 * 1024
_ENVELOPE = ('schema', 'version')


class MalformedMessage(exceptions.Invalid):
    """A message that is not in the wire format."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message in the wire format.

    :param message: a `type`, and ids: strings or sequences of strings
    :raises MalformedMessage: `decode` would refuse the result
    """
    for name in _ENVELOPE:
        if name in message:
            raise MalformedMessage(f'{name} is set by the codec, not by the sender.')
    _check_fields(message)
    document = {'schema': SCHEMA, 'version': VERSION, **message}
    body = json.dumps(document, separators=(',', ':')).encode()
    _check_size(body)
    return body


def decode(body: bytes) -> dict[str, Any]:
    """Return the message without its envelope; sequences come back as lists.

    :raises MalformedMessage: the body is not in the wire format
    """
    _check_size(body)
    try:
        # json.loads alone also accepts UTF-16 and UTF-32.
        document = json.loads(body.decode('utf-8'))
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f'It is not JSON in UTF-8: {error}.') from error
    if not isinstance(document, dict):
        raise MalformedMessage('It is JSON, but not an object.')
    if document.pop('schema', None) != SCHEMA:
        raise MalformedMessage(f'Its schema is not {SCHEMA!r}.')
    version = document.pop('version', None)
    # True == 1, but is not a version.
    if version != VERSION or isinstance(version, bool):
        raise MalformedMessage(f'Its version is not {VERSION}.')
    _check_fields(document)
    return document


def _check_size(body: bytes) -> None:
    if len(body) > SIZE_LIMIT:
        raise MalformedMessage(f'It has {len(body)} bytes; at most are {SIZE_LIMIT}.')


def _check_fields(message: Mapping[str, Any]) -> None:
    if not isinstance(message.get('type'), str):
        raise MalformedMessage('Its type is not a string.')
    for name, value in message.items():
        ids = value if isinstance(value, list | tuple) else (value,)
        if not all(isinstance(item, str) and item.isprintable() for item in ids):
            # Control characters and lone surrogates would fail only later, in the
            # database or in a log.
            raise MalformedMessage(
                f'Its field {name!r} is neither printable text nor a list of it.'
            )
