"""Health checks of processes."""

import os
import socket
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.destinations import DestinationRefusedError, Destinations
from watcherlite.plugins import outgoing
from watcherlite.plugins.action_types import http_parts
from watcherlite.plugins.base import ResourceCoroutineContext
from watcherlite.plugins.http_messages import (
    DestinationRefused,
    ExchangeFailed,
    HttpRequestMessage,
)
from watcherlite.plugins.redaction import redact_url

#: Timeout of one check, in seconds.
_TIMEOUT = 5.0

SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'type': {'enum': ['pid', 'port', 'url'], 'default': 'pid'},
        'host': {'type': 'string', 'default': '127.0.0.1'},
        'port': {'type': 'integer', 'minimum': 1, 'maximum': 65535},
        'url': http_parts.URL,
        'expected_statuses': http_parts.STATUSES,
        'interval': {'type': 'number', 'minimum': 0.05, 'maximum': 3600, 'default': 1},
        'timeout': {'type': 'number', 'minimum': 0, 'maximum': 86400, 'default': 60},
    },
    'additionalProperties': False,
    'default': {},
}


def options_problem(health: Mapping[str, Any]) -> str | None:
    """Return the problem that the schema does not find, or None."""
    kind = health.get('type')
    if kind in ('port', 'url') and kind not in health:
        return f'properties.health.{kind}: is required for the type {kind}'
    if health.get('url') is not None:
        wrong = http_parts.url_problems('properties.health.url', health['url'])
        return wrong[0] if wrong else None
    return None


async def health_problem(
    context: ResourceCoroutineContext,
    health: Mapping[str, Any],
    options: Any,
    group: str,
    destinations: Destinations,
) -> str | None:
    """Return why a running process is unhealthy; None: it is healthy.

    :param options: values of `http_parts.OPTIONS`
    :param group: of these, as messages name it
    :param destinations: the allowed destinations
    :raises StateUnknown: the destination is not allowed
    """
    if health['type'] == 'port':
        return await _port_problem(
            context, health['host'], health['port'], destinations
        )
    if health['type'] != 'url':
        return None
    # Slow to import and not needed without HTTP.
    from watcherlite.plugins import http_client

    request = HttpRequestMessage('GET', health['url'])
    expected = frozenset(health.get('expected_statuses', range(200, 300)))
    settings = http_parts.settings(options, group, destinations, _TIMEOUT)
    url = redact_url(health['url'])
    try:
        answer = await http_client.exchange(context, request, settings, _TIMEOUT)
    except DestinationRefused as error:
        raise exceptions.StateUnknown(f'{url}: {error}') from None
    except ExchangeFailed as error:
        return f'{url}: {error}'
    if answer.status in expected:
        return None
    return f'{url} answered {answer.status}, not {http_parts.ranges(expected)}'


async def _port_problem(
    context: ResourceCoroutineContext, host: str, port: int, destinations: Destinations
) -> str | None:
    # Needed only by coroutines.
    import asyncio

    failure = 'no address'
    try:
        async with context.service(f'{host}:{port}'), asyncio.timeout(_TIMEOUT):
            for address in await asyncio.to_thread(
                _addresses, host, port, destinations
            ):
                try:
                    _, writer = await asyncio.open_connection(address, port)
                except OSError as error:
                    failure = _reason(error)
                else:
                    writer.close()
                    return None
    except DestinationRefusedError as refused:
        raise exceptions.StateUnknown(f'port {port} of {host}: {refused}') from None
    except OSError as error:
        failure = _reason(error)
    return f'port {port} of {host}: {failure}'


def _addresses(host: str, port: int, destinations: Destinations) -> list[str]:
    """Return the permitted addresses of a host, and those of this machine.

    Local services must not be exposed to users over HTTP; this check only reveals
    whether a port is open.
    """
    if not outgoing.is_loopback(host):
        return outgoing.resolve(host, port, destinations)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return 'no connection in time'
    if isinstance(error, socket.gaierror):
        return str(error.strerror)
    return os.strerror(error.errno) if error.errno else str(error)
