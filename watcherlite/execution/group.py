"""One group commit: everything that one transaction of a worker writes.

The order inside is fixed: lock the plans, compare and set the actions, let what
depends on them follow, release and take locks, claim, look ahead, count the
plans, store the events.
"""

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite.db.api import Released, Successor, Transaction
from watcherlite.domain import outcomes
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import locking, overdue, results, successors
from watcherlite.execution.facts import action_event, created_event
from watcherlite.execution.plan_rules import PlanRules
from watcherlite.execution.results import Conclusion
from watcherlite.execution.subjects import NoSubjects, Subjects
from watcherlite.execution.task import Task
from watcherlite.states import action as states

#: Changes that took effect, by plan, each with the fault that came with it.
Counted = dict[int, list[tuple[ActionChange, Fault | None]]]


class Item:
    """A conclusion on its way into the store.

    :ivar handover: the task of the dependent that may start in the same
        transaction, and its conclusion (RUNNING)
    :ivar done: called in the committer's thread: (this item, took effect)
    :ivar handed_over: whether the handover took effect
    :ivar told: `done` was called
    """

    __slots__ = (
        'after',
        'before',
        'conclusion',
        'done',
        'handed_over',
        'handover',
        'task',
        'told',
    )

    def __init__(
        self,
        task: Task,
        conclusion: Conclusion,
        done: Callable[['Item', bool], None],
        handover: tuple[Task, Conclusion] | None = None,
    ) -> None:
        self.task = task
        self.before = task.action
        self.conclusion = conclusion
        self.after = conclusion.action
        self.done = done
        self.handover = handover
        self.handed_over = False
        self.told = False


class Wish(Protocol):
    """How many actions the dispatcher would take, and of what."""

    @property
    def plan_id(self) -> int | None: ...

    @property
    def lane(self) -> str | None: ...

    @property
    def limit(self) -> int: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Claimed:
    """What became of a wish.

    :param more: as much was there as was asked for: there may be more
    :param limited: the plan's `max_parallel` stood in the way
    """

    wish: Wish
    actions: list[Action]
    more: bool
    limited: bool = False


class Claims(Protocol):
    """The dispatcher, as the committer sees it."""

    def wishes(self) -> Sequence[Wish]:
        """Return what to claim in this transaction."""

    def looking_ahead(self, started: Sequence[Action]) -> tuple[list[int], int]:
        """Return the ids to look ahead from, and how many levels."""

    def written(self, batch: 'Written') -> None:
        """Take note of a transaction that is durable."""


class Written:
    """What one transaction did.

    :ivar claims: what became of each wish
    :ivar derived: the actions that were stored because others asked for them
    :ivar outcomes: (item, whether it took effect, the action as stored)
    :ivar locked: the plans as they were found
    """

    def __init__(self) -> None:
        self.claims: list[Claimed] = []
        self.released: list[Released] = []
        self.unblocked: list[Action] = []
        self.derived: list[Action] = []
        self.successors: list[Successor] = []
        self.locked: Mapping[int, ActionPlan] = {}
        self.plans: dict[int, ActionPlan] = {}
        self.events: list[Event] = []
        self.outcomes: list[tuple[Item, bool, Action]] = []


class GroupCommit:
    """Fills transactions for one worker."""

    def __init__(
        self, worker: str, rules: PlanRules, subjects: Subjects | None = None
    ) -> None:
        self._worker = worker
        self._rules = rules
        self._subjects = subjects or NoSubjects()

    def fill(
        self,
        tx: Transaction,
        written: Written,
        items: list[Item],
        wishes: list[Wish],
        claims: Claims | None,
        now: datetime.datetime,
    ) -> None:
        """Write a batch into a transaction, and what it did into `written`."""
        ids = {item.before.plan_id for item in items} | {w.plan_id for w in wishes}
        locked = tx.lock_plans(sorted(i for i in ids if i is not None)) if ids else {}
        written.locked = locked
        plans = dict(locked)
        concerned = self._concerned(items)
        held = self._subjects.lock(tx, concerned) if concerned else None
        faults = self._change(tx, written, items, plans, now)
        counted: Counted = {}
        derived = self._follow(tx, written, plans, counted, faults, now)
        if concerned:
            changes = self._changes_of_subjects(written)
            written.events += self._subjects.follow(tx, held, changes, now)
        claimed = self._claim(tx, written, wishes, plans, counted, now)
        self._look_ahead(tx, written, claims)
        self._count(tx, written, locked, plans, counted, claimed, derived, now)
        tx.add_events(written.events)

    def _concerned(self, items: list[Item]) -> list[Action]:
        """Return the actions of a batch that are about something that follows them."""
        found = [item.before for item in items if self._subjects.concerns(item.before)]
        for item in items:
            if item.handover is not None:
                child = item.handover[0].action
                if self._subjects.concerns(child):
                    found.append(child)
        return found

    def _changes_of_subjects(
        self, written: Written
    ) -> list[tuple[ActionChange, Mapping[str, Any] | None]]:
        """Return the changes that took effect of actions that have a subject."""
        changes: list[tuple[ActionChange, Mapping[str, Any] | None]] = []
        for item, applied, after in written.outcomes:
            if applied and self._subjects.concerns(after):
                detail = item.conclusion.detail
                changes.append((ActionChange(item.before, after), detail))
            if item.handed_over and item.handover is not None:
                task, conclusion = item.handover
                if self._subjects.concerns(task.action):
                    changes.append((ActionChange(task.action, conclusion.action), None))
        return changes

    def _change(
        self,
        tx: Transaction,
        written: Written,
        items: list[Item],
        plans: dict[int, ActionPlan],
        now: datetime.datetime,
    ) -> dict[int, Fault | None]:
        """Compare and set what the tasks came to."""
        first: dict[int, Item] = {}
        changes: list[ActionChange] = []
        signals = self._signals(tx, items)
        for item in items:
            item.after = item.conclusion.action
            item.handed_over = False
            if item.before.owner is None:
                # It was concluded already, just before its plugin was given up.
                continue
            if first.setdefault(item.before.id or 0, item) is not item:
                # Its plugin came back in the moment in which it was given up:
                # what was said first counts.
                continue
            plan = plans.get(item.before.plan_id or 0)
            if item.after.status == states.RUNNING and (
                item.before.status == states.READY and plan is not None
            ):
                refusal = self._rules.refusal(plan)
                if refusal is not None:
                    item.after = results.conclude_unstarted(item.before, refusal, now)
            signal = signals.get(item.before.id or 0)
            if signal == states.CANCEL:
                said = outcomes.Cancelled()
                over = results.conclude(item.before, said, results.EXECUTE, now)
                item.after = over.action
            elif signal == states.SUSPEND:
                item.after = overdue.turned(item.after, states.SUSPENDED, now)
            changes.append(ActionChange(item.before, item.after))
        changed = tx.change_actions(changes)
        faults: dict[int, Fault | None] = {}
        for item in items:
            applied = item.before.id in changed and (
                first.get(item.before.id or 0) is item
            )
            written.outcomes.append((item, applied, item.after))
            if not applied:
                continue
            as_concluded = item.after is item.conclusion.action
            detail = item.conclusion.detail if as_concluded else None
            fault = (detail or {}).get('fault')
            faults[item.before.id or 0] = Fault(**fault) if fault else None
            self._note(written, item.before, item.after, plans, now, detail)
        return faults

    def _signals(self, tx: Transaction, items: list[Item]) -> dict[int, str | None]:
        """Return the last signals of those that ask for derived actions, by id.

        They may be on their way: what is derived now would never hear of them.
        """
        ids = [item.before.id or 0 for item in items if item.conclusion.derived]
        found = tx.lock_actions(ids) if ids else {}
        return {key: row.control for key, row in found.items()}

    def _follow(
        self,
        tx: Transaction,
        written: Written,
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
                    (ActionChange(item.before, after), faults.get(after.id or 0))
                )
        ended = [after for _, after in applied if after.status in states.FINAL]
        handovers = self._handovers(applied, plans)
        released, ended_too = successors.release(tx, ended, handovers, now)
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
            task, conclusion = item.handover
            if conclusion.action.id in handed:
                item.handed_over = True
                before = task.action
                self._note(written, before, conclusion.action, plans, now, None)
        written.released = released
        # Between two runs of a repeated action its target is free for others.
        between = [a for i, a in applied if results.repeated(i.before, a)]
        if ended or ended_too or between:
            written.unblocked = locking.release(tx, [*ended, *ended_too, *between])
        derived: dict[int, int] = {}
        for item, after in applied:
            if item.conclusion.derived and after.status not in states.FINAL:
                new = successors.derive(tx, after, item.conclusion.derived, now)
                written.derived += new
                for action in new:
                    self._note_created(written, action, plans, now)
                if after.plan_id is not None:
                    own = sum(action.plan_id is not None for action in new)
                    derived[after.plan_id] = derived.get(after.plan_id, 0) + own
                    counted.setdefault(after.plan_id, [])
        return derived

    def _handovers(
        self, applied: Sequence[tuple[Item, Action]], plans: dict[int, ActionPlan]
    ) -> dict[int, Action]:
        """Return the dependents that may start in this transaction."""
        handovers: dict[int, Action] = {}
        for item, after in applied:
            if item.handover is None or after.status not in states.FINAL:
                continue
            plan = plans.get(after.plan_id or 0)
            if plan is not None and self._rules.refusal(plan) is not None:
                continue
            stops = plan is not None and plan.on_failure != 'continue'
            if after.status == states.FAILED and stops:
                continue
            child = item.handover[1].action
            handovers[child.id or 0] = child
        return handovers

    def _claim(
        self,
        tx: Transaction,
        written: Written,
        wishes: list[Wish],
        plans: dict[int, ActionPlan],
        counted: Counted,
        now: datetime.datetime,
    ) -> dict[int, int]:
        """Take as many actions as there are threads for and plans allow."""
        claimed: dict[int, int] = {}
        for wish in wishes:
            limit, plan = wish.limit, None
            if wish.plan_id is not None:
                plan = plans.get(wish.plan_id)
                if plan is None or self._rules.refusal(plan) is not None:
                    written.claims.append(Claimed(wish, [], more=False))
                    continue
                allowed = self._allowed(plan, counted, written, now)
                limit = limit if allowed is None else min(limit, allowed)
            limited = limit < wish.limit
            actions: list[Action] = []
            found = 0
            if limit > 0:
                actions = tx.claim(
                    worker=self._worker,
                    limit=limit,
                    now=now,
                    plan_id=wish.plan_id,
                    lane=wish.lane,
                )
                found = len(actions)
                actions, _waiting = locking.admit(tx, actions, now)
            if plan is not None and found:
                claimed[plan.id or 0] = len(actions)
                plans[plan.id or 0], taken = self._rules.taken(plan, now)
                written.events += taken
            more = found >= limit
            written.claims.append(Claimed(wish, actions, more, limited and more))
        return claimed

    def _allowed(
        self,
        plan: ActionPlan,
        counted: Counted,
        written: Written,
        now: datetime.datetime,
    ) -> int | None:
        """Return how many more actions of a plan may be taken; None: any number."""
        if plan.max_parallel is None:
            return None
        handed = _handed_over(written).get(plan.id or 0, 0)
        changes = counted.get(plan.id or 0, ())
        ahead = self._rules.counted(plan, changes, handed, 0, now)
        return plan.max_parallel - ahead.active

    def _look_ahead(
        self, tx: Transaction, written: Written, claims: Claims | None
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
        ids, depth = claims.looking_ahead(started)
        if ids:
            written.successors = tx.successors(ids, depth)

    def _count(
        self,
        tx: Transaction,
        written: Written,
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
        for plan_id, plan in plans.items():
            plan = self._rules.counted(
                plan,
                counted.get(plan_id, ()),
                claimed.get(plan_id, 0) + handed.get(plan_id, 0),
                derived.get(plan_id, 0),
                now,
            )
            plan, last = self._rules.ended(plan, now)
            written.events += last
            written.plans[plan_id] = plan
            if plan is not locked[plan_id]:
                changed.append(plan)
        if changed:
            tx.save_plans(changed)

    # events

    def _note(
        self,
        written: Written,
        before: Action,
        after: Action,
        plans: dict[int, ActionPlan],
        now: datetime.datetime,
        detail: Mapping[str, Any] | None,
    ) -> None:
        if before.status != after.status:
            plan = plans.get(after.plan_id or 0)
            written.events.append(action_event(before, after, plan, now, detail))

    def _note_created(
        self,
        written: Written,
        action: Action,
        plans: dict[int, ActionPlan],
        now: datetime.datetime,
    ) -> None:
        plan = plans.get(action.plan_id or 0)
        written.events.append(created_event(action, plan, now))


def _handed_over(written: Written) -> dict[int, int]:
    """Return how many dependents started with the end of another, by plan."""
    counts: dict[int, int] = {}
    for item, _, after in written.outcomes:
        if item.handed_over and after.plan_id is not None:
            counts[after.plan_id] = counts.get(after.plan_id, 0) + 1
    return counts
