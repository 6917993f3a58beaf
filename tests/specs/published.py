"""The messages that a relay publishes for the events in a store."""

import threading
from typing import Any

from tests import factories
from tests.bounded import TIMEOUT
from watcherlite.clock import SystemClock
from watcherlite.db.api import Store
from watcherlite.notifications.relay import Relay
from watcherlite.notifications.settings import NotificationSettings, RelaySettings


class Recorder:
    """A publisher that keeps the messages."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._condition = threading.Condition()
        self.closed = False

    def publish(self, batch: Any, timeout: float) -> None:
        with self._condition:
            self.messages.extend(batch)
            self._condition.notify_all()

    def has_subscribers(self) -> bool:
        return True

    def keep_alive(self) -> None:
        """Do nothing, since there is no connection."""

    def close(self) -> None:
        self.closed = True

    def wait_for(self, count: int) -> bool:
        with self._condition:
            return self._condition.wait_for(
                lambda: len(self.messages) >= count, TIMEOUT
            )


def make_relay(store: Store, publisher: Recorder) -> Relay:
    """Return a relay that publishes only when it is woken."""
    return Relay(
        store,
        publisher,
        NotificationSettings('localhost'),
        factories.new_uuid(),
        SystemClock(),
        RelaySettings(sweep_interval=600.0),
    )


def published(store: Store) -> list[Any]:
    """Publish the pending events; return the messages."""
    publisher = Recorder()
    relay = make_relay(store, publisher)
    assert relay.stop(TIMEOUT)
    relay.run()
    return publisher.messages
