"""The bus of the settings, and the consumer of notifications of services."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from watcherlite import exceptions
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.messaging import addresses, bus, in_process, settings

if TYPE_CHECKING:
    from watcherlite.messaging.notification_consumer import NotificationConsumer

_NOTIFICATIONS = settings.NotificationDestination()


def open_bus(
    messaging: settings.MessagingSettings,
    *,
    host: str,
    notifications: settings.NotificationDestination = _NOTIFICATIONS,
    on_failure: bus.OnFailure | None = None,
) -> bus.Bus:
    """Return the bus for `messaging.url`, which connects when it is used.

    `memory://` stays within the process, `amqp://`, `amqps://` and `rabbit://` mean
    RabbitMQ, see `addresses.parse`.

    :param host: names this worker at the broker
    :param on_failure: called once, in a thread of the bus, when the bus stops for good
    :raises exceptions.ConfigurationError: the URL is invalid
    """
    scheme = addresses.scheme(messaging.url.strip())
    if scheme == 'memory':
        return in_process.InProcessBus()
    if scheme in addresses.SCHEMES:
        # kombu takes 0.2 s to import. A process on memory://, and the help of every
        # command, do not need it.
        from watcherlite.messaging import amqp_bus

        return amqp_bus.AmqpBus(
            messaging, notifications, host=host, on_failure=on_failure
        )
    raise exceptions.ConfigurationError(
        f'[messaging] url has the scheme {scheme!r}, which is not supported: use '
        'memory:// for a single process, amqp://USER:PASSWORD@HOST:5672/VHOST for '
        'RabbitMQ, amqps:// for RabbitMQ with TLS; rabbit:// is accepted for amqp://.'
        if scheme
        else '[messaging] url is not a URL: it has to begin with memory://, amqp://, '
        'amqps:// or rabbit://.'
    )


def open_notification_consumer(
    messaging: settings.MessagingSettings,
    sources: Sequence[settings.NotificationSource],
    *,
    host: str,
    on_notification: Callable[[ServiceNotification], None],
    on_consuming: Callable[[], None],
    on_lost: Callable[[], None],
) -> 'NotificationConsumer':
    """Return a consumer of notifications of services, which `start` connects.

    :param on_notification, on_consuming, on_lost: see `NotificationConsumer`
    :raises exceptions.ConfigurationError: the URL is invalid
    """
    from watcherlite.messaging import notification_consumer

    return notification_consumer.NotificationConsumer(
        messaging,
        sources,
        host=host,
        on_notification=on_notification,
        on_consuming=on_consuming,
        on_lost=on_lost,
    )
