"""The action type that does an operation on a stack.

It derives an action for each resource, in stages: make what is to be; if that fails
and it is asked for, undo; remove what is not to be any more. Between them it holds
no thread. That the stack begins is written with the request, or here for one that is
a resource; that it ends follows the end of this action, see `progress`.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.db.api import Transaction
from watcherlite.domain import commands
from watcherlite.domain.outcomes import (
    Cancelled,
    Derived,
    DerivedAction,
    Done,
    Failed,
    Outcome,
)
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks import asked, beginning, expansion, facts, maintenance
from watcherlite.engine.stacks.expansion import MAKE, REMOVE, UNDO
from watcherlite.engine.stacks.inputs import StackInputs, patience
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.progress import REASON, reason_of
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

#: Most characters of why a stack failed; what is cut is at its resources.
LONGEST_REASON = 2000
SUPERSEDED = 'Another operation on the stack has taken its place.'
TIMED_OUT = 'Timed out'


class StackAction(ActionType):
    """Does one operation on one stack."""

    description = 'Does an operation on a stack.'
    # One that begins again finds the rows that are there, and derives the rest.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'stack': {'type': 'integer'}, 'do': {'type': 'string'}},
        'required': ['stack', 'do'],
    }

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._parts = parts

    def execute(self, context: ActionContext) -> Outcome:
        """Begin: derive the first stage."""
        if context.inputs.get('asked') is not None:
            refused = asked.begin(self._parts, context)
            if refused is not None:
                return refused
        return self._staged(context, None)

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Derive the next stage, or say how it went."""
        return self._staged(context, results)

    def overdue(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Likewise: there may be something to undo."""
        return self._staged(context, results)

    def _staged(
        self, context: ActionContext, results: Sequence[DerivedResult] | None
    ) -> Outcome:
        def written() -> Outcome:
            with self._parts.store.transaction() as tx:
                return self._step(tx, context, results)

        what = f'The operation {context.uuid} on a stack'
        outcome = patiently(context, what, written)
        self._parts.tell(None, commands.EventsStored())
        return outcome

    def _step(
        self,
        tx: Transaction,
        context: ActionContext,
        results: Sequence[DerivedResult] | None,
    ) -> Outcome:
        inputs, now = StackInputs.of(context.inputs), context.now()
        stack = tx.lock_stacks([inputs.stack]).get(inputs.stack)
        if stack is None or stack.deleted_at is not None:
            return Done() if inputs.do == states.DELETE else Cancelled('It is deleted.')
        if stack.operation != context.uuid:
            if not inputs.nested or results is not None:
                return Cancelled(SUPERSEDED)
            # One stage of a group follows another: each is an action of its own.
            before, stack = stack, beginning.begun(stack, inputs, context.uuid, now)
            tx.save_stacks([stack])
            tx.add_events([facts.stack_event(before, stack, now)])
        operation = _Operation(self._parts, tx, stack, inputs, now)
        if results is None:
            return operation.begin()
        return operation.go_on(results)


class _Operation:
    """One step of an operation, inside the transaction that has locked the stack."""

    def __init__(
        self,
        parts: Parts,
        tx: Transaction,
        stack: Stack,
        inputs: StackInputs,
        now: datetime.datetime,
    ) -> None:
        self._parts = parts
        self._tx = tx
        self._stack = stack
        self._inputs = inputs
        self._now = now

    def begin(self) -> Outcome:
        """Return the first stage that there is something to do in."""
        match self._inputs.do:
            case states.CREATE | states.UPDATE:
                return self._make(MAKE)
            case states.ROLLBACK:
                return self._undo()
            case states.DELETE:
                return self._remove(self._rows())
            case states.ADOPT:
                self._add_missing(self._blueprint(self._stack.definition_id))
        return self._do()

    def go_on(self, results: Sequence[DerivedResult]) -> Outcome:
        """Return the stage after the last one of these results."""
        stage = _last_stage(results)
        trouble = _trouble(results, stage)
        if stage == MAKE and self._inputs.do not in (states.CREATE, states.UPDATE):
            return self._ended(trouble)
        if stage == MAKE and trouble is not None:
            return self._after_failure(trouble)
        if stage == REMOVE or trouble is not None:
            return self._ended(trouble)
        return self._clean_up()

    # stages

    def _make(self, stage: str) -> Outcome:
        """Make every resource fit the template; `stage` is MAKE or UNDO."""
        definition_id = self._stack.definition_id
        if stage == UNDO and self._stack.previous_id is not None:
            definition_id = self._stack.previous_id
        blueprint = self._blueprint(definition_id)
        rows = self._add_missing(blueprint)
        derived = expansion.converging(
            self._stack, blueprint, rows, definition_id, stage, self._now
        )
        return self._derived(derived) or self._clean_up()

    def _undo(self) -> Outcome:
        if self._stack.previous_id is None:
            # Nothing was there before it was created.
            return self._remove(self._rows())
        return self._make(UNDO)

    def _clean_up(self) -> Outcome:
        """Delete what is not to be any more."""
        rolled_back = self._stack.action == states.ROLLBACK
        definition_id = self._stack.definition_id
        if rolled_back:
            definition_id = self._stack.previous_id or definition_id
        wanted = self._blueprint(definition_id).resources
        return self._remove(expansion.surplus(self._rows(), wanted))

    def _remove(self, rows: Sequence[Resource]) -> Outcome:
        derived = expansion.removing(self._stack, rows, self._now)
        return self._derived(derived) or Done({})

    def _do(self) -> Outcome:
        """Do one thing to each resource that it can be done to."""
        rows = expansion.current(self._rows())
        inputs = maintenance.in_force(self._stack, self._inputs)
        work = maintenance.work(rows, inputs)
        if inputs.do not in states.MAINTENANCE:
            self._uncover(row for name, row in rows.items() if name not in work)
        derived = expansion.doing(self._stack, work, inputs, self._now)
        return self._derived(derived) or self._ended(None)

    def _uncover(self, rows: Iterable[Resource]) -> None:
        """Show what is left alone as it is below a lock that has been taken away."""
        covered = [row for row in rows if row.under_lock is not None]
        bare = [row.at(row.base, under_lock=None) for row in covered]
        if bare:
            self._tx.save_resources(bare)
        for row, after in zip(covered, bare, strict=True):
            self._tx.add_events(facts.changed(row, after, self._now))

    def _after_failure(self, trouble: str) -> Outcome:
        """Go back to what was before, if that is asked for."""
        if self._inputs.nested or self._stack.disable_rollback:
            # What is around a nested stack goes back, and takes it with it.
            return self._ended(trouble)
        before = self._stack
        self._stack = beginning.rolling_back(before, trouble, self._now)
        self._tx.save_stacks([self._stack])
        failed = before.at(states.State(before.action, states.FAILED, trouble))
        self._tx.add_events(
            [
                facts.stack_event(before, failed, self._now),
                facts.stack_event(failed, self._stack, self._now),
            ]
        )
        return self._undo()

    def _ended(self, trouble: str | None) -> Outcome:
        if self._inputs.do == states.CHECK:
            trouble = _with_marks(self._rows(), trouble)
        if trouble is None:
            return Done({})
        deadline = self._stack.deadline
        if deadline is not None and self._now >= deadline:
            trouble = f'{TIMED_OUT}: {trouble}'
        text = trouble[:LONGEST_REASON]
        return Failed(text, outputs={REASON: text})

    def _derived(self, actions: Sequence[DerivedAction]) -> Derived | None:
        if not actions:
            return None
        return Derived(tuple(actions), patience(self._stack.deadline, self._now))

    # what it works with

    def _rows(self) -> list[Resource]:
        return self._tx.resources_of([self._stack.id or 0])

    def _blueprint(self, definition_id: int) -> Blueprint:
        return self._parts.blueprints.by_id(self._stack, definition_id)

    def _add_missing(self, blueprint: Blueprint) -> dict[str, Resource]:
        """Store the rows of what is to be and is not there; return all, by name."""
        rows = expansion.current(self._rows())
        new = expansion.missing(self._stack, blueprint, rows, self._now)
        ids = self._tx.insert_resources(new)
        for row, row_id in zip(new, ids, strict=True):
            rows[row.name] = row.evolve(id=row_id)
        return rows


def _last_stage(results: Sequence[DerivedResult]) -> str:
    stages = {result.key.partition(':')[0] + ':' for result in results}
    return next(stage for stage in (REMOVE, UNDO, MAKE) if stage in stages)


def _trouble(results: Sequence[DerivedResult], stage: str) -> str | None:
    """Return what went wrong in a stage; None: nothing."""
    ended = [result for result in results if result.key.startswith(stage)]
    told = [
        f'resources.{_name(result.key)}: {reason_of(result)}'
        for result in ended
        if result.status == action_states.FAILED
    ]
    if told:
        return f'Resource action failed: {"; ".join(told)}'
    cut_off = [r for r in ended if r.status == action_states.CANCELLED]
    if cut_off:
        names = ', '.join(_name(result.key) for result in cut_off)
        return f'Resources were not done: {names}'
    return None


def _name(key: str) -> str:
    stage, _, rest = key.partition(':')
    return rest.rpartition(':')[0] if f'{stage}:' == REMOVE else rest


def _with_marks(rows: Sequence[Resource], trouble: str | None) -> str | None:
    """Add what users have marked: a check does not take that back."""
    marked = [
        f'resources.{row.name}: {row.base.reason}'
        for row in rows
        if row.under_mark is not None and row.superseded_by is None
    ]
    parts = [trouble] if trouble is not None else []
    if marked:
        parts.append(f'marked unhealthy: {"; ".join(marked)}')
    return '; '.join(parts) or None
