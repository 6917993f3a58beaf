"""The bus on RabbitMQ: a thread that sends, one a worker that receives."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.messaging import (
    bus,
    codec,
    confirming,
    connection,
    notifying,
    receiver,
    sender,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)


class AmqpBus:
    """A `bus.Bus` that daemons of any number share."""

    def __init__(
        self,
        messaging: settings.MessagingSettings,
        notifications: settings.NotificationDestination,
        *,
        host: str,
        on_failure: bus.OnFailure | None = None,
    ) -> None:
        self.counts = bus.Counts()
        self._messaging = messaging
        self._notifications = notifications
        self._host = host
        self._on_failure = on_failure
        self._first_failure = threading.Lock()
        self._closed = False
        self._receivers: list[receiver.Receiver] = []
        self._sender = sender.Sender(
            self._connector('sender'), messaging, self.counts, self._fail
        )

    def start(
        self,
        lanes: Sequence[str],
        on_command: bus.OnCommand,
        on_control: bus.OnControl,
    ) -> None:
        for lane in lanes:
            bus.check_lane(lane)
        worker = receiver.Receiver(
            self._connector('receiver'),
            self._messaging,
            self.counts,
            lanes,
            on_command,
            on_control,
            self._fail,
        )
        self._receivers.append(worker)
        worker.start()

    def wait_until_consuming(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        return bool(self._receivers) and all(
            worker.wait(max(deadline - time.monotonic(), 0))
            for worker in self._receivers
        )

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        bus.check_lane(lane)
        self._sender.send(
            confirming.Outgoing(
                topology.commands(self._messaging.prefix), lane, codec.encode(command)
            )
        )

    def broadcast(self, message: Mapping[str, Any]) -> None:
        # Not persistent: the queues go with their workers.
        self._sender.send(
            confirming.Outgoing(
                topology.control(self._messaging.prefix),
                '',
                codec.encode(message),
                persistent=False,
            )
        )

    def notification_publisher(self) -> bus.NotificationPublisher:
        return notifying.AmqpNotificationPublisher(
            self._connector('notifications'), self._notifications
        )

    def close(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        threads: list[sender.Sender | receiver.Receiver] = [
            self._sender,
            *self._receivers,
        ]
        for thread in threads:
            thread.stop()
        # A list, not a generator: each of them is given its chance.
        ended = [thread.join(max(deadline - time.monotonic(), 0)) for thread in threads]
        if not all(ended) and not self._closed:
            LOG.warning(
                'Closed the message bus after %g s without waiting for the broker; '
                'what it has not confirmed may be lost, and the sweep finds its work.',
                timeout,
            )
        self._closed = True

    def _connector(self, role: str) -> connection.Connector:
        return connection.Connector(
            self._messaging, f'{self._messaging.prefix} {role} on {self._host}'
        )

    def _fail(self, error: exceptions.ConfigurationError) -> None:
        LOG.critical('Messaging was given up: %s', error)
        # Taken by the first of the threads that fail, and never given back.
        first = self._first_failure.acquire(blocking=False)
        if first and self._on_failure is not None:
            self._on_failure(error)
