"""The deadlines of actions: of attempts in flight, and of actions that wait.

The watchdog ends attempts that ignore their deadline. An action that waits for what
it derived has no worker, so that no deadline of one reaches it: whoever serves its
lane asks, with each sweep, which of them come to be overdue until the next one, and
wakes up at the first of these: one statement, however many wait. The functions are
pure.
"""

import datetime
import functools
import logging
import threading
from collections.abc import Sequence
from typing import Protocol

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.domain import outcomes
from watcherlite.domain.actions import COMPLETE, Action
from watcherlite.domain.outcomes import Derived
from watcherlite.execution import results
from watcherlite.execution.context import TIMEOUT, Context, about
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.pool import Pools
from watcherlite.execution.ports import WorkerProcess
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.execution.timers import Timers
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The deadline of an action whose time was over: what it derived was told to end.
EXPIRED = EPOCH
#: An action whose time stands still has at least so much of it left.
LEAST = datetime.timedelta(seconds=0.001)


def change_status(action: Action, status: str, now: datetime.datetime) -> Action:
    """Return an action as it is SUSPENDED, or so no more: its time stands still.

    :param status: that it has then
    """
    deadline = action.deadline
    if deadline is not None and deadline != EXPIRED:
        if status == states.SUSPENDED:
            deadline = EPOCH + max(LEAST, deadline - now)
        else:
            deadline = now + (deadline - EPOCH)
    return action.evolve(status=status, deadline=deadline)


def is_expired(
    action: Action, results: Sequence[DerivedResult], now: datetime.datetime
) -> bool:
    """Return whether what an action derived has ended because its time was over.

    :param action: perhaps as it was before it was told so
    """
    if action.deadline is None or action.deadline > now:
        return False
    ends = {result.status for result in results}
    if action.deadline == EXPIRED:
        return not ends <= {states.SUCCEEDED, states.SKIPPED}
    return states.CANCELLED in ends


def timeout_of(action: Action, settings: ExecutionSettings) -> float:
    """Return the timeout of an action, in seconds."""
    return action.timeout or settings.default_action_timeout


def seconds_left(
    action: Action,
    now: datetime.datetime,
    settings: ExecutionSettings,
    passed: float = 0.0,
) -> float:
    """Return the seconds that an action has which begins, or goes on.

    :param passed: how many it has used of its timeout
    """
    whole = timeout_of(action, settings) - passed
    if action.deadline is None:
        return whole
    if action.deadline == EXPIRED:
        # What was to end has ended; all that is left is to say so.
        return timeout_of(action, settings)
    if action.status == states.SUSPENDED:
        now = EPOCH
    left = (action.deadline - now).total_seconds()
    if action.phase != COMPLETE:
        # It was tried before: its timeout covers all tries.
        return min(whole, left)
    return max(left, settings.signal_grace)


def wait_deadline(
    action: Action,
    derived: Derived,
    context: Context,
    now: datetime.datetime,
    settings: ExecutionSettings,
) -> datetime.datetime:
    """Return the deadline of an action that waits for what it derived now."""
    seconds = derived.timeout
    if seconds is None and action.phase == COMPLETE and action.deadline is not None:
        return action.deadline
    if seconds is None:
        left = context.remaining()
        seconds = timeout_of(action, settings) if left is None else left
        if not action.timeout:
            seconds = max(seconds, *(one.timeout for one in derived.actions))
    return now + datetime.timedelta(seconds=seconds)


#: Actions of one look.
WINDOW = 500
#: Until the next look when there is more than one takes.
SOON = datetime.timedelta(seconds=0.1)


class WaitTimeouts:
    """Looks at the deadlines of what waits in the lanes of a worker."""

    def __init__(
        self,
        services: CoreServices,
        lanes: Sequence[str],
        timers: Timers,
        process: WorkerProcess,
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._settings = services.settings
        self._lanes = lanes
        self._timers = timers
        self._process = process
        self._lock = threading.Lock()
        self._next: datetime.datetime | None = None

    def track(self, action: Action) -> None:
        """Take note of an action that waits now; returns at once."""
        if action.deadline is not None and action.status == states.WAITING:
            until = self._clock.now() + self._until_next_sweep()
            if action.deadline <= until:
                self._wake_at(action.deadline)

    def check(self) -> None:
        """Time out what is overdue, and come back for what will be before long."""
        for lane in self._lanes:
            now = self._clock.now()
            found = self._store.deadlines(lane, now + self._until_next_sweep(), WINDOW)
            for uuid, deadline in found:
                if deadline > now:
                    self._wake_at(deadline)
                    break
                self._end(uuid)
            else:
                if len(found) == WINDOW:
                    self._wake_at(now + SOON)

    def _until_next_sweep(self) -> datetime.timedelta:
        return datetime.timedelta(seconds=self._settings.sweep_interval)

    def _end(self, uuid: str) -> None:
        try:
            self._process.time_out(uuid)
        except exceptions.NotFound:
            LOG.debug('Action %s was purged at the same time', uuid)
        except exceptions.Conflict as error:
            LOG.info('Action %s is looked at again by the next sweep: %s', uuid, error)

    def _wake_at(self, time: datetime.datetime) -> None:
        with self._lock:
            if self._next is not None and self._next <= time:
                return
            self._next = time
        wait = max(0.0, (time - self._clock.now()).total_seconds())
        self._timers.after(wait, functools.partial(self._wake, time))

    def _wake(self, time: datetime.datetime) -> None:
        with self._lock:
            if self._next == time:
                self._next = None
        self.check()


#: Seconds between two looks at the deadlines of what is in flight.
EVERY = 1.0


class WatchedControl(Protocol):
    """The dispatcher, as the watchdog sees it."""

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        """Let an idle attempt do what a checkpoint would do."""

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        """Send a conclusion to the committer."""


class Watchdog:
    """Looks at the deadlines of all attempts of a worker.

    :param control: concludes attempts, and lets idle ones time out
    """

    def __init__(
        self,
        services: CoreServices,
        in_flight: InFlight,
        pools: Pools,
        timers: Timers,
        control: WatchedControl,
    ) -> None:
        self._clock = services.clock
        self._settings = services.settings
        self._in_flight = in_flight
        self._pools = pools
        self._timers = timers
        self._control = control

    def start(self) -> None:
        """Check the deadlines from now on."""
        self._timers.every(EVERY, self.check)

    def check(self) -> None:
        """Tell each attempt whose time is over; give it up when it does not listen."""
        now = self._clock.monotonic()
        for attempt in self._in_flight.attempts():
            at = attempt.context.deadline_at
            if at is not None and at <= now:
                self._overdue(attempt, now)

    def _overdue(self, attempt: Attempt, now: float) -> None:
        if attempt.abandoned:
            return
        if attempt.idle:
            attempt.context.deliver(TIMEOUT)
            self._control.apply_signal(attempt, TIMEOUT)
        elif not self._pools.runs(attempt.job):
            # It waits for a thread, which will look at its deadline, or what it
            # came to is being written.
            return
        elif attempt.ended is not None:
            self._end_without_dependent(attempt, attempt.ended)
        elif attempt.give_up_at is None:
            attempt.give_up_at = now + self._settings.signal_grace
            attempt.context.deliver(TIMEOUT)
            self._timers.after(self._settings.signal_grace, self.check)
        elif now >= attempt.give_up_at:
            self._give_up(attempt)

    def _give_up(self, attempt: Attempt) -> None:
        """Fail an action whose plugin ignores its deadline, and fence it off."""
        step = results.EXECUTE if attempt.executing else results.PRE_CONDITION
        LOG.error(
            'Action %s (%s) ignores its deadline in %s; it is FAILED, its thread is '
            'given up, and what it still returns is dropped',
            attempt.action.uuid,
            attempt.action.action_type,
            step,
            extra=about(attempt.action),
        )
        # Not repeated: two runs of it would be under way at once.
        self._abandon(
            attempt,
            results.conclude(
                attempt.action.evolve(interval=0),
                outcomes.TimedOut(),
                step,
                self._clock.now(),
            ),
        )

    def _end_without_dependent(self, attempt: Attempt, ended: Conclusion) -> None:
        """Let an action end whose thread does not come back from its dependent's.

        That one is claimed like any other then, with a deadline of its own.
        """
        LOG.warning(
            'Action %s ended, and the pre_condition of one that follows it does not '
            'return; they are not started together',
            attempt.action.uuid,
            extra=about(attempt.action),
        )
        self._abandon(attempt, ended)

    def _abandon(self, attempt: Attempt, conclusion: Conclusion) -> None:
        self._control.conclude(attempt, conclusion)
        attempt.abandoned = True
        if attempt.job is not None:
            self._pools.lose_thread(attempt.job)
