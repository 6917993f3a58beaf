"""Jobs that no thread has begun, and what becomes of them when none comes.

A worker takes more actions than it has threads for as long as these are short. When
some turn out to be long, the others would wait here while other workers have nothing
to do: they are given back.
"""

import logging
from collections.abc import Callable

from watcherlite.clock import Clock
from watcherlite.execution.committer import Committer
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.pool import Job, Pool
from watcherlite.execution.results import Conclusion
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.task import Task
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: Seconds after which jobs that nobody has begun get another thread.
STALLED = 0.005
#: Seconds after which there are none left to get.
STUCK = 0.25


class Backlog:
    """The jobs of a worker on their way to its threads.

    :param conclude: sends a conclusion to the committer
    :param stuck: called again and again while jobs wait and all threads are in
        actions that take long
    """

    def __init__(
        self,
        pool: Pool,
        in_hand: InHand,
        committer: Committer,
        scheduler: Scheduler,
        clock: Clock,
        conclude: Callable[[Task, Conclusion], None],
        stuck: Callable[[], None],
    ) -> None:
        self._pool = pool
        self._in_hand = in_hand
        self._committer = committer
        self._scheduler = scheduler
        self._clock = clock
        self._conclude = conclude
        self._stuck = stuck
        self._relieving = False

    def submit(self, jobs: list[Job]) -> None:
        """Queue jobs, and see to it that they get threads."""
        if not jobs:
            return
        self._committer.feeding()
        if self._pool.submit(jobs) and not self._relieving:
            self._relieving = True
            self._scheduler.after(STALLED, self._relieve)

    def _relieve(self) -> None:
        # Before the look, so that jobs that come in meanwhile ask for another.
        self._relieving = False
        if self._pool.relieve():
            self._relieving = True
            # Where all threads are in jobs there is nobody left to wake.
            again = STUCK if self._pool.full else STALLED
            self._scheduler.after(again, self._relieve)
            if self._pool.is_stuck(STUCK):
                self._stuck()

    def give_back(self) -> None:
        """Let any worker take what this one has taken and not begun to execute."""
        unbegun = {
            task.job: task
            for task in self._in_hand.tasks()
            if task.job is not None and _is_unbegun(task)
        }
        withdrawn = self._pool.withdraw(unbegun) if unbegun else []
        if withdrawn:
            LOG.info('%d actions are given back: no thread is free', len(withdrawn))
        for job in withdrawn:
            task = unbegun[job]
            back = task.action.evolve(
                status=states.READY, owner=None, updated_at=self._clock.now()
            )
            self._conclude(task, Conclusion(back))


def _is_unbegun(task: Task) -> bool:
    """Say whether nothing of an action was done but to check that it may start.

    What is polled, or was another worker's, has been begun long ago.
    """
    if task.executing or task.idle or task.action.token is not None:
        return False
    return task.action.status in (states.READY, states.RUNNING)
