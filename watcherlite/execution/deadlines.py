"""The deadlines of actions: of attempts in flight, and of actions that wait.

`Watchdog` ends attempts that ignore their deadline. An action that waits for its
derived actions has no worker; `WaitTimeouts` times it out. With each sweep it reads
the deadlines until the next sweep, one statement for all actions of a lane, and sets a
timer for the first. The functions are pure.
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
from watcherlite.execution.context import TIMEOUT, Context, log_extra
from watcherlite.execution.in_flight import LOOP, Attempt, InFlight
from watcherlite.execution.pool import Pools
from watcherlite.execution.ports import WorkerProcess
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The deadline of an action that was timed out: its derived actions were cancelled.
EXPIRED = EPOCH
#: The time left that is stored for a suspended action, at least.
LEAST = datetime.timedelta(seconds=0.001)


def change_status(action: Action, status: str, now: datetime.datetime) -> Action:
    """Return the action with a status; its timeout does not run while it is SUSPENDED.

    A suspended action stores the time left, as a deadline after EPOCH.
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
    """Return whether the derived actions have ended because of a timeout.

    :param action: as before or after it was timed out
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
    """Return the seconds that an action has left when it starts or continues.

    :param passed: seconds of its timeout that have passed
    """
    whole = timeout_of(action, settings) - passed
    if action.deadline is None:
        return whole
    if action.deadline == EXPIRED:
        # Its derived actions have ended; only `overdue` is left to call.
        return timeout_of(action, settings)
    if action.status == states.SUSPENDED:
        now = EPOCH
    left = (action.deadline - now).total_seconds()
    if action.phase != COMPLETE:
        # The timeout covers all attempts.
        return min(whole, left)
    return max(left, settings.signal_grace)


def wait_deadline(
    action: Action,
    derived: Derived,
    context: Context,
    now: datetime.datetime,
    settings: ExecutionSettings,
) -> datetime.datetime:
    """Return the deadline of an action that waits for its derived actions."""
    seconds = derived.timeout
    if seconds is None and action.phase == COMPLETE and action.deadline is not None:
        return action.deadline
    if seconds is None:
        left = context.remaining()
        seconds = timeout_of(action, settings) if left is None else left
        if not action.timeout:
            seconds = max(seconds, *(one.timeout for one in derived.actions))
    return now + datetime.timedelta(seconds=seconds)


#: Most deadlines that one check reads.
WINDOW = 500
#: Time until the next check if there are more.
SOON = datetime.timedelta(seconds=0.1)


class WaitTimeouts:
    """Times out the waiting actions in the lanes of a worker."""

    def __init__(
        self, services: CoreServices, lanes: Sequence[str], process: WorkerProcess
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._settings = services.settings
        self._lanes = lanes
        self._timers = services.chores
        self._process = process
        self._lock = threading.Lock()
        self._next: datetime.datetime | None = None

    def track(self, action: Action) -> None:
        """Set a timer for an action that waits now; return at once."""
        if action.deadline is not None and action.status == states.WAITING:
            until = self._clock.now() + self._until_next_sweep()
            if action.deadline <= until:
                self._wake_at(action.deadline)

    def check(self) -> None:
        """Time out overdue actions, and set a timer for the next deadline."""
        for lane in self._lanes:
            now = self._clock.now()
            found = self._store.deadlines(lane, now + self._until_next_sweep(), WINDOW)
            for uuid, deadline in found:
                if deadline > now:
                    self._wake_at(deadline)
                    break
                self._time_out(uuid)
            else:
                if len(found) == WINDOW:
                    self._wake_at(now + SOON)

    def _until_next_sweep(self) -> datetime.timedelta:
        return datetime.timedelta(seconds=self._settings.sweep_interval)

    def _time_out(self, uuid: str) -> None:
        try:
            self._process.time_out(uuid)
        except exceptions.NotFound:
            LOG.debug('Action %s was purged meanwhile', uuid)
        except exceptions.Conflict as error:
            LOG.info('Action %s is checked again by the next sweep: %s', uuid, error)

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


#: Seconds between two checks of the attempts in flight.
WATCH_INTERVAL = 1.0


class WatchedControl(Protocol):
    """The part of the dispatcher that the watchdog uses."""

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        """Apply a signal to an idle attempt, as a checkpoint would."""

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        """Send a conclusion to the committer."""


class Watchdog:
    """Ends the attempts of a worker that exceed their deadlines.

    :param control: concludes attempts, and times out idle ones
    """

    def __init__(
        self,
        services: CoreServices,
        in_flight: InFlight,
        pools: Pools,
        control: WatchedControl,
    ) -> None:
        self._clock = services.clock
        self._settings = services.settings
        self._in_flight = in_flight
        self._pools = pools
        self._timers = services.timers
        self._control = control

    def start(self) -> None:
        """Check the deadlines from now on."""
        self._timers.every(WATCH_INTERVAL, self.check)

    def check(self) -> None:
        """Signal each overdue attempt, and abandon it after `signal_grace`."""
        self._pools.loop.report_blocked()
        now = self._clock.monotonic()
        for attempt in self._in_flight.attempts():
            at = attempt.context.deadline_at
            if at is not None and at <= now:
                self._end_overdue(attempt, now)

    def _end_overdue(self, attempt: Attempt, now: float) -> None:
        if attempt.abandoned:
            return
        if attempt.idle:
            attempt.context.deliver(TIMEOUT)
            self._control.apply_signal(attempt, TIMEOUT)
        elif not self._pools.is_running(attempt.job):
            # Its next job checks the deadline, or its conclusion is being written.
            return
        elif attempt.ended is not None:
            self._end_without_dependent(attempt, attempt.ended)
        elif attempt.give_up_at is None:
            attempt.give_up_at = now + self._settings.signal_grace
            attempt.context.deliver(TIMEOUT)
            self._timers.after(self._settings.signal_grace, self.check)
        elif now >= attempt.give_up_at:
            self._fail(attempt)

    def _fail(self, attempt: Attempt) -> None:
        """Fail an action whose plugin ignores its deadline."""
        step = results.EXECUTE if attempt.executing else results.PRE_CONDITION
        LOG.error(
            'Action %s (%s) ignores its deadline in %s; it is FAILED, its %s is '
            'abandoned, and what it still returns is dropped',
            attempt.action.uuid,
            attempt.action.action_type,
            step,
            'coroutine' if attempt.place == LOOP else 'thread',
            extra=log_extra(attempt.action),
        )
        # Not repeated, or two runs of it would be in progress at the same time.
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
        """Write the end of an action whose thread hangs in preparing its dependent.

        The dependent is claimed later, with a deadline of its own.
        """
        LOG.warning(
            'Action %s ended, and the pre_condition of its dependent does not return; '
            'the dependent is claimed later',
            attempt.action.uuid,
            extra=log_extra(attempt.action),
        )
        self._abandon(attempt, ended)

    def _abandon(self, attempt: Attempt, conclusion: Conclusion) -> None:
        self._control.conclude(attempt, conclusion)
        attempt.abandoned = True
        if attempt.job is not None:
            self._pools.abandon(attempt.job)
