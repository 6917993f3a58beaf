"""Resolution of templates: cached blueprints, and references to resources."""

import collections
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.resource_results import Member
from watcherlite.domain.stacks import (
    Definition,
    NewStack,
    Resource,
    Stack,
    StoredDefinition,
)
from watcherlite.domain.templates import formats
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.scope import EvaluationBudget
from watcherlite.engine.stacks import handlers
from watcherlite.states import stack as states

#: The maximum number of cached blueprints; a blueprint never changes.
MAX_BLUEPRINTS = 128
#: The maximum size of the cache, by `definition_size`: each batch of a large group has
#: a definition with all members.
MAX_SIZE = 64 * 1024 * 1024
#: Cached whatever their size: those of a stack, its ancestors and descendants.
MIN_BLUEPRINTS = 8
#: The attribute that all resources have: what their service returns, or all others.
_SHOW = 'show'
#: The size of a value besides its characters.
_VALUE_SIZE = 64


def definition_size(definition: Definition) -> int:
    """Return the approximate size of a definition in memory, in bytes."""
    size = sum(map(len, definition.files.values()))
    todo = [definition.template, definition.environment, definition.parameters]
    while todo:
        here: Any = todo.pop()
        size += _VALUE_SIZE
        if isinstance(here, str):
            size += len(here)
        elif isinstance(here, Mapping):
            size += sum(map(len, here))
            todo += here.values()
        elif isinstance(here, list | tuple):
            todo += here
    return size


class Blueprints:
    """The cache of the blueprints that were used last; safe to use from all threads.

    :param largest: the maximum size
    """

    def __init__(self, store: Store, largest: int = MAX_SIZE) -> None:
        self._store = store
        self._largest = largest
        self._lock = threading.Lock()
        self._size = 0
        self._cache: collections.OrderedDict[tuple[int, int], tuple[Blueprint, int]] = (
            collections.OrderedDict()
        )

    def of(self, stack: Stack, definition: StoredDefinition) -> Blueprint:
        """Return the blueprint of a stack by a definition."""
        key = (stack.id, definition.id)
        known = self._cached(key)
        if known is not None:
            return known
        made, size = build_blueprint(stack, definition), definition_size(definition)
        with self._lock:
            if key not in self._cache:
                self._cache[key] = made, size
                self._size += size
            while len(self._cache) > MAX_BLUEPRINTS or (
                len(self._cache) > MIN_BLUEPRINTS and self._size > self._largest
            ):
                _, (_, dropped) = self._cache.popitem(last=False)
                self._size -= dropped
        return made

    def by_id(self, stack: Stack, definition_id: int) -> Blueprint:
        """Return the blueprint of a stack by the id of a definition."""
        known = self._cached((stack.id, definition_id))
        if known is not None:
            return known
        return self.of(stack, self._store.get_definition(definition_id))

    def _cached(self, key: tuple[int, int]) -> Blueprint | None:
        with self._lock:
            found = self._cache.get(key)
            if found is None:
                return None
            self._cache.move_to_end(key)
            return found[0]


def build_blueprint(
    stack: NewStack, definition: Definition, budget: EvaluationBudget | None = None
) -> Blueprint:
    """Return the blueprint of a stack by a definition; raises Invalid.

    :param budget: of the request
    """
    return Blueprint.of(
        definition, name=stack.name, uuid=stack.uuid, tenant=stack.tenant, budget=budget
    )


def group_members(store: Store, rows: Sequence[Resource]) -> list[Member]:
    """Return the resources of a stack as the members of a group.

    Resources that have been, or are being, deleted are not members.
    """
    kept = [row for row in rows if row.base.action != states.DELETE]
    templates: dict[int | None, Mapping[str, Any]] = {
        desired: formats.mapping_section(
            store.get_definition(desired).template, 'resources'
        )
        for desired in {row.definition_id for row in kept}
        if desired is not None
    }
    return [
        Member(
            row.name,
            row.type,
            row.base.status,
            row.physical_id,
            row.reference or row.name,
            row.attributes,
            row.created_at,
            templates.get(row.definition_id, {}).get(row.name),
        )
        for row in kept
    ]


def stored_members(store: Store, row: Resource) -> list[Resource]:
    """Return the resources of the stack that a resource is; none if it is no stack."""
    return [] if row.nested_id is None else store.list_resources([row.nested_id])


class Reader(Protocol):
    """Reads attributes that the row of a resource does not have."""

    def members(self, row: Resource) -> Sequence[Resource]:
        """Return the resources of the stack that a resource is; none if it is none."""

    def live(self, row: Resource, name: str) -> Any:
        """Return the present value of a live attribute; None: it is none.

        :raises Invalid: it cannot be read
        """

    def member_attribute(self, row: Resource, path: Sequence[Any]) -> int | None:
        """Return where in a path the name of an attribute of all members is.

        :returns: None: the path is not that of an attribute of members
        """

    def gathered(
        self, row: Resource, members: Sequence[Resource], name: str
    ) -> Mapping[str, Any]:
        """Return the attributes of a group with a live attribute of its members.

        :raises Invalid: it cannot be read
        """


class RowReferences:
    """The values of get_resource and get_attr: implements `blueprint.References`.

    :param rows: the resources that exist, by name; references to others give None
    :param reader: None: only the attributes of the rows are known
    """

    def __init__(
        self, rows: Mapping[str, Resource], reader: Reader | None = None
    ) -> None:
        self._rows = rows
        self._reader = reader
        # By the id of the resource.
        self._live: dict[tuple[int, str], Any] = {}
        self._members: dict[int, dict[str, Resource]] = {}

    def reference(self, name: str) -> Any:
        """Return the value of get_resource."""
        row = self._rows.get(name)
        if row is None or row.base.action == 'INIT':
            return None
        return row.reference or row.physical_id or row.name

    def attribute(self, name: str, path: Sequence[Any]) -> Any:
        """Return the value of get_attr; None for what does not exist.

        :raises Invalid: there is no such member, the output of a nested stack has an
            error, or an attribute cannot be read
        """
        row = self._rows.get(name)
        if row is None or row.base.action == 'INIT':
            return None
        return self._value(row, path) if path else row.attributes

    def _value(self, row: Resource, path: Sequence[Any]) -> Any:
        first, rest = str(path[0]), list(path[1:])
        if handlers.is_template(row.handler):
            error = (row.data.get(handlers.OUTPUT_ERRORS) or {}).get(first)
            if error is not None:
                raise exceptions.Invalid(f'Error in {row.name} output {first}: {error}')
        if first == _SHOW and _SHOW not in row.attributes:
            return value_at(row.attributes, rest)
        if first.startswith('resource.'):
            return self._of_member(row, first, rest)
        if self._reader is not None and row.nested_id is not None:
            at = self._reader.member_attribute(row, path)
            if at is not None:
                return self._of_members(row, path[: at + 1], path[at + 1 :])
        if first in row.attributes or self._reader is None:
            return value_at(row.attributes.get(first), rest)
        # One request for all references to it.
        key = (row.id, first)
        if key not in self._live:
            self._live[key] = self._reader.live(row, first)
        return value_at(self._live[key], rest)

    def _of_member(self, row: Resource, first: str, rest: list[Any]) -> Any:
        """Return the value of `resource.NAME[.ATTRIBUTE]` of a group."""
        _, _, named = first.partition('.')
        name, _, attribute = named.partition('.')
        member = self._members_of(row).get(name)
        if member is None:
            raise exceptions.Invalid(f'{row.name} has no member {name}')
        if attribute:
            rest = [attribute, *rest]
        if not rest:
            return member.reference or member.physical_id
        return self._value(member, rest)

    def _of_members(
        self, row: Resource, path: Sequence[Any], rest: Sequence[Any]
    ) -> Any:
        """Return the values of an attribute of all members, each at a path in it."""
        found = value_at(row.attributes, path)
        if found is None and self._reader is not None:
            name = str(path[-1])
            key = (row.id, name)
            if key not in self._live:
                members = list(self._members_of(row).values())
                self._live[key] = self._reader.gathered(row, members, name)
            found = value_at(self._live[key], path)
        if isinstance(found, Mapping):
            return {name: value_at(value, rest) for name, value in found.items()}
        if isinstance(found, list | tuple):
            return [value_at(value, rest) for value in found]
        return value_at(found, rest)

    def _members_of(self, row: Resource) -> Mapping[str, Resource]:
        if row.id not in self._members:
            rows = self._reader.members(row) if self._reader is not None else ()
            self._members[row.id] = {member.name: member for member in rows}
        return self._members[row.id]


def value_at(value: Any, path: Sequence[Any]) -> Any:
    """Return the part of a value at a path; None if there is none."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step, value.get(str(step)))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            try:
                value = value[int(step)]
            except (ValueError, IndexError, TypeError):
                return None
        else:
            return None
    return value
