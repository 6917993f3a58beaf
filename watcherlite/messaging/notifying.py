"""Publishes notifications over a connection of their own."""

import logging
import time
from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.messaging import (
    confirming,
    connection,
    declaring,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)
#: Seconds without use after which a connection is looked at before it is used again.
_IDLE = 0.1


class AmqpNotificationPublisher:
    """A `bus.NotificationPublisher` that connects when it has something to publish.

    After any error the connection is dropped, so that the next `publish` begins with
    a new one and with exchange and queues declared again.
    """

    def __init__(
        self,
        connector: connection.Connector,
        notifications: settings.NotificationDestination,
    ) -> None:
        self._connector = connector
        self._exchange = notifications.exchange
        self._topology = topology.notifications(notifications)
        self._link: connection.Link | None = None
        self._channel: confirming.ConfirmingChannel | None = None
        self._used = 0.0
        self._closed = False

    def publish(self, messages: Sequence[tuple[str, bytes]], timeout: float) -> None:
        if self._closed:
            raise exceptions.BrokerUnavailable('This publisher is closed.')
        if not messages:
            return
        deadline = time.monotonic() + timeout
        try:
            channel = self._ready(deadline)
            refusals = channel.publish(
                [
                    confirming.Outgoing(self._exchange, routing_key, body)
                    for routing_key, body in messages
                ],
                deadline - time.monotonic(),
            )
        except connection.ERRORS as error:
            self._drop()
            raise exceptions.BrokerUnavailable(
                'The connection to the message broker was lost while '
                f'{len(messages)} notifications were published: '
                f'{error or type(error).__name__}.'
            ) from error
        except BaseException:
            self._drop()
            raise
        self._used = time.monotonic()
        if refusals:
            self._drop()
            raise exceptions.BrokerUnavailable(
                f'The message broker did not take {len(refusals)} of {len(messages)} '
                f'notifications, the first with routing key '
                f'{refusals[0].routing_key!r}: {refusals[0].reason}.'
            )

    def keep_alive(self) -> None:
        if self._link is not None and self._link.beat_is_due():
            self._look(self._link)

    def close(self) -> None:
        self._closed = True
        link, self._link, self._channel = self._link, None, None
        if link is not None:
            link.close()

    def _ready(self, deadline: float) -> confirming.ConfirmingChannel:
        # A connection that was idle may be gone. To notice before anything is sent
        # saves an error, and consumers from seeing a whole batch twice.
        if self._link is not None and time.monotonic() - self._used > _IDLE:
            self._look(self._link)
        if self._channel is None:
            self._link = self._connector.open(deadline - time.monotonic())
            self._link.limit(deadline - time.monotonic())
            channel = confirming.ConfirmingChannel(self._link)
            declaring.declare(channel.channel, self._topology)
            self._channel = channel
        return self._channel

    def _look(self, link: connection.Link) -> None:
        try:
            link.look()
        except connection.ERRORS as error:
            LOG.info('The idle connection for notifications was lost: %s', error)
            self._drop()

    def _drop(self) -> None:
        link, self._link, self._channel = self._link, None, None
        if link is not None:
            link.collect()
