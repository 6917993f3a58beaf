"""The bus of a process without a broker.

It has the semantics of the bus on RabbitMQ: messages pass through the codec, a command
is delivered to one worker, and delivered again when the handler raises, up to the same
limit.
"""

import collections
import dataclasses
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from watcherlite import exceptions
from watcherlite.domain import actions
from watcherlite.messaging import bus, codec, topology

LOG = logging.getLogger(__name__)
#: The largest number of pending messages; the oldest are dropped.
LIMIT = 1000

OnNotification = Callable[[str, bytes], None]


class _Consumer(NamedTuple):
    lanes: tuple[str, ...]
    on_command: bus.OnCommand
    on_control: bus.OnControl


class _Hint(NamedTuple):
    lane: str | None
    body: bytes
    failures: int = 0


@dataclasses.dataclass(slots=True, eq=False)
class _Batch:
    messages: Sequence[tuple[str, bytes]]
    taken: bool = False
    given_up: bool = False
    over: threading.Event = dataclasses.field(default_factory=threading.Event)


class InProcessBus:
    """A `bus.Bus` with one thread that delivers all messages in order.

    A subscriber of notifications delays all other messages while its callback runs.
    """

    def __init__(self) -> None:
        self.counters = bus.BusCounters()
        self._rejections = bus.RejectionLog()
        #: The newest commands that no handler accepted.
        self.dead_letters: collections.deque[bytes] = collections.deque(maxlen=LIMIT)
        self._condition = threading.Condition()
        self._hints: collections.deque[_Hint] = collections.deque()
        self._unclaimed: dict[str, collections.deque[_Hint]] = {
            lane: collections.deque() for lane in actions.LANES
        }
        self._batches: collections.deque[_Batch] = collections.deque()
        self._consumers: list[_Consumer] = []
        self._turns = collections.Counter[str]()
        self._subscribers: list[OnNotification] = []
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(
        self, lanes: Sequence[str], on_command: bus.OnCommand, on_control: bus.OnControl
    ) -> None:
        for lane in lanes:
            bus.check_lane(lane)
        with self._condition:
            self._consumers.append(_Consumer(tuple(lanes), on_command, on_control))
            self.counters.connections += 1
            for lane in lanes:
                self._hints.extend(self._unclaimed[lane])
                self._unclaimed[lane].clear()
            self._wake()

    def wait_until_consuming(self, timeout: float) -> bool:
        with self._condition:
            return bool(self._consumers) and not self._closed

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        bus.check_lane(lane)
        self._send(_Hint(lane, codec.encode(command)))

    def broadcast(self, message: Mapping[str, Any]) -> None:
        self._send(_Hint(None, codec.encode(message)))

    def subscribe_notifications(self, callback: OnNotification) -> None:
        """Call `callback(routing key, body)` for each notification from now on."""
        with self._condition:
            self._subscribers.append(callback)

    def has_subscribers(self) -> bool:
        """Return whether this process has a subscriber of notifications."""
        return bool(self._subscribers)

    def notification_publisher(self) -> bus.NotificationPublisher:
        return _Publisher(self)

    def close(self, timeout: float) -> None:
        with self._condition:
            self._closed = True
            for batch in self._batches:
                batch.over.set()
            self._batches.clear()
            self._condition.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            if thread.is_alive():
                LOG.warning('A message handler still runs after its bus was closed.')

    def deliver_notifications(
        self, messages: Sequence[tuple[str, bytes]], timeout: float
    ) -> None:
        """Deliver a batch to all subscribers and wait; see `NotificationPublisher`."""
        batch = _Batch(messages)
        with self._condition:
            if self._closed:
                raise exceptions.BrokerUnavailable('The in-process bus is closed.')
            if not self._subscribers:
                return
            self._batches.append(batch)
            self._wake()
        batch.over.wait(timeout)
        with self._condition:
            # The batch is published again as a whole, or not at all.
            batch.given_up = not batch.taken
        if batch.given_up:
            raise exceptions.BrokerUnavailable(
                f'The subscribers in this process did not take {len(messages)} '
                f'notifications in {timeout:g} s, or their bus was closed.'
            )

    def _send(self, hint: _Hint) -> None:
        with self._condition:
            if self._closed:
                self._log_dropped('the in-process bus is closed')
                return
            self._put(self._hints, hint)
            self._wake()

    def _put(self, queue: collections.deque[_Hint], hint: _Hint) -> None:
        if len(queue) >= LIMIT:
            queue.popleft()
            self._log_dropped(f'{LIMIT} newer ones are pending')
        queue.append(hint)

    def _log_dropped(self, why: str) -> None:
        self.counters.dropped += 1
        LOG.warning('Dropped a message, because %s; the sweep finds its work.', why)

    def _wake(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(
                target=self._run, name='in-process-bus', daemon=True
            )
            self._thread.start()
        self._condition.notify_all()

    def _run(self) -> None:
        while (work := self._next()) is not None:
            if isinstance(work, _Batch):
                self._deliver_batch(work)
            elif work.lane is None:
                self._deliver_broadcast(work)
            else:
                self._deliver_command(work.lane, work)

    def _next(self) -> _Batch | _Hint | None:
        with self._condition:
            self._condition.wait_for(
                lambda: self._closed or self._batches or self._hints
            )
            if self._closed:
                return None
            return self._batches.popleft() if self._batches else self._hints.popleft()

    def _deliver_batch(self, batch: _Batch) -> None:
        with self._condition:
            subscribers = list(self._subscribers)
        for routing_key, body in batch.messages:
            if batch.given_up:
                return
            for callback in subscribers:
                try:
                    callback(routing_key, body)
                except Exception:
                    LOG.exception(
                        'A subscriber failed on a notification %s.', routing_key
                    )
        with self._condition:
            batch.taken = not batch.given_up
        batch.over.set()

    def _deliver_broadcast(self, hint: _Hint) -> None:
        with self._condition:
            consumers = list(self._consumers)
        for consumer in consumers:
            try:
                consumer.on_control(codec.decode(hint.body))
                self.counters.broadcasts += 1
            except Exception:
                self.counters.failed += 1
                LOG.exception('Cannot handle a broadcast.')

    def _deliver_command(self, lane: str, hint: _Hint) -> None:
        with self._condition:
            takers = [item for item in self._consumers if lane in item.lanes]
            if not takers:
                self._put(self._unclaimed[lane], hint)
                return
            taker = takers[self._turns[lane] % len(takers)]
            self._turns[lane] += 1
        try:
            taker.on_command(lane, codec.decode(hint.body))
            self.counters.commands += 1
        except exceptions.Invalid as error:
            self.counters.malformed += 1
            self._rejections.report(f'A command for lane {lane}', error)
            self.dead_letters.append(hint.body)
        except Exception:
            self._failed(hint)

    def _failed(self, hint: _Hint) -> None:
        self.counters.failed += 1
        LOG.exception('Cannot handle a command of lane %s.', hint.lane)
        if hint.failures >= topology.DELIVERY_LIMIT:
            self.dead_letters.append(hint.body)
            return
        with self._condition:
            self._put(self._hints, hint._replace(failures=hint.failures + 1))


class _Publisher:
    """A `bus.NotificationPublisher` for the subscribers in this process."""

    def __init__(self, owner: InProcessBus) -> None:
        self._owner = owner
        self._closed = False

    def publish(self, messages: Sequence[tuple[str, bytes]], timeout: float) -> None:
        if self._closed:
            raise exceptions.BrokerUnavailable('This publisher is closed.')
        if messages:
            self._owner.deliver_notifications(messages, timeout)

    def inspect_queues(self, timeout: float) -> tuple[frozenset[str], frozenset[str]]:
        """Return no queue: a delivered notification is with its subscriber."""
        return frozenset(), frozenset()

    def confirm_restored(self, timeout: float) -> None:
        """Do nothing: nothing is lost."""

    def has_subscribers(self) -> bool:
        return self._owner.has_subscribers()

    def keep_alive(self) -> None:
        """Do nothing: there is no connection."""

    def close(self) -> None:
        self._closed = True
