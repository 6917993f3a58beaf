"""The properties of the load-balancing policy.

Their texts become part of the configuration of a load balancer: characters with a
special meaning there are not allowed. `$` in the patterns would allow a line end.
"""

from collections.abc import Mapping
from typing import Any

HAPROXY = 'haproxy'


def _text(description: str, pattern: str = '^[A-Za-z0-9._:/@+-]*\\Z') -> dict[str, Any]:
    return {'type': 'string', 'pattern': pattern, 'description': description}


def _object(description: str, **properties: Any) -> dict[str, Any]:
    return {
        'type': 'object',
        'description': description,
        'properties': properties,
        'additionalProperties': False,
    }


def _port(description: str) -> dict[str, Any]:
    return {
        'type': 'integer',
        'minimum': 1,
        'maximum': 65535,
        'default': 80,
        'description': description,
    }


def _seconds(default: int, description: str) -> dict[str, Any]:
    return {
        'type': 'integer',
        'minimum': 1,
        'maximum': 86400,
        'default': default,
        'description': description,
    }


_UP: Mapping[str, Any] = {
    'type': 'boolean',
    'default': True,
    'description': 'Whether it is enabled.',
}
_PLACE = '^(attributes|metadata|properties|data)(\\.[A-Za-z0-9_-]+)+\\Z'

POOL: Mapping[str, Any] = {
    **_object(
        'The members, and the distribution of requests over them.',
        protocol={
            'enum': ['TCP', 'HTTP', 'HTTPS'],
            'default': 'HTTP',
            'description': 'The protocol of members; HTTPS is passed through.',
        },
        protocol_port=_port('The port of members that do not define one.'),
        member_address=_text(
            'The path to the address of a node: attributes.address, ...; see the '
            'manual for the default.',
            _PLACE,
        ),
        member_port=_text('The path to the port of a node.', _PLACE),
        subnet=_text('For drivers with subnets.'),
        lb_method={
            'enum': ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP'],
            'default': 'ROUND_ROBIN',
            'description': 'The algorithm that selects a member.',
        },
        admin_state_up=_UP,
        session_persistence={
            **_object(
                'Whether requests of a client always go to the same member.',
                type={
                    'enum': ['NONE', 'SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE'],
                    'default': 'NONE',
                    'description': 'How a client is identified.',
                },
                cookie_name=_text('Of APP_COOKIE.', '^[A-Za-z0-9_.-]+\\Z'),
            ),
            'default': {},
        },
        id=_text('For drivers that can use an existing pool.'),
    ),
    'default': {},
}
VIP: Mapping[str, Any] = {
    **_object(
        'The address at which the load balancer listens.',
        subnet=_text('For drivers with subnets.'),
        network=_text('For drivers with networks.'),
        address=_text('The address.', '^[0-9A-Fa-f.:]+\\Z'),
        connection_limit={
            'type': 'integer',
            'minimum': -1,
            'default': -1,
            'description': 'Maximum number of concurrent connections; -1: unlimited.',
        },
        protocol={
            'enum': ['TCP', 'HTTP', 'HTTPS'],
            'default': 'HTTP',
            'description': 'The protocol of clients.',
        },
        protocol_port=_port('The port.'),
        admin_state_up=_UP,
    ),
    'default': {},
}
HEALTH_MONITOR: Mapping[str, Any] = _object(
    'The health checks of members.',
    type={
        'enum': ['PING', 'TCP', 'HTTP', 'HTTPS'],
        'default': 'PING',
        'description': 'The type of check; drivers without PING open a connection.',
    },
    delay=_seconds(10, 'Seconds between two checks.'),
    timeout=_seconds(5, 'Timeout of a check in seconds.'),
    max_retries={
        'type': 'integer',
        'minimum': 1,
        'maximum': 10,
        'default': 3,
        'description': 'The number of failures after which a member receives no '
        'requests.',
    },
    admin_state_up=_UP,
    http_method={
        'enum': ['GET', 'HEAD', 'OPTIONS'],
        'default': 'GET',
        'description': 'The method of HTTP and HTTPS checks.',
    },
    url_path=_text('Likewise.', '^/[A-Za-z0-9._~:/?@!&+,;=%-]*\\Z'),
    expected_codes=_text(
        'The expected statuses: 200, or 200,202, or 200-204.',
        '^[1-5][0-9]{2}(-[1-5][0-9]{2}|(,[1-5][0-9]{2})*)\\Z',
    ),
    id=_text('For drivers that can use an existing monitor.'),
)
SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'driver': {
            **_text('The driver of the load balancer.', '^[A-Za-z0-9_.-]+\\Z'),
            'default': HAPROXY,
        },
        'template': _text(
            'A template of the operator, for drivers that write files.',
            '^[A-Za-z0-9][A-Za-z0-9._-]*\\Z',
        ),
        'pool': POOL,
        'vip': VIP,
        'health_monitor': HEALTH_MONITOR,
        'lb_status_timeout': _seconds(300, 'Timeout of a change in seconds.'),
        'loadbalancer': _text('For drivers that can use an existing load balancer.'),
        'availability_zone': _text('For drivers with zones.'),
        'flavor_id': _text('For drivers with flavors.'),
    },
    'additionalProperties': False,
}
