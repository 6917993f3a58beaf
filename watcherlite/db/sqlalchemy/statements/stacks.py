"""Statements on stacks, their resources and their definitions."""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.constructs import (
    constant,
    from_now,
    id_in,
    now,
    text_in,
    upserts,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.lists.queries import count_rows, fetch_page
from watcherlite.db.sqlalchemy.mappers import DEFINITIONS, RESOURCES, STACKS
from watcherlite.db.sqlalchemy.statements.group import (
    RowInsert,
    RowUpdate,
    StatementGroup,
    by_id,
    read_all,
)
from watcherlite.db.sqlalchemy.tables.stacks import definitions, resources, stacks
from watcherlite.db.stacks import ListedStack, stack_not_found
from watcherlite.domain.stacks import (
    Definition,
    NewResource,
    NewStack,
    Resource,
    Stack,
    StackAncestry,
    StoredDefinition,
)

#: Seconds during which the use of a definition is not recorded again. Otherwise
#: transactions that create stacks from one definition would wait for each other.
FRESH = 3600

_FRESH = sa.bindparam('fresh', type_=sa.Float)
_DIGEST = definitions.c.digest == sa.bindparam('digest')
# Locked against a purge until a row refers to it. Transactions that find the same
# definition do not wait for each other.
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
_IN_TREE = (stacks.c.root_id == sa.bindparam('root_id'), stacks.c.deleted_at.is_(None))
TREE = STACKS.select().where(*_IN_TREE).order_by(stacks.c.id)
LOCK_TREE = TREE.with_for_update()
TREE_IDS = sa.select(stacks.c.id).where(*_IN_TREE)

#: Columns that never change.
_CONSTANT = {'uuid', 'owner_id', 'owner_resource', 'root_id', 'depth', 'stack_id'}
SAVE_STACKS = RowUpdate(STACKS, _CONSTANT)
SAVE_RESOURCES = RowUpdate(RESOURCES, _CONSTANT)
INSERT_RESOURCES = RowInsert(RESOURCES)

RESOURCES_BY_ID = (
    RESOURCES.select().where(id_in(resources.c.id, 'ids')).order_by(resources.c.id)
)
_RESOURCES_OF = (
    RESOURCES.select()
    .where(id_in(resources.c.stack_id, 'ids'))
    .order_by(resources.c.id)
)
_SUPERSEDED = resources.c.superseded_by.is_not(None)
#: Abandoned resources. Those that were deleted, or that another stack has adopted, are
#: DELETE_COMPLETE.
ABANDONED = _RESOURCES_OF.where(
    resources.c.deleted_at.is_not(None),
    ~_SUPERSEDED,
    resources.c.physical_id.is_not(None),
    resources.c.action != constant('DELETE'),
)
WAITING = _RESOURCES_OF.where(resources.c.hook.is_not(None))
RESOURCE_OF_PROJECT = (
    RESOURCES.select()
    .join(stacks, resources.c.stack_id == stacks.c.id)
    .where(
        resources.c.uuid == sa.bindparam('uuid'),
        resources.c.deleted_at.is_(None),
        stacks.c.tenant == sa.bindparam('tenant'),
    )
)
COUNT_RESOURCES = (
    sa.select(sa.func.count())
    .select_from(stacks)
    .join(resources, resources.c.stack_id == stacks.c.id)
    .where(*_IN_TREE, resources.c.deleted_at.is_(None), ~_SUPERSEDED)
)


def _select_ancestry() -> sa.Select[Any]:
    """Return the statement of stacks with the stacks that contain them.

    Its rows are the id of a requested stack and a stack of its chain, from the root to
    the requested stack itself.
    """
    inner = sa.select(
        stacks.c.id.label('of_id'), stacks.c.id.label('at_id'), stacks.c.owner_id
    ).where(id_in(stacks.c.id, 'ids'))
    ancestors = inner.cte('ancestors', recursive=True)
    outer = stacks.alias('s')
    ancestors = ancestors.union_all(
        sa.select(ancestors.c.of_id, outer.c.id, outer.c.owner_id).join_from(
            outer, ancestors, outer.c.id == ancestors.c.owner_id
        )
    )
    return (
        sa.select(ancestors.c.of_id, *STACKS.columns)
        .join_from(ancestors, stacks, stacks.c.id == ancestors.c.at_id)
        .order_by(ancestors.c.of_id, stacks.c.depth)
    )


ANCESTRY = _select_ancestry()


@functools.cache
def live_resources(superseded: bool, named: bool = False) -> sa.Select[Any]:
    """Return the statement of the resources of stacks that are not deleted.

    :param superseded: include superseded resources
    :param named: only resources with some names
    """
    found = _RESOURCES_OF.where(resources.c.deleted_at.is_(None))
    if not superseded:
        found = found.where(~_SUPERSEDED)
    return found.where(text_in(resources.c.name, 'names')) if named else found


@functools.cache
def _by_name(of_tenant: bool, deleted: bool) -> sa.CompoundSelect[Any]:
    """Return the statement that finds a stack by uuid or name."""
    name = sa.bindparam('name', type_=sa.String)
    by_uuid = STACKS.select().where(stacks.c.uuid == name)
    by_name = STACKS.select().where(stacks.c.live_name == name)
    if not deleted:
        by_uuid = by_uuid.where(stacks.c.deleted_at.is_(None))
    if of_tenant:
        is_of_tenant = stacks.c.tenant == sa.bindparam('tenant', type_=sa.String)
        by_uuid, by_name = by_uuid.where(is_of_tenant), by_name.where(is_of_tenant)
    return sa.union_all(by_uuid, by_name)


class StackStatements(StatementGroup):
    """Implementation of `db.stacks.StackTransaction`."""

    def insert_definition(self, definition: Definition) -> StoredDefinition:
        digest = self._session.cipher.keyed_digest(definition.digest)
        known = self._session.rows(KNOWN, digest=digest, fresh=-FRESH)
        if not known:
            values = {**DEFINITIONS.by_column(definition), 'digest': digest}
            known = self._add_definition(values)
        return StoredDefinition(
            definition.template,
            definition.environment,
            definition.files,
            definition.parameters,
            id=known[0][0],
        )

    def _add_definition(self, values: dict[str, Any]) -> Sequence[Any]:
        """Insert a definition, or record its use; return rows with its id."""
        add = ADD_DEFINITION[self._session.database]
        if add._returning:
            return self._session.rows(add, **values)
        self._session.count(add, **values)
        return self._session.rows(BY_DIGEST, digest=values['digest'])

    def insert_stack(self, stack: NewStack) -> Stack:
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
        if stack.root_id is None:
            self._session.count(ROOT, key=key)
            stack = stack.evolve(root_id=key)
        return stack.stored(key)

    def lock_stacks(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        return by_id(read_all(self._session, STACKS, LOCK, stack_ids))

    def lock_tree(self, root_id: int) -> list[Stack]:
        while True:
            rows = self._session.rows(LOCK_TREE, root_id=root_id)
            found = list(map(STACKS.read, rows))
            if self._is_whole(root_id, found):
                return found

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        """Return whether a tree has no stacks beside these, which are locked.

        A transaction that inserts a nested stack has locked the parent stack. It may
        have committed while this one waited for that lock; none can do so from now on.
        """
        known = {stack.id for stack in found}
        rows = self._session.rows(TREE_IDS, root_id=root_id)
        return all(row[0] in known for row in rows)

    def save_stacks(self, stacks: Iterable[Stack]) -> None:
        SAVE_STACKS.execute(self._session, stacks)

    def insert_resources(self, resources: Sequence[NewResource]) -> list[int]:
        return INSERT_RESOURCES.execute(self._session, resources)

    def save_resources(self, resources: Sequence[Resource]) -> None:
        SAVE_RESOURCES.execute(self._session, resources)

    def resources_of(
        self, stack_ids: Iterable[int], *, superseded: bool = True
    ) -> list[Resource]:
        statement = live_resources(superseded)
        return read_all(self._session, RESOURCES, statement, stack_ids)

    def abandoned_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        return read_all(self._session, RESOURCES, ABANDONED, stack_ids)

    def waiting_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        return read_all(self._session, RESOURCES, WAITING, stack_ids)

    def resources_by_id(self, resource_ids: Iterable[int]) -> dict[int, Resource]:
        return by_id(read_all(self._session, RESOURCES, RESOURCES_BY_ID, resource_ids))


class SqlStackStore:
    """Implementation of `db.stacks.StackStore`, without purge and events."""

    _db: Database

    def find_stack(self, name: str, tenant: str | None, deleted: bool = False) -> Stack:
        values = {} if tenant is None else {'tenant': tenant}
        statement = _by_name(tenant is not None, deleted)
        rows = self._db.rows(statement, name=name, **values)
        if not rows:
            raise stack_not_found(name)
        # A uuid precedes a name that looks like it. Of several tenants, the newest
        # stack of that name is returned.
        found = map(STACKS.read, rows)
        return max(found, key=lambda stack: (stack.uuid == name, stack.id))

    def stacks_by_id(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        return by_id(read_all(self._db, STACKS, STACKS_BY_ID, stack_ids))

    def stack_tree(self, root_id: int) -> list[Stack]:
        return list(map(STACKS.read, self._db.rows(TREE, root_id=root_id)))

    def list_stacks(self, query: Query) -> list[ListedStack]:
        rows = fetch_page(self._db, 'stacks', query, stack_not_found)
        return [ListedStack(STACKS.read(row[:-1]), row[-1]) for row in rows]

    def count_stacks(self, query: Query) -> int:
        return count_rows(self._db, 'stacks', query)

    def get_definition(self, definition_id: int) -> StoredDefinition:
        for row in self._db.rows(DEFINITION_BY_ID, key=definition_id):
            return DEFINITIONS.read(row)
        raise exceptions.NotFound(
            f'Stack definition {definition_id} could not be found.'
        )

    def list_resources(
        self,
        stack_ids: Iterable[int],
        *,
        names: Iterable[str] | None = None,
        superseded: bool = False,
    ) -> list[Resource]:
        if names is None:
            statement = live_resources(superseded)
            return read_all(self._db, RESOURCES, statement, stack_ids)
        ids, desired = sorted(set(stack_ids)), sorted(set(names))
        if not ids or not desired:
            return []
        statement = live_resources(superseded, named=True)
        rows = self._db.rows(statement, ids=ids, names=desired)
        return list(map(RESOURCES.read, rows))

    def resource_of_project(self, uuid: str, tenant: str) -> Resource | None:
        for row in self._db.rows(RESOURCE_OF_PROJECT, uuid=uuid, tenant=tenant):
            return RESOURCES.read(row)
        return None

    def waiting_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        return read_all(self._db, RESOURCES, WAITING, stack_ids)

    def ancestry_of_stacks(self, stack_ids: Iterable[int]) -> dict[int, StackAncestry]:
        ids = sorted(set(stack_ids))
        chains: dict[int, list[Stack]] = {}
        for of_id, *row in self._db.rows(ANCESTRY, ids=ids) if ids else ():
            chains.setdefault(of_id, []).append(STACKS.read(row))
        return {
            of_id: StackAncestry(
                last, tuple((stack.name, stack.uuid) for stack in ancestors)
            )
            for of_id, (*ancestors, last) in chains.items()
        }

    def count_resources(self, root_id: int) -> int:
        return int(self._db.rows(COUNT_RESOURCES, root_id=root_id)[0][0])
