"""What an operation would do, told before it is asked for; stores nothing."""

import dataclasses
import datetime
import graphlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.handling import KEEP, REPLACE, Batch, Expansion
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint, NothingMade, References
from watcherlite.domain.templates.parameters import MASK
from watcherlite.engine.stacks import checking, handlers, nesting
from watcherlite.engine.stacks.converging import decision, is_new
from watcherlite.engine.stacks.expansion import current, new_row
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.resolving import RowReferences, blueprint, members_of
from watcherlite.engine.stacks.resource_context import Imagined, handler_context
from watcherlite.plugins.base import NestedHandler, ResourceHandler
from watcherlite.states.stack import State

LOG = logging.getLogger(__name__)

UNCHANGED, UPDATED, REPLACED = 'unchanged', 'updated', 'replaced'
ADDED, DELETED = 'added', 'deleted'
KINDS = (UNCHANGED, UPDATED, REPLACED, ADDED, DELETED)


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """A resource as it would be, or as it is if it is not touched or deleted.

    :param stack: that it belongs to; one that is not stored has no id
    :param properties: resolved as far as is known; hidden parameters are masked
    :param state: as it is
    :param parent: the name of the resource that its stack is; None: the stack is
        the one that was asked for
    :param nested: of a creation: what the stack would have that it is; None: it is
        no stack
    """

    stack: Stack
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
    nested: tuple['Planned', ...] | None = None


Changes = dict[str, list[Planned]]


def creation(parts: Parts, stack: Stack, definition: Definition) -> list[Planned]:
    """Return what a stack would have; its definition has been checked."""
    return _Creation(parts).of(stack, blueprint(stack, definition), None)


def update(
    parts: Parts, stack: Stack, definition: Definition, nested: bool
) -> Mapping[str, Sequence[Planned]]:
    """Return what becomes of each resource; the definition has been checked.

    What is not known before the update, because it depends on what is replaced or
    added, counts as changed.

    :param nested: tell of the resources of stacks in it, too
    :raises Invalid: a property that cannot be changed would be
    """
    found = _Update(parts, nested).of(stack, blueprint(stack, definition), None)
    return {kind: tuple(found[kind]) for kind in KINDS}


class _Creation:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def of(self, stack: Stack, made: Blueprint, parent: str | None) -> list[Planned]:
        now = Imagined().now()
        planned = []
        for name in made.resources:
            row = new_row(stack, made, name, now)
            one = _planned(stack, made, row, parent, NothingMade())
            handler = handlers.make(self._parts.handlers, made.handler(name))
            if isinstance(handler, NestedHandler):
                inside = self._inside(stack, made, row, handler)
                one = dataclasses.replace(one, nested=tuple(inside))
            planned.append(one)
        return planned

    def _inside(
        self, stack: Stack, made: Blueprint, row: Resource, handler: NestedHandler
    ) -> list[Planned]:
        """Return what the stack would have that a resource is, if that is known."""
        looked = checking.Checking(self._parts)
        try:
            values = made.properties(row.name, NothingMade())
            fitted = self._parts.handlers.fit_properties(handler, values, known=False)
            batch = checking.planned(stack, made, row.name, handler, fitted)
            inner = nesting.stack_of(stack, row, 0, Imagined().now())
            wanted = nesting.definition(batch, made.definition, row.name)
            unknown = _unknown(batch, row.handler)
            return self.of(inner, looked.blueprint(inner, wanted, unknown), row.name)
        except Exception as error:
            # It was checked: what is wrong now comes from what is not known yet.
            _not_known(row, error)
            return []


class _Update:
    def __init__(self, parts: Parts, nested: bool) -> None:
        self._parts = parts
        self._tell_nested = nested

    def of(self, stack: Stack, made: Blueprint, parent: str | None) -> Changes:
        """Return what becomes of the resources of one stack."""
        found: Changes = {kind: [] for kind in KINDS}
        rows = current(self._parts.store.list_resources([stack.id or 0]))
        staying: dict[str, Resource] = {}
        references = RowReferences(staying, self._members)
        order = {name: made.requires[name] for name in made.resources}
        now = Imagined().now()
        for name in graphlib.TopologicalSorter(order).static_order():
            row = rows.get(name)
            if row is None or is_new(row):
                kind, row, inside = ADDED, row or new_row(stack, made, name, now), None
            else:
                kind, inside = self._compared(stack, made, row, references)
            if kind in (UNCHANGED, UPDATED):
                staying[name] = row
            found[kind].append(_planned(stack, made, row, parent, references))
            if inside is not None and self._tell_nested:
                for each in KINDS:
                    found[each] += inside[each]
        for name, row in rows.items():
            if name not in made.resources:
                found[DELETED].append(_as_it_is(stack, row, parent))
        return found

    def _members(self, row: Resource) -> list[Resource]:
        if row.nested_id is None:
            return []
        return self._parts.store.list_resources([row.nested_id])

    def _compared(
        self, stack: Stack, made: Blueprint, row: Resource, references: References
    ) -> tuple[str, Changes | None]:
        """Return what becomes of a resource, and of those of the stack that it is."""
        handler_name = made.handler(row.name)
        handler = handlers.make(self._parts.handlers, handler_name)
        wanted = self._wanted(made, row, handler, references)
        external_id = made.resources[row.name].external_id
        decided = decision(row, handler, handler_name, wanted, external_id)
        if decided == REPLACE:
            return REPLACED, None
        if not isinstance(handler, NestedHandler):
            return (UNCHANGED if decided == KEEP else UPDATED), None
        inside = self._inside(stack, made, row, handler, wanted, references)
        if inside is None:
            return UPDATED, None
        touched = any(inside[kind] for kind in KINDS if kind != UNCHANGED)
        same = dict(row.properties) == wanted and not row.base.failed
        return (UNCHANGED if same and not touched else UPDATED), inside

    def _wanted(
        self,
        made: Blueprint,
        row: Resource,
        handler: ResourceHandler,
        references: References,
    ) -> dict[str, Any]:
        values = made.properties(row.name, references)
        if made.resources[row.name].external_id is not None:
            return values
        return self._parts.handlers.fit_properties(handler, values, known=False)

    def _inside(
        self,
        stack: Stack,
        made: Blueprint,
        row: Resource,
        handler: NestedHandler,
        wanted: Mapping[str, Any],
        references: References,
    ) -> Changes | None:
        """Return what becomes of the stack that a resource is; None: nobody knows."""
        if row.nested_id is None:
            return None
        inner = self._parts.store.stacks_by_id([row.nested_id]).get(row.nested_id)
        if inner is None:
            return None
        members = members_of(self._parts.store, self._members(row))
        try:
            context = dataclasses.replace(
                handler_context(
                    *(Imagined(), stack, row, made.definition.files), properties=wanted
                ),
                update_policy=made.update_policy(row.name, references),
            )
            batch = Expansion.of(handler.expand(context, members)).batches[-1]
            unknown = _unknown(batch, row.handler)
            wanted_of_it = nesting.definition(batch, made.definition, row.name)
            looked = checking.Checking(self._parts)
            return self.of(
                inner, looked.blueprint(inner, wanted_of_it, unknown), row.name
            )
        except Exception as error:
            _not_known(row, error)
            return None


def _unknown(batch: Batch, handler_name: str) -> frozenset[str]:
    """Return the parameters of a template that are given, but not known yet."""
    declared = batch.template.get('parameters')
    if not handlers.is_template(handler_name) or not isinstance(declared, Mapping):
        return frozenset()
    return frozenset(
        name
        for name, value in batch.parameters.items()
        if value is None and name in declared
    )


def _planned(
    stack: Stack,
    made: Blueprint,
    row: Resource,
    parent: str | None,
    references: References,
) -> Planned:
    shown = dataclasses.replace(
        made, parameters={**made.parameters, **dict.fromkeys(made.hidden, MASK)}
    )
    try:
        properties = shown.properties(row.name, references)
        metadata = shown.metadata(row.name, references)
    except exceptions.Invalid:
        # The mask is not of the type of the parameter that it stands for.
        properties, metadata = {}, {}
    definition = made.resources[row.name]
    return dataclasses.replace(
        _as_it_is(stack, row, parent),
        type=definition.type,
        properties=properties,
        metadata=metadata,
        description=definition.description,
        required_by=tuple(
            name for name, needs in made.requires.items() if row.name in needs
        ),
    )


def _as_it_is(stack: Stack, row: Resource, parent: str | None) -> Planned:
    return Planned(
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


def _not_known(row: Resource, error: Exception) -> None:
    name = type(error).__name__
    LOG.debug('What %s becomes is not known before: %s', row.name, name)
