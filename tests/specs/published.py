"""Notifications of what a store holds, as a broker in this process is given them."""

import threading
from typing import Any

from tests import factories
from watcherlite.clock import SystemClock
from watcherlite.db.api import Store
from watcherlite.notifications.relay import Relay
from watcherlite.notifications.settings import NotificationSettings, RelaySettings

#: Seconds until a test that waits has failed.
DEADLINE = 20.0


class Recorder:
    """A broker in this process that keeps what it is given."""

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
        """There is no connection that could be given up."""

    def close(self) -> None:
        self.closed = True

    def wait_for(self, count: int) -> bool:
        with self._condition:
            return self._condition.wait_for(
                lambda: len(self.messages) >= count, DEADLINE
            )


def make_relay(store: Store, publisher: Recorder) -> Relay:
    """Return a relay that only a wake makes publish."""
    return Relay(
        store,
        publisher,
        NotificationSettings('localhost'),
        factories.new_uuid(),
        SystemClock(),
        RelaySettings(sweep_interval=600.0),
    )


def published(store: Store) -> list[Any]:
    """Publish what is pending; return these messages."""
    publisher = Recorder()
    relay = make_relay(store, publisher)
    assert relay.stop(DEADLINE)
    relay.run()
    return publisher.messages
