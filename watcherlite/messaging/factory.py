"""From the settings to the bus that they mean."""

from watcherlite import exceptions
from watcherlite.messaging import addresses, bus, in_process, settings

_NOTIFICATIONS = settings.NotificationDestination()


def open_bus(
    messaging: settings.MessagingSettings,
    *,
    host: str,
    notifications: settings.NotificationDestination = _NOTIFICATIONS,
    on_failure: bus.OnFailure | None = None,
) -> bus.Bus:
    """Return the bus for `messaging.url`; it connects when it has to.

    `memory://` stays within the process, `amqp://`, `amqps://` and `rabbit://` mean
    RabbitMQ, see `addresses.parse`.

    :param host: names this worker at the broker
    :param on_failure: called in a thread of the bus, once, when it gives up for good
    :raises exceptions.ConfigurationError: if the URL cannot be used
    """
    scheme = addresses.scheme(messaging.url.strip())
    if scheme == 'memory':
        return in_process.InProcessBus()
    if scheme in addresses.SCHEMES:
        # kombu takes a fifth of a second to load; a process on memory:// and every
        # command that only asks for help do without.
        from watcherlite.messaging import amqp_bus

        return amqp_bus.AmqpBus(
            messaging, notifications, host=host, on_failure=on_failure
        )
    raise exceptions.ConfigurationError(
        f'[messaging] url has the scheme {scheme!r}, which is not supported: use '
        'memory:// for a single process, amqp://USER:PASSWORD@HOST:5672/VHOST for '
        'RabbitMQ, amqps:// for RabbitMQ with TLS; rabbit:// is accepted for amqp://.'
        if scheme
        else '[messaging] url is no URL: it begins with memory://, amqp://, amqps:// '
        'or rabbit://.'
    )
