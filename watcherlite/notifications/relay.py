"""The relay: publishes the events of the store, which is the outbox.

One worker holds the role of the relay and publishes for all workers, so that the
notifications of an object stay in order. It reads events, builds and publishes their
messages, waits for the confirmations of the broker, and then marks the events as
published. After an error the events are not marked, and are published again with the
same ids.
"""

import dataclasses
import logging
import math
import random
import threading
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain.events import StoredEvent
from watcherlite.messaging.bus import NotificationPublisher
from watcherlite.notifications.messages import (
    BuildFailure,
    MessageBatch,
    MessageBuilder,
)
from watcherlite.notifications.redelivery import Redelivery
from watcherlite.notifications.settings import NotificationSettings, RelaySettings

LOG = logging.getLogger(__name__)

#: The least time between two hints of one worker to the relay, in seconds.
HINT_INTERVAL = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Pause:
    """The wait before the next batch, in seconds.

    :param longest: without a call of `wake`
    :param shortest: with one
    """

    longest: float
    shortest: float


class Relay:
    """The relay of one worker, with a thread of its own, which executes `run`.

    :param publisher: closed when the relay has stopped
    :param settings: which notifications are sent, and where
    :param worker_uuid: the worker that takes the role
    :param on_stored: called when this worker has stored events, at most every
        HINT_INTERVAL seconds; it sends a hint to the relay, if that is another worker,
        and to the processes that show events to clients
    :param jitter: returns a number from 0 to 1

    :ivar published: the number of confirmed messages
    :ivar events: the number of events that were marked as published
    :ivar build_failures: the number of these of which no message could be built
    """

    #: The name of the role in the store.
    ROLE = 'relay'

    def __init__(
        self,
        store: Store,
        publisher: NotificationPublisher,
        settings: NotificationSettings,
        worker_uuid: str,
        clock: Clock,
        relay_settings: RelaySettings | None = None,
        on_stored: Callable[[], None] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._on_stored = on_stored
        self._publisher = publisher
        self._settings = settings
        self._builder = MessageBuilder(settings, store)
        self._redelivery = Redelivery(store, publisher, self._builder, clock)
        self._worker = worker_uuid
        self._clock = clock
        self._relay_settings = relay_settings or RelaySettings()
        self._jitter = jitter
        self._condition = threading.Condition()
        self._woken = False
        self._stored = False
        self._stop_by: float | None = None
        self._thread: threading.Thread | None = None
        self._role_until = -math.inf
        self._try_again = -math.inf
        self._is_relay = False
        self._failures = 0
        self._outage_since: float | None = None
        self._caught_up = 0
        self.published = 0
        self.events = 0
        self.build_failures = 0

    def reconfigure(
        self,
        settings: NotificationSettings,
        relay_settings: RelaySettings | None = None,
    ) -> None:
        """Use other settings, from the next batch on; any thread may call it."""
        self._settings = settings
        self._builder.configure(settings)
        if relay_settings is not None:
            self._relay_settings = relay_settings

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self.run, name='relay', daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Publish the events that this process has stored; any thread, at any rate."""
        self._stored = True
        self._wake()

    def on_hint(self) -> None:
        """Publish the events that another process has stored."""
        # A worker that is not the relay would only send the hint on, in circles.
        if self._is_relay:
            self._wake()

    def _wake(self) -> None:
        # Without the lock, because this is called after every commit: a caller that
        # sees True comes before the relay clears it, and so before it reads the events.
        if not self._woken:
            with self._condition:
                self._woken = True
                self._condition.notify_all()

    def stop(self, timeout: float) -> bool:
        """Publish the pending events, release the role, and stop the thread.

        Events that are left after `timeout` seconds stay in the store for the next
        relay.

        :returns: whether the thread has stopped within the time
        """
        with self._condition:
            self._stop_by = self._clock.monotonic() + timeout
            self._condition.notify_all()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        if self._thread.is_alive():
            LOG.warning(
                'The relay of worker %s did not stop within %g s; pending '
                'notifications stay in the database.',
                self._worker,
                timeout,
            )
        return not self._thread.is_alive()

    def run(self) -> None:
        """Publish events until `stop` is called."""
        pause = Pause(0.0, 0.0)
        while self._wait(pause):
            pause = self._run_once()
        self._finish()
        self._publisher.close()

    def _wait(self, pause: Pause) -> bool:
        """Wait for events; return False when the relay is to stop."""
        since = self._clock.monotonic()
        with self._condition:
            while self._stop_by is None:
                until = pause.shortest if self._woken else pause.longest
                left = since + until - self._clock.monotonic()
                if left <= 0:
                    break
                self._clock.wait(self._condition, left)
            # Before the events are read: those stored from now on wake the relay again.
            self._woken = False
            return self._stop_by is None

    def _run_once(self) -> Pause:
        settings = self._relay_settings
        try:
            if not self._hold_role():
                self._reset()
                self._publisher.keep_alive()
                return self._hint_relay()
            if self._has_redelivery() and self._redelivery.run(
                settings, settings.publish_timeout, self._keep_role
            ):
                return Pause(0.0, 0.0)
            more = self._publish_batch(settings.publish_timeout)
        except exceptions.BrokerUnavailable as error:
            pause = self._failed(str(error))
            self._release_role()
            return pause
        except exceptions.WatcherliteError as error:
            return self._failed(str(error))
        except Exception as error:
            if self._outage_since is None:
                LOG.exception(
                    'Unexpected error in the relay of worker %s', self._worker
                )
            return self._failed(type(error).__name__)
        self._failures = 0
        if more:
            return Pause(0.0, 0.0)
        self._on_recovered()
        self._send_hint()
        return Pause(settings.sweep_interval, settings.linger)

    def _has_redelivery(self) -> bool:
        """Return whether messages lost with a queue are published again."""
        return bool(self._settings.level) and self._relay_settings.redelivery_window > 0

    def _hint_relay(self) -> Pause:
        """Send a hint to the relay, which is another worker."""
        sweep = self._relay_settings.sweep_interval
        if self._on_stored is None:
            return Pause(sweep, sweep)
        self._send_hint()
        return Pause(sweep, HINT_INTERVAL)

    def _send_hint(self) -> None:
        """Send a hint if this worker has stored events since the last one."""
        if self._stored and self._on_stored is not None:
            self._stored = False
            self._on_stored()

    def _hold_role(self) -> bool:
        """Take the role for long enough to publish a batch; False: another has it."""
        now = self._clock.monotonic()
        settings = self._relay_settings
        if self._role_until - now > settings.publish_timeout:
            return True
        if now < self._try_again:
            # Another worker had the role just now.
            return False
        # The lease counts from before the call, so that it ends here before it ends in
        # the store.
        taken = self._store.acquire_role(self.ROLE, self._worker, settings.lease)
        self._role_until = now + settings.lease if taken else -math.inf
        self._try_again = -math.inf if taken else now + settings.sweep_interval
        if taken != self._is_relay:
            self._is_relay = taken
            LOG.info(
                'Worker %s is the notification relay.'
                if taken
                else 'Worker %s is not the notification relay; another worker is.',
                self._worker,
            )
        return taken

    def _keep_role(self) -> bool:
        """Return whether this worker may publish the events that it has just read.

        If the lease ended while they were read, another relay may have published them.
        """
        lapsed = self._clock.monotonic() >= self._role_until
        return self._hold_role() and not lapsed

    def _publish_batch(self, timeout: float) -> bool:
        """Publish and mark the oldest events; return whether there may be more."""
        limit = self._relay_settings.batch_size
        stored = self._store.pending_events(limit)
        if not stored:
            self._publisher.keep_alive()
            return False
        batch = self._build(stored)
        if batch.messages:
            if not self._keep_role():
                return True
            self._publisher.publish(batch.messages, timeout)
            if self._has_redelivery():
                keys = {key for key, _ in batch.messages}
                self._redelivery.record(keys, stored[0].sequence)
        self._store.mark_published(
            [event.sequence for event in stored], self._clock.now()
        )
        self.published += len(batch.messages)
        self.events += len(stored)
        self._caught_up += len(stored)
        self.build_failures += len(batch.build_failures)
        for build_failures in batch.build_failures:
            _report(build_failures)
        return len(stored) == limit

    def _build(self, stored: Sequence[StoredEvent]) -> MessageBatch:
        # Without a broker and without a subscriber in this process no consumer exists,
        # and building messages requires the versioned objects.
        if not self._publisher.has_subscribers():
            return MessageBatch([], [])
        return self._builder.build(stored)

    def _failed(self, reason: str) -> Pause:
        settings = self._relay_settings
        self._redelivery.interrupt()
        if self._outage_since is None:
            self._outage_since = self._clock.monotonic()
            self._caught_up = 0
            LOG.warning(
                'Cannot publish notifications: %s. They stay in the database, none is '
                'lost. Worker %s retries every %g to %g s.',
                reason.rstrip('.'),
                self._worker,
                settings.min_backoff,
                settings.max_backoff,
            )
        delay = settings.min_backoff * 2.0 ** min(self._failures, 30)
        delay = min(delay, settings.max_backoff)
        # Jitter, so that relays do not reconnect at the same moment.
        delay *= 0.5 + self._jitter() / 2
        self._failures += 1
        return Pause(delay, min(delay, settings.min_backoff))

    def _on_recovered(self) -> None:
        if self._outage_since is not None:
            LOG.info(
                'Notifications are published again after %.1f s; %d pending events '
                'were published.',
                self._clock.monotonic() - self._outage_since,
                self._caught_up,
            )
            self._outage_since = None

    def _reset(self) -> None:
        """Clear the state of a relay: another worker has the role."""
        self._failures = 0
        self._outage_since = None
        self._redelivery.reset()

    def _release_role(self) -> None:
        """Release the role: the broker may be out of reach from here only."""
        if self._role_until == -math.inf:
            return
        self._role_until = -math.inf
        try:
            self._store.release_role(self.ROLE, self._worker)
        except exceptions.WatcherliteError as error:
            # The lease ends by itself.
            LOG.debug('Cannot release the role %s: %s', self.ROLE, error)

    def _finish(self) -> None:
        """Publish pending events while there is time, and release the role."""
        try:
            while True:
                left = (self._stop_by or 0.0) - self._clock.monotonic()
                if left <= 0 or not self._hold_role():
                    break
                timeout = min(left, self._relay_settings.publish_timeout)
                if not self._publish_batch(timeout):
                    break
        except exceptions.WatcherliteError as error:
            LOG.warning(
                'Worker %s stops before all notifications are published; the others '
                'stay in the database: %s',
                self._worker,
                error,
            )
        except Exception:
            LOG.exception('Unexpected error in the relay of worker %s', self._worker)
        self._release_role()
        # Otherwise the relay finds these events only with its next sweep.
        self._send_hint()


def _report(build_failures: BuildFailure) -> None:
    event = build_failures.stored.event
    LOG.error(
        'Event %s (%s of %s %s, sequence %d) has no notification: %s',
        event.uuid,
        event.kind,
        event.subject,
        build_failures.stored.action_uuid or f'with the id {event.key}',
        build_failures.stored.sequence,
        build_failures.error or 'its object is not in the database any more',
        exc_info=build_failures.error,
    )
