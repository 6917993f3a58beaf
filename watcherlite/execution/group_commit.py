"""The group commit: everything that one transaction of a worker writes.

The order inside is fixed: lock the plans, compare and set the actions, let what
depends on them follow, release and take locks, claim, look ahead, count the
plans, store the events.
"""

import abc
import dataclasses
import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from watcherlite.db.api import Released, Successor, Transaction
from watcherlite.domain import outcomes
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import deadlines, dependents, locks, results
from watcherlite.execution.events import action_event, created_event
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.ports import NoProjection, PlanRules, Projection
from watcherlite.execution.results import Conclusion
from watcherlite.states import action as states

#: Changes that took effect, by plan, each with the fault that came with it.
Counted = dict[int, list[tuple[ActionChange, Fault | None]]]


class PendingCommit(abc.ABC):
    """A conclusion on its way into the store.

    :ivar before: the action that it is a conclusion of
    :ivar after: the action as it is written
    :ivar handover: the attempt of the dependent that may start in the same
        transaction, and its conclusion (RUNNING)
    :ivar handed_over: whether the handover took effect
    :ivar is_settled: `on_written` was called
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
        """Go on once it is durable, or was refused; in the committer's thread."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimRequest:
    """The number of actions to claim from a plan, or from a lane without a plan."""

    plan_id: int | None
    lane: str | None
    limit: int


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result of a claim.

    :param more: as much was there as was asked for: there may be more
    :param limited: the plan's `max_parallel` stood in the way
    """

    request: ClaimRequest
    actions: list[Action]
    more: bool
    limited: bool = False


class ClaimSource(Protocol):
    """The dispatcher, as the committer sees it."""

    def claim_requests(self) -> Sequence[ClaimRequest]:
        """Return what to claim in this transaction."""

    def prefetch_roots(self, started: Sequence[Action]) -> tuple[list[int], int]:
        """Return the ids to prefetch dependents of, and the number of levels."""

    def retry_plans(self, plan_ids: Collection[int]) -> None:
        """Claim again from plans that another transaction had locked."""

    def on_committed(self, result: 'CommitResult') -> None:
        """Follow up a transaction that is durable."""


class CommitResult:
    """What one transaction did.

    :ivar claims: the result of each claim
    :ivar derived: the actions that were stored because others asked for them
    :ivar outcomes: (item, whether it took effect, the action as stored)
    :ivar locked: the plans as they were found
    :ivar busy: ids of plans that another transaction had locked: nothing of them was
        written or claimed
    :ivar deferred: the items of these plans, to be written later
    """

    def __init__(self) -> None:
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
        self.outcomes: list[tuple[PendingCommit, bool, Action]] = []


class GroupCommit:
    """Fills transactions for one worker.

    :ivar absent: ids of plans that are known to be gone, and not just locked
    """

    def __init__(
        self, worker: str, rules: PlanRules, projection: Projection | None = None
    ) -> None:
        self._worker = worker
        self._rules = rules
        self._projection = projection or NoProjection()
        self.absent: set[int] = set()

    def fill(
        self,
        tx: Transaction,
        written: CommitResult,
        items: list[PendingCommit],
        claim_requests: list[ClaimRequest],
        claims: ClaimSource | None,
        now: datetime.datetime,
    ) -> None:
        """Write a batch into a transaction, and what it did into `written`.

        What concerns a plan that another transaction has locked is left out: it would
        hold up all other plans of this worker.
        """
        ids = {item.before.plan_id for item in items} | {
            w.plan_id for w in claim_requests
        }
        wanted = sorted(i for i in ids if i is not None)
        locked = tx.lock_plans(wanted, wait=False) if wanted else {}
        written.locked = locked
        written.busy = frozenset(wanted) - locked.keys() - self.absent
        if written.busy:
            busy = written.busy
            written.deferred = [i for i in items if i.before.plan_id in busy]
            written.claims += [
                ClaimResult(w, [], more=False)
                for w in claim_requests
                if w.plan_id in busy
            ]
            items = [i for i in items if i.before.plan_id not in busy]
            claim_requests = [w for w in claim_requests if w.plan_id not in busy]
        plans = dict(locked)
        affected = self._affected(items)
        held = self._projection.lock(tx, affected) if affected else None
        faults = self._change(tx, written, items, plans, now)
        counted: Counted = {}
        derived = self._follow(tx, written, plans, counted, faults, now)
        if affected:
            changes = self._changes_of_subjects(written)
            written.events += self._projection.apply(tx, held, changes, now)
        claimed = self._claim(tx, written, claim_requests, plans, counted, now)
        self._look_ahead(tx, written, claims)
        self._count(tx, written, locked, plans, counted, claimed, derived, now)
        tx.add_events(written.events)

    def _affected(self, items: list[PendingCommit]) -> list[Action]:
        """Return the actions of a batch that are about something that follows them."""
        found = [
            item.before
            for item in items
            if self._projection.is_affected_by(item.before)
        ]
        for item in items:
            if item.handover is not None:
                child = item.handover[0].action
                if self._projection.is_affected_by(child):
                    found.append(child)
        return found

    def _changes_of_subjects(
        self, written: CommitResult
    ) -> list[tuple[ActionChange, Mapping[str, Any] | None]]:
        """Return the changes that took effect of actions that have a subject."""
        changes: list[tuple[ActionChange, Mapping[str, Any] | None]] = []
        for item, applied, after in written.outcomes:
            if applied and self._projection.is_affected_by(after):
                detail = item.conclusion.detail
                changes.append((ActionChange(item.before, after), detail))
            if item.handed_over and item.handover is not None:
                attempt, conclusion = item.handover
                if self._projection.is_affected_by(attempt.action):
                    changes.append(
                        (ActionChange(attempt.action, conclusion.action), None)
                    )
        return changes

    def _change(
        self,
        tx: Transaction,
        written: CommitResult,
        items: list[PendingCommit],
        plans: dict[int, ActionPlan],
        now: datetime.datetime,
    ) -> dict[int, Fault | None]:
        """Compare and set what the attempts came to."""
        current = _current_items(items)
        changes: list[ActionChange] = []
        signals = self._signals(tx, items)
        for item in items:
            item.after = item.conclusion.action
            item.handed_over = False
            if current.get(item.before.id) is not item:
                continue
            plan = _plan_of(item.before, plans)
            if item.after.status == states.RUNNING and (
                item.before.status == states.READY and plan is not None
            ):
                blocking_reason = self._rules.blocking_reason(plan)
                if blocking_reason is not None:
                    item.after = results.conclude_unstarted(
                        item.before, blocking_reason, now
                    )
            signal = signals.get(item.before.id)
            if signal == states.CANCEL:
                said = outcomes.Cancelled()
                over = results.conclude(item.before, said, results.EXECUTE, now)
                item.after = over.action
            elif signal == states.SUSPEND:
                item.after = deadlines.change_status(item.after, states.SUSPENDED, now)
            changes.append(ActionChange(item.before, item.after))
        changed = tx.change_actions(changes)
        faults: dict[int, Fault | None] = {}
        for item in items:
            applied = item.before.id in changed and (
                current.get(item.before.id) is item
            )
            written.outcomes.append((item, applied, item.after))
            if not applied:
                continue
            as_concluded = item.after is item.conclusion.action
            detail = item.conclusion.detail if as_concluded else None
            fault = (detail or {}).get('fault')
            faults[item.before.id] = Fault(**fault) if fault else None
            self._note(written, item.before, item.after, plans, now, detail)
        return faults

    def _signals(
        self, tx: Transaction, items: list[PendingCommit]
    ) -> dict[int, str | None]:
        """Return the last signals of those that ask for derived actions, by id.

        They may be on their way: what is derived now would never hear of them.
        """
        ids = [item.before.id for item in items if item.conclusion.derived]
        found = tx.lock_actions(ids) if ids else {}
        return {key: row.control for key, row in found.items()}

    def _follow(
        self,
        tx: Transaction,
        written: CommitResult,
        plans: dict[int, ActionPlan],
        counted: Counted,
        faults: dict[int, Fault | None],
        now: datetime.datetime,
    ) -> dict[int, int]:
        """Let everything follow that ends of actions entail."""
        applied = [(i, a) for i, ok, a in written.outcomes if ok]
        for item, after in applied:
            if after.plan_id is not None:
                counted.setdefault(after.plan_id, []).append(
                    (ActionChange(item.before, after), faults.get(after.id))
                )
        ended = [after for _, after in applied if after.status in states.FINAL]
        handovers = self._handovers(applied, plans)
        released, ended_too = dependents.release(tx, ended, handovers, now)
        for action in ended_too:
            before = action.evolve(status=states.WAITING, owner=None)
            self._note(written, before, action, plans, now, None)
            if action.plan_id is not None:
                counted.setdefault(action.plan_id, []).append(
                    (ActionChange(before, action), None)
                )
        handed = {r.id for r in released if r.handed_over}
        for item, _after in applied:
            if item.handover is None:
                continue
            attempt, conclusion = item.handover
            if conclusion.action.id in handed:
                item.handed_over = True
                before = attempt.action
                self._note(written, before, conclusion.action, plans, now, None)
        written.released = released
        # Between two runs of a repeated action its target is free for others.
        between = [a for i, a in applied if results.repeated(i.before, a)]
        if ended or ended_too or between:
            written.unblocked = locks.release(tx, [*ended, *ended_too, *between])
        derived: dict[int, int] = {}
        for item, after in applied:
            if item.conclusion.derived and after.status not in states.FINAL:
                new = dependents.derive(tx, after, item.conclusion.derived, now)
                written.derived += new
                for action in new:
                    self._note_created(written, action, plans, now)
                if after.plan_id is not None:
                    own = sum(action.plan_id is not None for action in new)
                    derived[after.plan_id] = derived.get(after.plan_id, 0) + own
                    counted.setdefault(after.plan_id, [])
        return derived

    def _handovers(
        self,
        applied: Sequence[tuple[PendingCommit, Action]],
        plans: dict[int, ActionPlan],
    ) -> dict[int, Action]:
        """Return the dependents that may start in this transaction."""
        handovers: dict[int, Action] = {}
        for item, after in applied:
            if item.handover is None or after.status not in states.FINAL:
                continue
            plan = _plan_of(after, plans)
            if plan is not None and self._rules.blocking_reason(plan) is not None:
                continue
            stops = plan is not None and plan.on_failure != 'continue'
            if after.status == states.FAILED and stops:
                continue
            child = item.handover[1].action
            handovers[child.id] = child
        return handovers

    def _claim(
        self,
        tx: Transaction,
        written: CommitResult,
        claim_requests: list[ClaimRequest],
        plans: dict[int, ActionPlan],
        counted: Counted,
        now: datetime.datetime,
    ) -> dict[int, int]:
        """Take as many actions as there are threads for and plans allow."""
        claimed: dict[int, int] = {}
        for request in claim_requests:
            limit, plan = request.limit, None
            if request.plan_id is not None:
                plan = plans.get(request.plan_id)
                if plan is None or self._rules.blocking_reason(plan) is not None:
                    written.claims.append(ClaimResult(request, [], more=False))
                    continue
                allowed = self._allowed(plan, counted, written, now)
                limit = limit if allowed is None else min(limit, allowed)
            limited = limit < request.limit
            actions: list[Action] = []
            found = 0
            if limit > 0:
                actions = tx.claim(
                    worker=self._worker,
                    limit=limit,
                    now=now,
                    plan_id=request.plan_id,
                    lane=request.lane,
                )
                found = len(actions)
                actions, _waiting = locks.acquire(tx, actions, now)
            if plan is not None and found:
                claimed[plan.id] = len(actions)
                plans[plan.id], taken = self._rules.on_claimed(plan, now)
                written.events += taken
            more = found >= limit
            written.claims.append(ClaimResult(request, actions, more, limited and more))
        return claimed

    def _allowed(
        self,
        plan: ActionPlan,
        counted: Counted,
        written: CommitResult,
        now: datetime.datetime,
    ) -> int | None:
        """Return how many more actions of a plan may be taken; None: any number."""
        if plan.max_parallel is None:
            return None
        handed = _handed_over(written).get(plan.id, 0)
        changes = counted.get(plan.id, ())
        ahead = self._rules.apply_changes(plan, changes, handed, 0, now)
        return plan.max_parallel - ahead.active

    def _look_ahead(
        self, tx: Transaction, written: CommitResult, claims: ClaimSource | None
    ) -> None:
        """Load the actions that will be next, before they are."""
        if claims is None:
            return
        started = [
            action
            for _, applied, action in written.outcomes
            if applied and action.status == states.RUNNING and action.dependents
        ]
        started += [
            item.handover[1].action
            for item, _, _ in written.outcomes
            if item.handed_over and item.handover is not None
        ]
        ids, depth = claims.prefetch_roots(started)
        if ids:
            written.successors = tx.successors(ids, depth)

    def _count(
        self,
        tx: Transaction,
        written: CommitResult,
        locked: Mapping[int, ActionPlan],
        plans: dict[int, ActionPlan],
        counted: Counted,
        claimed: dict[int, int],
        derived: dict[int, int],
        now: datetime.datetime,
    ) -> None:
        """Write the plans as they are after all this, ended ones included."""
        handed = _handed_over(written)
        changed = []
        for taken in plans.values():
            plan_id = taken.id
            plan = self._rules.apply_changes(
                taken,
                counted.get(plan_id, ()),
                claimed.get(plan_id, 0) + handed.get(plan_id, 0),
                derived.get(plan_id, 0),
                now,
            )
            plan, last = self._rules.finish_if_done(taken, plan, now)
            written.events += last
            written.plans[plan_id] = plan
            if plan is not locked[plan_id]:
                changed.append(plan)
        if changed:
            tx.save_plans(changed)

    # events

    def _note(
        self,
        written: CommitResult,
        before: Action,
        after: Action,
        plans: dict[int, ActionPlan],
        now: datetime.datetime,
        detail: Mapping[str, Any] | None,
    ) -> None:
        if before.status != after.status and after.is_recorded:
            plan = _plan_of(after, plans)
            written.events.append(action_event(before, after, plan, now, detail))

    def _note_created(
        self,
        written: CommitResult,
        action: Action,
        plans: dict[int, ActionPlan],
        now: datetime.datetime,
    ) -> None:
        if action.is_recorded:
            plan = _plan_of(action, plans)
            written.events.append(created_event(action, plan, now))


def _plan_of(action: Action, plans: Mapping[int, ActionPlan]) -> ActionPlan | None:
    """Return the plan of an action, if it is one of these."""
    return None if action.plan_id is None else plans.get(action.plan_id)


def _current_items(items: Sequence[PendingCommit]) -> dict[int, PendingCommit]:
    """Return the item of each action that may be written, by the action's id.

    Several items of one action can meet in a batch. That of the latest attempt is
    the one that the store can still accept: two workers' hints about a lost owner,
    for example, can recover the same attempt twice, and the second recovery may
    arrive together with the start of the next attempt. Within one attempt the first
    item counts: the plugin returned in the moment in which it was given up.
    """
    current: dict[int, PendingCommit] = {}
    for item in items:
        if item.before.owner is None:
            # It was concluded already, just before its plugin was given up.
            continue
        known = current.get(item.before.id)
        if known is None or known.before.attempt < item.before.attempt:
            current[item.before.id] = item
    return current


def _handed_over(written: CommitResult) -> dict[int, int]:
    """Return how many dependents started with the end of another, by plan."""
    counts: dict[int, int] = {}
    for item, _, after in written.outcomes:
        if item.handed_over and after.plan_id is not None:
            counts[after.plan_id] = counts.get(after.plan_id, 0) + 1
    return counts
