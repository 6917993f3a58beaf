"""The properties of the load-balancing policy.

Their texts become part of the configuration of a load balancer: characters with a
special meaning there are not allowed. `$` in the patterns would allow a line end.
"""

from collections.abc import Mapping
from typing import Any

from watcherlite.plugins.policies import fragments

HAPROXY = 'haproxy'


def _text(description: str, pattern: str = '^[A-Za-z0-9._:/@+-]*\\Z') -> dict[str, Any]:
    return fragments.text(description, pattern=pattern)


def _object(description: str, **properties: Any) -> dict[str, Any]:
    return fragments.closed(properties, description=description)


def _port(description: str) -> dict[str, Any]:
    return fragments.integer(80, description, minimum=1, maximum=65535)


def _seconds(default: int, description: str) -> dict[str, Any]:
    return fragments.integer(default, description, minimum=1, maximum=86400)


_UP = fragments.flag(True, 'Whether it is enabled.')
_PLACE = '^(attributes|metadata|properties|data)(\\.[A-Za-z0-9_-]+)+\\Z'

POOL: Mapping[str, Any] = {
    **_object(
        'The members, and the distribution of requests over them.',
        protocol=fragments.choice(
            ['TCP', 'HTTP', 'HTTPS'],
            'The protocol of members; HTTPS is passed through.',
            default='HTTP',
        ),
        protocol_port=_port('The port of members that do not define one.'),
        member_address=_text(
            'The path to the address of a node: attributes.address, ...; see the '
            'manual for the default.',
            _PLACE,
        ),
        member_port=_text('The path to the port of a node.', _PLACE),
        subnet=_text('For drivers with subnets.'),
        lb_method=fragments.choice(
            ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP'],
            'The algorithm that selects a member.',
            default='ROUND_ROBIN',
        ),
        admin_state_up=_UP,
        session_persistence={
            **_object(
                'Whether requests of a client always go to the same member.',
                type=fragments.choice(
                    ['NONE', 'SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE'],
                    'The identification of a client.',
                    default='NONE',
                ),
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
        connection_limit=fragments.integer(
            -1, 'Maximum number of concurrent connections; -1: unlimited.', minimum=-1
        ),
        protocol=fragments.choice(
            ['TCP', 'HTTP', 'HTTPS'], 'The protocol of clients.', default='HTTP'
        ),
        protocol_port=_port('The port.'),
        admin_state_up=_UP,
    ),
    'default': {},
}
HEALTH_MONITOR: Mapping[str, Any] = _object(
    'The health checks of members.',
    type=fragments.choice(
        ['PING', 'TCP', 'HTTP', 'HTTPS'],
        'The type of check; drivers without PING open a connection.',
        default='PING',
    ),
    delay=_seconds(10, 'Seconds between two checks.'),
    timeout=_seconds(5, 'Timeout of a check in seconds.'),
    max_retries=fragments.integer(
        3,
        'The number of failures after which a member receives no requests.',
        minimum=1,
        maximum=10,
    ),
    admin_state_up=_UP,
    http_method=fragments.choice(
        ['GET', 'HEAD', 'OPTIONS'],
        'The method of HTTP and HTTPS checks.',
        default='GET',
    ),
    url_path=_text('Likewise.', '^/[A-Za-z0-9._~:/?@!&+,;=%-]*\\Z'),
    expected_codes=_text(
        'The expected statuses: 200, or 200,202, or 200-204.',
        '^[1-5][0-9]{2}(-[1-5][0-9]{2}|(,[1-5][0-9]{2})*)\\Z',
    ),
    id=_text('For drivers that can use an existing monitor.'),
)
SCHEMA = fragments.closed(
    {
        'driver': _text(
            'The driver of the load balancer: octavia, haproxy, or another installed '
            'one. The default is the first that can serve the cluster, see [clusters] '
            'load_balancer_drivers.',
            '^[A-Za-z0-9_.-]+\\Z',
        ),
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
    }
)
