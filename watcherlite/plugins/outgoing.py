"""From the host of a URL to the addresses that may be connected to.

A name is resolved once, and what was checked is what is connected to: between two
resolutions a name could come to lead elsewhere.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite.destinations import Destinations, Refused

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
    """Return the addresses of a host that may be connected to, at least one.

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
        except Refused as error:
            refused = error
    if refused is not None and not allowed:
        raise refused
    return allowed


def check_behind_proxy(host: str, destinations: Destinations) -> None:
    """Raise Refused if a proxy is not to be asked for a host.

    Names are resolved by the proxy; what it reaches by them is for it to limit.
    """
    destinations.check_host(host)
    address = literal(host)
    if address is not None:
        destinations.check_address(host, address)


def literal(host: str) -> str | None:
    """Return the address that a host is without being resolved, or None."""
    name = host.rstrip('.').lower()
    if name == _LOCALHOST or name.endswith(f'.{_LOCALHOST}'):
        return '127.0.0.1'
    try:
        return str(ipaddress.ip_address(name.strip('[]').partition('%')[0]))
    except ValueError:
        pass
    try:
        # As C libraries read them: 127.1, 0x7f000001, 2130706433
        return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, ValueError):
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its address, or by `localhost`."""
    address = literal(host)
    return address is not None and ipaddress.ip_address(address).is_loopback
