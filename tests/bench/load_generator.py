"""A load generator for HTTP: clients with one request at a time each."""

import dataclasses
import math
import socket
import threading
import time
from collections.abc import Iterator, Sequence

_TIMEOUT = 30.0
_CHUNK = 65536
_END = b'\r\n\r\n'


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """The measurement of a load.

    :param seconds: from the first request to the last response
    :param latencies: of all requests, in seconds
    """

    seconds: float
    latencies: Sequence[float]

    @property
    def rate(self) -> float:
        """Return the requests per second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """Return the percentile of a share of the latencies, in seconds."""
        ordered = sorted(self.latencies)
        return ordered[math.ceil(share * len(ordered)) - 1]


class Connection:
    """A client with a persistent connection and a minimal parser."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(('127.0.0.1', port), _TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, path: str) -> bytes:
        """Return the body of a response; raise AssertionError unless it is 200."""
        self._socket.sendall(
            f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n'
            'OpenStack-API-Version: infra-optim 1.7\r\n\r\n'.encode()
        )
        received = b''
        while _END not in received:
            received += self._more()
        head, _, body = received.partition(_END)
        if b' 200 ' not in head.partition(b'\r\n')[0]:
            raise AssertionError(f'unexpected response to {path}: {head.decode()}')
        length = content_length(head)
        while len(body) < length:
            body += self._more()
        return body

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _more(self) -> bytes:
        data = self._socket.recv(_CHUNK)
        if not data:
            raise AssertionError('the server closed the connection')
        return data


def content_length(head: bytes) -> int:
    """Return the content length of response headers; AssertionError without one."""
    for line in head.split(b'\r\n')[1:]:
        name, _, value = line.partition(b':')
        if name.lower() == b'content-length':
            return int(value)
    raise AssertionError('the response has no Content-Length')


def put(port: int, paths: Sequence[str], clients: int, seconds: float) -> Load:
    """Let clients request the paths in a cycle for some seconds.

    :raises AssertionError: a response was not 200
    """
    begin = threading.Barrier(clients)
    taken: list[list[float]] = [[] for _ in range(clients)]
    failures: list[BaseException] = []

    def ask(number: int) -> None:
        connection = Connection(port)
        try:
            following = _cycle(paths, number)
            connection.get(next(following))
            begin.wait()
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                begun = time.perf_counter()
                connection.get(next(following))
                taken[number].append(time.perf_counter() - begun)
        except BaseException as error:
            failures.append(error)
            begin.abort()
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(clients)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    took = time.perf_counter() - begun
    return Load(took, [latency for own in taken for latency in own])


def _cycle(paths: Sequence[str], begin: int) -> Iterator[str]:
    at = begin
    while True:
        # Clients start at different paths, so that they share no cache.
        yield paths[at % len(paths)]
        at += 7
