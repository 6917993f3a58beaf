"""The publisher of commands and broadcasts, a thread that owns its connection."""

import collections
import logging
import threading
import time

from watcherlite import exceptions
from watcherlite.messaging import (
    bus,
    connection,
    declaration,
    publisher_confirms,
    reconnect,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)
#: The largest number of pending messages; the oldest are dropped.
LIMIT = 1000
_BATCH = 100


class Publisher:
    """Keeps messages until the broker has confirmed them, or drops the oldest.

    It connects for the first message. A queue that is deleted later is declared again
    by its consumers: see `ConsumerWatchdog`.
    """

    def __init__(
        self,
        connector: connection.Connector,
        messaging: settings.MessagingSettings,
        counters: bus.BusCounters,
        on_failure: bus.OnFailure,
    ) -> None:
        self._connector = connector
        self._settings = messaging
        self._topology = topology.work(messaging.prefix)
        self._counters = counters
        self._on_failure = on_failure
        self._pending: collections.deque[publisher_confirms.OutgoingMessage] = (
            collections.deque()
        )
        self._condition = threading.Condition()
        self._stop = threading.Event()
        self._reconnect_loop = reconnect.ReconnectLoop(
            'Message publisher', self._stop, messaging.reconnect_max
        )
        self._tried_in_vain = False
        self._dropping = False
        self._over = False
        self._thread: threading.Thread | None = None

    def send(self, message: publisher_confirms.OutgoingMessage) -> None:
        """Publish a message as soon as the broker accepts it; return at once."""
        with self._condition:
            if self._over or self._stop.is_set():
                self._drop(1, 'the bus is closed')
                return
            if len(self._pending) >= LIMIT:
                self._pending.popleft()
                self._drop(1, f'{LIMIT} newer ones are pending')
            self._pending.append(message)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name='message-publisher', daemon=True
                )
                self._thread.start()
            self._condition.notify()

    def stop(self) -> None:
        """Publish pending messages, unless the broker is unavailable, and stop."""
        with self._condition:
            self._stop.set()
            self._condition.notify()

    def join(self, timeout: float) -> bool:
        """Wait for the end after `stop`; return False after `timeout` seconds."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _run(self) -> None:
        try:
            self._reconnect_loop.run(self._session)
        except exceptions.ConfigurationError as error:
            self._on_failure(error)
        finally:
            with self._condition:
                self._over = True
                if self._pending:
                    self._drop(len(self._pending), 'the broker cannot be reached')
                self._pending.clear()

    def _session(self) -> None:
        if self._stop.is_set() and self._tried_in_vain:
            return
        batch = self._next_batch(None)
        if batch is None:
            return
        self._tried_in_vain = True
        try:
            with self._connector.session() as link:
                channel = publisher_confirms.ConfirmChannel(link)
                declaration.declare(channel.channel, self._topology)
                self._tried_in_vain = False
                self._reconnect_loop.on_connected()
                while batch is not None:
                    if batch:
                        self._publish(channel, batch)
                        batch = []
                    link.poll()
                    batch = self._next_batch(link.poll_interval)
        except BaseException:
            self._put_back(batch or [])
            raise

    def _next_batch(
        self, wait: float | None
    ) -> list[publisher_confirms.OutgoingMessage] | None:
        """Return the next messages; none after `wait` seconds, None after `stop`."""
        with self._condition:
            self._condition.wait_for(
                lambda: self._pending or self._stop.is_set(), timeout=wait
            )
            if self._stop.is_set() and not self._pending:
                return None
            count = min(_BATCH, len(self._pending))
            return [self._pending.popleft() for _ in range(count)]

    def _put_back(self, batch: list[publisher_confirms.OutgoingMessage]) -> None:
        with self._condition:
            excess = max(len(batch) - (LIMIT - len(self._pending)), 0)
            if excess:
                self._drop(excess, f'{LIMIT} newer ones are pending')
            self._pending.extendleft(reversed(batch[excess:]))

    def _publish(
        self,
        channel: publisher_confirms.ConfirmChannel,
        batch: list[publisher_confirms.OutgoingMessage],
    ) -> None:
        started = time.monotonic()
        refusals = channel.publish(batch, self._settings.confirm_timeout)
        self._dropping = False
        LOG.debug(
            'Published %d messages in %.3f s.', len(batch), time.monotonic() - started
        )
        for refusal in refusals:
            if refusal.exchange == topology.control(self._settings.prefix):
                # A fanout without a queue: no worker is running.
                LOG.debug('A broadcast reached no worker.')
            else:
                self._drop(1, f'{refusal.routing_key} refused it: {refusal.reason}')

    def _drop(self, count: int, why: str) -> None:
        with self._condition:
            self._counters.dropped += count
            # One warning for each outage.
            level = logging.DEBUG if self._dropping else logging.WARNING
            self._dropping = True
        LOG.log(
            level,
            'Dropped %d messages to workers, because %s; the sweep finds their work.',
            count,
            why,
        )
