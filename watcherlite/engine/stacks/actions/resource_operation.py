"""A resource during one step of its action: its rows, its handler, its stack."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.outcomes import Derived, DerivedAction
from watcherlite.domain.resource_results import PassOn, Ready
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.engine.stacks.action_inputs import (
    CONVERGE,
    NO_TIMEOUT,
    REASON,
    RESOURCE,
    SIGNAL,
    ResourceInputs,
)
from watcherlite.engine.stacks.actions import expansion
from watcherlite.engine.stacks.attribute_reader import AttributeReader
from watcherlite.engine.stacks.handlers import make_handler
from watcherlite.engine.stacks.resolution import RowReferences, stored_members
from watcherlite.engine.stacks.resource_context import (
    HandlerContext,
    build_handler_context,
)
from watcherlite.engine.stacks.services import StackServices
from watcherlite.engine.stacks.software_configs import read_attributes
from watcherlite.engine.stacks.tree import is_rolling_back
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ResourceHandler
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

T = TypeVar('T')


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceOperation:
    """One step of the action of a resource, with the rows that it reads and writes.

    :param row: the resource before the step
    :param related: the resource and its dependencies, by name
    :param older: the rows that it has replaced and that still exist
    """

    services: StackServices
    action: ActionContext
    inputs: ResourceInputs
    stack: Stack
    row: Resource
    related: Mapping[str, Resource]
    older: tuple[Resource, ...]
    handler: ResourceHandler

    @classmethod
    def load(
        cls, services: StackServices, action: ActionContext, inputs: ResourceInputs
    ) -> 'ResourceOperation | None':
        """Load the resource of an action; None: it does not exist any more."""
        what = f'Action {action.uuid} of a resource'
        return retry_while_unavailable(
            action, what, lambda: cls._load(services, action, inputs)
        )

    @classmethod
    def _load(
        cls, services: StackServices, action: ActionContext, inputs: ResourceInputs
    ) -> 'ResourceOperation | None':
        store = services.store
        stack = store.stacks_by_id([inputs.stack]).get(inputs.stack)
        if stack is None or stack.deleted_at is not None or action.name is None:
            return None
        names = {action.name}
        if inputs.do in (CONVERGE, states.ADOPT):
            definition_id = inputs.definition or stack.definition_id
            blueprint = services.blueprints.by_id(stack, definition_id)
            names.update(blueprint.requires.get(action.name, ()))
        rows = store.list_resources([inputs.stack], names=names, superseded=True)
        related = expansion.current_rows(rows)
        if inputs.do == states.DELETE:
            row = next((row for row in rows if row.id == inputs.resource), None)
        else:
            row = related.get(action.name)
        if row is None:
            return None
        older = tuple(r for r in rows if r.name == row.name and r is not row)
        name = row.handler if inputs.do != CONVERGE else inputs.handler
        handler = make_handler(services.handlers, name)
        return cls(services, action, inputs, stack, row, related, older, handler)

    @property
    def definition_id(self) -> int:
        """Return the id of the target definition, or of the stack's."""
        return self.inputs.definition or self.stack.definition_id

    @property
    def blueprint(self) -> Blueprint:
        """Return the blueprint of the definition."""
        blueprints = self.services.blueprints
        return self.retry(lambda: blueprints.by_id(self.stack, self.definition_id))

    @property
    def references(self) -> RowReferences:
        """Return the references that its template may resolve."""
        return RowReferences(self.related, self.attribute_reader(self.stack))

    def attribute_reader(self, stack: Stack) -> AttributeReader:
        """Return the reader for the templates of a stack."""
        services = self.services
        return AttributeReader(services.store, services.handlers, stack, self.retry)

    def members(self, row: Resource) -> list[Resource]:
        """Return the members of a resource."""
        return self.retry(lambda: stored_members(self.services.store, row))

    def retry(self, call: Callable[[], T]) -> T:
        """Call the store, and retry while it is unavailable."""
        return retry_while_unavailable(self.action, f'Resource {self.row.uuid}', call)

    def action_id(self) -> int:
        """Return the id of the action, for `check_attempt`."""
        store = self.services.store
        return self.retry(lambda: store.get_action(self.action.uuid)).id

    def check_attempt(self, tx: Transaction, action_id: int) -> None:
        """Raise LeaseLost unless the action still runs in this attempt.

        The transaction has locked the stack, so that the action neither ends nor is
        taken over before its end. `fence` does not suffice: a worker may wait for the
        lock, or be suspended, until its lease has expired.
        """
        found = tx.lock_actions([action_id]).get(action_id)
        if (
            found is None
            or found.attempt != self.action.attempt
            or found.status not in action_states.STARTED
        ):
            raise exceptions.LeaseLost(
                f'Action {self.action.uuid} does not run in attempt '
                f'{self.action.attempt} any more; the resource is unchanged.'
            )

    @property
    def is_rollback(self) -> bool:
        """Return whether it is part of the rollback of its stack, or one around it."""
        if self.inputs.undo:
            return True
        root_id, store = self.stack.tree_id, self.services.store
        root = self.retry(lambda: store.stacks_by_id([root_id])).get(root_id)
        return root is not None and is_rolling_back(root)

    @property
    def external_id(self) -> str | None:
        """Return the id of an external resource, which is never changed or deleted."""
        definition = self.blueprint.resources.get(self.row.name)
        return definition.external_id if definition is not None else None

    @property
    def is_to_be_deleted(self) -> bool:
        """Return whether something may exist that its deletion policy deletes."""
        known = self.row.exists or (
            self.row.may_exist and self.handler.supports('delete')
        )
        return known and self.row.deletion_policy == 'Delete'

    def context(self, properties: Mapping[str, Any] | None = None) -> HandlerContext:
        """Return the context for its handler.

        :param properties: None: those of the last operation
        """
        metadata = None
        if properties is not None and self.inputs.do in (CONVERGE, states.ADOPT):
            metadata = self.blueprint.metadata(self.row.name, self.references)
        return build_handler_context(
            self.action,
            self.stack,
            self.row,
            self.blueprint.definition.files,
            properties=properties,
            metadata=metadata,
            dependencies=self._dependencies(properties),
        )

    def _dependencies(
        self, properties: Mapping[str, Any] | None
    ) -> dict[str, Mapping[str, Any]]:
        """Return the attributes of its dependencies, by their references.

        :param properties: None: its operation needs no software configs
        """
        found = {
            row.reference or row.name: row.attributes
            for row in self.related.values()
            if row.name != self.row.name
        }
        desired = self.handler.software_configs(properties) if properties else ()
        others = set(desired) - found.keys()
        if others:
            found |= self.retry(
                lambda: read_attributes(self.services.store, self.stack.tenant, others)
            )
        return found

    def adoption_context(self) -> HandlerContext:
        """Return the context for its handler to adopt an existing resource."""
        given = dict(self.adopted_record())
        external_id = self.external_id
        if external_id is not None:
            given = {'resource_id': external_id}
        if not isinstance(given.get('resource_id'), str) or not given['resource_id']:
            raise exceptions.Invalid(f'{self.row.name}: resource_id is missing')
        row = self.row.evolve(
            physical_id=given['resource_id'],
            data=given.get('resource_data') or {},
            attributes=given.get('attributes') or {},
        )
        values = self.blueprint.properties(row.name, self.references)
        if external_id is None:
            values = self.services.handlers.fit_properties(self.handler, values)
        return build_handler_context(
            self.action,
            self.stack,
            row,
            self.blueprint.definition.files,
            properties=values,
            metadata=self.blueprint.metadata(row.name, self.references),
        )

    def adopted_record(self) -> Mapping[str, Any]:
        """Return the adopted record; raises Invalid if it has another type."""
        record = self.inputs.adopted or {}
        mismatch = record and record['handler'] != self.row.handler
        if mismatch and self.external_id is None:
            raise exceptions.Invalid(
                f'{self.row.name}: the abandoned resource has the type '
                f'{record["handler"]}, and the template has {self.row.handler}'
            )
        return record

    def success_outputs(
        self, operation: str, handler_context: HandlerContext, ready: Ready
    ) -> dict[str, Any]:
        """Return the outputs of an operation of the handler that has succeeded."""
        given = {
            'physical_id': ready.physical_id,
            'attributes': ready.attributes,
            'data': ready.data,
        }
        outputs: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        if ready.reason:
            outputs[REASON] = ready.reason
        if operation == 'lock':
            outputs['protected'] = self.handler.protects(handler_context)
        if operation == 'unlock':
            outputs['protected'] = False
        if self.inputs.do in (CONVERGE, states.ADOPT):
            if operation == 'adopt':
                outputs.setdefault('attributes', dict(handler_context.attributes))
                outputs.setdefault('data', dict(handler_context.data))
            physical_id = ready.physical_id or handler_context.physical_id
            outputs['physical_id'] = physical_id or handler_context.physical_name
            outputs |= self.definition_outputs(
                handler_context.properties, handler_context.metadata
            )
            known = dataclasses.replace(
                handler_context,
                physical_id=outputs['physical_id'],
                attributes=outputs.get('attributes', handler_context.attributes),
                data=outputs.get('data', handler_context.data),
            )
            outputs['reference'] = self.handler.reference(known)
        return outputs

    def definition_outputs(
        self, properties: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the outputs that record which definition the resource has now."""
        definition = self.blueprint.resources[self.row.name]
        return {
            'properties': dict(properties),
            'metadata': dict(metadata),
            'definition_id': self.definition_id,
            'requires': list(self.blueprint.requires[self.row.name]),
            'deletion_policy': expansion.deletion_policy(definition),
        }

    def derive_signal(self, forward: PassOn) -> Derived:
        """Return the action that forwards a signal to another resource."""
        if self.inputs.passed:
            raise exceptions.Invalid(
                f'{self.row.name} cannot forward a signal to {forward.reference}: it '
                'was forwarded itself; name its final target'
            )
        store, stack_id = self.services.store, self.inputs.stack
        rows = self.retry(lambda: store.list_resources([stack_id]))
        for row in rows:
            if forward.reference in (row.reference, row.physical_id, row.name):
                break
        else:
            raise exceptions.Invalid(
                f'{self.row.name} cannot forward the signal: stack {self.stack.name} '
                f'has no resource {forward.reference}'
            )
        inputs = ResourceInputs(
            self.inputs.stack,
            row.id,
            SIGNAL,
            row.handler,
            details=dict(forward.details),
            passed=True,
        )
        derived = DerivedAction('signal', RESOURCE, inputs.as_inputs(), name=row.name)
        return Derived((derived,), timeout=NO_TIMEOUT)
