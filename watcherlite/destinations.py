"""The servers that plugins may connect to on behalf of users.

Plans, stacks and clusters name URLs. Their authors could otherwise reach, by the
address of the worker, services that are not meant for users: those that listen on the
loopback interface, or the metadata service of a cloud.
"""

import dataclasses
import fnmatch
import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Refused unless an operator permits it: this host, loopback, link-local (metadata
#: services among them), multicast, reserved, and metadata services elsewhere.
REFUSED_NETWORKS = (
    '0.0.0.0/8',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '100.100.100.200/32',
    '192.0.0.192/32',
    '224.0.0.0/4',
    '240.0.0.0/4',
    '::/128',
    '::1/128',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
    'fd00:ec2::254/128',
    'fd20:ce::254/128',
)
LOOPBACK = ('127.0.0.0/8', '::1/128')
#: Prefixes of IPv6 whose last 32 bits are an address of IPv4 that is connected to.
_TRANSLATED = tuple(
    ipaddress.IPv6Network(prefix)
    for prefix in ('::/96', '64:ff9b::/96', '64:ff9b:1::/48')
)


class DestinationRefusedError(Exception):
    """A destination is not allowed; the text names the host and the option."""


@dataclasses.dataclass(frozen=True, slots=True)
class Destinations:
    """The rules of an operator for outgoing connections.

    :param hosts: names, patterns such as `*.example.org`, and addresses that may be
        connected to; none: all
    :param refused: networks that may not be connected to
    :param allowed: exceptions from `refused`
    """

    hosts: tuple[str, ...] = ()
    refused: tuple[Network, ...] = tuple(map(ipaddress.ip_network, REFUSED_NETWORKS))
    allowed: tuple[Network, ...] = ()

    def __hash__(self) -> int:
        # Networks are slow to hash, and each request finds its client by these rules.
        return hash((self.hosts, len(self.refused), len(self.allowed)))

    def check_host(self, host: str) -> None:
        """Raise Refused unless a host of a URL may be connected to.

        An address in place of a name is not checked here; see `check_address`.
        """
        if not self.hosts:
            return
        name = _normalized(host)
        if not any(fnmatch.fnmatchcase(name, _normalized(h)) for h in self.hosts):
            raise DestinationRefusedError(
                f'{name} is none of the hosts that are allowed (option allowed_hosts '
                'in the group [outgoing_http])'
            )

    def check_address(self, host: str, address: str) -> None:
        """Raise Refused unless an address of a host may be connected to.

        :param address: as the resolver returned it
        """
        if self.is_refused(ipaddress.ip_address(address.partition('%')[0])):
            # The resolution of a name may be confidential.
            raise DestinationRefusedError(
                f'{_normalized(host)} is in a network that is refused (options '
                'refused_networks and allowed_networks in the group [outgoing_http])'
            )

    def is_refused(self, address: Address) -> bool:
        """Return whether an address, or an embedded one, is refused."""
        return any(
            any(_is_in(one, network) for network in self.refused)
            and not any(_is_in(one, network) for network in self.allowed)
            for one in _equivalent_addresses(address)
        )


def _equivalent_addresses(address: Address) -> Iterator[Address]:
    """Yield an address and the IPv4 addresses that packets to it may end up at."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in prefix for prefix in _TRANSLATED) and int(address) > 1:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _is_in(address: Address, network: Network) -> bool:
    return address.version == network.version and address in network


def _normalized(host: str) -> str:
    return host.strip('[]').rstrip('.').lower()


#: For tests and examples: servers of this machine may be connected to as well.
WITH_LOOPBACK = Destinations(allowed=tuple(map(ipaddress.ip_network, LOOPBACK)))
