"""Ends what runs longer than it may, whether it listens or not."""

import logging
from collections.abc import Callable

from watcherlite.clock import Clock
from watcherlite.domain import outcomes
from watcherlite.execution import results
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.log_context import about
from watcherlite.execution.pool import Pool
from watcherlite.execution.results import Conclusion
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.task import Task

LOG = logging.getLogger(__name__)

#: Seconds between two looks at the deadlines of what is in hand.
EVERY = 1.0


class Deadlines:
    """Looks at the deadlines of all tasks of a worker.

    :param heed: does for an idle action what a checkpoint would do
    :param conclude: sends a conclusion to the committer
    """

    def __init__(
        self,
        in_hand: InHand,
        pool: Pool,
        scheduler: Scheduler,
        clock: Clock,
        settings: ExecutionSettings,
        heed: Callable[[Task, str], None],
        conclude: Callable[[Task, Conclusion], None],
    ) -> None:
        self._in_hand = in_hand
        self._pool = pool
        self._scheduler = scheduler
        self._clock = clock
        self._settings = settings
        self._heed = heed
        self._conclude = conclude

    def watch(self) -> None:
        """Look at the deadlines from now on."""
        self._scheduler.every(EVERY, self.look)

    def look(self) -> None:
        """Tell each task whose time is over; give it up when it does not listen."""
        now = self._clock.monotonic()
        for task in self._in_hand.tasks():
            context = task.context
            at = context.deadline_at if context is not None else None
            if at is not None and at <= now:
                self._overdue(task, now)

    def _overdue(self, task: Task, now: float) -> None:
        if task.abandoned or task.context is None:
            return
        if task.idle:
            task.context.deliver(TIMEOUT)
            self._heed(task, TIMEOUT)
        elif not self._pool.runs(task.job):
            # It waits for a thread, which will look at its deadline, or what it
            # came to is being written.
            return
        elif task.ended is not None:
            self._go_on_without_dependent(task, task.ended)
        elif task.give_up_at is None:
            task.give_up_at = now + self._settings.signal_grace
            task.context.deliver(TIMEOUT)
            self._scheduler.after(self._settings.signal_grace, self.look)
        elif now >= task.give_up_at:
            self._give_up(task)

    def _give_up(self, task: Task) -> None:
        """Fail an action whose plugin ignores its deadline, and fence it off."""
        step = results.EXECUTE if task.executing else results.PRE_CONDITION
        LOG.error(
            'Action %s (%s) ignores its deadline in %s; it is FAILED, its thread is '
            'given up, and what it still returns is dropped',
            task.action.uuid,
            task.action.action_type,
            step,
            extra=about(task.action),
        )
        # Not repeated: two runs of it would be under way at once.
        self._abandon(
            task,
            results.conclude(
                task.action.evolve(interval=0),
                outcomes.TimedOut(),
                step,
                self._clock.now(),
            ),
        )

    def _go_on_without_dependent(self, task: Task, ended: Conclusion) -> None:
        """Let an action end whose thread does not come back from its dependent's.

        That one is claimed like any other then, with a deadline of its own.
        """
        LOG.warning(
            'Action %s ended, and the pre_condition of one that follows it does not '
            'return; they are not started together',
            task.action.uuid,
            extra=about(task.action),
        )
        self._abandon(task, ended)

    def _abandon(self, task: Task, conclusion: Conclusion) -> None:
        self._conclude(task, conclusion)
        task.abandoned = True
        if task.job is not None:
            self._pool.lose_thread(task.job)
