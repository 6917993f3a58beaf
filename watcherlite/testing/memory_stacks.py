"""The parts of the in-memory store about stacks and their resources."""

import dataclasses
import datetime
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.stacking import ListedStack, StackEventQuery, StackQuery
from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Definition, Resource, Stack, StackSurroundings
from watcherlite.testing.memory_tables import Tables, handed_out, stored

_SUBJECTS = (events.STACK, events.RESOURCE)
#: How long an operation may know of a definition that no row refers to.
_LONGEST = datetime.timedelta(days=2)
#: What of a stack never changes.
_STACK_NEVER = ('uuid', 'owner_id', 'owner_resource', 'root_id', 'depth')


class MemoryStackTransaction:
    """`db.stacking.StackTransaction` on the tables."""

    _tables: Tables
    _locked_rows: set[tuple[str, int]]

    def insert_definition(self, definition: Definition) -> Definition:
        tables, digest = self._tables, definition.digest
        known = (r for r in tables.definitions.rows.values() if r.digest == digest)
        row = next(known, None)
        if row is None:
            key = tables.definitions.next_key()
            row = stored(dataclasses.replace(definition, id=key))
            tables.definitions.put(key, row)
        tables.used[row.id or 0] = tables.clock.now()
        return handed_out(row)

    def insert_stack(self, stack: Stack) -> Stack:
        known = self._tables.stacks.rows.values()
        if any(other.uuid == stack.uuid for other in known):
            raise exceptions.Conflict(f'There is already a stack {stack.uuid}.')
        if stack.owner_id is None and any(
            (other.tenant, other.name) == (stack.tenant, stack.name)
            and other.owner_id is None
            and other.deleted_at is None
            for other in known
        ):
            raise exceptions.StackExists(f'The Stack ({stack.name}) already exists.')
        key = self._tables.stacks.next_key()
        root = stack.root_id if stack.root_id is not None else key
        row = _kept(stack.evolve(id=key, root_id=root))
        self._tables.stacks.put(key, row)
        self._locked_rows.add(('stacks', key))
        return handed_out(row)

    def lock_stacks(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        found = {}
        for stack_id in sorted(set(stack_ids)):
            row = self._tables.stacks.rows.get(stack_id)
            if row is not None:
                self._locked_rows.add(('stacks', stack_id))
                found[stack_id] = handed_out(row)
        return found

    def lock_tree(self, root_id: int) -> list[Stack]:
        return list(self.lock_stacks(_tree(self._tables, root_id)).values())

    def save_stacks(self, stacks: Iterable[Stack]) -> None:
        for stack in stacks:
            self._check_locked(stack.id or 0)
            known = self._tables.stacks.rows[stack.id]
            never = {name: getattr(known, name) for name in _STACK_NEVER}
            self._tables.stacks.put(stack.id, _kept(stack.evolve(**never)))

    def insert_resources(self, resources: Sequence[Resource]) -> list[int]:
        ids = []
        for resource in resources:
            key = self._tables.resources.next_key()
            self._tables.resources.put(key, _kept(resource.evolve(id=key)))
            ids.append(key)
        return ids

    def save_resources(self, resources: Sequence[Resource]) -> None:
        for resource in resources:
            self._check_locked(resource.stack_id)
            known = self._tables.resources.rows[resource.id]
            same = resource.evolve(uuid=known.uuid, stack_id=known.stack_id)
            self._tables.resources.put(resource.id, _kept(same))

    def resources_of(
        self, stack_ids: Iterable[int], *, superseded: bool = True
    ) -> list[Resource]:
        return _resources(self._tables, stack_ids, None, superseded)

    def resources_by_id(self, resource_ids: Iterable[int]) -> dict[int, Resource]:
        return _by_id(self._tables.resources.rows, resource_ids)

    def _check_locked(self, stack_id: int) -> None:
        if ('stacks', stack_id) not in self._locked_rows:
            # Found at once here, and now and then in a database: a lost update.
            raise ValueError(f'stack {stack_id} was not locked')


class MemoryStacking:
    """`db.stacking.Stacking` on the tables."""

    _lock: threading.RLock
    _tables: Tables

    def find_stack(self, name: str, tenant: str | None, deleted: bool = False) -> Stack:
        with self._lock:
            rows = [
                row
                for row in self._tables.stacks.rows.values()
                if tenant is None or row.tenant == tenant
            ]
            for row in rows:
                if row.uuid == name and (deleted or row.deleted_at is None):
                    return handed_out(row)
            for row in reversed(rows):
                if row.name == name and row.owner_id is None and not row.deleted_at:
                    return handed_out(row)
        raise exceptions.StackNotFound(f'The Stack ({name}) could not be found.')

    def stacks_by_id(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        with self._lock:
            return _by_id(self._tables.stacks.rows, stack_ids)

    def stack_tree(self, root_id: int) -> list[Stack]:
        with self._lock:
            found = _by_id(self._tables.stacks.rows, _tree(self._tables, root_id))
            return [found[key] for key in sorted(found)]

    def list_stacks(self, query: StackQuery) -> list[ListedStack]:
        with self._lock:
            page = _sorted(self._matching(query), query)
            if query.after is not None:
                # It may have been deleted since, or not match any more.
                wide = StackQuery(query.tenant, nested=True, deleted=True)
                marker = [r for r in self._matching(wide) if r.uuid == query.after]
                if not marker:
                    text = f'The Stack ({query.after}) could not be found.'
                    raise exceptions.StackNotFound(text)
                others = [row for row in page if row.uuid != query.after]
                both = _sorted([*others, *marker], query)
                page = both[both.index(marker[0]) + 1 :]
            return [
                ListedStack(handed_out(row), self._owner(row))
                for row in page[: query.limit]
            ]

    def count_stacks(self, query: StackQuery) -> int:
        with self._lock:
            return len(self._matching(query))

    def get_definition(self, definition_id: int) -> Definition:
        with self._lock:
            row = self._tables.definitions.rows.get(definition_id)
            if row is None:
                text = f'The definition {definition_id} of a stack is gone.'
                raise exceptions.NotFound(text)
            return handed_out(row)

    def list_resources(
        self,
        stack_ids: Iterable[int],
        *,
        names: Iterable[str] | None = None,
        superseded: bool = False,
    ) -> list[Resource]:
        wanted = None if names is None else frozenset(names)
        with self._lock:
            return _resources(self._tables, stack_ids, wanted, superseded)

    def list_stack_events(self, query: StackEventQuery) -> list[StoredEvent]:
        with self._lock:
            index, rows = self._tables.index, self._tables.events.rows
            keys = sorted(
                key
                for stack_id in set(query.stack_ids)
                for subject in _SUBJECTS
                for key in index.of(('history', subject, stack_id))
            )
            if query.descending:
                keys.reverse()
            if query.after is not None:
                uuids = [rows[key].event.uuid for key in keys]
                if query.after not in uuids:
                    raise exceptions.NotFound(f'There is no event {query.after}.')
                keys = keys[uuids.index(query.after) + 1 :]
            found = [
                StoredEvent(key, handed_out(rows[key].event))
                for key in keys
                if _is_wanted(rows[key].event, query)
            ]
            return found[: query.limit]

    def surroundings_of_stacks(
        self, stack_ids: Iterable[int]
    ) -> Mapping[int, StackSurroundings]:
        with self._lock:
            rows = self._tables.stacks.rows
            return {
                key: StackSurroundings(
                    handed_out(rows[key]), _ancestry(rows, rows[key])
                )
                for key in sorted(set(stack_ids))
                if key in rows
            }

    def count_resources(self, root_id: int) -> int:
        with self._lock:
            tree = _tree(self._tables, root_id)
            return len(_resources(self._tables, tree, None, superseded=False))

    def purge_stacks(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        with self._lock:
            going = self.purged_of_stacks(before, limit)
            if not dry_run:
                for name, keys in going.items():
                    for key in keys:
                        getattr(self._tables, name).drop(key)
            return {name: len(keys) for name, keys in going.items()}

    def purged_of_stacks(
        self, before: datetime.datetime, limit: int
    ) -> dict[str, list[int]]:
        """Return the keys of the rows that would be deleted, by table."""
        stacks, resources = self._tables.stacks.rows, self._tables.resources.rows
        gone = {
            'stacks': self._stacks_gone(before)[:limit],
            'resources': [],
            'events': [],
            'definitions': [],
        }
        leaving = frozenset(gone['stacks'])
        gone['resources'] = [
            key
            for key, row in resources.items()
            if row.stack_id in leaving
            or (row.deleted_at is not None and row.deleted_at < before)
        ]
        gone['events'] = [
            key
            for stack_id in gone['stacks']
            for subject in _SUBJECTS
            for key in self._tables.index.of(('history', subject, stack_id))
        ]
        members = frozenset(gone['resources'])
        used = {r.definition_id for k, r in resources.items() if k not in members}
        for key, row in stacks.items():
            if key not in leaving:
                used |= {row.definition_id, row.previous_id}
        # An operation may know of one that no row refers to yet.
        forgotten = before
        if any(
            action.action_type == 'stack' and not action.finished
            for action in self._tables.actions.rows.values()
        ):
            forgotten = min(before, self._tables.clock.now() - _LONGEST)
        gone['definitions'] = [
            key
            for key in self._tables.definitions.rows
            if key not in used and self._tables.used[key] < forgotten
        ]
        return gone

    def _stacks_gone(self, before: datetime.datetime) -> list[int]:
        tables = self._tables
        rows = tables.stacks.rows

        def old(row: Stack) -> bool:
            return row.deleted_at is not None and row.deleted_at < before

        pending = [tables.events.rows[key].event for key in tables.index.of('pending')]
        # The relay still reads the stack of what it has to publish, and those around.
        told = {
            rows[event.subject_id].root_id
            for event in pending
            if event.subject in _SUBJECTS and event.subject_id in rows
        }
        around = {row.owner_id for row in rows.values() if not old(row)}
        return sorted(
            key
            for key, row in rows.items()
            if old(row) and row.root_id not in told and key not in around
        )

    def _matching(self, query: StackQuery) -> list[Stack]:
        return [
            row
            for row in self._tables.stacks.rows.values()
            if (query.tenant is None or row.tenant == query.tenant)
            and (query.nested or row.owner_id is None)
            and (query.deleted or row.deleted_at is None)
            and _fits(self._seen(row), query.filters)
            and _has_tags(row, query)
        ]

    def _seen(self, row: Stack) -> dict[str, Any]:
        return {
            **{name: getattr(row, name) for name in ('name', 'uuid', 'user')},
            'action': row.action,
            'status': row.status,
            'owner_uuid': self._owner(row),
        }

    def _owner(self, row: Stack) -> str | None:
        owner = self._tables.stacks.rows.get(row.owner_id)
        return owner.uuid if owner is not None else None


def _kept(row: Stack | Resource) -> Any:
    """Return a row as it is kept: no database has NUL characters in text."""
    values = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    return stored(
        row.evolve(
            **{
                name: value.replace('\x00', '?')
                for name, value in values.items()
                if isinstance(value, str) and '\x00' in value
            }
        )
    )


def _by_id(rows: Mapping[int, Any], ids: Iterable[int]) -> dict[int, Any]:
    return {key: handed_out(rows[key]) for key in sorted(set(ids)) if key in rows}


def _tree(tables: Tables, root_id: int) -> list[int]:
    return [
        key
        for key, row in tables.stacks.rows.items()
        if row.root_id == root_id and row.deleted_at is None
    ]


def _ancestry(rows: Mapping[int, Any], stack: Stack) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    owner = rows.get(stack.owner_id or 0)
    while owner is not None:
        found.insert(0, (owner.name, owner.uuid))
        owner = rows.get(owner.owner_id)
    return tuple(found)


def _resources(
    tables: Tables,
    stack_ids: Iterable[int],
    names: Collection[str] | None,
    superseded: bool,
) -> list[Resource]:
    keys = sorted(
        key
        for stack_id in set(stack_ids)
        for key in tables.index.of(('resources', stack_id))
    )
    rows = (tables.resources.rows[key] for key in keys)
    return [
        handed_out(row)
        for row in rows
        if row.deleted_at is None
        and (superseded or row.superseded_by is None)
        and (names is None or row.name in names)
    ]


def _is_wanted(event: events.Event, query: StackEventQuery) -> bool:
    detail = (event.detail or {}) if event.subject == events.RESOURCE else {'name': ''}
    name = detail.get('name')
    if query.resource is not None and name != query.resource:
        return False
    action, _, status = (event.new_status or '').partition('_')
    seen = {
        'action': action,
        'status': status,
        'name': name,
        'type': detail.get('type'),
    }
    return _fits(seen, query.filters)


def _fits(seen: Mapping[str, Any], filters: Mapping[str, Collection[str]]) -> bool:
    return all(seen[name] in values for name, values in filters.items())


def _has_tags(row: Stack, query: StackQuery) -> bool:
    tags = frozenset(row.tags)
    return (
        tags.issuperset(query.tags)
        and (not query.tags_any or bool(tags.intersection(query.tags_any)))
        and not (query.not_tags and tags.issuperset(query.not_tags))
        and not tags.intersection(query.not_tags_any)
    )


def _sorted(rows: list[Stack], query: StackQuery) -> list[Stack]:
    rows = sorted(rows, key=lambda row: row.id or 0)
    for key, descending in reversed(query.sort):
        # Those without a value come last in both directions.
        missing = [row for row in rows if getattr(row, key) is None]
        present = [row for row in rows if getattr(row, key) is not None]
        present.sort(key=lambda row: getattr(row, key), reverse=descending)
        rows = [*present, *missing]
    return rows
