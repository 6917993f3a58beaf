"""Whether the broker answers, for the health check."""

import dataclasses

from oslo_config import cfg

from watcherlite.api.health import BrokerProbe
from watcherlite.messaging import addresses
from watcherlite.messaging.settings import MessagingSettings


def probe(conf: cfg.ConfigOpts) -> BrokerProbe:
    """Return what asks the broker of [messaging] url; without one, all is well."""
    group = conf.messaging
    if addresses.scheme(group.url.strip()) == 'memory':
        return BrokerProbe(_nothing_to_ask)
    settings = MessagingSettings(
        **{
            field.name: group[field.name]
            for field in dataclasses.fields(MessagingSettings)
            if field.name in group
        }
    )

    def ask() -> None:
        # Loads kombu, which an API that is never asked for details does without
        from watcherlite.messaging import connection

        with connection.Connector(settings, 'watcherlite-api').opened():
            return

    return BrokerProbe(ask)


def _nothing_to_ask() -> None:
    """Messages stay within each process."""
