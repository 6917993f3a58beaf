"""Ports for servers that tests start."""

import pathlib
import secrets
import socket

_RANGE = pathlib.Path('/proc/sys/net/ipv4/ip_local_port_range')
#: The lowest port to use; lower ones belong to well-known services.
_LOWEST = 20000
#: The first port that Linux assigns to connections by default.
_FIRST_EPHEMERAL = 32768
#: Names of sockets that reserve the ports; they are released with the process.
_reserved: list[socket.socket] = []


def reserve_port() -> int:
    """Return a free port of 127.0.0.1, reserved for this process.

    A port that the system chooses may be assigned to a connection of another process
    before the server listens. Ports below those of connections are not assigned, and
    other test processes respect the reservation: the name of an abstract socket.
    """
    highest = _FIRST_EPHEMERAL
    if _RANGE.exists():
        highest = int(_RANGE.read_text().split()[0])
    while True:
        port = _LOWEST + secrets.randbelow(highest - _LOWEST)
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f'\0watcherlite-test-port-{port}')
            with socket.create_server(('127.0.0.1', port)):
                _reserved.append(reservation)
                return port
        except OSError:
            reservation.close()
