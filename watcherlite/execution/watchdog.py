"""The watchdog: ends attempts that ignore their deadline."""

import logging
from typing import Protocol

from watcherlite.domain import outcomes
from watcherlite.execution import results
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.log_context import about
from watcherlite.execution.pool import Pools
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices
from watcherlite.execution.timers import Timers

LOG = logging.getLogger(__name__)

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
