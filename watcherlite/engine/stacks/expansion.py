"""From a stack operation to the actions that do it; all pure."""

import datetime
import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from watcherlite.domain import events
from watcherlite.domain.actions import COMPLETION, SUCCESS
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.definitions import RETAIN, ResourceDefinition
from watcherlite.engine.stacks.inputs import (
    CONVERGE,
    RESOURCE,
    ResourceInputs,
    StackInputs,
    seconds_left,
)
from watcherlite.states import stack as states

Counts = Callable[[int | None, int | None], bool]

#: How the keys of the derived actions begin: which stage of the operation they are.
MAKE = 'make:'
UNDO = 'undo:'
REMOVE = 'remove:'

#: action -> (dependents first, what they need of each other). None: no order.
_ORDERS: Mapping[str, tuple[bool, str] | None] = {
    states.CHECK: None,
    states.SUSPEND: (True, SUCCESS),
    states.RESUME: (False, SUCCESS),
    states.LOCK: (True, COMPLETION),
    states.UNLOCK: (False, COMPLETION),
    states.ADOPT: (False, SUCCESS),
}


def current(rows: Iterable[Resource]) -> dict[str, Resource]:
    """Return the resources that have not been replaced, by name."""
    return {row.name: row for row in rows if row.superseded_by is None}


def missing(
    stack: Stack,
    blueprint: Blueprint,
    rows: Mapping[str, Resource],
    now: datetime.datetime,
) -> list[Resource]:
    """Return the rows of resources that are to be, and are not there."""
    return [
        new_row(stack, blueprint, name, now)
        for name in blueprint.resources
        if name not in rows
    ]


def new_row(
    stack: Stack, blueprint: Blueprint, name: str, now: datetime.datetime
) -> Resource:
    """Return the row of a resource that has not been made."""
    definition = blueprint.resources[name]
    return Resource(
        uuid=events.new_uuid(),
        stack_id=stack.id or 0,
        name=name,
        type=definition.type,
        handler=blueprint.handler(name),
        requires=blueprint.requires[name],
        deletion_policy=deletion_policy(definition),
        created_at=now,
        updated_at=now,
    )


def deletion_policy(definition: ResourceDefinition) -> str:
    """Return what becomes of a resource that is not to be any more."""
    return RETAIN if definition.external_id is not None else definition.deletion_policy


def converging(
    stack: Stack,
    blueprint: Blueprint,
    rows: Mapping[str, Resource],
    definition_id: int,
    stage: str,
    now: datetime.datetime,
) -> list[DerivedAction]:
    """Return the actions that make the resources what the template says."""
    timeout = seconds_left(stack.deadline, now)
    return [
        DerivedAction(
            stage + name,
            RESOURCE,
            ResourceInputs(
                stack.id or 0,
                rows[name].id or 0,
                CONVERGE,
                blueprint.handler(name),
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


def surplus(rows: Iterable[Resource], wanted: Iterable[str]) -> list[Resource]:
    """Return what is to be deleted: replaced, or not in the template any more."""
    names = frozenset(wanted)
    return [
        row for row in rows if row.superseded_by is not None or row.name not in names
    ]


def removing(
    stack: Stack, rows: Sequence[Resource], now: datetime.datetime
) -> list[DerivedAction]:
    """Return the actions that delete resources, dependents first."""
    timeout = seconds_left(stack.deadline, now)
    parents = _dependents(rows)
    return [
        DerivedAction(
            _removal_key(row),
            RESOURCE,
            ResourceInputs(
                stack.id or 0,
                row.id or 0,
                states.DELETE,
                row.handler,
                deadline=stack.deadline,
            ).as_inputs(),
            name=row.name,
            parents=tuple(_removal_key(other) for other in parents[row.id or 0]),
            timeout=timeout,
        )
        for row in rows
    ]


def doing(
    stack: Stack,
    work: Mapping[str, tuple[Resource, str]],
    inputs: StackInputs,
    now: datetime.datetime,
) -> list[DerivedAction]:
    """Return the actions that do something to each of these resources.

    :param work: by name, a resource and what is done to it
    """
    order = _ORDERS[inputs.do]
    timeout = seconds_left(stack.deadline, now)
    followers: dict[str, list[str]] = {name: [] for name in work}
    for row, _ in work.values():
        for name in row.requires:
            if name in followers:
                followers[name].append(row.name)
    derived = []
    for name, (row, do) in work.items():
        parents: Iterable[str] = ()
        if order is not None:
            backwards, _ = order
            requires = [other for other in row.requires if other in work]
            parents = followers[name] if backwards else requires
        derived.append(
            DerivedAction(
                MAKE + name,
                RESOURCE,
                ResourceInputs(
                    stack.id or 0,
                    row.id or 0,
                    do,
                    row.handler,
                    level=inputs.level,
                    deadline=stack.deadline,
                    adopted=(inputs.adopted or {}).get(name),
                ).as_inputs(),
                name=name,
                parents=tuple(MAKE + parent for parent in parents),
                needs=order[1] if order is not None else COMPLETION,
                timeout=timeout,
            )
        )
    return derived


def _removal_key(row: Resource) -> str:
    return f'{REMOVE}{row.name}:{row.id}'


def _dependents(rows: Sequence[Resource]) -> dict[int, list[Resource]]:
    """Return for each resource those of these that depend on it."""
    found = _edges(rows, lambda one, other: True)
    order = graphlib.TopologicalSorter(
        {key: [row.id or 0 for row in others] for key, others in found.items()}
    )
    try:
        order.prepare()
    except graphlib.CycleError:
        # Definitions may have turned a dependency round; each by itself is sound.
        return _edges(rows, lambda one, other: one == other)
    return found


def _edges(rows: Sequence[Resource], counts: Counts) -> dict[int, list[Resource]]:
    named: dict[str, list[Resource]] = {}
    for row in rows:
        named.setdefault(row.name, []).append(row)
    found: dict[int, list[Resource]] = {row.id or 0: [] for row in rows}
    for row in rows:
        for name in row.requires:
            for other in named.get(name, ()):
                if other is not row and counts(row.definition_id, other.definition_id):
                    found[other.id or 0].append(row)
    return found
