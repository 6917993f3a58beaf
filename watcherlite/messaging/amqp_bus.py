"""The bus on RabbitMQ: one publishing thread, and one consuming thread a worker."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.messaging import (
    bus,
    codec,
    connection,
    consumer,
    notification_publisher,
    publisher,
    publisher_confirms,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)


class AmqpBus:
    """A `bus.Bus` shared by any number of daemons."""

    def __init__(
        self,
        messaging: settings.MessagingSettings,
        notifications: settings.NotificationDestination,
        *,
        host: str,
        on_failure: bus.OnFailure | None = None,
    ) -> None:
        self.counters = bus.BusCounters()
        self._messaging = messaging
        self._notifications = notifications
        self._host = host
        self._on_failure = on_failure
        self._first_failure = threading.Lock()
        self._closed = False
        self._consumers: list[consumer.Consumer] = []
        self._publisher = publisher.Publisher(
            self._connector('publisher'), messaging, self.counters, self._fail
        )

    def start(
        self, lanes: Sequence[str], on_command: bus.OnCommand, on_control: bus.OnControl
    ) -> None:
        for lane in lanes:
            bus.check_lane(lane)
        worker = consumer.Consumer(
            self._connector('consumer'),
            self._messaging,
            self.counters,
            lanes,
            on_command,
            on_control,
            self._fail,
        )
        self._consumers.append(worker)
        worker.start()

    def wait_until_consuming(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        return bool(self._consumers) and all(
            worker.wait(max(deadline - time.monotonic(), 0))
            for worker in self._consumers
        )

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        bus.check_lane(lane)
        self._publisher.send(
            publisher_confirms.OutgoingMessage(
                topology.commands(self._messaging.prefix), lane, codec.encode(command)
            )
        )

    def broadcast(self, message: Mapping[str, Any]) -> None:
        # Not persistent: the queues end with their workers.
        self._publisher.send(
            publisher_confirms.OutgoingMessage(
                topology.control(self._messaging.prefix),
                '',
                codec.encode(message),
                persistent=False,
            )
        )

    def notification_publisher(self) -> bus.NotificationPublisher:
        return notification_publisher.AmqpNotificationPublisher(
            self._connector('notifications'),
            self._notifications,
            self._messaging.prefix,
        )

    def close(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        threads: list[publisher.Publisher | consumer.Consumer] = [
            self._publisher,
            *self._consumers,
        ]
        for thread in threads:
            thread.stop()
        # A list, not a generator: every thread is joined.
        ended = [thread.join(max(deadline - time.monotonic(), 0)) for thread in threads]
        if not all(ended) and not self._closed:
            LOG.warning(
                'Closed the message bus after %g s without the last confirmations of '
                'the broker; commands may be lost, and the sweep finds their work.',
                timeout,
            )
        self._closed = True

    def _connector(self, role: str) -> connection.Connector:
        return connection.Connector(
            self._messaging, f'{self._messaging.prefix} {role} on {self._host}'
        )

    def _fail(self, error: exceptions.ConfigurationError) -> None:
        LOG.critical('Messaging stopped: %s', error)
        # Acquired by the first thread that fails, and never released.
        first = self._first_failure.acquire(blocking=False)
        if first and self._on_failure is not None:
            self._on_failure(error)
