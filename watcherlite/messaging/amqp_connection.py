"""py-amqp connections with bounded waits.

A timeout of py-amqp starts again with each heartbeat that arrives. A broker that is
short of memory sends heartbeats and answers nothing, so that the timeout never ends.
"""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from kombu.transport import pyamqp

#: The shortest timeout. With zero the socket does not block, and py-amqp loops without
#: end when half of a frame has arrived.
MIN_TIMEOUT = 0.001
#: Bytes of one write when many messages are published.
WRITE_SIZE = 65536


class Connection(pyamqp.Connection):
    """A connection that whose waits end after `default_timeout` seconds by default."""

    default_timeout: float = 10.0

    def set_timeout(self, seconds: float) -> None:
        """Set the timeout for reading and for writing.

        On the Python socket, because the timeouts that the library sets in the
        system are ignored by TLS, and in the middle of a frame.
        """
        self.default_timeout = max(seconds, MIN_TIMEOUT)
        self.sock.settimeout(self.default_timeout)

    def drain_events(self, timeout: float | None = None) -> None:
        """Handle the next frame of the broker that is not a heartbeat.

        :raises TimeoutError: none arrived in time
        """
        wait = self.default_timeout if timeout is None else timeout
        deadline = time.monotonic() + wait
        while not self.blocking_read(max(wait, MIN_TIMEOUT)):
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise TimeoutError('timed out')

    @contextlib.contextmanager
    def buffered_writes(self) -> Iterator[None]:
        """Buffer the writes of this block, and send them in large pieces.

        py-amqp makes one system call for each message, which costs more than to build
        it. Nothing may be read inside the block: the request may not be sent yet.
        After an error the connection cannot be used any more.
        """
        transport = self.transport
        send, gathered = transport._write, bytearray()

        def write(data: Any) -> None:
            gathered.extend(data)
            if len(gathered) >= WRITE_SIZE:
                flush()

        def flush() -> None:
            pieces = bytes(gathered)
            gathered.clear()
            send(pieces)

        transport._write = write
        try:
            yield
            flush()
        finally:
            transport._write = send


class Transport(pyamqp.Transport):
    """The transport of kombu, with connections with bounded waits."""

    Connection = Connection


class TlsTransport(pyamqp.SSLTransport):
    """The same over TLS."""

    Connection = Connection


def transport(tls: bool) -> Any:
    """Return the transport class; by name kombu would choose librabbitmq if it can."""
    return TlsTransport if tls else Transport
