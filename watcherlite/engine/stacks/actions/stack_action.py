"""The action type that executes an operation on a stack.

It derives an action for each resource, in stages: make the resources of the definition;
if that fails and rollback is enabled, undo; remove surplus resources. Between stages it
holds no thread. The request has stored the start of the operation on the stack; for a
nested stack this action does. The end follows from that of this action, see
`projection`.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
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
from watcherlite.engine.stacks import action_inputs
from watcherlite.engine.stacks.actions import (
    action_started_operations,
    expansion,
    hooks,
    selection,
)
from watcherlite.engine.stacks.actions.expansion import MAKE, REMOVE, UNDO
from watcherlite.engine.stacks.projection import stack_events, stack_transitions
from watcherlite.engine.stacks.services import StackServices
from watcherlite.engine.stacks.tree import is_rolling_back
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

#: Maximum length of the reason of a failure; the resources have the full reasons.
LONGEST_REASON = 2000
SUPERSEDED = 'Superseded by another operation on the stack.'
TIMED_OUT = 'Timed out'


class StackAction(ActionType):
    """Executes one operation on one stack."""

    description = 'Executes an operation on a stack.'
    # A repeated execution finds the rows that exist, and derives the rest.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'stack': {'type': 'integer'}, 'do': {'type': 'string'}},
        'required': ['stack', 'do'],
    }

    def __init__(self, services: StackServices) -> None:
        super().__init__()
        self._services = services

    def execute(self, context: ActionContext) -> Outcome:
        if context.inputs.get('asked') is not None:
            refused = action_started_operations.start(self._services, context)
            if refused is not None:
                return refused
        return self._next_stage(context, None)

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        return self._next_stage(context, results)

    #: There may be something to undo.
    overdue = complete

    def _next_stage(
        self, context: ActionContext, results: Sequence[DerivedResult] | None
    ) -> Outcome:
        def store() -> Outcome:
            with self._services.store.transaction() as tx:
                return self._step(tx, context, results)

        what = f'The operation {context.uuid} on a stack'
        outcome = retry_while_unavailable(context, what, store)
        self._services.messenger.broadcast(commands.EventsStored())
        return outcome

    def _step(
        self,
        tx: Transaction,
        context: ActionContext,
        results: Sequence[DerivedResult] | None,
    ) -> Outcome:
        inputs, now = action_inputs.StackInputs.of(context.inputs), context.now()
        stack = tx.lock_stacks([inputs.stack]).get(inputs.stack)
        if stack is None or stack.deleted_at is not None:
            return Done() if inputs.do == states.DELETE else Cancelled('It is deleted.')
        if stack.operation != context.uuid:
            if not inputs.nested or results is not None:
                return Cancelled(SUPERSEDED)
            # Each batch of a group is an action of its own, and starts the stack again.
            before, stack = (
                stack,
                stack_transitions.in_progress(stack, inputs, context.uuid, now),
            )
            tx.save_stacks([stack])
            tx.add_events([stack_events.stack_event(before, stack, now)])
        operation = _Operation(self._services, tx, stack, inputs, now)
        if results is None:
            return operation.first_stage()
        return operation.next_stage(results)


class _Operation:
    """One step of an operation, inside the transaction that has locked the stack."""

    def __init__(
        self,
        services: StackServices,
        tx: Transaction,
        stack: Stack,
        inputs: action_inputs.StackInputs,
        now: datetime.datetime,
    ) -> None:
        self._services = services
        self._tx = tx
        self._stack = stack
        self._inputs = inputs
        self._now = now

    def first_stage(self) -> Outcome:
        """Return the first stage that has actions."""
        match self._inputs.do:
            case states.CREATE | states.UPDATE:
                return self._make(MAKE)
            case states.ROLLBACK:
                return self._undo()
            case states.DELETE:
                return self._remove(self._rows())
            case states.ADOPT:
                self._add_missing(self._blueprint(self._stack.definition_id))
        return self._apply()

    def next_stage(self, results: Sequence[DerivedResult]) -> Outcome:
        """Return the stage after the last stage of these results."""
        stages = {result.key.partition(':')[0] + ':' for result in results}
        stage = next(stage for stage in (REMOVE, UNDO, MAKE) if stage in stages)
        problem = _stage_problem(results, stage)
        if stage == MAKE and self._inputs.do not in (states.CREATE, states.UPDATE):
            return self._finish(problem)
        if stage == MAKE and problem is not None:
            return self._after_failure(problem)
        if stage == REMOVE or problem is not None:
            return self._finish(problem)
        return self._clean_up()

    # stages

    def _make(self, stage: str) -> Outcome:
        """Converge all resources to the definition; `stage` is MAKE or UNDO."""
        definition_id = self._stack.definition_id
        if stage == UNDO and self._stack.previous_id is not None:
            definition_id = self._stack.previous_id
        blueprint = self._blueprint(definition_id)
        rows = self._add_missing(blueprint)
        derived = expansion.converge_actions(
            self._stack, blueprint, rows, definition_id, stage, self._now
        )
        if stage == MAKE and blueprint.rules:
            current = {stage + name: row for name, row in rows.items()}
            derived = self._insert_hooks(derived, blueprint, current, stage)
        return self._derived(derived) or self._clean_up()

    def _undo(self) -> Outcome:
        if self._stack.previous_id is None:
            # There was no definition before the creation.
            return self._remove(self._rows())
        return self._make(UNDO)

    def _clean_up(self) -> Outcome:
        """Delete surplus resources."""
        rolled_back = self._stack.action == states.ROLLBACK
        definition_id = self._stack.definition_id
        if rolled_back:
            definition_id = self._stack.previous_id or definition_id
        desired = self._blueprint(definition_id).resources
        return self._remove(expansion.surplus_rows(self._rows(), desired))

    def _remove(self, rows: Sequence[Resource]) -> Outcome:
        derived = expansion.delete_actions(self._stack, rows, self._now)
        blueprint = self._deleted_blueprint() if derived else None
        if blueprint is not None and blueprint.rules:
            by_key = {expansion.removal_key(row): row for row in rows}
            derived = self._insert_hooks(derived, blueprint, by_key, REMOVE)
        return self._derived(derived) or Done({})

    def _insert_hooks(
        self,
        derived: list[DerivedAction],
        blueprint: Blueprint,
        rows: Mapping[str, Resource],
        stage: str,
    ) -> list[DerivedAction]:
        """Return actions on resources, by their keys, with their hooks."""
        stack = self._stack
        pairs = {
            action.key: pair
            for action in derived
            if (pair := hooks.hooks_of(stack, blueprint, rows[action.key], stage))
        }
        if not pairs:
            return derived
        root = self._services.store.stacks_by_id([stack.tree_id]).get(stack.tree_id)
        if root is not None and is_rolling_back(root):
            # It is part of the rollback of a stack around it.
            return derived
        return hooks.insert(derived, pairs, stack)

    def _deleted_blueprint(self) -> Blueprint | None:
        """Return the blueprint with the hooks of a deletion, or None."""
        if self._stack.action != states.DELETE:
            return None
        try:
            return self._blueprint(self._stack.definition_id)
        except exceptions.Invalid:
            # Another release has accepted its definition. It must not prevent the
            # deletion.
            return None

    def _apply(self) -> Outcome:
        """Apply the operation to each resource that it is for."""
        rows = expansion.current_rows(self._rows())
        inputs = selection.effective_inputs(self._stack, self._inputs)
        selected = selection.select(rows, inputs)
        if inputs.do not in states.MAINTENANCE:
            self._restore_unlocked(
                row for name, row in rows.items() if name not in selected
            )
        derived = expansion.operation_actions(self._stack, selected, inputs, self._now)
        return self._derived(derived) or self._finish(None)

    def _restore_unlocked(self, rows: Iterable[Resource]) -> None:
        """Restore the state below a former lock of resources that are not selected."""
        covered = [row for row in rows if row.under_lock is not None]
        bare = [row.at(row.base, under_lock=None) for row in covered]
        if bare:
            self._tx.save_resources(bare)
        for row, after in zip(covered, bare, strict=True):
            self._tx.add_events(stack_events.state_changes(row, after, self._now))

    def _after_failure(self, problem: str) -> Outcome:
        """Roll back, if that is enabled."""
        if self._inputs.nested or self._stack.disable_rollback:
            # The rollback of the root includes its nested stacks.
            return self._finish(problem)
        before = self._stack
        self._stack = stack_transitions.rollback_in_progress(before, problem, self._now)
        self._tx.save_stacks([self._stack])
        failed = before.at(states.State(before.action, states.FAILED, problem))
        self._tx.add_events(
            [
                stack_events.stack_event(before, failed, self._now),
                stack_events.stack_event(failed, self._stack, self._now),
            ]
        )
        return self._undo()

    def _finish(self, problem: str | None) -> Outcome:
        if self._inputs.do == states.CHECK:
            problem = _add_unhealthy(self._rows(), problem)
        if problem is None:
            return Done({})
        deadline = self._stack.deadline
        if deadline is not None and self._now >= deadline:
            problem = f'{TIMED_OUT}: {problem}'
        text = problem[:LONGEST_REASON]
        return Failed(text, outputs={action_inputs.REASON: text})

    def _derived(self, actions: Sequence[DerivedAction]) -> Derived | None:
        if not actions:
            return None
        return Derived(
            tuple(actions), action_inputs.wait_timeout(self._stack.deadline, self._now)
        )

    # rows and blueprints

    def _rows(self) -> list[Resource]:
        return self._tx.resources_of([self._stack.id])

    def _blueprint(self, definition_id: int) -> Blueprint:
        return self._services.blueprints.by_id(self._stack, definition_id)

    def _add_missing(self, blueprint: Blueprint) -> dict[str, Resource]:
        """Store the rows of resources that have none; return all rows by name."""
        rows = expansion.current_rows(self._rows())
        new = expansion.missing_rows(self._stack, blueprint, rows, self._now)
        ids = self._tx.insert_resources(new)
        for row, row_id in zip(new, ids, strict=True):
            rows[row.name] = row.stored(row_id)
        return rows


def _stage_problem(results: Sequence[DerivedResult], stage: str) -> str | None:
    """Return the problem of a stage; None: it succeeded."""
    prefixes = (stage, *hooks.PREFIXES.get(stage, ()))
    ended = [result for result in results if result.key.startswith(prefixes)]
    failures = [
        f'resources.{_name(result.key)}: {action_inputs.failure_reason(result)}'
        for result in ended
        if result.status == action_states.FAILED
    ]
    if failures:
        return f'Resource action failed: {"; ".join(failures)}'
    cancelled = [r for r in ended if r.status == action_states.CANCELLED]
    if cancelled:
        names = ', '.join(dict.fromkeys(_name(result.key) for result in cancelled))
        return f'Resources were not done: {names}'
    return None


def _name(key: str) -> str:
    first, _, rest = key.partition(':')
    deletes = f'{first}:' in (REMOVE, *hooks.PREFIXES[REMOVE])
    return rest.rpartition(':')[0] if deletes else rest


def _add_unhealthy(rows: Sequence[Resource], problem: str | None) -> str | None:
    """Return the problem of a check, with the resources that it must not heal."""
    found = {
        row.name: selection.unhealthy_reason(row)
        for row in rows
        if row.superseded_by is None
    }
    parts = [problem] if problem is not None else []
    parts += [f'resources.{name}: {why}' for name, why in found.items() if why]
    return '; '.join(parts) or None
