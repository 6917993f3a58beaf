"""Previews: the effect of a request on a stack, without storing anything."""

import dataclasses
import datetime
import graphlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

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
from watcherlite.engine.stacks import handlers, tree
from watcherlite.engine.stacks.actions.convergence import decide, is_new
from watcherlite.engine.stacks.actions.expansion import (
    NOT_STORED,
    current_rows,
    new_row,
)
from watcherlite.engine.stacks.requests.template_validator import (
    TemplateValidator,
    final_batch,
)
from watcherlite.engine.stacks.resolution import (
    RowReferences,
    StoredMembers,
    build_blueprint,
    group_members,
)
from watcherlite.engine.stacks.resource_context import DryRunAction
from watcherlite.engine.stacks.services import StackServices
from watcherlite.plugins.base import NestedHandler, ResourceHandler
from watcherlite.states.stack import State

LOG = logging.getLogger(__name__)

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
    budgets = _PreviewBudgets.of(services)
    blueprint = build_blueprint(stack, definition, budgets.evaluated)
    return _CreationPreview(services, budgets).of(stack, blueprint, None)


def preview_update(
    services: StackServices, stack: Stack, definition: Definition, nested: bool
) -> Mapping[str, Sequence[PlannedResource]]:
    """Return the resources after an update, by kind; the definition is valid.

    A value that is unknown before the update, because it depends on a resource that is
    replaced or added, counts as changed.

    :param nested: include the resources of nested stacks
    :raises Invalid: a property that must not change would change
    """
    budgets = _PreviewBudgets.of(services)
    blueprint = build_blueprint(stack, definition, budgets.evaluated)
    changes = _UpdatePreview(services, budgets, nested).of(stack, blueprint, None)
    return {kind: tuple(changes[kind]) for kind in KINDS}


@dataclasses.dataclass(frozen=True, slots=True)
class _PreviewBudgets:
    """The budgets of one preview.

    :param evaluated: for the functions of templates
    :param shown: for the resources in the response
    """

    evaluated: EvaluationBudget
    shown: EvaluationBudget

    @classmethod
    def of(cls, services: StackServices) -> '_PreviewBudgets':
        limits = services.limits
        return cls(
            EvaluationBudget(limits.evaluated),
            EvaluationBudget(
                limits.shown,
                'the resources of the preview have more than {} bytes together',
            ),
        )


class _CreationPreview:
    def __init__(self, services: StackServices, budgets: _PreviewBudgets) -> None:
        self._services = services
        self._budgets = budgets

    def of(
        self, stack: NewStack, blueprint: Blueprint, parent: str | None
    ) -> list[PlannedResource]:
        now = DryRunAction().now()
        resources = []
        for name in blueprint.resources:
            row = new_row(NOT_STORED, blueprint, name, now)
            planned = _planned(
                stack, blueprint, row, parent, NoReferences(), self._budgets
            )
            handler = handlers.make_handler(
                self._services.handlers, blueprint.handler(name)
            )
            if isinstance(handler, NestedHandler):
                inside = self._inside(stack, blueprint, row, handler)
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
        """Return the resources of the stack that a resource is, if they are known."""
        validator = TemplateValidator(self._services, self._budgets.evaluated)
        try:
            values = blueprint.properties(row.name, NoReferences())
            fitted = self._services.handlers.fit_properties(
                handler, values, known=False
            )
            batch = final_batch(stack, blueprint, row, handler, fitted)
            inner = tree.new_nested_stack(stack, row, 0, DryRunAction().now())
            nested = _nested_blueprint(validator, inner, batch, blueprint, row)
            return self.of(inner, nested, row.name)
        except exceptions.RequestLimitExceeded:
            raise
        except Exception as error:
            # The request is valid: any error comes from values that are unknown.
            _log_unknown(row, error)
            return []


class _UpdatePreview:
    def __init__(
        self, services: StackServices, budgets: _PreviewBudgets, nested: bool
    ) -> None:
        self._services = services
        self._budgets = budgets
        self._include_nested = nested
        self._members = StoredMembers(services.store)

    def of(self, stack: Stack, blueprint: Blueprint, parent: str | None) -> Changes:
        """Return the changes of the resources of one stack."""
        changes: Changes = {kind: [] for kind in KINDS}
        rows = current_rows(self._services.store.list_resources([stack.id]))
        staying: dict[str, Resource] = {}
        references = RowReferences(staying, self._members)
        order = {name: blueprint.requires[name] for name in blueprint.resources}
        now = DryRunAction().now()
        for name in graphlib.TopologicalSorter(order).static_order():
            inside = None
            row: NewResource
            known = rows.get(name)
            if known is None or is_new(known):
                kind = ADDED
                row = known or new_row(stack.id, blueprint, name, now)
            else:
                kind, inside = self._compared(stack, blueprint, known, references)
                row = known
                if kind in (UNCHANGED, UPDATED):
                    staying[name] = known
            changes[kind].append(
                _planned(stack, blueprint, row, parent, references, self._budgets)
            )
            if inside is not None and self._include_nested:
                for each in KINDS:
                    changes[each] += inside[each]
        for name, row in rows.items():
            if name not in blueprint.resources:
                changes[DELETED].append(_current(stack, row, parent))
        return changes

    def _compared(
        self, stack: Stack, blueprint: Blueprint, row: Resource, references: References
    ) -> tuple[str, Changes | None]:
        """Return the kind of change of a resource, and the changes inside it."""
        handler_name = blueprint.handler(row.name)
        handler = handlers.make_handler(self._services.handlers, handler_name)
        properties = self._properties(blueprint, row, handler, references)
        external_id = blueprint.resources[row.name].external_id
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

    def _properties(
        self,
        blueprint: Blueprint,
        row: Resource,
        handler: ResourceHandler,
        references: References,
    ) -> dict[str, Any]:
        values = blueprint.properties(row.name, references)
        if blueprint.resources[row.name].external_id is not None:
            return values
        return self._services.handlers.fit_properties(handler, values, known=False)

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
        store = self._services.store
        inner = store.stacks_by_id([row.nested_id]).get(row.nested_id)
        if inner is None:
            return None
        members = group_members(store, self._members.members(row))
        try:
            batch = final_batch(
                stack, blueprint, row, handler, properties, references, members
            )
            validator = TemplateValidator(self._services, self._budgets.evaluated)
            nested = _nested_blueprint(validator, inner, batch, blueprint, row)
            return self.of(inner, nested, row.name)
        except exceptions.RequestLimitExceeded:
            raise
        except Exception as error:
            _log_unknown(row, error)
            return None


def _nested_blueprint(
    validator: TemplateValidator,
    inner: NewStack,
    batch: Batch,
    around: Blueprint,
    row: NewResource,
) -> Blueprint:
    """Return the blueprint of the stack that a resource is.

    :param around: the blueprint of the stack that has the resource
    """
    definition = tree.nested_definition(batch, around.definition, row.name)
    unknown = _unknown_parameters(batch, row.handler)
    return validator.build_blueprint(inner, definition, unknown)


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


def _planned(
    stack: NewStack,
    blueprint: Blueprint,
    row: NewResource,
    parent: str | None,
    references: References,
    budgets: _PreviewBudgets,
) -> PlannedResource:
    masked = dataclasses.replace(
        blueprint,
        parameters={**blueprint.parameters, **dict.fromkeys(blueprint.hidden, MASK)},
    )
    try:
        properties = masked.properties(row.name, references)
        metadata = masked.metadata(row.name, references)
    except exceptions.RequestLimitExceeded:
        raise
    except exceptions.Invalid:
        # The mask does not have the type of the parameter that it replaces.
        properties, metadata = {}, {}
    budgets.shown.spend(shown_size(properties) + shown_size(metadata))
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


def _log_unknown(row: NewResource, error: Exception) -> None:
    name = type(error).__name__
    LOG.debug('The change of %s is unknown before the update: %s', row.name, name)
