"""Redelivery of messages that the broker has confirmed and then lost with a queue.

A queue that is not durable ends with the broker, and so do its messages. The relay
records, for each queue, the first event published since the queue was last empty. When
a queue is lost, the messages of the events from there on are published again, with the
same ids, before any new one.
"""

import datetime
import logging
import math
from collections.abc import Callable, Iterable, Sequence

from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain.events import StoredEvent
from watcherlite.messaging.bus import NotificationPublisher
from watcherlite.notifications.messages import MessageBuilder
from watcherlite.notifications.settings import RelaySettings

LOG = logging.getLogger(__name__)


class Redelivery:
    """The redelivery of one relay; used by its thread.

    :ivar messages: the number of messages that were published again
    """

    def __init__(
        self,
        store: Store,
        publisher: NotificationPublisher,
        builder: MessageBuilder,
        clock: Clock,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._builder = builder
        self._clock = clock
        #: Routing key -> lowest sequence published since its queue was empty.
        self._since: dict[str, int] = {}
        #: Routing keys of the queues that were empty at an inspection.
        self._seen_empty: set[str] = set()
        self._lost: frozenset[str] = frozenset()
        #: The sequence up to which lost messages are published again; None outside of
        #: a redelivery.
        self._position: int | None = None
        self._inspect_at = -math.inf
        self._count = 0
        self.messages = 0

    def reset(self) -> None:
        """Clear all records: another worker has the role of the relay."""
        self._since.clear()
        self._seen_empty.clear()
        self.interrupt()

    def interrupt(self) -> None:
        """Inspect the queues before anything else is published."""
        self._position = None
        self._inspect_at = -math.inf

    def record(self, routing_keys: Iterable[str], sequence: int) -> None:
        """Record that messages were published.

        :param sequence: the lowest of their events
        """
        for key in routing_keys:
            self._since[key] = min(self._since.get(key, sequence), sequence)

    def run(
        self, settings: RelaySettings, timeout: float, may_publish: Callable[[], bool]
    ) -> bool:
        """Inspect the queues if that is due, and publish one batch again.

        :param may_publish: returns whether this worker still is the relay
        :returns: whether there is more to publish again, before new messages
        """
        if self._position is None:
            if self._clock.monotonic() < self._inspect_at:
                return False
            self._inspect(settings, timeout)
            if self._position is None:
                return False
        since = self._clock.now() - datetime.timedelta(
            seconds=settings.redelivery_window
        )
        limit = settings.batch_size
        stored = self._store.published_events(self._position, since, limit)
        if not may_publish():
            return True
        self._publish(stored, timeout)
        if len(stored) == limit:
            self._position = stored[-1].sequence
            return True
        self._publisher.confirm_restored(timeout)
        # The queues of a new installation are missing as well, and were empty.
        LOG.log(
            logging.WARNING if self._count else logging.INFO,
            'The message broker lost the queues %s. %d notifications, which it had '
            'confirmed since the queues were last empty and within %g s, were '
            'published again with the same message_id.',
            ', '.join(sorted(self._lost)),
            self._count,
            settings.redelivery_window,
        )
        self._position = None
        return False

    def _inspect(self, settings: RelaySettings, timeout: float) -> None:
        lost, empty = self._publisher.inspect_queues(timeout)
        self._inspect_at = self._clock.monotonic() + settings.sweep_interval
        for key in empty - lost:
            self._seen_empty.add(key)
            self._since.pop(key, None)
        if not lost:
            return
        starts = [
            self._since.get(key, 1) - 1
            for key in lost
            if key in self._since or key not in self._seen_empty
        ]
        if not starts:
            self._publisher.confirm_restored(timeout)
            return
        self._lost, self._position, self._count = lost, min(starts), 0

    def _publish(self, stored: Sequence[StoredEvent], timeout: float) -> None:
        batch = self._builder.build(stored)
        messages = [message for message in batch.messages if message[0] in self._lost]
        if messages:
            self._publisher.publish(messages, timeout)
            self.record({key for key, _ in messages}, stored[0].sequence)
            self._count += len(messages)
            self.messages += len(messages)
