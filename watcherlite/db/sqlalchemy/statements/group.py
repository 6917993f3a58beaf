"""Base class of the statement groups of a transaction, and statements on many rows."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import (
    RowSource,
    id_in,
    insert_rows,
    update_rows,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Database, Rows, Session
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.rows import RowMapper
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.domain.actions import Action

#: Rows of one INSERT. More rows gain nothing, and cost memory on both sides.
MAX_ROWS = 2000


def read_all(
    reader: Session | Database,
    mapper: RowMapper[Any],
    statement: sa.Select[Any],
    values: Iterable[Any],
    parameter: str = 'ids',
) -> list[Any]:
    """Return the objects that a statement finds by many values of one parameter.

    Without values, nothing is executed.
    """
    desired = sorted(set(values))
    rows = reader.rows(statement, **{parameter: desired}) if desired else ()
    return list(map(mapper.read, rows))


def by_id(objects: Iterable[Any]) -> dict[int, Any]:
    """Return objects by their ids."""
    return {found.id: found for found in objects}


@contextlib.contextmanager
def conflict_as(replacement: exceptions.Conflict) -> Iterator[None]:
    """Translate a conflict with a stored row into another error."""
    try:
        yield
    except exceptions.StoreConflict:
        raise
    except exceptions.Conflict as error:
        raise replacement from error


class RowInsert:
    """The INSERT of objects that are not stored yet.

    :param source: of all columns but the id; None: a new one
    :param computed: column -> its expression, for columns without a field
    """

    def __init__(
        self,
        mapper: RowMapper[Any],
        source: RowSource | None = None,
        **computed: sa.ColumnElement[Any],
    ) -> None:
        names = [name for name in mapper.names if name != 'id']
        self.source = self.new_source(mapper) if source is None else source
        self.statement = insert_rows(
            mapper.table, self.source, ignore=False, **computed
        )
        self._values = mapper.values_of(*names)

    @staticmethod
    def new_source(mapper: RowMapper[Any]) -> RowSource:
        """Return a source of all columns of a mapper but the id."""
        return RowSource(*(column for column in mapper.columns if column.name != 'id'))

    def execute(self, session: Session, objects: Sequence[Any]) -> list[int]:
        """Insert objects; return their ids in the same order."""
        ids: list[int] = []
        for start in range(0, len(objects), MAX_ROWS):
            rows = list(map(self._values, objects[start : start + MAX_ROWS]))
            ids += session.insert_numbered(self.statement, self.source, rows)
        return ids


class RowUpdate:
    """The UPDATE of stored objects by their ids.

    :param constant: columns that are not written
    """

    def __init__(self, mapper: RowMapper[Any], constant: Iterable[str]) -> None:
        constant = {*constant, 'id'}
        names = ['id', *(name for name in mapper.names if name not in constant)]
        self.source = RowSource(*(mapper.table.c[name] for name in names))
        self.statement = update_rows(mapper.table, self.source)
        self._values = mapper.values_of(*names)

    def execute(self, session: Session, objects: Iterable[Any]) -> None:
        """Write objects, in the order of their ids, which all transactions keep."""
        rows = sorted(map(self._values, objects), key=lambda row: int(row[0]))
        session.write_rows(self.statement, self.source, rows)


class ActionUpdate:
    """An UPDATE that returns the actions that it has changed.

    :param where: the condition of the actions
    :param values: (column, expression); no expression may use a column assigned before
        it, for which MySQL would take the new value
    :param index: the index by which MySQL is to find the actions, unless by their ids
    """

    def __init__(
        self,
        where: sa.ColumnElement[bool],
        *values: tuple[sa.Column[Any], Any],
        index: str | None = None,
    ) -> None:
        update = sa.update(actions).ordered_values(*values)
        self.returning = update.where(where).returning(*ACTIONS.columns)
        find = sa.select(actions.c.id).where(where)
        self.find = find.order_by(actions.c.id).with_for_update()
        if index is not None:
            self.find = use_index(self.find, actions, index, 'mysql')
        self.write = update.where(id_in(actions.c.id, 'changed'))


class StatementGroup:
    """A group of methods of `db.api.Transaction`, in one session.

    The statements here require UPDATE ... RETURNING; `mysql` overrides the methods that
    MariaDB and MySQL need two statements for.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _actions(self, rows: Rows) -> list[Action]:
        """Return the actions of rows by id, as RETURNING has no order."""
        found = [ACTIONS.read(row) for row in rows]
        found.sort(key=lambda action: action.id)
        return found

    def _update(self, update: ActionUpdate, **values: Any) -> list[Action]:
        """Execute an update; return the changed actions."""
        return self._actions(self._session.rows(update.returning, **values))
