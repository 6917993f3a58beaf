"""Previews: the effect of a request on a stack, without storing anything."""

import dataclasses
import datetime
import functools
import graphlib
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE
from watcherlite.domain.stacks import Definition, NewResource, NewStack, Resource, Stack
from watcherlite.domain.templates.blueprint import (
    Blueprint,
    NoReferences,
    References,
    shown_size,
)
from watcherlite.domain.templates.parameters import MASK
from watcherlite.domain.templates.scope import EvaluationBudget
from watcherlite.engine.stacks import handlers, resolution, tree
from watcherlite.engine.stacks.actions import expansion
from watcherlite.engine.stacks.actions.convergence import (
    decide,
    external_change,
    is_new,
)
from watcherlite.engine.stacks.attribute_reader import AttributeReader
from watcherlite.engine.stacks.requests.dry_run import DryRun, unknown_parameters
from watcherlite.engine.stacks.requests.template_validator import final_batch
from watcherlite.engine.stacks.resource_context import DryRunAction
from watcherlite.engine.stacks.services import StackServices
from watcherlite.plugins.base import NestedHandler, ResourceHandler
from watcherlite.states.stack import State

_NO_REFERENCES = NoReferences()

UNCHANGED, UPDATED, REPLACED = 'unchanged', 'updated', 'replaced'
ADDED, DELETED = 'added', 'deleted'
KINDS = (UNCHANGED, UPDATED, REPLACED, ADDED, DELETED)


@dataclasses.dataclass(frozen=True, slots=True)
class PlannedResource:
    """A resource after a request; unchanged and deleted ones as they are.

    :param stack: the stack that has it, stored or not
    :param properties: resolved as far as possible; hidden parameters are masked
    :param state: the present one
    :param parent: the name of the resource that its stack is; None for the stack that
        the request is for
    :param nested: of a creation: the resources of the stack that it is; None: it is
        not a stack
    """

    stack: NewStack
    name: str
    type: str
    state: State
    physical_id: str | None = None
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    description: str = ''
    required_by: tuple[str, ...] = ()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    parent: str | None = None
    nested: tuple['PlannedResource', ...] | None = None


Changes = dict[str, list[PlannedResource]]


def preview_creation(
    services: StackServices, stack: NewStack, definition: Definition
) -> list[PlannedResource]:
    """Return the resources of a new stack; the definition is valid."""
    preview = _CreationPreview(services)
    return preview.of(stack, preview.blueprint(stack, definition), None)


def preview_update(
    services: StackServices, stack: Stack, definition: Definition, nested: bool
) -> Mapping[str, Sequence[PlannedResource]]:
    """Return the resources after an update, by kind; the definition is valid.

    A value that is unknown before the update, because it depends on a resource that is
    replaced or added, counts as changed.

    :param nested: include the resources of nested stacks
    :raises Invalid: a property that must not change would change
    :raises NotSupported: an external id would change
    """
    preview = _UpdatePreview(services, nested)
    changes = preview.of(stack, preview.blueprint(stack, definition), None)
    return {kind: tuple(changes[kind]) for kind in KINDS}


class _Preview(DryRun):
    """A dry run with a budget for the response."""

    def __init__(self, services: StackServices) -> None:
        super().__init__(services)
        self._shown = EvaluationBudget(
            services.limits.shown,
            'the resources of the preview have more than {} bytes together',
        )

    def _plan_resource(
        self,
        stack: NewStack,
        blueprint: Blueprint,
        row: NewResource,
        parent: str | None,
        references: References = _NO_REFERENCES,
    ) -> PlannedResource:
        masked = dataclasses.replace(
            blueprint,
            parameters={
                **blueprint.parameters,
                **dict.fromkeys(blueprint.hidden, MASK),
            },
        )
        try:
            properties = masked.properties(row.name, references)
            metadata = masked.metadata(row.name, references)
        except exceptions.RequestLimitExceeded:
            raise
        except exceptions.Invalid:
            # The mask does not have the type of the parameter that it replaces.
            properties, metadata = {}, {}
        definition = blueprint.resources[row.name]
        handler = handlers.make_handler(self.handlers, blueprint.handlers[row.name])
        if definition.external_id is None:
            properties = self._fit(handler, properties)
        current = _current(stack, row, parent)
        if not isinstance(row, Resource):
            names = handler.attribute_names(properties) or ()
            current = dataclasses.replace(current, attributes=dict.fromkeys(names))
        self._shown.spend(shown_size(properties) + shown_size(metadata))
        return dataclasses.replace(
            current,
            type=definition.type,
            properties=properties,
            metadata=metadata,
            description=definition.description,
            required_by=tuple(
                name for name, needs in blueprint.requires.items() if row.name in needs
            ),
        )

    def _fit(
        self, handler: ResourceHandler, properties: dict[str, Any]
    ) -> dict[str, Any]:
        """Return properties with defaults; unchanged if masked values do not fit."""
        try:
            return self.handlers.fit_properties(handler, properties, known=False)
        except exceptions.Invalid:
            return properties


class _CreationPreview(_Preview):
    def of(
        self, stack: NewStack, blueprint: Blueprint, parent: str | None
    ) -> list[PlannedResource]:
        now = DryRunAction().now()
        resources = []
        for name in blueprint.resources:
            row = expansion.new_row(expansion.NOT_STORED, blueprint, name, now)
            planned = self._plan_resource(stack, blueprint, row, parent)
            handler = handlers.make_handler(self.handlers, row.handler)
            if isinstance(handler, NestedHandler):
                inner = self.new_nested_stack(stack, blueprint, row)
                inside = []
                if inner is not None:
                    inside = self.of(inner.stack, inner.blueprint, row.name)
                planned = dataclasses.replace(planned, nested=tuple(inside))
            resources.append(planned)
        return resources


class _UpdatePreview(_Preview):
    def __init__(self, services: StackServices, nested: bool) -> None:
        super().__init__(services)
        self._include_nested = nested
        self._blueprints = services.blueprints
        self._members = functools.partial(resolution.stored_members, services.store)

    def of(self, stack: Stack, blueprint: Blueprint, parent: str | None) -> Changes:
        """Return the changes of the resources of one stack."""
        changes: Changes = {kind: [] for kind in KINDS}
        rows = expansion.current_rows(self.store.list_resources([stack.id]))
        staying: dict[str, Resource] = {}
        references = resolution.RowReferences(
            staying, AttributeReader(self.store, self.handlers, stack)
        )
        order = {name: blueprint.requires[name] for name in blueprint.resources}
        now = DryRunAction().now()
        for name in graphlib.TopologicalSorter(order).static_order():
            inside = None
            row: NewResource
            known = rows.get(name)
            if known is None or is_new(known):
                kind = ADDED
                row = known or expansion.new_row(stack.id, blueprint, name, now)
            else:
                kind, inside = self._compare(stack, blueprint, known, references)
                row = known
                if kind in (UNCHANGED, UPDATED):
                    staying[name] = known
            changes[kind].append(
                self._plan_resource(stack, blueprint, row, parent, references)
            )
            if inside is not None and self._include_nested:
                for each in KINDS:
                    changes[each] += inside[each]
        for name, row in rows.items():
            if name not in blueprint.resources:
                changes[DELETED].append(_current(stack, row, parent))
        return changes

    def _compare(
        self, stack: Stack, blueprint: Blueprint, row: Resource, references: References
    ) -> tuple[str, Changes | None]:
        """Return the kind of change of a resource, and the changes inside it."""
        handler_name = blueprint.handlers[row.name]
        handler = handlers.make_handler(self.handlers, handler_name)
        properties = blueprint.properties(row.name, references)
        external_id = blueprint.resources[row.name].external_id
        refused = external_change(
            row,
            handler_name,
            external_id,
            functools.partial(self._blueprints.by_id, stack),
        )
        if refused is not None:
            raise exceptions.NotSupported(refused)
        if external_id is None:
            properties = self.handlers.fit_properties(handler, properties, known=False)
        decided = decide(row, handler, handler_name, properties, external_id)
        if decided == REPLACE:
            return REPLACED, None
        if not isinstance(handler, NestedHandler):
            return (UNCHANGED if decided == KEEP else UPDATED), None
        inside = self._inside(stack, blueprint, row, handler, properties, references)
        if inside is None:
            return UPDATED, None
        touched = any(inside[kind] for kind in KINDS if kind != UNCHANGED)
        same = dict(row.properties) == properties and not row.base.failed
        return (UNCHANGED if same and not touched else UPDATED), inside

    def _inside(
        self,
        stack: Stack,
        blueprint: Blueprint,
        row: Resource,
        handler: NestedHandler,
        properties: Mapping[str, Any],
        references: References,
    ) -> Changes | None:
        """Return the changes of the stack that a resource is; None: unknown."""
        if row.nested_id is None:
            return None
        inner = self.store.stacks_by_id([row.nested_id]).get(row.nested_id)
        if inner is None:
            return None
        members = resolution.group_members(self.store, self._members(row))

        def find() -> Changes:
            batch = final_batch(
                stack, blueprint, row, handler, properties, references, members
            )
            definition = tree.nested_definition(batch, blueprint, row.name, references)
            unknown = unknown_parameters(batch, row.handler)
            nested = self.blueprint(inner, definition, unknown)
            return self.of(inner, nested, row.name)

        return self.call_or_unknown(row, find)


def _current(stack: NewStack, row: NewResource, parent: str | None) -> PlannedResource:
    return PlannedResource(
        stack=stack,
        name=row.name,
        type=row.type,
        state=row.state,
        physical_id=row.physical_id,
        attributes=row.attributes,
        # A resource that is not stored has no times.
        created_at=row.created_at if isinstance(row, Resource) else None,
        updated_at=row.updated_at if isinstance(row, Resource) else None,
        parent=parent,
    )
