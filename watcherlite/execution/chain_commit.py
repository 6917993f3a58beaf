"""Chain commits: the end of an action and the start of the next in one statement.

A worker that is the only one to execute a plan knows the rows that a transaction would
read: those that its last one wrote. The group commit writes into a recording
transaction that answers from these rows, and its writes become one `ChainStep`, a
statement that compares all of them. If anything else is needed, or a row differs, an
ordinary transaction follows.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, cast

from watcherlite.db.api import ChainStep, Released, Store, Transaction
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.execution.group_commit import (
    ClaimRequest,
    CommitResult,
    GroupCommit,
    PendingCommit,
)


class NotEligible(Exception):
    """The transaction does more than end one action and start the next."""


class RecordingTransaction:
    """Records the writes of a group commit instead of executing them.

    It has the methods of `db.api.Transaction` that a step needs; all others raise
    NotEligible.

    :param plan: the plan as this worker wrote it last
    :param item: the end of an action, with its handover
    """

    def __init__(self, plan: ActionPlan, item: PendingCommit) -> None:
        self._plan = plan
        self._item = item
        self._saved: ActionPlan | None = None
        self._change: ActionChange | None = None
        self._child: ActionChange | None = None
        self._events: Sequence[Event] = ()

    def step(self) -> ChainStep:
        """Return the recorded writes; raises NotEligible if one is missing."""
        if self._saved is None or self._change is None or self._child is None:
            raise NotEligible
        return ChainStep(
            (self._plan, self._saved), self._change, self._child, self._events
        )

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
    """Writes steps for one worker; used by the committer's thread only."""

    def __init__(self, store: Store, group: GroupCommit) -> None:
        self._store = store
        self._group = group
        #: plans as the last transaction of this worker wrote them
        self._plans: Mapping[int, ActionPlan] = {}
        #: ids of the plans that no other worker changed between the last two
        self._exclusive: set[int] = set()

    def is_eligible(
        self, items: Sequence[PendingCommit], claim_requests: Sequence[ClaimRequest]
    ) -> bool:
        """Return whether a batch is one step of a chain in a plan without others."""
        if len(items) != 1 or claim_requests:
            return False
        (item,) = items
        return (
            item.handover is not None
            and item.before.dependents == 1
            and item.before.plan_id in self._exclusive
        )

    def write(
        self, result: CommitResult, items: list[PendingCommit], now: datetime.datetime
    ) -> bool:
        """Write an eligible batch; return False if it needs a transaction.

        The contents of `result` are invalid then.

        :raises StoreUnavailable: if it is not known whether the step took effect
        """
        (item,) = items
        if item.before.plan_id is None:
            return False
        plan = self._plans[item.before.plan_id]
        recording = RecordingTransaction(plan, item)
        try:
            self._group.write(cast(Transaction, recording), result, items, [], now)
            step = recording.step()
        except NotEligible:
            return False
        if self._store.commit_chain_step(step):
            self._plans = result.plans
            return True
        # Another worker has changed a row.
        self._exclusive.discard(plan.id)
        return False

    def record(self, result: CommitResult) -> None:
        """Record the plans that a transaction locked and wrote."""
        if not self._store.has_chain_commit:
            return
        self._exclusive = {
            key for key, plan in result.locked.items() if self._plans.get(key) == plan
        }
        self._plans = result.plans
