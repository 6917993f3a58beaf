"""Health checks of processes."""

import socket
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.destinations import DestinationRefusedError, Destinations
from watcherlite.plugins import outgoing
from watcherlite.plugins.action_types import http_parts
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.redaction import redact_url

#: Timeout of one check, in seconds.
_PATIENCE = 5.0

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


def health_problem(
    context: ResourceContext,
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
        return _port(health['host'], health['port'], destinations)
    if health['type'] != 'url':
        return None
    # Slow to import and not needed without HTTP.
    from watcherlite.plugins import http_exchange

    request = http_exchange.HttpRequestMessage('GET', health['url'])
    expected = frozenset(health.get('expected_statuses', range(200, 300)))
    settings = http_parts.settings(options, group, destinations, _PATIENCE)
    url = redact_url(health['url'])
    try:
        answer = http_exchange.exchange(context, request, settings, _PATIENCE)
    except http_exchange.DestinationRefused as error:
        raise exceptions.StateUnknown(f'{url}: {error}') from None
    except http_exchange.ExchangeFailed as error:
        return f'{url}: {error}'
    if answer.status in expected:
        return None
    return f'{url} answered {answer.status}, not {http_parts.ranges(expected)}'


def _port(host: str, port: int, destinations: Destinations) -> str | None:
    try:
        # Local services must not be exposed to users over HTTP; this check only reveals
        # whether a port is open.
        home = outgoing.is_loopback(host)
        found = [host] if home else outgoing.resolve(host, port, destinations)
        socket.create_connection((found[0], port), _PATIENCE).close()
    except DestinationRefusedError as refused:
        raise exceptions.StateUnknown(f'port {port} of {host}: {refused}') from None
    except OSError as error:
        why = error.strerror or 'no connection in time'
        return f'port {port} of {host}: {why}'
    return None
