"""What templates are resolved with: definitions, and what resources have become."""

import collections
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.handling import Member
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.states import stack as states

#: How many blueprints a process keeps; they never change.
KEPT = 128
#: How large these may be together, by `size_of` what they are made of: the steps of a
#: large group have a definition each, with all of its members.
LARGEST = 64 * 1024 * 1024
#: How many it keeps however large: those of a stack and the ones around and in it.
FEWEST = 8
#: What a value takes besides its characters.
_EACH = 64


def size_of(definition: Definition) -> int:
    """Return about how many bytes a definition takes as values."""
    size = sum(map(len, definition.files.values()))
    todo = [definition.template, definition.environment, definition.parameters]
    while todo:
        here: Any = todo.pop()
        size += _EACH
        if isinstance(here, str):
            size += len(here)
        elif isinstance(here, Mapping):
            size += sum(map(len, here))
            todo += here.values()
        elif isinstance(here, list | tuple):
            todo += here
    return size


class Blueprints:
    """The blueprints of stacks: those that were asked for last are kept.

    Any number of threads may use it at once.

    :param largest: how large those that are kept may be together
    """

    def __init__(self, store: Store, largest: int = LARGEST) -> None:
        self._store = store
        self._largest = largest
        self._lock = threading.Lock()
        self._size = 0
        self._made: collections.OrderedDict[tuple[int, int], tuple[Blueprint, int]] = (
            collections.OrderedDict()
        )

    def of(self, stack: Stack, definition: Definition) -> Blueprint:
        """Return what a definition makes of a stack; both are stored."""
        key = (stack.id or 0, definition.id or 0)
        known = self._known(key)
        if known is not None:
            return known
        made, size = blueprint(stack, definition), size_of(definition)
        with self._lock:
            if key not in self._made:
                self._made[key] = made, size
                self._size += size
            while self._are_too_many():
                _, (_, dropped) = self._made.popitem(last=False)
                self._size -= dropped
        return made

    def by_id(self, stack: Stack, definition_id: int) -> Blueprint:
        """Likewise, by the id of the definition."""
        known = self._known((stack.id or 0, definition_id))
        if known is not None:
            return known
        return self.of(stack, self._store.get_definition(definition_id))

    def _are_too_many(self) -> bool:
        count = len(self._made)
        return count > KEPT or (count > FEWEST and self._size > self._largest)

    def _known(self, key: tuple[int, int]) -> Blueprint | None:
        with self._lock:
            found = self._made.get(key)
            if found is None:
                return None
            self._made.move_to_end(key)
            return found[0]


def blueprint(stack: Stack, definition: Definition) -> Blueprint:
    """Return what a definition makes of a stack; raises Invalid."""
    return Blueprint.of(
        definition, name=stack.name, uuid=stack.uuid, tenant=stack.tenant
    )


def members_of(store: Store, rows: Sequence[Resource]) -> list[Member]:
    """Return the resources of a stack as the group sees them that it is.

    What has been, or is being, deleted is none of its members any more.
    """
    kept = [row for row in rows if row.base.action != states.DELETE]
    templates: dict[int | None, Mapping[str, Any]] = {
        wanted: store.get_definition(wanted).template.get('resources') or {}
        for wanted in {row.definition_id for row in kept}
        if wanted is not None
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


class RowReferences:
    """What get_resource and get_attr give: implements `blueprint.References`.

    :param rows: the resources that may be referred to, by name; what is not there
        has not been made, and gives None
    :param members: the resources of the stack that one of these is; asked once
    """

    def __init__(
        self,
        rows: Mapping[str, Resource],
        members: Callable[[Resource], Sequence[Resource]] = lambda row: (),
    ) -> None:
        self._rows = rows
        self._members = members
        self._known: dict[str, dict[str, Resource]] = {}

    def reference(self, name: str) -> Any:
        """Return what get_resource gives."""
        row = self._rows.get(name)
        if row is None or row.base.action == 'INIT':
            return None
        return row.reference or row.physical_id or row.name

    def attribute(self, name: str, path: Sequence[Any]) -> Any:
        """Return what get_attr gives; None for what is not there."""
        row = self._rows.get(name)
        if row is None or row.base.action == 'INIT' or not path:
            return None
        first, rest = str(path[0]), list(path[1:])
        if first == 'show':
            return walk(row.attributes, rest)
        if first.startswith('resource.'):
            return self._of_member(row, first, rest)
        return walk(row.attributes.get(first), rest)

    def _of_member(self, row: Resource, first: str, rest: list[Any]) -> Any:
        """Return what `resource.NAME[.ATTRIBUTE]` of a group gives."""
        _, _, named = first.partition('.')
        name, _, attribute = named.partition('.')
        if row.name not in self._known:
            self._known[row.name] = {one.name: one for one in self._members(row)}
        found = self._known[row.name].get(name)
        if found is None:
            raise exceptions.Invalid(f'{row.name} has no member {name}')
        if attribute:
            rest = [attribute, *rest]
        if not rest:
            return found.reference or found.physical_id
        return walk(found.attributes.get(str(rest[0])), rest[1:])


def walk(value: Any, path: Sequence[Any]) -> Any:
    """Return what is at a path in a value; None if there is nothing."""
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
