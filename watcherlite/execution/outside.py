"""Actions whose work goes on outside: no thread of the worker is in them.

They are polled when it is time, heed signals without a plugin's help, and are
taken over from lost workers by their token.
"""

from collections.abc import Callable

from watcherlite.clock import Clock
from watcherlite.domain import outcomes
from watcherlite.execution import overdue
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.task import Task
from watcherlite.states import action as states

Step = Callable[[Task], None]


class Outside:
    """Keeps the tasks of a worker that are InProgress.

    :param run: runs a step for a task in a thread of the pool
    :param perform: the step that polls
    :param conclude: sends a conclusion to the committer
    """

    def __init__(
        self,
        in_hand: InHand,
        runner: Runner,
        scheduler: Scheduler,
        clock: Clock,
        run: Callable[[Step, Task], None],
        perform: Step,
        conclude: Callable[[Task, Conclusion], None],
    ) -> None:
        self._in_hand = in_hand
        self._runner = runner
        self._scheduler = scheduler
        self._clock = clock
        self._run = run
        self._perform = perform
        self._conclude = conclude

    def wait(self, task: Task, delay: float) -> None:
        """Let a RUNNING action be until it is polled, `delay` seconds from now."""
        with self._in_hand.lock:
            self._in_hand.rest(task)
            task.polls += 1
        polls = task.polls
        if not self._heed_what_is_there(task):
            self._scheduler.after(max(0.0, delay), lambda: self._poll(task, polls))

    def stay(self, task: Task) -> None:
        """Let an action be that is SUSPENDED now."""
        with self._in_hand.lock:
            self._in_hand.rest(task)
        self._heed_what_is_there(task)

    def adopt(self, task: Task) -> None:
        """Go on with an action that was another worker's; in a thread of the pool."""
        failed = self._runner.adopt(task)
        if failed is not None:
            self._conclude(task, failed)
        elif task.action.status == states.SUSPENDED:
            self._stop_clock(task)
            self.stay(task)
        else:
            self.wait(task, 0.0)

    def heed(self, task: Task, signal: str) -> None:
        """Do for an idle action what a checkpoint would do; else do nothing."""
        suspended = task.action.status == states.SUSPENDED
        if signal == (states.SUSPEND if suspended else states.RESUME):
            return
        with self._in_hand.lock:
            if not self._in_hand.occupy(task):
                return
        if signal == states.CANCEL:
            self._run(self._cancelled, task)
        elif signal == TIMEOUT:
            self._run(self._timed_out, task)
        elif signal == states.SUSPEND:
            self._stop_clock(task)
            self._become(task, states.SUSPENDED)
        else:
            if task.context is not None and task.remaining is not None:
                task.context.set_deadline(task.remaining)
            self._become(task, states.RUNNING)

    def _heed_what_is_there(self, task: Task) -> bool:
        """Heed a signal that came while a thread or a write was under way."""
        signal = task.context.signal if task.context is not None else None
        if signal is None:
            return False
        self.heed(task, signal)
        return not task.idle

    def _poll(self, task: Task, polls: int) -> None:
        if task.polls != polls or task.action.status != states.RUNNING:
            return
        with self._in_hand.lock:
            if not self._in_hand.occupy(task):
                return
        self._run(self._perform, task)

    def _stop_clock(self, task: Task) -> None:
        """Let no time pass for an action while it is suspended."""
        if task.context is not None:
            task.remaining = task.context.stop_clock()

    def _become(self, task: Task, status: str) -> None:
        now = self._clock.now()
        after = overdue.turned(task.action, status, now).evolve(updated_at=now)
        self._conclude(task, Conclusion(after))

    def _cancelled(self, task: Task) -> None:
        self._conclude(task, self._runner.cancel(task, outcomes.Cancelled()))

    def _timed_out(self, task: Task) -> None:
        self._conclude(task, self._runner.cancel(task, outcomes.TimedOut()))
