"""py-amqp, with an end to its waits.

There, a timeout begins anew with each heartbeat that arrives: a broker that is short
of memory sends heartbeats and answers nothing, and whoever waits for it with a
timeout waits for ever.
"""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from kombu.transport import pyamqp

#: The shortest wait. With zero the socket does not block, and the library turns
#: round and round when half of a frame is there.
MOMENT = 0.001
#: Bytes that are sent at one time where many messages are written.
PIECE = 65536


class Connection(pyamqp.Connection):
    """A connection that waits for `patience` seconds where it is not told how long."""

    patience: float = 10.0

    def limit(self, seconds: float) -> None:
        """Set the patience, for reading and for writing.

        On the Python socket, because the timeouts that the library sets in the
        system are ignored by TLS, and in the middle of a frame.
        """
        self.patience = max(seconds, MOMENT)
        self.sock.settimeout(self.patience)

    def drain_events(self, timeout: float | None = None) -> None:
        """Handle the next message of the broker.

        :raises TimeoutError: if none came, however many heartbeats did
        """
        wait = self.patience if timeout is None else timeout
        deadline = time.monotonic() + wait
        while not self.blocking_read(max(wait, MOMENT)):
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise TimeoutError('timed out')

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        """Send what is written in this block in large pieces.

        py-amqp calls the system once for each message, which costs more than
        making it. Nothing may be read inside the block: the broker may not have
        been asked yet. After an error the connection is of no more use.
        """
        transport = self.transport
        send, gathered = transport._write, bytearray()

        def write(data: Any) -> None:
            gathered.extend(data)
            if len(gathered) >= PIECE:
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
    """kombu's transport to RabbitMQ, with such connections."""

    Connection = Connection


class TlsTransport(pyamqp.SSLTransport):
    """The same through TLS."""

    Connection = Connection


def transport(tls: bool) -> Any:
    """Return the transport class; by class, else kombu takes librabbitmq if it can."""
    return TlsTransport if tls else Transport
