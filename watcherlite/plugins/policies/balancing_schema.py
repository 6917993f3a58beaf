"""The properties of the load-balancing policy.

Their texts end up in the configuration of a load balancer: none of them may have
characters in it that mean something there. `$` would let a line end through.
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
    'description': 'Whether it works.',
}
_PLACE = '^(attributes|metadata|properties|data)(\\.[A-Za-z0-9_-]+)+\\Z'

POOL: Mapping[str, Any] = {
    **_object(
        'The members, and how requests are spread over them.',
        protocol={
            'enum': ['TCP', 'HTTP', 'HTTPS'],
            'default': 'HTTP',
            'description': 'What members speak; HTTPS is passed on as it is.',
        },
        protocol_port=_port('Of members that do not say theirs.'),
        member_address=_text(
            'Where in a node its address is: attributes.address, ...; nothing said: '
            'see the manual.',
            _PLACE,
        ),
        member_port=_text('Likewise, its port.', _PLACE),
        subnet=_text('For drivers that know subnets.'),
        lb_method={
            'enum': ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP'],
            'default': 'ROUND_ROBIN',
            'description': 'Which member gets a request.',
        },
        admin_state_up=_UP,
        session_persistence={
            **_object(
                'Whether a client gets to the same member again.',
                type={
                    'enum': ['NONE', 'SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE'],
                    'default': 'NONE',
                    'description': 'By what it is known again.',
                },
                cookie_name=_text('Of APP_COOKIE.', '^[A-Za-z0-9_.-]+\\Z'),
            ),
            'default': {},
        },
        id=_text('For drivers that can use a pool that is there.'),
    ),
    'default': {},
}
VIP: Mapping[str, Any] = {
    **_object(
        'Where requests come in.',
        subnet=_text('For drivers that know subnets.'),
        network=_text('For drivers that know networks.'),
        address=_text('The address.', '^[0-9A-Fa-f.:]+\\Z'),
        connection_limit={
            'type': 'integer',
            'minimum': -1,
            'default': -1,
            'description': 'The most connections at a time; -1: any number.',
        },
        protocol={
            'enum': ['TCP', 'HTTP', 'HTTPS'],
            'default': 'HTTP',
            'description': 'What clients speak.',
        },
        protocol_port=_port('The port.'),
        admin_state_up=_UP,
    ),
    'default': {},
}
HEALTH_MONITOR: Mapping[str, Any] = _object(
    'How the load balancer finds out which members answer.',
    type={
        'enum': ['PING', 'TCP', 'HTTP', 'HTTPS'],
        'default': 'PING',
        'description': 'What is asked; a driver that cannot PING connects.',
    },
    delay=_seconds(10, 'Seconds between two questions.'),
    timeout=_seconds(5, 'Seconds that an answer may take.'),
    max_retries={
        'type': 'integer',
        'minimum': 1,
        'maximum': 10,
        'default': 3,
        'description': 'Failures after which a member gets no requests.',
    },
    admin_state_up=_UP,
    http_method={
        'enum': ['GET', 'HEAD', 'OPTIONS'],
        'default': 'GET',
        'description': 'Of HTTP and HTTPS.',
    },
    url_path=_text('Likewise.', '^/[A-Za-z0-9._~:/?@!&+,;=%-]*\\Z'),
    expected_codes=_text(
        'Likewise: 200, or 200,202, or 200-204.',
        '^[1-5][0-9]{2}(-[1-5][0-9]{2}|(,[1-5][0-9]{2})*)\\Z',
    ),
    id=_text('For drivers that can use a monitor that is there.'),
)
SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'driver': {
            **_text('What serves the load balancer.', '^[A-Za-z0-9_.-]+\\Z'),
            'default': HAPROXY,
        },
        'template': _text(
            'Of those that the operator has, for drivers that make files.',
            '^[A-Za-z0-9][A-Za-z0-9._-]*\\Z',
        ),
        'pool': POOL,
        'vip': VIP,
        'health_monitor': HEALTH_MONITOR,
        'lb_status_timeout': _seconds(300, 'Seconds that a change of it may take.'),
        'loadbalancer': _text('For drivers that can use one that is there.'),
        'availability_zone': _text('For drivers that know zones.'),
        'flavor_id': _text('For drivers that know flavors.'),
    },
    'additionalProperties': False,
}
