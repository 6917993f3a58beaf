"""Statements that are faster on SQLite in another form.

It lives in this process: another statement costs no round trip, and handing it
values costs less than having it read JSON.
"""

import functools
from collections.abc import Sequence
from typing import Any

from watcherlite.db.sqlalchemy.changes import CHANGE
from watcherlite.db.sqlalchemy.columns import CHANGED_ACTION
from watcherlite.db.sqlalchemy.database import Rows
from watcherlite.db.sqlalchemy.dialects import Batch, Row
from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.domain.stacks import Stack

#: SQLite takes 32766 values in one statement.
MOST_ROWS = 1024
LAST_ID = 'SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = :table), 0)'
_PLACES = f'({", ".join("?" * len(CHANGED_ACTION))})'
_ABSENT = (None,) * len(CHANGED_ACTION)


@functools.lru_cache(maxsize=16)
def _change(size: int) -> str:
    """Return the statement that changes up to `size` actions."""
    names = ', '.join(
        f'column{n} AS {name}' for n, name in enumerate(CHANGED_ACTION, start=1)
    )
    values = ', '.join([_PLACES] * size)
    return CHANGE.template.replace(
        'ROWS(:rows)', f'(SELECT {names} FROM (VALUES {values})) AS r'
    )


class SqliteTransaction(SqlTransaction):
    """`db.api.Transaction` on SQLite, where it is the only one that writes."""

    def lock_tenant(self, tenant: str) -> None:
        """Do nothing: all others wait already."""

    def _reserve(self, count: int, table: str) -> Sequence[int]:
        last = self._session.rows(LAST_ID, table=table)[0][0]
        return range(last + 1, last + 1 + count)

    def _insert(self, batch: Batch, rows: Sequence[Row]) -> int:
        return self._session.driver_many(self._session.dialect.sql(batch.one), rows)

    def _write(self, batch: Batch, rows: Sequence[Row]) -> None:
        self._session.driver_many(batch.one, rows)

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        # Nobody else writes.
        return True

    def _change(self, rows: list[tuple[Any, ...]]) -> Rows:
        changed: list[Sequence[Any]] = []
        for at in range(0, len(rows), MOST_ROWS):
            portion = rows[at : at + MOST_ROWS]
            # Few sizes, so that the statements stay prepared.
            size = 1 << (len(portion) - 1).bit_length()
            values: list[Any] = []
            for row in (*portion, *[_ABSENT] * (size - len(portion))):
                values += row
            changed += self._session.driver_rows(_change(size), values)
        return changed
