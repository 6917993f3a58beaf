"""Deferred polling of actions that are InProgress, without a thread in between.

Signals apply to them without a checkpoint of the plugin, and another worker can
adopt them by their token.
"""

from collections.abc import Callable
from typing import Protocol

from watcherlite.domain import outcomes
from watcherlite.execution import deadlines
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices
from watcherlite.execution.timers import Timers
from watcherlite.states import action as states

Step = Callable[[Attempt], None]


class AttemptControl(Protocol):
    """The part of the dispatcher that deferred polling uses."""

    def run(self, step: Step, attempt: Attempt) -> None:
        """Run a step of an attempt in a thread of a pool."""

    def poll(self, attempt: Attempt) -> None:
        """Run the steps of a started attempt in a thread of a pool."""

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        """Send a conclusion to the committer."""


class DeferredPolling:
    """Polls the attempts of a worker that are InProgress.

    :param control: runs the steps of attempts, and concludes them
    """

    def __init__(
        self,
        services: CoreServices,
        in_flight: InFlight,
        runner: Runner,
        timers: Timers,
        control: AttemptControl,
    ) -> None:
        self._clock = services.clock
        self._in_flight = in_flight
        self._runner = runner
        self._timers = timers
        self._control = control

    def poll_later(self, attempt: Attempt, delay: float) -> None:
        """Make a RUNNING attempt idle, and poll it in `delay` seconds."""
        polls = self._in_flight.set_idle(attempt)
        if not self._apply_pending_signal(attempt):
            self._timers.after(max(0.0, delay), lambda: self._poll(attempt, polls))

    def hold(self, attempt: Attempt) -> None:
        """Make a SUSPENDED attempt idle, until RESUME or CANCEL."""
        self._in_flight.set_idle(attempt)
        self._apply_pending_signal(attempt)

    def adopt(self, attempt: Attempt) -> None:
        """Continue an attempt of another worker; called in a thread of the pool."""
        failed = self._runner.adopt(attempt)
        if failed is not None:
            self._control.conclude(attempt, failed)
        elif attempt.action.status == states.SUSPENDED:
            self._stop_clock(attempt)
            self.hold(attempt)
        else:
            self.poll_later(attempt, 0.0)

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        """Apply a signal to an idle attempt; do nothing for others."""
        suspended = attempt.action.status == states.SUSPENDED
        if signal == (states.SUSPEND if suspended else states.RESUME):
            return
        if not self._in_flight.set_busy(attempt):
            return
        if signal == states.CANCEL:
            self._control.run(self._cancel, attempt)
        elif signal == TIMEOUT:
            self._control.run(self._time_out, attempt)
        elif signal == states.SUSPEND:
            self._stop_clock(attempt)
            self._change_status(attempt, states.SUSPENDED)
        else:
            if attempt.remaining is not None:
                attempt.context.set_deadline(attempt.remaining)
            self._change_status(attempt, states.RUNNING)

    def _apply_pending_signal(self, attempt: Attempt) -> bool:
        """Apply a signal that arrived before the attempt was idle."""
        signal = attempt.context.signal
        if signal is None:
            return False
        self.apply_signal(attempt, signal)
        return not attempt.idle

    def _poll(self, attempt: Attempt, polls: int) -> None:
        if attempt.polls != polls or attempt.action.status != states.RUNNING:
            return
        if not self._in_flight.set_busy(attempt):
            return
        self._control.poll(attempt)

    def _stop_clock(self, attempt: Attempt) -> None:
        """Stop the timeout of an attempt while it is suspended."""
        attempt.remaining = attempt.context.stop_clock()

    def _change_status(self, attempt: Attempt, status: str) -> None:
        now = self._clock.now()
        after = deadlines.change_status(attempt.action, status, now).evolve(
            updated_at=now
        )
        self._control.conclude(attempt, Conclusion(after))

    def _cancel(self, attempt: Attempt) -> None:
        self._end(attempt, outcomes.Cancelled())

    def _time_out(self, attempt: Attempt) -> None:
        self._end(attempt, outcomes.TimedOut())

    def _end(self, attempt: Attempt, outcome: outcomes.Outcome) -> None:
        self._control.conclude(attempt, self._runner.cancel(attempt, outcome))
