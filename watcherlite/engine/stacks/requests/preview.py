"""Previews: the effect of a request on a stack, without storing anything."""

import dataclasses
import datetime
import functools
import graphlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE, Batch
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
from watcherlite.engine.stacks.actions.convergence import decide, is_new
from watcherlite.engine.stacks.requests.template_validator import (
    final_batch,
    lenient_blueprint,
)
from watcherlite.engine.stacks.resource_context import DryRunAction
from watcherlite.engine.stacks.services import StackServices
from watcherlite.plugins.base import NestedHandler
from watcherlite.states.stack import State

LOG = logging.getLogger(__name__)

T = TypeVar('T')
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
    """
    preview = _UpdatePreview(services, nested)
    changes = preview.of(stack, preview.blueprint(stack, definition), None)
    return {kind: tuple(changes[kind]) for kind in KINDS}


class _Preview:
    """A preview, with its budgets for the functions of templates and the response."""

    def __init__(self, services: StackServices) -> None:
        self._store = services.store
        self._handlers = services.handlers
        self._evaluated = EvaluationBudget(services.limits.evaluated)
        self._shown = EvaluationBudget(
            services.limits.shown,
            'the resources of the preview have more than {} bytes together',
        )

    def blueprint(
        self,
        stack: NewStack,
        definition: Definition,
        unknown: frozenset[str] = frozenset(),
    ) -> Blueprint:
        """Return the blueprint of a stack, in which unknown parameters are None."""
        return lenient_blueprint(stack, definition, unknown, self._evaluated)

    def _nested_blueprint(
        self, inner: NewStack, batch: Batch, parent: Blueprint, row: NewResource
    ) -> Blueprint:
        """Return the blueprint of the stack that a resource is.

        :param parent: the blueprint of the stack that has the resource
        """
        definition = tree.nested_definition(batch, parent.definition, row.name)
        return self.blueprint(
            inner, definition, _unknown_parameters(batch, row.handler)
        )

    def _call_or_unknown(self, row: NewResource, call: Callable[[], T]) -> T | None:
        """Return what a call finds inside a resource; None: it is unknown."""
        try:
            return call()
        except exceptions.RequestLimitExceeded:
            raise
        except Exception as error:
            # The request is valid: any error comes from values that are unknown.
            LOG.debug(
                'The change of %s is unknown before the update: %s',
                row.name,
                type(error).__name__,
            )
            return None

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
        self._shown.spend(shown_size(properties) + shown_size(metadata))
        definition = blueprint.resources[row.name]
        return dataclasses.replace(
            _current(stack, row, parent),
            type=definition.type,
            properties=properties,
            metadata=metadata,
            description=definition.description,
            required_by=tuple(
                name for name, needs in blueprint.requires.items() if row.name in needs
            ),
        )


class _CreationPreview(_Preview):
    def of(
        self, stack: NewStack, blueprint: Blueprint, parent: str | None
    ) -> list[PlannedResource]:
        now = DryRunAction().now()
        resources = []
        for name in blueprint.resources:
            row = expansion.new_row(expansion.NOT_STORED, blueprint, name, now)
            planned = self._plan_resource(stack, blueprint, row, parent)
            handler = handlers.make_handler(self._handlers, row.handler)
            if isinstance(handler, NestedHandler):
                find = functools.partial(self._inside, stack, blueprint, row, handler)
                inside = self._call_or_unknown(row, find) or ()
                planned = dataclasses.replace(planned, nested=tuple(inside))
            resources.append(planned)
        return resources

    def _inside(
        self,
        stack: NewStack,
        blueprint: Blueprint,
        row: NewResource,
        handler: NestedHandler,
    ) -> list[PlannedResource]:
        """Return the resources of the stack that a resource is."""
        values = blueprint.properties(row.name, _NO_REFERENCES)
        fitted = self._handlers.fit_properties(handler, values, known=False)
        batch = final_batch(stack, blueprint, row, handler, fitted)
        inner = tree.new_nested_stack(stack, row, 0, DryRunAction().now())
        nested = self._nested_blueprint(inner, batch, blueprint, row)
        return self.of(inner, nested, row.name)


class _UpdatePreview(_Preview):
    def __init__(self, services: StackServices, nested: bool) -> None:
        super().__init__(services)
        self._include_nested = nested
        self._members = functools.partial(resolution.stored_members, services.store)

    def of(self, stack: Stack, blueprint: Blueprint, parent: str | None) -> Changes:
        """Return the changes of the resources of one stack."""
        changes: Changes = {kind: [] for kind in KINDS}
        rows = expansion.current_rows(self._store.list_resources([stack.id]))
        staying: dict[str, Resource] = {}
        references = resolution.RowReferences(staying, self._members)
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
        handler = handlers.make_handler(self._handlers, handler_name)
        properties = blueprint.properties(row.name, references)
        external_id = blueprint.resources[row.name].external_id
        if external_id is None:
            properties = self._handlers.fit_properties(handler, properties, known=False)
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
        inner = self._store.stacks_by_id([row.nested_id]).get(row.nested_id)
        if inner is None:
            return None
        members = resolution.group_members(self._store, self._members(row))

        def find() -> Changes:
            batch = final_batch(
                stack, blueprint, row, handler, properties, references, members
            )
            nested = self._nested_blueprint(inner, batch, blueprint, row)
            return self.of(inner, nested, row.name)

        return self._call_or_unknown(row, find)


def _unknown_parameters(batch: Batch, handler_name: str) -> frozenset[str]:
    """Return the parameters of a template that have an unknown value."""
    declared = batch.template.get('parameters')
    if not handlers.is_template(handler_name) or not isinstance(declared, Mapping):
        return frozenset()
    return frozenset(
        name
        for name, value in batch.parameters.items()
        if value is None and name in declared
    )


def _current(stack: NewStack, row: NewResource, parent: str | None) -> PlannedResource:
    return PlannedResource(
        stack=stack,
        name=row.name,
        type=row.type,
        state=row.state,
        physical_id=row.physical_id,
        attributes=row.attributes,
        created_at=row.created_at,
        updated_at=row.updated_at,
        parent=parent,
    )
