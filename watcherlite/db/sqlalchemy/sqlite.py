"""The transaction on SQLite, which has one writer at a time."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from watcherlite.db.sqlalchemy.constructs import ONE
from watcherlite.db.sqlalchemy.statements.events import NEW
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.domain.stacks import Stack


@functools.cache
def _insert_of_event() -> tuple[str, Callable[[Sequence[Any]], tuple[Any, ...]]]:
    """Return the INSERT of one event, and a function that orders the values of NEW."""
    names = NEW.c.keys()
    statement = sa.insert(events).values(pending=ONE)
    compiled = statement.compile(dialect=sqlite.dialect(), column_keys=names)
    order = [names.index(name) for name in compiled.positiontup or ()]
    return str(compiled), operator.itemgetter(*order)


class SqliteTransaction(SqlTransaction):
    """Implementation of `db.api.Transaction` on SQLite."""

    def lock_tenant(self, tenant: str) -> None:
        """Do nothing: the transaction has the write lock of the database."""

    def _insert_new(self, rows: Sequence[tuple[Any, ...]]) -> None:
        # Each by its own execution of an INSERT, which is prepared once. An INSERT of
        # many rows is prepared for each number of rows, and copies the original pages.
        statement, order = _insert_of_event()
        written = NEW.convert(self._session.dialect, rows)
        self._session.execute_each(statement, [order(row) for row in written])

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        # No other transaction can have inserted a stack.
        return True
