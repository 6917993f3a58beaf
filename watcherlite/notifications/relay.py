"""Publishes what the store holds: the other end of the outbox.

Of all workers the one that holds the role of the relay publishes for all, so that
the notifications of a plan or audit stay in order. It reads events, builds,
publishes, waits for the confirmations, and only then marks the events. Whatever
goes wrong on the way leaves them unmarked, and they are sent again, with the same
ids.
"""

import dataclasses
import datetime
import logging
import math
import random
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.notifications.messages import Message, MessageBuilder, Unbuildable
from watcherlite.notifications.settings import NotificationSettings, RelaySettings

LOG = logging.getLogger(__name__)

#: Seconds between two times that the relay is told of events by one worker.
OFFERS = 0.05


class Publisher(Protocol):
    """What the relay needs of the broker. One thread uses it."""

    def publish(self, messages: Sequence[Message], timeout: float) -> None:
        """Publish in this order; return when the broker has confirmed them all.

        :param timeout: seconds for all of it
        :raises BrokerUnavailable: some may not have arrived; when it returns by
            this, nothing of them is sent any more
        """

    def keep_alive(self) -> None:
        """Keep an idle connection from being given up; never an error."""

    def close(self) -> None:
        """Give the connection up; never an error."""


@dataclasses.dataclass(frozen=True, slots=True)
class Pause:
    """How long to wait before the next turn, in seconds.

    :param longest: when nobody calls `wake`
    :param shortest: when somebody does
    """

    longest: float
    shortest: float


class Relay:
    """The relay of one worker: a thread, of which only `run` is the inside.

    :param publisher: closed when the relay has ended
    :param told: what is told, and to whom
    :param worker_uuid: the worker that is to hold the role
    :param elsewhere: called when this worker has stored events, so that others are
        told: the relay if it is another worker, at most every OFFERS seconds, and
        those who show events to clients
    :param jitter: returns a number from 0 to 1

    :ivar published: how many messages were confirmed
    :ivar events: how many events were marked
    :ivar unbuildable: of how many of them no message could be made
    """

    #: The name of the role in the store.
    ROLE = 'relay'

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        told: NotificationSettings,
        worker_uuid: str,
        clock: Clock,
        settings: RelaySettings | None = None,
        elsewhere: Callable[[], None] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._elsewhere = elsewhere
        self._publisher = publisher
        self._builder = MessageBuilder(told, store)
        self._worker = worker_uuid
        self._clock = clock
        self._settings = settings or RelaySettings()
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
        self._oldest: datetime.datetime | None = None
        self.published = 0
        self.events = 0
        self.unbuildable = 0

    @property
    def lag(self) -> float:
        """Return how old the oldest event is that waits, in seconds, or 0.

        As far as this worker knows, which is 0 while another one is the relay.
        """
        oldest = self._oldest
        if oldest is None:
            return 0.0
        return max(0.0, (self._clock.now() - oldest).total_seconds())

    def reconfigure(
        self, told: NotificationSettings, settings: RelaySettings | None = None
    ) -> None:
        """Take other settings, from the next batch on; any thread may call it."""
        self._builder.configure(told)
        if settings is not None:
            self._settings = settings

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self.run, name='relay', daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that this process has stored events; any thread, at any rate."""
        self._stored = True
        self._rouse()

    def hear(self) -> None:
        """Take a hint that another process has stored events."""
        # Who is not the relay would only pass it on, and in circles.
        if self._is_relay:
            self._rouse()

    def _rouse(self) -> None:
        # Unguarded, for it is called after every commit: whoever sees True came
        # before the relay clears it, and so before the relay reads the events.
        if not self._woken:
            with self._condition:
                self._woken = True
                self._condition.notify_all()

    def stop(self, timeout: float) -> bool:
        """Publish what there is, give the role up, and end the thread.

        What is left after `timeout` seconds waits in the store for the next
        relay. False: the thread has not come to its end within the time.
        """
        with self._condition:
            self._stop_by = self._clock.monotonic() + timeout
            self._condition.notify_all()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        if self._thread.is_alive():
            LOG.warning(
                'The relay of worker %s has not stopped within %g s; what it has '
                'not published waits in the database.',
                self._worker,
                timeout,
            )
        return not self._thread.is_alive()

    def run(self) -> None:
        """Work until `stop` is called."""
        pause = Pause(0.0, 0.0)
        while self._wait(pause):
            pause = self._turn()
        self._finish()
        self._publisher.close()

    def _wait(self, pause: Pause) -> bool:
        """Wait; False when it is time to stop."""
        since = self._clock.monotonic()
        with self._condition:
            while self._stop_by is None:
                until = pause.shortest if self._woken else pause.longest
                left = since + until - self._clock.monotonic()
                if left <= 0:
                    break
                self._clock.wait(self._condition, left)
            # Before the events are read: what is stored from now on wakes again.
            self._woken = False
            return self._stop_by is None

    def _turn(self) -> Pause:
        settings = self._settings
        try:
            if not self._hold_role():
                self._stand_back()
                self._publisher.keep_alive()
                return self._pass_on()
            more = self._publish_batch(settings.publish_timeout)
        except exceptions.BrokerUnavailable as error:
            pause = self._failed(str(error))
            self._drop_role()
            return pause
        except exceptions.WatcherliteError as error:
            return self._failed(str(error))
        except Exception as error:
            if self._outage_since is None:
                LOG.exception('Unexpected error in the relay of %s', self._worker)
            return self._failed(type(error).__name__)
        self._failures = 0
        if more:
            return Pause(0.0, 0.0)
        self._recovered()
        self._tell()
        return Pause(settings.sweep_interval, settings.linger)

    def _pass_on(self) -> Pause:
        """Tell the relay, which is another worker, of events that are stored."""
        sweep = self._settings.sweep_interval
        if self._elsewhere is None:
            return Pause(sweep, sweep)
        self._tell()
        return Pause(sweep, OFFERS)

    def _tell(self) -> None:
        """Tell others if this worker has stored events since it told them last."""
        if self._stored and self._elsewhere is not None:
            self._stored = False
            self._elsewhere()

    def _hold_role(self) -> bool:
        """Be the relay for long enough to publish a batch; False: another is."""
        now = self._clock.monotonic()
        settings = self._settings
        if self._role_until - now > settings.publish_timeout:
            return True
        if now < self._try_again:
            # Another worker has just been it; it is enough to ask now and then.
            return False
        # Counted from before the call, so that it ends here before it ends there.
        taken = self._store.take_role(self.ROLE, self._worker, settings.lease)
        self._role_until = now + settings.lease if taken else -math.inf
        self._try_again = -math.inf if taken else now + settings.sweep_interval
        if taken != self._is_relay:
            self._is_relay = taken
            LOG.info(
                'Worker %s publishes the notifications from now on.'
                if taken
                else 'Worker %s publishes no notifications: another worker does.',
                self._worker,
            )
        return taken

    def _keep_role(self) -> bool:
        """Say whether what has just been read is this worker's to publish.

        Reading may have taken longer than the role was held for; whoever has had it
        since may have published the same, and more.
        """
        lapsed = self._clock.monotonic() >= self._role_until
        return self._hold_role() and not lapsed

    def _publish_batch(self, timeout: float) -> bool:
        """Publish and mark the oldest events; True: there may be more."""
        limit = self._settings.batch_size
        stored = self._store.pending_events(limit)
        self._oldest = stored[0].event.occurred_at if stored else None
        if not stored:
            self._publisher.keep_alive()
            return False
        batch = self._builder.build(stored)
        if batch.messages:
            if not self._keep_role():
                return True
            self._publisher.publish(batch.messages, timeout)
        self._store.mark_published(
            [event.sequence for event in stored], self._clock.now()
        )
        self.published += len(batch.messages)
        self.events += len(stored)
        self._caught_up += len(stored)
        self.unbuildable += len(batch.unbuildable)
        for unbuildable in batch.unbuildable:
            _report(unbuildable)
        more = len(stored) == limit
        if not more:
            self._oldest = None
        return more

    def _failed(self, reason: str) -> Pause:
        settings = self._settings
        if self._outage_since is None:
            self._outage_since = self._clock.monotonic()
            self._caught_up = 0
            LOG.warning(
                'Notifications wait in the database, none is lost: %s. Worker %s '
                'tries again every %g to %g s.',
                reason.rstrip('.'),
                self._worker,
                settings.min_backoff,
                settings.max_backoff,
            )
        delay = settings.min_backoff * 2.0 ** min(self._failures, 30)
        delay = min(delay, settings.max_backoff)
        # Not all relays and not always at once, when the broker comes back.
        delay *= 0.5 + self._jitter() / 2
        self._failures += 1
        return Pause(delay, min(delay, settings.min_backoff))

    def _recovered(self) -> None:
        if self._outage_since is not None:
            LOG.info(
                'Notifications are published again after %.1f s; the last of %d '
                'events that waited is out.',
                self._clock.monotonic() - self._outage_since,
                self._caught_up,
            )
            self._outage_since = None

    def _stand_back(self) -> None:
        """Forget what only the relay knows: another worker is it."""
        self._failures = 0
        self._outage_since = None
        self._oldest = None

    def _drop_role(self) -> None:
        """Let another worker try: the broker may be out of reach from here only."""
        if self._role_until == -math.inf:
            return
        self._role_until = -math.inf
        try:
            self._store.drop_role(self.ROLE, self._worker)
        except exceptions.WatcherliteError as error:
            # It runs out by itself.
            LOG.debug('The role %s of %s: %s', self.ROLE, self._worker, error)

    def _finish(self) -> None:
        """Publish what there is while there is time, and give the role up."""
        try:
            while True:
                left = (self._stop_by or 0.0) - self._clock.monotonic()
                if left <= 0 or not self._hold_role():
                    break
                timeout = min(left, self._settings.publish_timeout)
                if not self._publish_batch(timeout):
                    break
        except exceptions.WatcherliteError as error:
            LOG.warning(
                'Worker %s stops with notifications that are not published; they '
                'wait in the database: %s',
                self._worker,
                error,
            )
        except Exception:
            LOG.exception('Unexpected error in the relay of %s', self._worker)
        self._drop_role()
        # Whoever is the relay would look for it only with its next sweep.
        self._tell()


def _report(unbuildable: Unbuildable) -> None:
    event = unbuildable.stored.event
    keys = (event.subject_id, event.action_id, event.plan_id)
    key = next((key for key in keys if key is not None), None)
    LOG.error(
        'Event %s (%s of %s %s, sequence %d) is not told of: %s',
        event.uuid,
        event.kind,
        event.subject,
        unbuildable.stored.action_uuid or f'with the id {key}',
        unbuildable.stored.sequence,
        unbuildable.error
        or 'what it is about, or belongs to, is not in the database any more',
        exc_info=unbuildable.error,
    )
