"""Ends what waits longer than it may for what it derived.

Such an action has no worker, so that no deadline of one reaches it. Whoever serves its
lane asks, with each sweep, which of them come to be overdue until the next one, and
wakes up at the first of these: one question, however many wait.
"""

import datetime
import functools
import logging
import threading
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.clock import EPOCH, Clock
from watcherlite.db.api import Store
from watcherlite.domain.actions import Action
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The deadline of one whose time was over: what it derived was told to end.
OVER = EPOCH
#: Actions of one look.
WINDOW = 500
#: Until the next look when there is more than one takes.
SOON = datetime.timedelta(seconds=0.1)
#: What has a time that stands still has at least so much of it left.
LEAST = datetime.timedelta(seconds=0.001)

#: uuid of an action: have what it derived end, if its time is over
TimeOut = Callable[[str], object]


def turned(action: Action, status: str, now: datetime.datetime) -> Action:
    """Return an action as it is SUSPENDED, or so no more: its time stands still.

    :param status: that it has then
    """
    deadline = action.deadline
    if deadline is not None and deadline != OVER:
        if status == states.SUSPENDED:
            deadline = EPOCH + max(LEAST, deadline - now)
        else:
            deadline = now + (deadline - EPOCH)
    return action.evolve(status=status, deadline=deadline)


def is_cut_off(
    action: Action, results: Sequence[DerivedResult], now: datetime.datetime
) -> bool:
    """Say whether what an action derived has ended because its time was over.

    :param action: perhaps as it was before it was told so
    """
    if action.deadline is None or action.deadline > now:
        return False
    ends = {result.status for result in results}
    if action.deadline == OVER:
        return not ends <= {states.SUCCEEDED, states.SKIPPED}
    return states.CANCELLED in ends


class Overdue:
    """Looks at the deadlines of what waits in the lanes of a worker.

    :param time_out: see `TimeOut`
    """

    def __init__(
        self,
        store: Store,
        lanes: Sequence[str],
        scheduler: Scheduler,
        clock: Clock,
        settings: ExecutionSettings,
        time_out: TimeOut,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._scheduler = scheduler
        self._clock = clock
        self._settings = settings
        self._time_out = time_out
        self._lock = threading.Lock()
        self._next: datetime.datetime | None = None

    def note(self, action: Action) -> None:
        """Take note of an action that waits now; returns at once."""
        if action.deadline is not None and action.status == states.WAITING:
            until = self._clock.now() + self._until_next_sweep()
            if action.deadline <= until:
                self._wake_at(action.deadline)

    def look(self) -> None:
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
            self._time_out(uuid)
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
        self._scheduler.after(wait, functools.partial(self._wake, time))

    def _wake(self, time: datetime.datetime) -> None:
        with self._lock:
            if self._next == time:
                self._next = None
        self.look()
