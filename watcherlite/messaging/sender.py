"""Sends hints from a thread of its own, so that nobody else waits for a broker."""

import collections
import logging
import threading
import time

from watcherlite import exceptions
from watcherlite.messaging import (
    bus,
    confirming,
    connection,
    declaring,
    reconnecting,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)
#: Hints that may wait; of more, the oldest are dropped.
LIMIT = 1000
_BATCH = 100


class Sender:
    """Keeps hints until the broker has confirmed them, or newer ones need the room.

    It connects for the first hint, not before. A queue that is deleted later is left
    to its consumers to declare again: see `hearing` for what happens otherwise.
    """

    def __init__(
        self,
        connector: connection.Connector,
        messaging: settings.MessagingSettings,
        counts: bus.Counts,
        on_failure: bus.OnFailure,
    ) -> None:
        self._connector = connector
        self._settings = messaging
        self._topology = topology.work(messaging.prefix)
        self._counts = counts
        self._on_failure = on_failure
        self._pending: collections.deque[confirming.Outgoing] = collections.deque()
        self._condition = threading.Condition()
        self._stop = threading.Event()
        self._reconnecting = reconnecting.Reconnecting(
            'Sending', self._stop, messaging.reconnect_max
        )
        self._tried_in_vain = False
        self._dropping = False
        self._over = False
        self._thread: threading.Thread | None = None

    def send(self, message: confirming.Outgoing) -> None:
        """Send the message when the broker can take it; returns at once."""
        with self._condition:
            if self._over or self._stop.is_set():
                self._drop(1, 'the bus is closed or was given up')
                return
            if len(self._pending) >= LIMIT:
                self._pending.popleft()
                self._drop(1, f'{LIMIT} newer ones wait for the broker')
            self._pending.append(message)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name='message-sender', daemon=True
                )
                self._thread.start()
            self._condition.notify()

    def stop(self) -> None:
        """Send what waits, unless the broker is known to be away, then end."""
        with self._condition:
            self._stop.set()
            self._condition.notify()

    def join(self, timeout: float) -> bool:
        """Wait for the end after `stop`; False if `timeout` seconds passed first."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _run(self) -> None:
        try:
            self._reconnecting.run(self._session)
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
            with self._connector.opened() as link:
                channel = confirming.ConfirmingChannel(link)
                declaring.declare(channel.channel, self._topology)
                self._tried_in_vain = False
                self._reconnecting.established()
                while batch is not None:
                    if batch:
                        self._publish(channel, batch)
                        batch = []
                    link.look()
                    batch = self._next_batch(link.pulse)
        except BaseException:
            self._put_back(batch or [])
            raise

    def _next_batch(self, wait: float | None) -> list[confirming.Outgoing] | None:
        """Return what to send; empty when `wait` seconds passed, None for the end."""
        with self._condition:
            self._condition.wait_for(
                lambda: self._pending or self._stop.is_set(), timeout=wait
            )
            if self._stop.is_set() and not self._pending:
                return None
            count = min(_BATCH, len(self._pending))
            return [self._pending.popleft() for _ in range(count)]

    def _put_back(self, batch: list[confirming.Outgoing]) -> None:
        with self._condition:
            room = LIMIT - len(self._pending)
            if len(batch) > room:
                self._drop(len(batch) - room, f'{LIMIT} newer ones wait for the broker')
            self._pending.extendleft(reversed(batch[len(batch) - room :]))

    def _publish(
        self, channel: confirming.ConfirmingChannel, batch: list[confirming.Outgoing]
    ) -> None:
        started = time.monotonic()
        refusals = channel.publish(batch, self._settings.confirm_timeout)
        self._dropping = False
        LOG.debug('Sent %d hints in %.3f s.', len(batch), time.monotonic() - started)
        for refusal in refusals:
            if refusal.exchange == topology.control(self._settings.prefix):
                # A fanout without a queue: no worker runs that could be told.
                LOG.debug('A broadcast reached nobody.')
            else:
                self._drop(1, f'{refusal.routing_key} refused it: {refusal.reason}')

    def _drop(self, count: int, why: str) -> None:
        with self._condition:
            self._counts.dropped += count
            # Once for each outage, not for each hint of it.
            level = logging.DEBUG if self._dropping else logging.WARNING
            self._dropping = True
        LOG.log(
            level,
            'Dropped %d hints to workers, because %s; the sweep finds their work.',
            count,
            why,
        )
