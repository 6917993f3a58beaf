"""The parts of the store, and of a transaction, about stacks and their resources."""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy import keyset, lists
from watcherlite.db.sqlalchemy.constructs import (
    RowSource,
    constant,
    from_now,
    id_in,
    insert_rows,
    now,
    text_in,
    update_rows,
    upserts,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.objects import DEFINITIONS, RESOURCES, STACKS
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.db.sqlalchemy.tables.stacks import definitions, resources, stacks
from watcherlite.db.stacks import ListedStack, stack_not_found
from watcherlite.domain.stacks import Definition, Resource, Stack, StackSurroundings

#: Rows in one statement.
PORTION = 2000
#: Seconds for which a definition that was asked for is not noted as used again: who
#: makes many stacks of one at the same time would wait in line for that.
FRESH = 3600

_FRESH = sa.bindparam('fresh', type_=sa.Float)
_DIGEST = definitions.c.digest == sa.bindparam('digest')
# Locked against a purge, until what refers to it is there. It waits for nobody who
# has been given the same one.
KNOWN = (
    sa.select(definitions.c.id)
    .where(_DIGEST, definitions.c.used_at > from_now(_FRESH))
    .with_for_update(read=True, key_share=True)
)
BY_DIGEST = sa.select(definitions.c.id).where(_DIGEST)
_DOCUMENTS = ('digest', 'template', 'environment', 'files', 'parameters')
ADD_DEFINITION = upserts(
    definitions,
    'digest',
    {**{name: sa.bindparam(name) for name in _DOCUMENTS}, 'used_at': now()},
    'used_at',
)
DEFINITION_BY_ID = DEFINITIONS.select().where(definitions.c.id == sa.bindparam('key'))
ROOT = (
    sa.update(stacks)
    .where(stacks.c.id == sa.bindparam('key'))
    .values(root_id=stacks.c.id)
)
STACKS_BY_ID = STACKS.select().where(id_in(stacks.c.id, 'ids')).order_by(stacks.c.id)
LOCK = STACKS_BY_ID.with_for_update()
_IN_TREE = (
    stacks.c.root_id == sa.bindparam('root_id'),
    stacks.c.deleted_at.is_(None),
)
TREE = STACKS.select().where(*_IN_TREE).order_by(stacks.c.id)
LOCK_TREE = TREE.with_for_update()
TREE_IDS = sa.select(stacks.c.id).where(*_IN_TREE)

_NEVER = {'uuid', 'id', 'owner_id', 'owner_resource', 'root_id', 'depth', 'stack_id'}
_SAVED = {
    mapper: ('id', *(name for name in mapper.names if name not in _NEVER))
    for mapper in (STACKS, RESOURCES)
}
SAVED_STACKS = RowSource(*(stacks.c[name] for name in _SAVED[STACKS]))
SAVE_STACKS = update_rows(stacks, SAVED_STACKS)
_saved_stack = STACKS.values_of(*_SAVED[STACKS])
SAVED_RESOURCES = RowSource(*(resources.c[name] for name in _SAVED[RESOURCES]))
SAVE_RESOURCES = update_rows(resources, SAVED_RESOURCES)
_saved_resource = RESOURCES.values_of(*_SAVED[RESOURCES])
_NEW = [name for name in RESOURCES.names if name != 'id']
NEW_RESOURCES = RowSource(*(resources.c[name] for name in _NEW))
INSERT_RESOURCES = insert_rows(resources, NEW_RESOURCES)
_new_resource = RESOURCES.values_of(*_NEW)

RESOURCES_BY_ID = (
    RESOURCES.select().where(id_in(resources.c.id, 'ids')).order_by(resources.c.id)
)
_RESOURCES_OF = (
    RESOURCES.select()
    .where(id_in(resources.c.stack_id, 'ids'))
    .order_by(resources.c.id)
)
_SUPERSEDED = resources.c.superseded_by.is_not(None)
#: Those that stacks were made to forget. What was deleted, or adopted by another
#: stack, is DELETE_COMPLETE.
ABANDONED = _RESOURCES_OF.where(
    resources.c.deleted_at.is_not(None),
    ~_SUPERSEDED,
    resources.c.physical_id.is_not(None),
    resources.c.action != constant('DELETE'),
)
COUNT_RESOURCES = (
    sa.select(sa.func.count())
    .select_from(stacks)
    .join(resources, resources.c.stack_id == stacks.c.id)
    .where(*_IN_TREE, resources.c.deleted_at.is_(None), ~_SUPERSEDED)
)


def _surroundings() -> sa.Select[Any]:
    """Return the statement of stacks with those around them.

    Its rows are the id of each and a stack, the outermost first and it itself last.
    """
    inner = sa.select(
        stacks.c.id.label('of_id'), stacks.c.id.label('at_id'), stacks.c.owner_id
    ).where(id_in(stacks.c.id, 'ids'))
    around = inner.cte('around', recursive=True)
    outer = stacks.alias('s')
    around = around.union_all(
        sa.select(around.c.of_id, outer.c.id, outer.c.owner_id).join_from(
            outer, around, outer.c.id == around.c.owner_id
        )
    )
    return (
        sa.select(around.c.of_id, *STACKS.columns)
        .join_from(around, stacks, stacks.c.id == around.c.at_id)
        .order_by(around.c.of_id, stacks.c.depth)
    )


SURROUNDINGS = _surroundings()


@functools.cache
def live_resources(superseded: bool, named: bool = False) -> sa.Select[Any]:
    """Return the statement for the resources of stacks that are not deleted.

    :param superseded: those that have been replaced, too
    :param named: of some names alone
    """
    found = _RESOURCES_OF.where(resources.c.deleted_at.is_(None))
    if not superseded:
        found = found.where(~_SUPERSEDED)
    return found.where(text_in(resources.c.name, 'names')) if named else found


@functools.cache
def _by_name(of_tenant: bool, deleted: bool) -> sa.CompoundSelect[Any]:
    """Return the statement for what a name stands for: a uuid, or a name."""
    name = sa.bindparam('name', type_=sa.String)
    by_uuid = STACKS.select().where(stacks.c.uuid == name)
    by_name = STACKS.select().where(stacks.c.live_name == name)
    if not deleted:
        by_uuid = by_uuid.where(stacks.c.deleted_at.is_(None))
    if of_tenant:
        whose = stacks.c.tenant == sa.bindparam('tenant', type_=sa.String)
        by_uuid, by_name = by_uuid.where(whose), by_name.where(whose)
    return sa.union_all(by_uuid, by_name)


def _by_id(found: Iterable[Any]) -> dict[int, Any]:
    return {row.id or 0: row for row in found}


class StackWriting(StatementGroup):
    """`db.stacks.StackTransaction`."""

    def insert_definition(self, definition: Definition) -> Definition:
        digest = self._session.cipher.keyed(definition.digest)
        known = self._session.rows(KNOWN, digest=digest, fresh=-FRESH)
        if not known:
            values = {**DEFINITIONS.by_column(definition), 'digest': digest}
            known = self._add_definition(values)
        return Definition(
            definition.template,
            definition.environment,
            definition.files,
            definition.parameters,
            known[0][0],
        )

    def _add_definition(self, values: dict[str, Any]) -> Sequence[Any]:
        """Store a definition, or note that it is used; return the row of its id."""
        add = ADD_DEFINITION[self._session.database]
        if add._returning:
            return self._session.rows(add, **values)
        self._session.count(add, **values)
        return self._session.rows(BY_DIGEST, digest=values['digest'])

    def insert_stack(self, stack: Stack) -> Stack:
        try:
            key = self._session.insert_row(stacks, STACKS.by_column(stack))
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
        self._session.count(ROOT, key=key)
        return stack.evolve(id=key, root_id=key)

    def lock_stacks(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        ids = sorted(set(stack_ids))
        rows = self._session.rows(LOCK, ids=ids) if ids else ()
        return _by_id(map(STACKS.read, rows))

    def lock_tree(self, root_id: int) -> list[Stack]:
        while True:
            rows = self._session.rows(LOCK_TREE, root_id=root_id)
            found = list(map(STACKS.read, rows))
            if self._is_whole(root_id, found):
                return found

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        """Return whether a tree has no other stacks than these, which are locked.

        Whoever stores a stack in another one has locked that. So there may be some
        that came while this transaction waited; from here on no more come.
        """
        known = {stack.id for stack in found}
        rows = self._session.rows(TREE_IDS, root_id=root_id)
        return all(row[0] in known for row in rows)

    def save_stacks(self, stacks: Iterable[Stack]) -> None:
        # By id, so that rows are written in the same order by everybody.
        rows = sorted(map(_saved_stack, stacks), key=_first)
        self._session.write_rows(SAVE_STACKS, SAVED_STACKS, rows)

    def insert_resources(self, resources: Sequence[Resource]) -> list[int]:
        ids: list[int] = []
        for at in range(0, len(resources), PORTION):
            rows = list(map(_new_resource, resources[at : at + PORTION]))
            ids += self._session.insert_numbered(INSERT_RESOURCES, NEW_RESOURCES, rows)
        return ids

    def save_resources(self, resources: Sequence[Resource]) -> None:
        rows = sorted(map(_saved_resource, resources), key=_first)
        self._session.write_rows(SAVE_RESOURCES, SAVED_RESOURCES, rows)

    def resources_of(
        self, stack_ids: Iterable[int], *, superseded: bool = True
    ) -> list[Resource]:
        return self._resources(live_resources(superseded), stack_ids)

    def abandoned_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        return self._resources(ABANDONED, stack_ids)

    def resources_by_id(self, resource_ids: Iterable[int]) -> dict[int, Resource]:
        return _by_id(self._resources(RESOURCES_BY_ID, resource_ids))

    def _resources(
        self, statement: sa.Select[Any], wanted: Iterable[int]
    ) -> list[Resource]:
        ids = sorted(set(wanted))
        rows = self._session.rows(statement, ids=ids) if ids else ()
        return list(map(RESOURCES.read, rows))


def _first(row: Sequence[Any]) -> int:
    number: int = row[0]
    return number


class Stacks:
    """`db.stacks.StackStore`, but for the purge and the events."""

    _db: Database

    def find_stack(self, name: str, tenant: str | None, deleted: bool = False) -> Stack:
        values = {} if tenant is None else {'tenant': tenant}
        statement = _by_name(tenant is not None, deleted)
        rows = self._db.rows(statement, name=name, **values)
        if not rows:
            raise stack_not_found(name)
        # One that is called like the uuid of another one is not meant, and of several
        # tenants the newest.
        found = map(STACKS.read, rows)
        return max(found, key=lambda stack: (stack.uuid == name, stack.id or 0))

    def stacks_by_id(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        ids = sorted(set(stack_ids))
        rows = self._db.rows(STACKS_BY_ID, ids=ids) if ids else ()
        return _by_id(map(STACKS.read, rows))

    def stack_tree(self, root_id: int) -> list[Stack]:
        return list(map(STACKS.read, self._db.rows(TREE, root_id=root_id)))

    def list_stacks(self, query: Query) -> list[ListedStack]:
        rows = lists.page(self._db, 'stacks', query, stack_not_found)
        return [ListedStack(STACKS.read(row[:-1]), row[-1]) for row in rows]

    def count_stacks(self, query: Query) -> int:
        shape, values = keyset.read('stacks', query, self._db.engine.dialect.name)
        return int(self._db.rows(keyset.count(shape), **values)[0][0])

    def get_definition(self, definition_id: int) -> Definition:
        for row in self._db.rows(DEFINITION_BY_ID, key=definition_id):
            return DEFINITIONS.read(row)
        text = f'The definition {definition_id} of a stack is gone.'
        raise exceptions.NotFound(text)

    def list_resources(
        self,
        stack_ids: Iterable[int],
        *,
        names: Iterable[str] | None = None,
        superseded: bool = False,
    ) -> list[Resource]:
        ids = sorted(set(stack_ids))
        wanted = None if names is None else sorted(set(names))
        if not ids or wanted == []:
            return []
        named = {} if wanted is None else {'names': wanted}
        rows = self._db.rows(live_resources(superseded, bool(named)), ids=ids, **named)
        return list(map(RESOURCES.read, rows))

    def surroundings_of_stacks(
        self, stack_ids: Iterable[int]
    ) -> dict[int, StackSurroundings]:
        ids = sorted(set(stack_ids))
        chains: dict[int, list[Stack]] = {}
        for of_id, *row in self._db.rows(SURROUNDINGS, ids=ids) if ids else ():
            chains.setdefault(of_id, []).append(STACKS.read(row))
        return {
            of_id: StackSurroundings(
                last, tuple((stack.name, stack.uuid) for stack in around)
            )
            for of_id, (*around, last) in chains.items()
        }

    def count_resources(self, root_id: int) -> int:
        return int(self._db.rows(COUNT_RESOURCES, root_id=root_id)[0][0])
