"""The part of the store that answers readers of stacks."""

from collections.abc import Iterable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import Mapper
from watcherlite.db.sqlalchemy.stack_events import StackHistory
from watcherlite.db.sqlalchemy.stack_lists import StackPage
from watcherlite.db.sqlalchemy.stack_rows import (
    DEFINITION_COLUMNS,
    RESOURCE_COLUMNS,
    STACK,
    STACK_COLUMNS,
    to_definition,
    to_resource,
    to_stack,
)
from watcherlite.db.stacks import ListedStack, StackEventQuery, StackQuery
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Definition, Resource, Stack, StackSurroundings

_STACKS = f'SELECT {STACK_COLUMNS} FROM stacks WHERE'
BY_ID = f'{_STACKS} id IN_IDS(:ids) ORDER BY id'
TREE = f'{_STACKS} root_id = :root_id AND deleted_at IS NULL ORDER BY id'
DEFINITION_BY_ID = f'SELECT {DEFINITION_COLUMNS} FROM definitions WHERE id = :id'
_RESOURCES = f'SELECT {RESOURCE_COLUMNS} FROM resources WHERE'
RESOURCES_BY_ID = f'{_RESOURCES} id IN_IDS(:ids) ORDER BY id'
_LIVE = 'deleted_at IS NULL AND superseded_by IS NULL'
#: Those of stacks `:ids` that these were made to forget. What was deleted, or adopted
#: by another stack, is DELETE_COMPLETE.
ABANDONED = (
    f'{_RESOURCES} stack_id IN_IDS(:ids) AND deleted_at IS NOT NULL '
    "AND superseded_by IS NULL AND physical_id IS NOT NULL AND action <> 'DELETE' "
    'ORDER BY id'
)
# Each stack with those around it, the outermost first and it itself last.
SURROUNDINGS = (
    'WITH RECURSIVE around (of_id, at_id, owner_id) AS ('
    'SELECT id, id, owner_id FROM stacks WHERE id IN_IDS(:ids) UNION ALL '
    'SELECT around.of_id, s.id, s.owner_id FROM stacks AS s '
    'JOIN around ON s.id = around.owner_id) '
    f'SELECT around.of_id, {STACK_COLUMNS} FROM around '
    'JOIN stacks ON stacks.id = around.at_id ORDER BY around.of_id, stacks.depth'
)
COUNT = (
    'SELECT count(*) FROM stacks JOIN resources ON resources.stack_id = stacks.id '
    'WHERE stacks.root_id = :root_id AND stacks.deleted_at IS NULL '
    'AND resources.deleted_at IS NULL AND resources.superseded_by IS NULL'
)
_NAME = list(STACK).index('name')
_UUID = list(STACK).index('uuid')
_ID = list(STACK).index('id')


def live_resources(superseded: bool, named: bool = False) -> str:
    """Return the statement for the resources of stacks `:ids` that are not deleted.

    :param superseded: those that have been replaced, too
    :param named: of the names `:names` alone
    """
    live = 'deleted_at IS NULL' if superseded else _LIVE
    of_names = ' AND name IN_TEXTS(:names)' if named else ''
    return f'{_RESOURCES} stack_id IN_IDS(:ids) AND {live}{of_names} ORDER BY id'


def resources_of_rows(rows: Iterable[Sequence[Any]], mapper: Mapper) -> list[Resource]:
    """Return the resources of rows of RESOURCE."""
    return [to_resource(row, mapper) for row in rows]


class Stacks:
    """`db.stacks.StackStore`, but for the purge."""

    _db: Database

    def find_stack(self, name: str, tenant: str | None, deleted: bool = False) -> Stack:
        of = '' if tenant is None else ' AND tenant = :tenant'
        live = '' if deleted else ' AND deleted_at IS NULL'
        values = {} if tenant is None else {'tenant': tenant}
        rows = self._db.rows(
            f'{_STACKS} uuid = :name{of}{live} '
            f'UNION ALL {_STACKS} live_name = :name{of}',
            name=name,
            **values,
        )
        if not rows:
            raise stack_not_found(name)
        # One that is called like the uuid of another one is not meant, and of several
        # tenants the newest.
        best = max(rows, key=lambda row: (row[_UUID] == name, row[_ID]))
        return to_stack(best, self._db.mapper)

    def stacks_by_id(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        ids = sorted(set(stack_ids))
        if not ids:
            return {}
        rows = self._db.rows(BY_ID, ids=self._db.dialect.ids(ids))
        return {stack.id or 0: stack for stack in self._stacks(rows)}

    def stack_tree(self, root_id: int) -> list[Stack]:
        return self._stacks(self._db.rows(TREE, root_id=root_id))

    def list_stacks(self, query: StackQuery) -> list[ListedStack]:
        page = StackPage(query, self._db.dialect)
        rows = self._db.rows(page.template, **page.values)
        if not rows and query.after is not None:
            raise stack_not_found(query.after)
        mapper = self._db.mapper
        return [
            ListedStack(to_stack(row[:-1], mapper), row[-1])
            for row in rows
            # A marker without a page has a row for itself.
            if row[_ID] is not None
        ]

    def count_stacks(self, query: StackQuery) -> int:
        page = StackPage(query, self._db.dialect)
        return int(self._db.rows(page.count, **page.filtering)[0][0])

    def get_definition(self, definition_id: int) -> Definition:
        for row in self._db.rows(DEFINITION_BY_ID, id=definition_id):
            return to_definition(row, self._db.mapper)
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
        values: dict[str, Any] = {'ids': self._db.dialect.ids(ids)}
        if wanted is not None:
            values['names'] = self._db.dialect.texts(wanted)
        rows = self._db.rows(live_resources(superseded, 'names' in values), **values)
        return resources_of_rows(rows, self._db.mapper)

    def list_stack_events(self, query: StackEventQuery) -> list[StoredEvent]:
        if not query.stack_ids and query.after is None:
            return []
        history = StackHistory(query, self._db.dialect)
        rows = self._db.rows(history.template, **history.values)
        if not rows and query.after is not None:
            raise exceptions.NotFound(f'There is no event {query.after}.')
        stored_event = self._db.mapper.stored_event
        return [stored_event(row) for row in rows if row[0] is not None]

    def surroundings_of_stacks(
        self, stack_ids: Iterable[int]
    ) -> dict[int, StackSurroundings]:
        ids = sorted(set(stack_ids))
        if not ids:
            return {}
        chains: dict[int, list[Sequence[Any]]] = {}
        for of_id, *row in self._db.rows(SURROUNDINGS, ids=self._db.dialect.ids(ids)):
            chains.setdefault(of_id, []).append(row)
        return {
            of_id: StackSurroundings(
                to_stack(last, self._db.mapper),
                tuple((row[_NAME], row[_UUID]) for row in around),
            )
            for of_id, (*around, last) in chains.items()
        }

    def count_resources(self, root_id: int) -> int:
        return int(self._db.rows(COUNT, root_id=root_id)[0][0])

    def _stacks(self, rows: Iterable[Sequence[Any]]) -> list[Stack]:
        mapper = self._db.mapper
        return [to_stack(row, mapper) for row in rows]


def stack_not_found(name: str) -> exceptions.StackNotFound:
    """Return the error for a stack that does not exist for who asks."""
    return exceptions.StackNotFound(f'The Stack ({name}) could not be found.')
