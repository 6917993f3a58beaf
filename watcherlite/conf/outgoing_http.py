"""[outgoing_http]: the servers to which workers may connect on behalf of users."""

import ipaddress
from typing import Any

from oslo_config import cfg, types

from watcherlite.destinations import REFUSED_NETWORKS


class Network(types.String):
    """The type of an option's value that is a network: 10.0.0.0/8."""

    def __call__(self, value: Any) -> str:
        return str(ipaddress.ip_network(str(super().__call__(value))))

    def __repr__(self) -> str:
        return 'Network'


GROUP = cfg.OptGroup(
    'outgoing_http',
    title='Outgoing HTTP',
    help='The servers to which a worker connects because a user named them: the '
    'action http_request, Http::Resource, the health checks of Local::Process, '
    'the poll URLs of health policies, and lifecycle hooks. Configure these '
    'options identically for every watcherlite-applier and watcherlite-engine.',
)

OPTS = [
    cfg.ListOpt(
        'allowed_hosts',
        default=[],
        mutable=True,
        help='The permitted hosts, for example '
        '`api.example.org,*.intern.example.org,192.0.2.7`: names, patterns with '
        '`*`, and addresses, as written in the URL. Empty: every host whose '
        'address is not refused. Set it if users need to reach a few known '
        'services only.',
    ),
    cfg.ListOpt(
        'refused_networks',
        item_type=Network(),
        default=list(REFUSED_NETWORKS),
        mutable=True,
        help='The refused networks, regardless of the name in the URL: by default '
        'loopback, link-local, multicast and reserved addresses, and the '
        'metadata services of clouds. IPv6 addresses that embed an IPv4 address '
        '(mapped, 6to4, NAT64) are checked as that address. Add the networks of '
        'your management and storage services, such as `10.0.0.0/8`; a value '
        'replaces the default.',
    ),
    cfg.ListOpt(
        'allowed_networks',
        item_type=Network(),
        default=[],
        sample_default=['192.0.2.0/24'],
        mutable=True,
        help='Exceptions to `refused_networks`. `127.0.0.0/8` lets users reach every '
        'service of this machine that listens on the loopback interface.',
    ),
]
