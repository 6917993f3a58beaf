"""The resolution of hosts to permitted addresses.

A name is resolved once, and connections use the checked address: between two
resolutions a name could change.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite.destinations import DestinationRefusedError, Destinations

#: Resolves a name, as `socket.getaddrinfo` does.
Lookup = Callable[[str, int, int, int], Sequence[tuple[Any, Any, Any, Any, Any]]]
_LOCALHOST = 'localhost'


def resolve(
    host: str,
    port: int,
    destinations: Destinations,
    family: int = socket.AF_UNSPEC,
    lookup: Lookup = socket.getaddrinfo,
) -> list[str]:
    """Return the permitted addresses of a host, at least one.

    :raises Refused: the host, or each of its addresses, is not allowed
    :raises socket.gaierror: its name cannot be resolved
    """
    destinations.check_host(host)
    found = lookup(host, port, family, socket.SOCK_STREAM)
    allowed, refused = [], None
    for address in dict.fromkeys(str(entry[4][0]) for entry in found):
        try:
            destinations.check_address(host, address)
            allowed.append(address)
        except DestinationRefusedError as error:
            refused = error
    if refused is not None and not allowed:
        raise refused
    return allowed


def check_behind_proxy(host: str, destinations: Destinations) -> None:
    """Raise Refused if a proxy must not be asked for a host.

    The proxy resolves names; it is responsible for restricting their addresses.
    """
    destinations.check_host(host)
    address = literal(host)
    if address is not None:
        destinations.check_address(host, address)


def literal(host: str) -> str | None:
    """Return the address that a host is literally, or None."""
    name = host.rstrip('.').lower()
    if is_localhost(host):
        return '127.0.0.1'
    try:
        return str(ipaddress.ip_address(name.strip('[]').partition('%')[0]))
    except ValueError:
        pass
    try:
        # As C libraries parse them: 127.1, 0x7f000001, 2130706433
        return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, ValueError):
        return None


def is_localhost(host: str) -> bool:
    """Return whether a host is named `localhost`, which resolvers know."""
    name = host.rstrip('.').lower()
    return name == _LOCALHOST or name.endswith(f'.{_LOCALHOST}')


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its address, or `localhost`."""
    address = literal(host)
    return address is not None and ipaddress.ip_address(address).is_loopback
