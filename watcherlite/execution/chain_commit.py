"""Chain commits: the step from one action to the next in one statement.

Where a worker is alone with a plan, it knows what a transaction would find: what
its last one left. The group commit is then filled in against that knowledge, and
what it asks for is written as one `Link`, which compares everything. Whatever is
out of the ordinary is left to a real transaction, and so is a link that turns out
not to hold.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, cast

from watcherlite.db.api import Link, Released, Store, Transaction
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.execution.group_commit import (
    ClaimSource,
    CommitResult,
    GroupCommit,
    PendingCommit,
)


class NotEligible(Exception):
    """What is to be written is not the step from one action to the next."""


class RecordingTransaction:
    """The part of `db.api.Transaction` that a link needs, answered in advance.

    :param plan: as it is expected to be
    :param item: what ended, with its handover
    :raises NotEligible: by whatever else is asked
    """

    def __init__(self, plan: ActionPlan, item: PendingCommit) -> None:
        self._plan = plan
        self._item = item
        self._saved: ActionPlan | None = None
        self._change: ActionChange | None = None
        self._child: ActionChange | None = None
        self._events: Sequence[Event] = ()

    def link(self) -> Link:
        """Return all that was asked for."""
        if self._saved is None or self._change is None or self._child is None:
            raise NotEligible
        return Link((self._plan, self._saved), self._change, self._child, self._events)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotEligible(name)

    def lock_plans(
        self, plan_ids: Iterable[int], *, wait: bool = True
    ) -> dict[int, ActionPlan]:
        if list(plan_ids) != [self._plan.id]:
            raise NotEligible
        return {self._plan.id: self._plan}

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        (self._change,) = changes
        return {self._change.before.id}

    def release_dependents(
        self,
        parent_ids: Sequence[int],
        *,
        started: bool,
        handovers: Mapping[int, Action] | None = None,
        now: datetime.datetime,
    ) -> list[Released]:
        if not handovers or self._item.handover is None:
            raise NotEligible
        child = self._item.handover[1].action
        self._child = ActionChange(self._item.handover[0].action, child)
        return [Released(child.id, child.plan_id, child.lane, True)]

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        (self._saved,) = plans

    def add_events(self, events: Sequence[Event]) -> None:
        self._events = events


class ChainCommitter:
    """Writes links for one worker.

    Not safe for threads: the committer's alone.
    """

    def __init__(self, store: Store, group: GroupCommit) -> None:
        self._store = store
        self._group = group
        #: plans as this worker's last transaction left them
        self._left: Mapping[int, ActionPlan] = {}
        #: those that this worker found as it had left them
        self._alone: set[int] = set()

    def suits(
        self, items: Sequence[PendingCommit], claim_requests: Sequence[Any]
    ) -> bool:
        """Return whether a batch is one step of a chain of which all is known."""
        if len(items) != 1 or claim_requests:
            return False
        (item,) = items
        return (
            item.handover is not None
            and item.before.dependents == 1
            and item.before.plan_id in self._alone
        )

    def write(
        self,
        written: CommitResult,
        items: list[PendingCommit],
        claims: ClaimSource | None,
        now: datetime.datetime,
    ) -> bool:
        """Write a batch that `suits`; False if it needs a transaction after all.

        `written` is of no use then.

        :raises StoreUnavailable: when nobody knows whether it took effect
        """
        (item,) = items
        plan = self._left[item.before.plan_id or 0]
        foreseen = RecordingTransaction(plan, item)
        try:
            # What it lacks of a transaction raises.
            tx = cast(Transaction, foreseen)
            self._group.fill(tx, written, items, [], claims, now)
            link = foreseen.link()
        except NotEligible:
            return False
        if self._store.write_link(link):
            self._left = written.plans
            return True
        # Others work on it, too.
        self._alone.discard(plan.id)
        return False

    def note(self, written: CommitResult) -> None:
        """Note how a transaction found plans, and how it left them."""
        if not self._store.writes_links:
            return
        self._alone = {
            key for key, plan in written.locked.items() if self._left.get(key) == plan
        }
        self._left = written.plans
