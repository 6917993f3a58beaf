"""The action of a resource that is a stack: it derives operations on that stack."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.credentials import REGION, REMOTE_CLOUD
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Outcome,
)
from watcherlite.domain.resource_results import (
    REPLACE,
    UPDATE,
    Batch,
    Expansion,
    Member,
    Ready,
)
from watcherlite.domain.stacks import Definition, Resource, Stack, StoredDefinition
from watcherlite.domain.templates import formats, resource_rules
from watcherlite.domain.templates.blueprint import OutputValue
from watcherlite.engine.stacks import action_inputs, handlers, resolution, tree
from watcherlite.engine.stacks.action_inputs import (
    CONVERGE,
    HEALED,
    REASON,
    RESTORED,
    SIGNAL,
    UNCHANGED,
    StackInputs,
    failure_reason,
)
from watcherlite.engine.stacks.actions.convergence import Convergence, is_new
from watcherlite.engine.stacks.actions.resource_operation import ResourceOperation
from watcherlite.engine.stacks.projection import resource_transitions
from watcherlite.engine.stacks.requests import abandonment
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.engine.stacks.tree import StackTree
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import DerivedResult, NestedHandler
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

#: Operations that are derived for the nested stack unchanged.
_FORWARDED = frozenset(
    {states.CHECK, states.SUSPEND, states.RESUME, states.LOCK, states.UNLOCK}
)


class NestedStackOperation:
    """One step of the action of a resource that is a stack."""

    def __init__(self, work: ResourceOperation) -> None:
        if not isinstance(work.handler, NestedHandler):
            raise TypeError(f'{work.row.handler} is not a NestedHandler')
        self._work = work
        self._handler = work.handler

    def execute(self) -> Outcome:
        """Start the operation."""
        operation = self._work.inputs.do
        if operation == CONVERGE:
            return self._converge()
        if operation == SIGNAL:
            return self._signal()
        if operation == states.DELETE:
            return self._delete()
        if operation == states.ADOPT:
            self._work.adopted_record()
            properties = Convergence(self._work).target_properties()
            return self._expand(self._work, properties, operation)
        if operation in _FORWARDED:
            return self._derive(operation)
        reason = f'{operation} is not supported for a resource that is a stack'
        return Failed(reason, outputs={REASON: reason})

    def resume(self, token: Mapping[str, Any]) -> Outcome:
        """Execute the update that was decided."""
        return self._expand(self._work, token['wanted'], states.UPDATE)

    def complete(self, results: Sequence[DerivedResult]) -> Outcome:
        """Return the outcome of the operations on its stack."""
        work, operation = self._work, self._work.inputs.do
        if operation == states.DELETE and work.row.deletion_policy != 'Delete':
            # The stack stays. If its unlock failed, a user can unlock it directly.
            return Done({})
        failed = [r for r in results if r.status == action_states.FAILED]
        # A batch after a failed one is cancelled, and so is an operation on a stack
        # that was deleted directly; the deleted stack is not locked any more, though.
        if operation != states.UNLOCK and not failed:
            failed = [r for r in results if r.status == action_states.CANCELLED]
        if failed:
            reason = failure_reason(failed[-1])
            return Failed(reason, outputs={REASON: reason})
        if operation not in (CONVERGE, SIGNAL, states.ADOPT):
            context = work.context()
            return Done(work.success_outputs(operation.lower(), context, Ready()))
        properties = work.row.properties
        if operation != SIGNAL:
            properties = Convergence(work).target_properties()
        return self._completed(self._context(work, properties))

    def _completed(self, handler_context: HandlerContext) -> Outcome:
        work, nested = self._work, self._nested()
        if nested is None:
            raise exceptions.NotFound(f'The stack of {work.row.name} no longer exists')
        rows = work.members(work.row)
        outputs = self._outputs(nested, rows)
        attributes = self._handler.gather(
            handler_context,
            self._members(rows),
            {output.key: output.value for output in outputs},
        )
        data = self._handler.remember(handler_context)
        if handlers.is_template(work.inputs.handler):
            errors = {one.key: one.error for one in outputs if one.error is not None}
            data = {handlers.OUTPUT_ERRORS: errors} if errors else {}
        if data is None and work.inputs.do == states.ADOPT:
            data = handler_context.data
        ready = Ready(nested.uuid, attributes=dict(attributes), data=data)
        return Done(work.success_outputs('create', handler_context, ready))

    # operations

    def _converge(self) -> Outcome:
        work = self._work
        convergence = Convergence(work)
        properties = convergence.target_properties()
        if is_new(work.row):
            return self._expand(work, properties, states.CREATE)
        if convergence.restore(properties) is not None:
            return Done({UNCHANGED: RESTORED, **convergence.outputs(properties)})
        if convergence.decide(properties) != REPLACE and self._has_stack():
            if self._is_unchanged(properties):
                return Done({UNCHANGED: True, HEALED: False, **convergence.outputs()})
            restriction = convergence.restriction(UPDATE)
            if restriction is not None:
                return restriction
            token = {
                'action': states.UPDATE,
                'attempt': work.action.attempt,
                'wanted': properties,
            }
            return InProgress(token, delay=0.0)
        restriction = convergence.restriction(REPLACE)
        if restriction is not None:
            return restriction
        work = convergence.supersede(properties)
        return self._expand(work, properties, states.CREATE)

    def _is_unchanged(self, properties: Mapping[str, Any]) -> bool:
        """Return whether an update would change nothing in its stack."""
        work, nested = self._work, self._nested()
        if nested is None or work.row.definition_id is None or work.row.base.failed:
            return False
        store = work.services.store
        found = work.retry(lambda: StackTree.read(store, nested))
        stacks = [found.stack, *found.below]
        if any(stack.base.status != states.COMPLETE for stack in stacks):
            return False
        ids = [stack.id for stack in stacks]
        rows = work.retry(lambda: store.list_resources(ids, superseded=True))
        if any(not _is_settled(row) for row in rows):
            return False
        context = self._context(work, properties)
        members = self._members([row for row in rows if row.stack_id == nested.id])
        expansion = Expansion.of(self._handler.expand(context, members))
        if expansion.data is not None or len(expansion.batches) != 1:
            return False
        definition = self._nested_definition(work, expansion.batches[0])
        if resource_rules.has_hooks(definition.environment, states.UPDATE):
            # They pause an update even of resources that it does not change.
            return False
        stored = work.retry(lambda: store.get_definition(nested.definition_id))
        return definition.digest == stored.digest

    def _delete(self) -> Outcome:
        row = self._work.row
        if row.nested_id is None:
            return Done({})
        if row.deletion_policy == 'Delete':
            return self._derive(states.DELETE)
        nested = self._nested()
        if nested is None or nested.deleted_at is not None:
            return Done({})
        # A retained stack must not keep an inherited lock: no user could unlock it.
        locked = nested.inherited_level is not None
        return self._derive(states.UNLOCK) if locked else Done({})

    def _derive(self, operation: str) -> Outcome:
        """Derive an operation on its stack."""
        inputs, nested_id = self._work.inputs, self._work.row.nested_id
        if nested_id is None:
            return Done({})
        derived = action_inputs.derive_nested(
            'stack',
            StackInputs(
                nested_id, operation, level=inputs.level, deadline=inputs.deadline
            ),
        )
        timeout = action_inputs.wait_timeout(inputs.deadline, self._work.action.now())
        return Derived((derived,), timeout)

    def _signal(self) -> Outcome:
        work = self._work
        if work.row.nested_id is None or work.row.base.status != states.COMPLETE:
            return Done({REASON: f'Ignored: it is {work.row.base.name}'})
        nested = self._nested()
        if nested is None or nested.level is not None:
            return Done({REASON: 'Signal ignored: its stack is locked'})
        rows = work.members(work.row)
        expansion = Expansion.of(
            self._handler.adjust(
                self._context(work), self._members(rows), work.inputs.details or {}
            )
        )
        if not expansion.batches:
            return Done({REASON: expansion.reason or 'Nothing had to be done'})
        return self._store_batches(work, expansion, states.UPDATE)

    def _expand(
        self, work: ResourceOperation, properties: Mapping[str, Any], operation: str
    ) -> Outcome:
        """Derive the operations that converge its stack to the properties."""
        context = self._context(work, properties)
        record = self._record if operation == states.ADOPT else None
        if record is not None:
            adopted = [_adopted_member(name, member) for name, member in record.items()]
            expansion = Expansion.of(self._handler.adopted(context, adopted))
        else:
            members: list[Member] = []
            if work.row.nested_id is not None:
                members = self._members(work.members(work.row))
                if operation != states.ADOPT:
                    operation = states.UPDATE
            expansion = Expansion.of(self._handler.expand(context, members))
        if not expansion.batches:
            raise exceptions.Invalid(f'{work.row.handler} returned no batch')
        if operation == states.ADOPT:
            # All members exist: there is nothing to do in batches.
            expansion = dataclasses.replace(expansion, batches=expansion.batches[-1:])
        return self._store_batches(work, expansion, operation)

    # the input of the handler

    def _context(
        self, work: ResourceOperation, properties: Mapping[str, Any] | None = None
    ) -> HandlerContext:
        """Return the context for the handler, see `ResourceOperation.context`."""
        context = work.context(properties)
        if work.inputs.do not in (CONVERGE, states.ADOPT):
            return context
        policy = work.blueprint.update_policy(work.row.name, work.references)
        context = dataclasses.replace(context, update_policy=policy)
        if work.inputs.do == states.ADOPT and not context.data:
            data = (work.inputs.adopted or {}).get('resource_data') or {}
            context = dataclasses.replace(context, data=data)
        return context

    def _members(self, rows: Sequence[Resource]) -> list[Member]:
        store = self._work.services.store
        return self._work.retry(lambda: resolution.group_members(store, rows))

    @property
    def _record(self) -> Mapping[str, Any] | None:
        """Return the record of the members to adopt; None: there is none."""
        record = (self._work.inputs.adopted or {}).get('resources')
        return record if isinstance(record, Mapping) else None

    # its stack

    def _nested_definition(self, work: ResourceOperation, batch: Batch) -> Definition:
        return tree.nested_definition(
            batch, work.blueprint, work.row.name, work.references
        )

    def _store_batches(
        self, work: ResourceOperation, expansion: Expansion, operation: str
    ) -> Outcome:
        """Store the definition of each batch; derive the operations."""
        definitions = [
            self._nested_definition(work, batch) for batch in expansion.batches
        ]

        def store() -> tuple[int, list[StoredDefinition]]:
            self._check_size(work, definitions)
            with work.services.store.transaction() as tx:
                tx.lock_stacks([work.inputs.stack])
                stored = [tx.insert_definition(each) for each in definitions]
                return self._store_stack(tx, work, expansion, stored[0]), stored

        what = f'The stack of resource {work.row.uuid}'
        nested_id, stored = retry_while_unavailable(work.action, what, store)
        derived: list[DerivedAction] = []
        parents: tuple[str, ...] = ()
        for at, (batch, definition) in enumerate(
            zip(expansion.batches, stored, strict=True)
        ):
            if at and batch.pause:
                pause = _pause(f'pause:{at}', batch, parents, work)
                derived.append(pause)
                parents = (pause.key,)
            inputs = StackInputs(
                nested_id,
                operation if at == 0 else states.UPDATE,
                definition=definition.id,
                deadline=_deadline(batch, work),
                adopted=(self._record or {}) if operation == states.ADOPT else None,
            )
            key = f'batch:{at}'
            derived.append(action_inputs.derive_nested(key, inputs, parents))
            parents = (key,)
        return Derived(tuple(derived), _wait_timeout(expansion.batches, work))

    def _check_size(
        self, work: ResourceOperation, definitions: Sequence[Definition]
    ) -> None:
        """Refuse batches with which the tree of stacks would become too large."""
        store, row = work.services.store, work.row
        limit = work.services.limits.resources
        present = 0
        if row.nested_id is not None:
            present = len(store.list_resources([row.nested_id]))
        size = max(
            len(formats.mapping_section(each.template, 'resources'))
            for each in definitions
        )
        if size <= present:
            return
        others = store.count_resources(work.stack.tree_id) - present
        if others + size > limit:
            # Conditions may leave some of them out: count again without these.
            now = work.action.now()
            inner = tree.new_nested_stack(work.stack, row, 0, now)
            size = max(
                len(resolution.build_blueprint(inner, each).resources)
                for each in definitions
            )
        if others + size > limit:
            raise exceptions.RequestLimitExceeded(
                f'{row.name} would have {size} resources, and all stacks around it '
                f'{others + size}; at most {limit} may be together'
            )

    def _store_stack(
        self,
        tx: Transaction,
        work: ResourceOperation,
        expansion: Expansion,
        definition: StoredDefinition,
    ) -> int:
        """Return the id of its stack, which is stored if it does not exist."""
        row = tx.resources_by_id([work.row.id])[work.row.id]
        if expansion.data is not None:
            row = row.evolve(data=dict(expansion.data))
        if row.nested_id is not None:
            if expansion.data is not None:
                tx.save_resources([row])
            return row.nested_id
        depth, limit = work.stack.depth + 1, work.services.limits.depth
        if depth > limit:
            raise exceptions.Invalid(
                f'{row.name} is {depth} stacks deep; at most {limit} may be in each '
                'other'
            )
        nested = tree.new_nested_stack(
            work.stack, row, definition.id, work.action.now()
        )
        if expansion.batches:
            context = _context_in(nested.context, expansion.batches[0])
            nested = nested.evolve(context=context)
        # The definition must be valid before anything of it is created.
        resolution.build_blueprint(nested, definition)
        stored = tx.insert_stack(nested)
        after = row.evolve(nested_id=stored.id, physical_id=stored.uuid)
        tx.save_resources([after])
        return stored.id

    def _nested(self) -> Stack | None:
        nested_id = self._work.row.nested_id
        if nested_id is None:
            return None
        store = self._work.services.store
        return self._work.retry(lambda: store.stacks_by_id([nested_id])).get(nested_id)

    def _has_stack(self) -> bool:
        """Return whether its stack exists; a user may have deleted it directly."""
        nested = self._nested()
        return nested is not None and nested.deleted_at is None

    def _outputs(self, nested: Stack, rows: Sequence[Resource]) -> list[OutputValue]:
        blueprints = self._work.services.blueprints
        blueprint = self._work.retry(
            lambda: blueprints.by_id(nested, nested.definition_id)
        )
        references = resolution.RowReferences(
            {row.name: row for row in rows}, self._work.attribute_reader(nested)
        )
        return blueprint.outputs(references)


def _context_in(context: Mapping[str, Any], batch: Batch) -> Mapping[str, Any]:
    """Return the context of a stack in the region and the cloud of a batch."""
    places = {REGION: batch.region, REMOTE_CLOUD: batch.cloud_secret}
    if batch.cloud_secret is not None:
        # The region of the enclosing stack is one of its own cloud.
        context = {key: value for key, value in context.items() if key != REGION}
    given = {key: value for key, value in places.items() if value is not None}
    return {**context, **given} if given else context


def _adopted_member(name: str, record: Mapping[str, Any]) -> Member:
    definition = record.get(abandonment.DEFINITION)
    unhealthy = resource_transitions.was_unhealthy(record)
    return Member(
        name,
        str((definition or {}).get('type')),
        states.FAILED if unhealthy else states.COMPLETE,
        record.get('resource_id'),
        str(record.get('resource_id') or name),
        record.get('attributes') or {},
        None,
        definition,
    )


def _is_settled(row: Resource) -> bool:
    """Return whether a resource exists and an update need not repair it."""
    healthy = row.base.status == states.COMPLETE and row.under_mark is None
    exists = row.exists and row.base.action not in (states.INIT, states.DELETE)
    return healthy and exists and row.superseded_by is None


def _pause(
    key: str, batch: Batch, parents: tuple[str, ...], work: ResourceOperation
) -> DerivedAction:
    """Return the action that waits between two batches."""
    left = action_inputs.seconds_left(work.inputs.deadline, work.action.now())
    return DerivedAction(
        key,
        'sleep',
        {'duration': batch.pause},
        parents=parents,
        # Only the deadline limits a pause.
        timeout=left or int(batch.pause) + 60,
    )


def _wait_timeout(batches: Sequence[Batch], work: ResourceOperation) -> float | None:
    """Return how many seconds a resource waits for its stack, see `Derived`."""
    deadline = work.inputs.deadline
    if deadline is not None:
        return action_inputs.wait_timeout(deadline, work.action.now())
    # Each batch has a timeout of its own.
    seconds = sum((b.timeout or work.stack.timeout) + b.pause for b in batches)
    return seconds + action_inputs.GRACE_PERIOD


def _deadline(batch: Batch, work: ResourceOperation) -> datetime.datetime | None:
    around = work.inputs.deadline
    if batch.timeout is None:
        return around
    own = work.action.now() + datetime.timedelta(seconds=batch.timeout)
    return own if around is None else min(own, around)
