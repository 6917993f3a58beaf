"""The decoder of notifications of oslo.messaging. Messages received are not trusted."""

import datetime
import json
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.messaging import codec

#: The driver messagingv2 has an envelope of this version; the driver messaging none.
ENVELOPE_VERSION = '2.0'
#: Bytes; a notification of nova has about 5,000.
SIZE_LIMIT = 1024 * 1024
#: Levels of objects and lists; a notification of nova has about 10.
DEPTH_LIMIT = 50


def decode(body: bytes) -> ServiceNotification:
    """Return the notification of a message.

    :raises codec.MalformedMessage: the body is none
    """
    if len(body) > SIZE_LIMIT:
        raise codec.MalformedMessage(
            f'It has {len(body)} bytes; at most are {SIZE_LIMIT}.'
        )
    document = _load(body)
    if 'oslo.version' in document:
        version = document['oslo.version']
        if version != ENVELOPE_VERSION:
            raise codec.MalformedMessage(
                f'The version of its envelope is not {ENVELOPE_VERSION}.'
            )
        document = _load(_field(document, 'oslo.message', str).encode())
    _check_depth(document)
    return ServiceNotification(
        _field(document, 'event_type', str),
        _field(document, 'publisher_id', str),
        _field(document, 'payload', dict),
        _timestamp(_field(document, 'timestamp', str)),
    )


def _load(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body.decode('utf-8'))
    except (ValueError, RecursionError) as error:
        raise codec.MalformedMessage(f'It is not JSON in UTF-8: {error}.') from error
    if not isinstance(document, dict):
        raise codec.MalformedMessage('It is JSON, but not an object.')
    return document


def _field(document: Mapping[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        raise codec.MalformedMessage(f'It has no {name}, or of another type.')
    return value


def _timestamp(text: str) -> datetime.datetime:
    """Return the time of oslo.messaging, which has no zone and is in UTC."""
    try:
        time = datetime.datetime.fromisoformat(text)
        if time.tzinfo is None:
            return time.replace(tzinfo=datetime.UTC)
        return time.astimezone(datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise codec.MalformedMessage('Its timestamp is no time.') from error


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(DEPTH_LIMIT):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise codec.MalformedMessage(f'It is nested more than {DEPTH_LIMIT} levels deep.')
