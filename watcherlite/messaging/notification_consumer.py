"""The consumer of notifications of other services, a thread that owns its connection.

Its queue belongs to its connection, and is deleted with it: what is published before
the next connection is lost, and the handler of `on_consuming` learns of that.
Exchanges belong to the services: the consumer never declares them, because a service
cannot use one with other properties than its own.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.messaging import (
    bus,
    connection,
    declaration,
    notification_codec,
    reconnect,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)

#: Seconds until an idle consumer notices a stop.
_LOOK = 0.5
#: Seconds between two checks for exchanges that did not exist.
_CHECK = 30.0

OnNotification = Callable[[ServiceNotification], None]


class NotificationConsumer:
    """Calls a handler with each notification, and reconnects.

    The callbacks are called in the thread of the consumer, so they return quickly.

    :param on_consuming: called when messages that were published before may have been
        missed: after each connection, and when another exchange exists
    :param on_lost: called when the connection is lost
    """

    def __init__(
        self,
        messaging: settings.MessagingSettings,
        sources: Sequence[settings.NotificationSource],
        *,
        host: str,
        on_notification: OnNotification,
        on_consuming: Callable[[], None],
        on_lost: Callable[[], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connector = connection.Connector(
            messaging, f'watcherlite notifications {host}'
        )
        self._prefix = messaging.prefix
        self._sources = tuple(sources)
        self._on_notification = on_notification
        self._on_consuming = on_consuming
        self._on_lost = on_lost
        self._monotonic = monotonic
        self._rejections = bus.RejectionLog()
        self._absent: set[str] = set()
        self._consuming = threading.Event()
        self._stop = threading.Event()
        self._reconnect_loop = reconnect.ReconnectLoop(
            'Consumer of service notifications', self._stop, messaging.reconnect_max
        )
        self._thread = threading.Thread(
            target=self._run, name='service-notifications', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wait_until_consuming(self, timeout: float) -> bool:
        """Wait until messages are consumed; return False after `timeout` seconds."""
        return self._consuming.wait(timeout)

    def stop(self, timeout: float) -> None:
        """Stop the thread, and wait for its end at most `timeout` seconds."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        try:
            self._reconnect_loop.run(self._session)
        except exceptions.ConfigurationError as error:
            LOG.error('Notifications of services are not consumed: %s', error)

    def _session(self) -> None:
        with self._connector.session() as link:
            channel = link.channel()
            own = topology.service_notification_queue(self._prefix, uuid.uuid4().hex)
            declaration.declare_queue(channel, own, 'Delete it on the broker')
            try:
                missing = self._bind(link, channel, own.name, self._sources)
                # Only this queue depends on an acknowledgement, and it is lost with
                # the connection.
                channel.basic_consume(queue=own.name, no_ack=True, callback=self._take)
                self._reconnect_loop.on_connected()
                self._on_consuming()
                self._consuming.set()
                LOG.info('Consuming notifications of services from %s.', link.address)
                self._drain(link, channel, own.name, missing)
            finally:
                self._consuming.clear()
                self._on_lost()

    def _drain(
        self,
        link: connection.BrokerConnection,
        channel: Any,
        queue: str,
        missing: Sequence[settings.NotificationSource],
    ) -> None:
        """Handle messages until the consumer is stopped."""
        check = self._monotonic() + _CHECK
        while not self._stop.is_set():
            link.drain_events(_LOOK)
            link.heartbeat_if_due()
            if missing and self._monotonic() >= check:
                check = self._monotonic() + _CHECK
                left = self._bind(link, channel, queue, missing)
                if len(left) < len(missing):
                    self._on_consuming()
                missing = left

    def _bind(
        self,
        link: connection.BrokerConnection,
        channel: Any,
        queue: str,
        sources: Sequence[settings.NotificationSource],
    ) -> list[settings.NotificationSource]:
        """Bind the queue to exchanges; return the sources whose exchange is absent."""
        missing = []
        for source in sources:
            if declaration.has_exchange(link, source.exchange):
                # The priority follows the topic.
                channel.queue_bind(
                    queue=queue,
                    exchange=source.exchange,
                    routing_key=f'{source.topic}.*',
                )
                continue
            missing.append(source)
            if source.exchange not in self._absent:
                self._absent.add(source.exchange)
                LOG.warning(
                    'The message broker has no exchange %s: notifications of the '
                    'topic %s are consumed when it exists. Check [data_models] '
                    'notification_topics, and that the service sends notifications.',
                    source.exchange,
                    source.topic,
                )
        return missing

    def _take(self, delivery: Any) -> None:
        try:
            # An empty body arrives as an empty str.
            notification = notification_codec.decode(delivery.body or b'')
        except exceptions.Invalid as error:
            self._rejections.report('A notification of a service', error)
            return
        try:
            self._on_notification(notification)
        except Exception:
            LOG.exception('Cannot handle a notification %s.', notification.event_type)
