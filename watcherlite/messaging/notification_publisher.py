"""The publisher of notifications, with a connection of its own."""

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence

from watcherlite import exceptions
from watcherlite.messaging import (
    amqp_connection,
    connection,
    declaration,
    publisher_confirms,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)
#: Idle seconds after which a connection is checked before it is used.
_IDLE = 0.1


class AmqpNotificationPublisher:
    """A `bus.NotificationPublisher` that connects when it has something to publish.

    After any error the connection is dropped. The next `publish` opens a new one, and
    declares the exchange and the queues again.
    """

    def __init__(
        self,
        connector: connection.Connector,
        notifications: settings.NotificationDestination,
        prefix: str,
    ) -> None:
        self._connector = connector
        self._sentinel = topology.sentinel(prefix, notifications)
        self._keys = frozenset(
            f'{topic}.{priority}'
            for topic in notifications.topics
            for priority in notifications.priorities
        )
        self._lost: frozenset[str] = frozenset()
        self._empty: frozenset[str] = frozenset()
        self._inspected: connection.BrokerConnection | None = None
        self._exchange = notifications.exchange
        self._topology = topology.notifications(notifications)
        self._link: connection.BrokerConnection | None = None
        self._channel: publisher_confirms.ConfirmChannel | None = None
        self._used = 0.0
        self._closed = False

    def publish(self, messages: Sequence[tuple[str, bytes]], timeout: float) -> None:
        if self._closed:
            raise exceptions.BrokerUnavailable('The notification publisher is closed.')
        if not messages:
            return
        deadline = time.monotonic() + timeout
        with self._guarded(f'{len(messages)} notifications were published'):
            channel = self._ready(deadline)
            refusals = channel.publish(
                [
                    publisher_confirms.OutgoingMessage(
                        self._exchange, routing_key, body
                    )
                    for routing_key, body in messages
                ],
                deadline - time.monotonic(),
            )
        self._used = time.monotonic()
        if refusals:
            self._drop()
            raise exceptions.BrokerUnavailable(
                f'The message broker did not take {len(refusals)} of {len(messages)} '
                f'notifications, the first with routing key '
                f'{refusals[0].routing_key!r}: {refusals[0].reason}.'
            )

    def inspect_queues(self, timeout: float) -> tuple[frozenset[str], frozenset[str]]:
        deadline = time.monotonic() + timeout
        with self._guarded('the queues of notifications were inspected'):
            connected = self._link is not None
            channel = self._ready(deadline)
            link = self._link
            if connected and link is not None:
                link.set_timeout(
                    max(deadline - time.monotonic(), amqp_connection.MIN_TIMEOUT)
                )
                self._find_lost(link)
                if self._lost:
                    declaration.declare(channel.channel, self._topology)
        self._inspected = self._link
        self._used = time.monotonic()
        return self._lost, self._empty

    def confirm_restored(self, timeout: float) -> None:
        link = self._link
        if link is None or link is not self._inspected:
            raise exceptions.BrokerUnavailable(
                'The connection to the message broker was lost since the queues of '
                'notifications were inspected.'
            )
        with self._guarded('the queues of notifications were restored'):
            link.set_timeout(timeout)
            channel = link.channel()
            declaration.declare_queue(channel, self._sentinel, self._topology.remedy)
            channel.close()
        self._lost = frozenset()

    def has_subscribers(self) -> bool:
        return True

    def keep_alive(self) -> None:
        if self._link is not None and self._link.is_heartbeat_due():
            self._poll(self._link)

    def close(self) -> None:
        self._closed = True
        link, self._link, self._channel = self._link, None, None
        if link is not None:
            link.close()

    def _ready(self, deadline: float) -> publisher_confirms.ConfirmChannel:
        # An idle connection may be lost. Checking it first saves an error, and a
        # batch that consumers receive twice.
        if self._link is not None and time.monotonic() - self._used > _IDLE:
            self._poll(self._link)
        if self._channel is None:
            self._link = self._connector.open(deadline - time.monotonic())
            self._link.set_timeout(deadline - time.monotonic())
            # Before the queues are declared: afterwards none is missing.
            self._find_lost(self._link)
            channel = publisher_confirms.ConfirmChannel(self._link)
            declaration.declare(channel.channel, self._topology)
            self._channel = channel
        return self._channel

    def _find_lost(self, link: connection.BrokerConnection) -> None:
        """Find the missing queues; all of them, if the sentinel is missing.

        The sentinel is deleted while a queue is lost, so that another publisher finds
        the loss as well.
        """
        names = [self._sentinel.name, *sorted(self._keys)]
        found = declaration.count_messages(link, names)
        self._empty = frozenset(key for key in self._keys if found.get(key) == 0)
        if self._lost and self._inspected is link:
            self._lost |= self._keys - found.keys()
        elif self._sentinel.name not in found:
            self._lost = self._keys
        elif len(found) < len(names):
            self._lost |= self._keys - found.keys()
            channel = link.channel()
            channel.queue_delete(self._sentinel.name)
            channel.close()

    @contextlib.contextmanager
    def _guarded(self, what: str) -> Iterator[None]:
        """Drop the connection after any error."""
        try:
            yield
        except connection.ERRORS as error:
            self._drop()
            raise exceptions.BrokerUnavailable(
                f'The connection to the message broker was lost while {what}: '
                f'{error or type(error).__name__}.'
            ) from error
        except BaseException:
            self._drop()
            raise

    def _poll(self, link: connection.BrokerConnection) -> None:
        try:
            link.poll()
        except connection.ERRORS as error:
            LOG.info(
                'The idle connection of the notification publisher was lost: %s', error
            )
            self._drop()

    def _drop(self) -> None:
        link, self._link, self._channel = self._link, None, None
        if link is not None:
            link.collect()
