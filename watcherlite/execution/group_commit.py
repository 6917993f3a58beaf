"""The group commit: everything that one transaction of a worker writes.

The steps of a transaction and their order are those of `GroupCommit.write`.
`ChainCommitter` writes the end of an action and the start of the next as one statement.
"""

import abc
import collections
import dataclasses
import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

from watcherlite.db.api import ChainStep, Released, Store, Successor, Transaction
from watcherlite.domain import outcomes
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event, action_event, created_event
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import deadlines, dependents, locks, results
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.ports import CompositeProjection, PlanRules, Projection
from watcherlite.execution.results import Conclusion
from watcherlite.states import action as states


class PendingCommit(abc.ABC):
    """A conclusion that waits for its transaction.

    :ivar before: the action before the step
    :ivar after: the action as it is written
    :ivar handover: the attempt of the dependent that may start in the same
        transaction, and its conclusion (RUNNING)
    :ivar handed_over: whether the dependent started
    :ivar is_settled: whether `on_written` was called
    """

    __slots__ = (
        'after',
        'before',
        'conclusion',
        'handed_over',
        'handover',
        'is_settled',
    )

    def __init__(
        self,
        before: Action,
        conclusion: Conclusion,
        handover: tuple[Attempt, Conclusion] | None = None,
    ) -> None:
        self.before = before
        self.conclusion = conclusion
        self.after = conclusion.action
        self.handover = handover
        self.handed_over = False
        self.is_settled = False

    @abc.abstractmethod
    def on_written(self, applied: bool) -> None:
        """Continue after the commit; called in the committer's thread.

        :param applied: whether the change is durable; False if another worker owns
            the action, or the store refused the change
        """


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimRequest:
    """The number of actions to claim from a plan, or from a lane without a plan."""

    plan_id: int | None
    lane: str | None
    limit: int


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result of a claim.

    :param more: whether the claim reached its limit, so that there may be more
    :param limited: whether `max_parallel` of the plan lowered that limit
    """

    request: ClaimRequest
    actions: list[Action]
    more: bool
    limited: bool = False


class ClaimSource(Protocol):
    """The part of the dispatcher that the committer uses."""

    def claim_requests(self) -> Sequence[ClaimRequest]:
        """Return the claims for the next transaction."""

    def prefetch_roots(self, started: Sequence[Action]) -> tuple[list[int], int]:
        """Return the ids to prefetch dependents of, and the number of levels."""

    def retry_plans(self, plan_ids: Collection[int]) -> None:
        """Claim again from plans that another transaction had locked."""

    def on_committed(self, result: 'CommitResult') -> None:
        """Follow up a transaction that is durable."""


class CommitResult:
    """The result of one transaction.

    :param now: the time of the transaction: actions that come due later are not claimed
    :ivar claims: the result of each claim
    :ivar released: the dependents that became READY
    :ivar unblocked: the actions that can take a lock that was released
    :ivar derived: the derived actions that were stored
    :ivar successors: the prefetched dependents
    :ivar locked: the plans as they were when they were locked
    :ivar busy: ids of plans that another transaction had locked: nothing of them was
        written or claimed
    :ivar deferred: the items of these plans, to be written later
    :ivar plans: the plans as they were written
    :ivar outcomes: each item, and whether its change took effect
    """

    def __init__(self, now: datetime.datetime) -> None:
        self.now = now
        self.claims: list[ClaimResult] = []
        self.released: list[Released] = []
        self.unblocked: list[Action] = []
        self.derived: list[Action] = []
        self.successors: list[Successor] = []
        self.locked: Mapping[int, ActionPlan] = {}
        self.busy: frozenset[int] = frozenset()
        self.deferred: list[PendingCommit] = []
        self.plans: dict[int, ActionPlan] = {}
        self.events: list[Event] = []
        self.outcomes: list[tuple[PendingCommit, bool]] = []

    @property
    def applied(self) -> list[PendingCommit]:
        """Return the items whose changes took effect."""
        return [item for item, applied in self.outcomes if applied]


class GroupCommit:
    """Writes the transactions of one worker.

    :param claims: prefetches dependents; None: nothing is prefetched
    :ivar absent: ids of plans that were purged, and are not just locked
    """

    def __init__(
        self,
        worker: str,
        rules: PlanRules,
        projection: Projection | None = None,
        claims: ClaimSource | None = None,
    ) -> None:
        self.worker = worker
        self.rules = rules
        self.projection = projection or CompositeProjection()
        self.claims = claims
        self.absent: set[int] = set()

    def write(
        self,
        tx: Transaction,
        result: CommitResult,
        items: list[PendingCommit],
        claim_requests: list[ClaimRequest],
    ) -> None:
        """Write conclusions and claims in a transaction.

        Those of a plan that another transaction has locked are left out: waiting for
        the lock would delay all other plans of this worker.

        :param result: receives the result; it may be incomplete after an error
        """
        group = _GroupTransaction(self, tx, result)
        items, claim_requests = group.lock_plans(items, claim_requests)
        group.lock_projected(items)
        group.change_actions(items)
        group.release_dependents()
        group.release_locks()
        group.insert_derived()
        group.apply_projection()
        group.claim(claim_requests)
        group.prefetch()
        group.save_plans()
        tx.add_events(result.events)


class _GroupTransaction:
    """One transaction of a worker, and what its steps hand on to each other."""

    def __init__(
        self, group: GroupCommit, tx: Transaction, result: CommitResult
    ) -> None:
        self._group = group
        self._rules = group.rules
        self._projection = group.projection
        self._tx = tx
        self._result = result
        self._now = result.now
        self._plans: dict[int, ActionPlan] = {}
        #: whether actions of this transaction have a projection, and its locks
        self._projects = False
        self._projection_locks: Any = None
        #: actions that ended or will repeat, whose locks are released
        self._unlocking: list[Action] = []
        #: plan id -> changes that took effect, each with its fault
        self._changes: dict[int, list[tuple[ActionChange, Fault | None]]] = {}
        #: plan id -> number of actions that this worker claimed or was handed
        self._taken: collections.Counter[int] = collections.Counter()
        #: plan id -> number of actions that were derived
        self._derived: collections.Counter[int] = collections.Counter()

    # locks

    def lock_plans(
        self, items: list[PendingCommit], claim_requests: list[ClaimRequest]
    ) -> tuple[list[PendingCommit], list[ClaimRequest]]:
        """Lock the plans; return the items and claims whose plans are not busy."""
        result = self._result
        ids = {item.before.plan_id for item in items}
        ids |= {request.plan_id for request in claim_requests}
        desired = sorted(i for i in ids if i is not None)
        result.locked = self._tx.lock_plans(desired, wait=False) if desired else {}
        result.busy = frozenset(desired) - result.locked.keys() - self._group.absent
        self._plans = dict(result.locked)
        busy = result.busy
        if not busy:
            return items, claim_requests
        result.deferred = [i for i in items if i.before.plan_id in busy]
        result.claims += [
            ClaimResult(request, [], more=False)
            for request in claim_requests
            if request.plan_id in busy
        ]
        return (
            [i for i in items if i.before.plan_id not in busy],
            [request for request in claim_requests if request.plan_id not in busy],
        )

    def lock_projected(self, items: list[PendingCommit]) -> None:
        """Lock the objects that a projection of these actions changes."""
        actions = [item.before for item in items]
        actions += [
            item.handover[0].action for item in items if item.handover is not None
        ]
        affected = [a for a in actions if self._projection.is_affected_by(a)]
        if affected:
            self._projects = True
            self._projection_locks = self._projection.lock(self._tx, affected)

    # changes

    def change_actions(self, items: list[PendingCommit]) -> None:
        """Compare and set the actions of the items."""
        current = _current_items(items)
        signals = self._signals(items)
        for item in items:
            item.after = item.conclusion.action
            item.handed_over = False
        for action_id, item in current.items():
            item.after = self._action_to_write(item, signals.get(action_id))
        changed = self._tx.change_actions(
            [ActionChange(item.before, item.after) for item in current.values()]
        )
        for item in items:
            action_id = item.before.id
            applied = action_id in changed and current.get(action_id) is item
            self._result.outcomes.append((item, applied))
            if applied:
                as_concluded = item.after is item.conclusion.action
                detail = item.conclusion.detail if as_concluded else None
                self._record_change(item.before, item.after, detail)

    def _signals(self, items: list[PendingCommit]) -> dict[int, str | None]:
        """Return the last signals to the actions that derive others, by id.

        A signal that is not delivered yet would not reach the derived actions.
        """
        ids = [item.before.id for item in items if item.conclusion.derived]
        found = self._tx.lock_actions(ids) if ids else {}
        return {key: row.control for key, row in found.items()}

    def _action_to_write(self, item: PendingCommit, signal: str | None) -> Action:
        """Return the concluded action, unless its plan or a signal stops it."""
        before, after = item.before, item.conclusion.action
        if after.status == states.RUNNING and before.status == states.READY:
            plan = self._plan_of(before)
            reason = None if plan is None else self._rules.blocking_reason(plan)
            if reason is not None:
                after = results.conclude_unstarted(before, reason, self._now)
        if signal == states.CANCEL:
            cancelled = outcomes.Cancelled()
            return results.conclude(
                before, cancelled, results.EXECUTE, self._now
            ).action
        if signal == states.SUSPEND:
            return deadlines.change_status(after, states.SUSPENDED, self._now)
        return after

    def release_dependents(self) -> None:
        """Release the dependents of ended actions, or end them as well."""
        applied = self._result.applied
        ended = [item.after for item in applied if item.after.status in states.FINAL]
        handovers = self._handovers(applied)
        released, ended_too = dependents.release(self._tx, ended, handovers, self._now)
        self._result.released = released
        for action in ended_too:
            before = action.evolve(status=states.WAITING, owner=None)
            self._record_change(before, action, None)
        handed = {r.id for r in released if r.handed_over}
        for item in applied if handed else ():
            if item.handover is None:
                continue
            attempt, conclusion = item.handover
            if conclusion.action.id in handed:
                item.handed_over = True
                if item.after.plan_id is not None:
                    self._taken[item.after.plan_id] += 1
                self._record_event(attempt.action, conclusion.action, None)
        # Between two runs of a repeated action its target is free for others.
        repeated = [
            i.after for i in applied if results.ends_repeated_run(i.before, i.after)
        ]
        self._unlocking = [*ended, *ended_too, *repeated]

    def _handovers(self, applied: Sequence[PendingCommit]) -> dict[int, Action]:
        """Return the dependents that may start in this transaction."""
        handovers: dict[int, Action] = {}
        for item in applied:
            if item.handover is None:
                continue
            plan = self._plan_of(item.after)
            if plan is not None and self._rules.blocking_reason(plan) is not None:
                continue
            stops = plan is not None and plan.on_failure != 'continue'
            if item.after.status == states.FAILED and stops:
                continue
            child = item.handover[1].action
            handovers[child.id] = child
        return handovers

    def release_locks(self) -> None:
        """Release the locks on targets that are not needed any more."""
        if self._unlocking:
            self._result.unblocked = locks.release(self._tx, self._unlocking)

    def insert_derived(self) -> None:
        """Insert the actions that others derive."""
        for item in self._result.applied:
            after = item.after
            if not item.conclusion.derived or after.status in states.FINAL:
                continue
            new = dependents.derive(self._tx, after, item.conclusion.derived, self._now)
            self._result.derived += new
            self._result.events += [
                created_event(action, self._plan_of(action), self._now)
                for action in new
                if action.is_recorded
            ]
            if after.plan_id is not None:
                self._derived[after.plan_id] += sum(a.plan_id is not None for a in new)

    def apply_projection(self) -> None:
        """Apply the projection to the changes that took effect."""
        if not self._projects:
            return
        changes: list[tuple[ActionChange, Mapping[str, Any] | None]] = []
        for item in self._result.applied:
            if self._projection.is_affected_by(item.after):
                detail = item.conclusion.detail
                changes.append((ActionChange(item.before, item.after), detail))
            if item.handed_over and item.handover is not None:
                attempt, conclusion = item.handover
                if self._projection.is_affected_by(attempt.action):
                    change = ActionChange(attempt.action, conclusion.action)
                    changes.append((change, None))
        self._result.events += self._projection.apply(
            self._tx, self._projection_locks, changes, self._now
        )

    # claims

    def claim(self, claim_requests: Sequence[ClaimRequest]) -> None:
        """Claim up to the limits of the requests and of their plans."""
        for request in claim_requests:
            if request.plan_id is None:
                self._result.claims.append(self._claim(request, request.limit))
                continue
            plan = self._plans.get(request.plan_id)
            if plan is None or self._rules.blocking_reason(plan) is not None:
                self._result.claims.append(ClaimResult(request, [], more=False))
                continue
            claimed = self._claim(request, self._plan_limit(plan, request.limit))
            self._result.claims.append(claimed)

    def _claim(self, request: ClaimRequest, limit: int) -> ClaimResult:
        actions: list[Action] = []
        found = 0
        if limit > 0:
            actions = self._tx.claim(
                worker=self._group.worker,
                limit=limit,
                now=self._now,
                plan_id=request.plan_id,
                lane=request.lane,
            )
            found = len(actions)
            actions, _ = locks.acquire(self._tx, actions, self._now)
        if found and request.plan_id is not None:
            self._taken[request.plan_id] += len(actions)
            plan = self._plans[request.plan_id]
            plan, written = self._rules.on_claimed(plan, self._now)
            self._plans[plan.id] = plan
            self._result.events += written
        more = found >= limit
        return ClaimResult(request, actions, more, more and limit < request.limit)

    def _plan_limit(self, plan: ActionPlan, limit: int) -> int:
        """Return how many more actions of a plan to claim, at most `limit`."""
        if plan.max_parallel is None:
            return limit
        active = self._apply_changes(plan).active
        return min(limit, plan.max_parallel - active)

    def prefetch(self) -> None:
        """Load the dependents of actions that started."""
        if self._group.claims is None:
            return
        started = [
            item.after
            for item in self._result.applied
            if item.after.status == states.RUNNING and item.after.dependents
        ]
        started += [
            item.handover[1].action
            for item, _ in self._result.outcomes
            if item.handed_over and item.handover is not None
        ]
        ids, depth = self._group.claims.prefetch_roots(started)
        if ids:
            self._result.successors = self._tx.successors(ids, depth)

    # plans and events

    def save_plans(self) -> None:
        """Save the plans with the changes of this transaction, finished ones too."""
        changed = []
        for before in self._plans.values():
            plan = self._apply_changes(before)
            plan, written = self._rules.finish_if_done(before, plan, self._now)
            self._result.events += written
            self._result.plans[plan.id] = plan
            if plan is not self._result.locked[plan.id]:
                changed.append(plan)
        if changed:
            self._tx.save_plans(changed)

    def _apply_changes(self, plan: ActionPlan) -> ActionPlan:
        return self._rules.apply_changes(
            plan,
            self._changes.get(plan.id, ()),
            self._taken[plan.id],
            self._derived[plan.id],
            self._now,
        )

    def _plan_of(self, action: Action) -> ActionPlan | None:
        return None if action.plan_id is None else self._plans.get(action.plan_id)

    def _record_change(
        self, before: Action, after: Action, detail: Mapping[str, Any] | None
    ) -> None:
        """Record a change that took effect, for the counters of its plan."""
        if after.plan_id is not None:
            fault = (detail or {}).get('fault')
            change = (ActionChange(before, after), Fault(**fault) if fault else None)
            self._changes.setdefault(after.plan_id, []).append(change)
        self._record_event(before, after, detail)

    def _record_event(
        self, before: Action, after: Action, detail: Mapping[str, Any] | None
    ) -> None:
        if before.status != after.status and after.is_recorded:
            plan = self._plan_of(after)
            event = action_event(before, after, plan, self._now, detail)
            self._result.events.append(event)


def _current_items(items: Sequence[PendingCommit]) -> dict[int, PendingCommit]:
    """Return the item of each action that may be written, by the action's id.

    A batch may contain several items of one action. The item of the latest attempt is
    the one that the store can still accept: two workers' hints about a lost owner,
    for example, can recover the same attempt twice, and the second recovery may
    arrive together with the start of the next attempt. Within one attempt the first
    item counts: the plugin returned at the moment in which it was abandoned.
    """
    current: dict[int, PendingCommit] = {}
    for item in items:
        if item.before.owner is None:
            # It was concluded just before its plugin was abandoned.
            continue
        known = current.get(item.before.id)
        if known is None or known.before.attempt < item.before.attempt:
            current[item.before.id] = item
    return current


# Chain commits: the end of an action and the start of the next in one statement.
#
# A worker that is the only one to execute a plan knows the rows that a transaction
# would read: those that its last one wrote. The group commit writes into a recording
# transaction that answers from these rows, and its writes become one `ChainStep`, a
# statement that compares all of them. If anything else is needed, or a row differs, an
# ordinary transaction follows.


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

    def write(self, result: CommitResult, items: list[PendingCommit]) -> bool:
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
            self._group.write(cast(Transaction, recording), result, items, [])
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
