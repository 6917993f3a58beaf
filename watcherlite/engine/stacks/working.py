"""A resource in the hands of an action: its rows, its handler, its stack."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain.handling import PassOn, Ready
from watcherlite.domain.outcomes import Derived, DerivedAction
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks import expansion
from watcherlite.engine.stacks import handlers as making
from watcherlite.engine.stacks.inputs import (
    CONVERGE,
    EVER,
    RESOURCE,
    SIGNAL,
    ResourceInputs,
)
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.progress import REASON
from watcherlite.engine.stacks.resolving import RowReferences
from watcherlite.engine.stacks.resource_context import HandlerContext, handler_context
from watcherlite.plugins.base import ActionContext, ResourceHandler
from watcherlite.states import stack as states

T = TypeVar('T')


@dataclasses.dataclass(frozen=True, slots=True)
class Working:
    """What one step of a resource's action works with.

    :param row: the resource as it is
    :param related: the resources that it depends on, and itself, by name
    :param older: what it has replaced and still exists
    """

    parts: Parts
    action: ActionContext
    inputs: ResourceInputs
    stack: Stack
    row: Resource
    related: Mapping[str, Resource]
    older: tuple[Resource, ...]
    handler: ResourceHandler

    @classmethod
    def of(
        cls, parts: Parts, action: ActionContext, inputs: ResourceInputs
    ) -> 'Working | None':
        """Read what an action is about; None: it is gone."""
        what = f'Action {action.uuid} of a resource'
        return patiently(action, what, lambda: cls._read(parts, action, inputs))

    @classmethod
    def _read(
        cls, parts: Parts, action: ActionContext, inputs: ResourceInputs
    ) -> 'Working | None':
        store = parts.store
        stack = store.stacks_by_id([inputs.stack]).get(inputs.stack)
        if stack is None or stack.deleted_at is not None or action.name is None:
            return None
        names = {action.name}
        if inputs.do in (CONVERGE, states.ADOPT):
            wanted = inputs.definition or stack.definition_id
            blueprint = parts.blueprints.by_id(stack, wanted)
            names.update(blueprint.requires.get(action.name, ()))
        rows = store.list_resources([inputs.stack], names=names, superseded=True)
        related = expansion.current(rows)
        if inputs.do == states.DELETE:
            row = next((row for row in rows if row.id == inputs.resource), None)
        else:
            row = related.get(action.name)
        if row is None:
            return None
        older = tuple(r for r in rows if r.name == row.name and r is not row)
        name = row.handler if inputs.do != CONVERGE else inputs.handler
        handler = making.make(parts.handlers, name)
        return cls(parts, action, inputs, stack, row, related, older, handler)

    # what it knows

    @property
    def blueprint(self) -> Blueprint:
        """Return that of the definition that it is to fit, or that the stack has."""
        wanted = self.inputs.definition or self.stack.definition_id
        return self.ask(lambda: self.parts.blueprints.by_id(self.stack, wanted))

    @property
    def references(self) -> RowReferences:
        """Return what its template is resolved with."""
        return RowReferences(self.related, self.members)

    def members(self, row: Resource) -> list[Resource]:
        """Return the resources of the stack that a resource is."""
        nested_id = row.nested_id
        if nested_id is None:
            return []
        return self.ask(lambda: self.parts.store.list_resources([nested_id]))

    def ask(self, call: Callable[[], T]) -> T:
        """Ask the store, and again while it is away."""
        return patiently(self.action, f'Resource {self.row.uuid}', call)

    @property
    def external_id(self) -> str | None:
        """Return what is there and is neither changed nor deleted, if it is that."""
        definition = self.blueprint.resources.get(self.row.name)
        return definition.external_id if definition is not None else None

    @property
    def is_to_be_deleted(self) -> bool:
        """Say whether there is something to delete, and it may be."""
        return self.row.made and self.row.deletion_policy == 'Delete'

    def context(self, properties: Mapping[str, Any] | None = None) -> HandlerContext:
        """Return what the handler is handed; None: what it was last made with."""
        metadata = None
        if properties is not None and self.inputs.do in (CONVERGE, states.ADOPT):
            metadata = self.blueprint.metadata(self.row.name, self.references)
        return handler_context(
            *(self.action, self.stack, self.row, self.blueprint.definition.files),
            properties=properties,
            metadata=metadata,
        )

    def adopted(self) -> HandlerContext:
        """Return what the handler is handed for a resource that was there before."""
        given = dict(self.inputs.adopted or {})
        external_id = self.external_id
        if external_id is not None:
            given = {'resource_id': external_id}
        if not isinstance(given.get('resource_id'), str) or not given['resource_id']:
            raise exceptions.Invalid(f'{self.row.name}: no resource_id was given')
        row = self.row.evolve(
            physical_id=given['resource_id'],
            data=given.get('resource_data') or {},
            attributes=given.get('attributes') or {},
        )
        values = self.blueprint.properties(row.name, self.references)
        if external_id is None:
            values = self.parts.handlers.fit_properties(self.handler, values)
        return handler_context(
            *(self.action, self.stack, row, self.blueprint.definition.files),
            properties=values,
            metadata=self.blueprint.metadata(row.name, self.references),
        )

    # what comes of it

    def settled(
        self, operation: str, handed: HandlerContext, ready: Ready
    ) -> dict[str, Any]:
        """Return the outputs of an operation that has done what it should."""
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
            outputs['protected'] = self.handler.supports('lock')
        if operation == 'unlock':
            outputs['protected'] = False
        if self.inputs.do in (CONVERGE, states.ADOPT):
            if operation == 'adopt':
                outputs.setdefault('attributes', dict(handed.attributes))
                outputs.setdefault('data', dict(handed.data))
            physical_id = ready.physical_id or handed.physical_id
            outputs['physical_id'] = physical_id or handed.physical_name
            outputs |= self.fitting(handed.properties, handed.metadata)
            known = dataclasses.replace(
                handed,
                physical_id=outputs['physical_id'],
                attributes=outputs.get('attributes', handed.attributes),
                data=outputs.get('data', handed.data),
            )
            outputs['reference'] = self.handler.reference(known)
        return outputs

    def fitting(
        self, properties: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what says which definition a resource fits now."""
        definition = self.blueprint.resources[self.row.name]
        return {
            'properties': dict(properties),
            'metadata': dict(metadata),
            'definition_id': self.blueprint.definition.id,
            'requires': list(self.blueprint.requires[self.row.name]),
            'deletion_policy': expansion.deletion_policy(definition),
        }

    def pass_on(self, said: PassOn) -> Derived:
        """Return the action that tells another resource of a signal."""
        if self.inputs.passed:
            raise exceptions.Invalid(
                f'{self.row.name} cannot pass a signal on to {said.reference} that was '
                'itself passed on to it: name what it is for'
            )
        store, stack_id = self.parts.store, self.inputs.stack
        rows = self.ask(lambda: store.list_resources([stack_id]))
        for row in rows:
            if said.reference in (row.reference, row.physical_id, row.name):
                break
        else:
            raise exceptions.Invalid(
                f'{self.row.name}: there is no resource {said.reference} in stack '
                f'{self.stack.name} to pass the signal on to'
            )
        inputs = ResourceInputs(
            *(self.inputs.stack, row.id or 0, SIGNAL, row.handler),
            details=dict(said.details),
            passed=True,
        )
        derived = DerivedAction('signal', RESOURCE, inputs.as_inputs(), name=row.name)
        return Derived((derived,), timeout=EVER)
