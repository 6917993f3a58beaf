"""py-amqp, with an end to its waits.

There, a timeout begins anew with each heartbeat that arrives: a broker that is short
of memory sends heartbeats and answers nothing, and whoever waits for it with a
timeout waits for ever.
"""

import time
from typing import Any

from kombu.transport import pyamqp

#: The shortest wait. With zero the socket does not block, and the library turns
#: round and round when half of a frame is there.
MOMENT = 0.001


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


class Transport(pyamqp.Transport):
    """kombu's transport to RabbitMQ, with such connections."""

    Connection = Connection


class TlsTransport(pyamqp.SSLTransport):
    """The same through TLS."""

    Connection = Connection


def transport(tls: bool) -> Any:
    """Return the transport class; by class, else kombu takes librabbitmq if it can."""
    return TlsTransport if tls else Transport
