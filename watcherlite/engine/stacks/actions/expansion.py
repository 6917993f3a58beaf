"""The expansion of a stack operation into actions on resources; pure functions."""

import datetime
import graphlib
from collections.abc import Iterable, Mapping, Sequence

from watcherlite.domain import events
from watcherlite.domain.actions import COMPLETION, SUCCESS
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.domain.stacks import NewResource, Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.definitions import RETAIN, ResourceDefinition
from watcherlite.engine.stacks import action_inputs
from watcherlite.states import stack as states

#: Prefixes of the keys of derived actions: the stages of an operation.
MAKE = 'make:'
UNDO = 'undo:'
REMOVE = 'remove:'

#: The id of a stack that is not stored.
NOT_STORED = 0

#: operation -> (dependents first, type of the dependencies). None: in any order.
_ORDERS: Mapping[str, tuple[bool, str] | None] = {
    states.CHECK: None,
    states.SUSPEND: (True, SUCCESS),
    states.RESUME: (False, SUCCESS),
    states.LOCK: (True, COMPLETION),
    states.UNLOCK: (False, COMPLETION),
    states.ADOPT: (False, SUCCESS),
}


def current_rows(rows: Iterable[Resource]) -> dict[str, Resource]:
    """Return the rows that have not been replaced, by name."""
    return {row.name: row for row in rows if row.superseded_by is None}


def missing_rows(
    stack: Stack,
    blueprint: Blueprint,
    rows: Mapping[str, Resource],
    now: datetime.datetime,
) -> list[NewResource]:
    """Return new rows for the resources of a blueprint that have none."""
    return [
        new_row(stack.id, blueprint, name, now)
        for name in blueprint.resources
        if name not in rows
    ]


def new_row(
    stack_id: int, blueprint: Blueprint, name: str, now: datetime.datetime
) -> NewResource:
    """Return the row of a resource that does not exist yet.

    :param stack_id: NOT_STORED in a validation or preview of a new stack
    """
    definition = blueprint.resources[name]
    return NewResource(
        uuid=events.new_uuid(),
        stack_id=stack_id,
        name=name,
        type=definition.type,
        handler=blueprint.handlers[name],
        requires=blueprint.requires[name],
        deletion_policy=deletion_policy(definition),
        created_at=now,
        updated_at=now,
    )


def deletion_policy(definition: ResourceDefinition) -> str:
    """Return the deletion policy; an external resource is always retained."""
    return RETAIN if definition.external_id is not None else definition.deletion_policy


def converge_actions(
    stack: Stack,
    blueprint: Blueprint,
    rows: Mapping[str, Resource],
    definition_id: int,
    stage: str,
    now: datetime.datetime,
) -> list[DerivedAction]:
    """Return the actions that converge the resources to a definition."""
    timeout = action_inputs.seconds_left(stack.deadline, now)
    return [
        DerivedAction(
            stage + name,
            action_inputs.RESOURCE,
            action_inputs.ResourceInputs(
                stack.id,
                rows[name].id,
                action_inputs.CONVERGE,
                blueprint.handlers[name],
                definition=definition_id,
                deadline=stack.deadline,
                undo=stage == UNDO or None,
            ).as_inputs(),
            name=name,
            parents=tuple(stage + parent for parent in blueprint.requires[name]),
            timeout=timeout,
        )
        for name in blueprint.resources
    ]


def surplus_rows(rows: Iterable[Resource], desired: Iterable[str]) -> list[Resource]:
    """Return the rows to delete: replaced, or not among the names."""
    names = frozenset(desired)
    return [
        row for row in rows if row.superseded_by is not None or row.name not in names
    ]


def delete_actions(
    stack: Stack, rows: Sequence[Resource], now: datetime.datetime
) -> list[DerivedAction]:
    """Return the actions that delete resources, dependents first."""
    timeout = action_inputs.seconds_left(stack.deadline, now)
    parents = _dependents(rows)
    return [
        DerivedAction(
            removal_key(row),
            action_inputs.RESOURCE,
            action_inputs.ResourceInputs(
                stack.id, row.id, states.DELETE, row.handler, deadline=stack.deadline
            ).as_inputs(),
            name=row.name,
            parents=tuple(removal_key(other) for other in parents[row.id]),
            timeout=timeout,
        )
        for row in rows
    ]


def operation_actions(
    stack: Stack,
    selection: Mapping[str, tuple[Resource, str]],
    inputs: action_inputs.StackInputs,
    now: datetime.datetime,
) -> list[DerivedAction]:
    """Return the actions of an operation on all resources.

    :param selection: by name, a resource and the operation on it
    """
    order = _ORDERS[inputs.do]
    parents = _parent_names(selection, order)
    timeout = action_inputs.seconds_left(stack.deadline, now)
    return [
        DerivedAction(
            MAKE + name,
            action_inputs.RESOURCE,
            action_inputs.ResourceInputs(
                stack.id,
                row.id,
                operation,
                row.handler,
                level=inputs.level,
                deadline=stack.deadline,
                adopted=(inputs.adopted or {}).get(name),
                failure=(
                    row.base.reason
                    if operation == states.CHECK and row.base.name == 'CHECK_FAILED'
                    else None
                ),
            ).as_inputs(),
            name=name,
            parents=tuple(MAKE + parent for parent in parents.get(name, ())),
            needs=order[1] if order is not None else COMPLETION,
            timeout=timeout,
        )
        for name, (row, operation) in selection.items()
    ]


def _parent_names(
    selection: Mapping[str, tuple[Resource, str]], order: tuple[bool, str] | None
) -> Mapping[str, Iterable[str]]:
    """Return for each resource those whose actions must end before its own."""
    if order is None:
        return {}
    requires = {
        name: [other for other in row.requires if other in selection]
        for name, (row, _) in selection.items()
    }
    dependents_first, _ = order
    if not dependents_first:
        return requires
    dependents: dict[str, list[str]] = {name: [] for name in selection}
    for name, others in requires.items():
        for other in others:
            dependents[other].append(name)
    return dependents


def removal_key(row: Resource) -> str:
    """Return the key of the action that deletes a resource."""
    return f'{REMOVE}{row.name}:{row.id}'


def _dependents(rows: Sequence[Resource]) -> dict[int, list[Resource]]:
    """Return for each row the rows that depend on it, by id."""
    dependents = _edges(rows, same_definition=False)
    order = graphlib.TopologicalSorter(
        {key: [row.id for row in others] for key, others in dependents.items()}
    )
    try:
        order.prepare()
    except graphlib.CycleError:
        # Two definitions may reverse a dependency; each one by itself has no cycle.
        return _edges(rows, same_definition=True)
    return dependents


def _edges(
    rows: Sequence[Resource], same_definition: bool
) -> dict[int, list[Resource]]:
    by_name: dict[str, list[Resource]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    dependents: dict[int, list[Resource]] = {row.id: [] for row in rows}
    for row in rows:
        for name in row.requires:
            for other in by_name.get(name, ()):
                if other is row:
                    continue
                if same_definition and row.definition_id != other.definition_id:
                    continue
                dependents[other.id].append(row)
    return dependents
