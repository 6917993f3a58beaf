"""The part of a transaction that changes stacks and their resources."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.dialects import Batch, Row, insertion
from watcherlite.db.sqlalchemy.stack_reading import (
    ABANDONED,
    RESOURCES_BY_ID,
    live_resources,
    resources_of_rows,
)
from watcherlite.db.sqlalchemy.stack_rows import (
    RESOURCE,
    STACK,
    STACK_COLUMNS,
    new_definition,
    new_resource,
    new_stack,
    to_stack,
)
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.stacks import Definition, Resource, Stack

#: Rows in one statement.
PORTION = 2000
#: Seconds for which a definition that was asked for is not noted as used again: who
#: makes many stacks of one at the same time would wait in line for that.
FRESH = 3600

# Locked against a purge, until what refers to it is there. It waits for nobody who
# has been given the same one.
KNOWN = (
    'SELECT id FROM definitions WHERE digest = :digest AND used_at > FROM_NOW(:fresh) '
    'FOR KEY SHARE'
)
_DEFINITION = ('digest', 'template', 'environment', 'files', 'parameters')
ADD_DEFINITION = (
    f'INSERT INTO definitions ({", ".join(_DEFINITION)}, used_at) '
    f'VALUES ({", ".join(f":{name}" for name in _DEFINITION)}, NOW()) '
    'ON CONFLICT (digest) DO UPDATE SET used_at = excluded.used_at RETURNING id'
)
ROOT = 'UPDATE stacks SET root_id = id WHERE id = :id'
LOCK = (
    f'SELECT {STACK_COLUMNS} FROM stacks WHERE id IN_IDS(:ids) ORDER BY id FOR UPDATE'
)
LOCK_TREE = (
    f'SELECT {STACK_COLUMNS} FROM stacks '
    'WHERE root_id = :root_id AND deleted_at IS NULL ORDER BY id FOR UPDATE'
)
TREE_IDS = 'SELECT id FROM stacks WHERE root_id = :root_id AND deleted_at IS NULL'

_NEVER = {'uuid', 'id', 'owner_id', 'owner_resource', 'root_id', 'depth', 'stack_id'}


def saved(columns: Iterable[str]) -> list[str]:
    """Return the columns that a change writes."""
    return [column for column in columns if column not in _NEVER]


def _saving(table: str, columns: dict[str, str]) -> Batch:
    """Return the batch that writes rows by their ids, the last of their columns."""
    names = saved(columns)
    kinds = {name: columns[name] for name in (*names, 'id')}
    values = ', '.join(f'{name} = r.{name}' for name in names)
    one = ', '.join(f'{name} = ?' for name in names)
    return Batch(
        f'UPDATE {table} SET {values} FROM ROWS(:rows) WHERE {table}.id = r.id',
        kinds,
        one=f'UPDATE {table} SET {one} WHERE id = ?',
    )


NEW_RESOURCES = insertion('resources', RESOURCE)
SAVE_STACKS = _saving('stacks', STACK)
SAVE_RESOURCES = _saving('resources', RESOURCE)


class StackWriting(StatementGroup):
    """`db.stacks.StackTransaction`."""

    _save_stacks: ClassVar[Batch] = SAVE_STACKS
    _save_resources: ClassVar[Batch] = SAVE_RESOURCES

    def insert_definition(self, definition: Definition) -> Definition:
        values = new_definition(definition, self._session.mapper.sealing)
        known = self._session.rows(KNOWN, digest=values['digest'], fresh=-FRESH)
        key = known[0][0] if known else self._add_definition(values)
        return Definition(
            definition.template,
            definition.environment,
            definition.files,
            definition.parameters,
            key,
        )

    def _add_definition(self, values: dict[str, Any]) -> int:
        """Store a definition, or note that it is used; return its id."""
        return int(self._session.rows(ADD_DEFINITION, **values)[0][0])

    def insert_stack(self, stack: Stack) -> Stack:
        values = new_stack(stack, self._session.mapper.sealing)
        del values['id']
        try:
            key = self._session.insert('stacks', values)
        except exceptions.StoreConflict:
            raise
        except exceptions.Conflict as error:
            if stack.owner_id is not None:
                raise
            raise exceptions.StackExists(
                f'The Stack ({stack.name}) already exists.'
            ) from error
        if stack.root_id is not None:
            return stack.evolve(id=key)
        self._session.count(ROOT, id=key)
        return stack.evolve(id=key, root_id=key)

    def lock_stacks(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        ids = sorted(set(stack_ids))
        if not ids:
            return {}
        rows = self._session.rows(LOCK, ids=self._session.dialect.ids(ids))
        return {stack.id or 0: stack for stack in self._stacks(rows)}

    def lock_tree(self, root_id: int) -> list[Stack]:
        found = self._stacks(self._session.rows(LOCK_TREE, root_id=root_id))
        while not self._is_whole(root_id, found):
            found = self._stacks(self._session.rows(LOCK_TREE, root_id=root_id))
        return found

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        """Say whether a tree has no other stacks than these, which are locked.

        Whoever stores a stack in another one has locked that. So there may be some
        that came while this transaction waited; from here on no more come.
        """
        known = {stack.id for stack in found}
        rows = self._session.rows(TREE_IDS, root_id=root_id)
        return all(row[0] in known for row in rows)

    def save_stacks(self, stacks: Iterable[Stack]) -> None:
        sealing = self._session.mapper.sealing
        self._save_rows(self._save_stacks, [new_stack(s, sealing) for s in stacks])

    def insert_resources(self, resources: Sequence[Resource]) -> list[int]:
        ids: list[int] = []
        sealing = self._session.mapper.sealing
        for at in range(0, len(resources), PORTION):
            portion = resources[at : at + PORTION]
            rows = [new_resource(row, sealing) for row in portion]
            ids += self._insert_resources(rows)
        return ids

    def _insert_resources(self, rows: list[dict[str, Any]]) -> Sequence[int]:
        """Store rows of RESOURCE, all in one statement; return their ids."""
        ids = self._reserve(len(rows), 'resources')
        for row, key in zip(rows, ids, strict=True):
            row['id'] = key
        self._insert(NEW_RESOURCES, [tuple(row.values()) for row in rows])
        return ids

    def save_resources(self, resources: Sequence[Resource]) -> None:
        sealing = self._session.mapper.sealing
        rows = [new_resource(row, sealing) for row in resources]
        self._save_rows(self._save_resources, rows)

    def _save_rows(self, batch: Batch, rows: list[dict[str, Any]]) -> None:
        if rows:
            # By id, so that rows are written in the same order by everybody.
            rows.sort(key=_id_of)
            values: list[Row] = [[row[c] for c in batch.columns] for row in rows]
            self._write(batch, values)

    def resources_of(
        self, stack_ids: Iterable[int], *, superseded: bool = True
    ) -> list[Resource]:
        ids = sorted(set(stack_ids))
        if not ids:
            return []
        listed = self._session.dialect.ids(ids)
        rows = self._session.rows(live_resources(superseded), ids=listed)
        return resources_of_rows(rows, self._session.mapper)

    def abandoned_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        ids = sorted(set(stack_ids))
        if not ids:
            return []
        rows = self._session.rows(ABANDONED, ids=self._session.dialect.ids(ids))
        return resources_of_rows(rows, self._session.mapper)

    def resources_by_id(self, resource_ids: Iterable[int]) -> dict[int, Resource]:
        ids = sorted(set(resource_ids))
        if not ids:
            return {}
        listed = self._session.dialect.ids(ids)
        rows = self._session.rows(RESOURCES_BY_ID, ids=listed)
        found = resources_of_rows(rows, self._session.mapper)
        return {resource.id or 0: resource for resource in found}

    def _stacks(self, rows: Iterable[Sequence[Any]]) -> list[Stack]:
        mapper = self._session.mapper
        return [to_stack(row, mapper) for row in rows]


def _id_of(row: dict[str, Any]) -> int:
    return row['id'] or 0
