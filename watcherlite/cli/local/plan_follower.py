"""A follower of one plan in the store."""

import collections
import datetime
import typing
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.cli.progress import MANY, RECENT, Counts, Outage, Progress
from watcherlite.cli.state_changes import Change, change_of
from watcherlite.cli.wakeup import Wake
from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.events import Event
from watcherlite.states import action_plan as states

#: Seconds between two polls of the store, for changes by other processes.
LOOK = 1.0
#: The same for a large plan.
COUNT = 0.25
#: Number of events read at a time.
PAGE = 1000


class Follower:
    """Reads the events of a plan and shows the changes.

    :param details: show every change; None: unless the plan is large
    :param monotonic: seconds
    :param patience: seconds for which the store may be unavailable
    """

    def __init__(
        self,
        store: Store,
        plan: ActionPlan,
        progress: Progress,
        wake: Wake,
        monotonic: Callable[[], float],
        *,
        details: bool | None = None,
        patience: float = 30.0,
    ) -> None:
        self._store = store
        self._plan = plan
        self._progress = progress
        self._wake = wake
        self._details = plan.total <= MANY if details is None else details
        self._outage = Outage('database', patience, progress.note, monotonic)
        self._sequence = 0
        self._recent: collections.deque[int] = collections.deque(maxlen=RECENT)

    def listen(self, stored: Sequence[Event]) -> None:
        """Receive the events of a transaction of this process; fast and thread-safe."""
        if self._details or not stored:
            self._wake.now()
            return
        for event in stored[-RECENT:]:
            if event.action_id is not None:
                self._recent.append(event.action_id)
        if any(event.subject == events.ACTION_PLAN for event in stored):
            self._wake.now()

    def pass_over(self) -> None:
        """Skip earlier events: they are not shown as new."""
        while self._details and self._read(self._progress.known):
            continue

    def follow(self, each_time: Callable[[], None]) -> ActionPlan:
        """Show changes until the plan has ended; return the ended plan.

        :param each_time: called before each poll; may raise to stop
        :raises StoreUnavailable: the store was unavailable for too long
        """
        while True:
            each_time()
            plan = self._poll()
            if plan.state in states.ENDED:
                return plan
            self._wake.wait(LOOK if self._details else COUNT)

    def _poll(self) -> ActionPlan:
        try:
            # In this order: all events of an ended plan are stored.
            plan = self._store.get_plan(self._plan.uuid)
            if self._details:
                while self._read(self._progress.changed):
                    continue
            else:
                found = self._store.actions_by_id(list(self._recent))
                recent = [_last_change(action) for action in found.values()]
                self._progress.counted(_counts(plan), recent)
        except exceptions.StoreUnavailable as error:
            self._outage.tolerate(error)
            return self._plan
        self._outage.end()
        self._plan = plan
        return plan

    def _read(self, show: Callable[[Change], None]) -> bool:
        """Read and show a page of events; return whether there may be more."""
        page = self._store.list_events(
            plan_id=self._plan.id, after=self._sequence, limit=PAGE
        )
        for stored in page:
            self._sequence = stored.sequence
            change = change_of(stored)
            if change is not None:
                show(change)
        return len(page) == PAGE


def _counts(plan: ActionPlan) -> Counts:
    return Counts(
        state=plan.state,
        total=plan.total,
        unfinished=plan.unfinished,
        failed=plan.failed,
        skipped=plan.skipped,
        active=plan.active,
    )


def _last_change(action: Action) -> Change:
    return Change(
        # A stored action has the second one.
        when=typing.cast(datetime.datetime, action.updated_at or action.created_at),
        action_id=action.id,
        name=action.name or action.uuid,
        action_type=action.action_type,
        old=None,
        new=action.state,
        text=action.status_message or '',
    )
