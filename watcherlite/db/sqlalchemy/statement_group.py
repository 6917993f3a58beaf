"""The base class of the statement groups of a transaction."""

from collections.abc import Sequence
from typing import Any

from watcherlite.db.sqlalchemy.columns import ACTION_COLUMNS
from watcherlite.db.sqlalchemy.database import Rows, Session
from watcherlite.db.sqlalchemy.dialects import Batch, Row
from watcherlite.domain.actions import Action

RESERVE = (
    "SELECT nextval(pg_get_serial_sequence('{}', 'id')) FROM generate_series(1, :count)"
)


class StatementGroup:
    """A group of methods of `db.api.Transaction`, on one session.

    What is written here holds where an UPDATE can return what it has changed;
    `sqlite` and `mysql` override what is faster, or only possible, otherwise.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _actions(self, rows: Rows) -> list[Action]:
        """Return the actions of rows, by id: RETURNING has no order."""
        actions = [self._session.mapper.action(row) for row in rows]
        actions.sort(key=lambda action: action.id)
        return actions

    def _update(
        self, assignments: str, condition: str, by: str = '', **values: Any
    ) -> list[Action]:
        """Change the actions for which a condition holds; return them whole.

        No assignment may use a column that one before it has assigned: MySQL
        would take the new value.

        :param by: `BY(index)`, see `dialects`, unless the condition names the ids
        """
        rows = self._session.rows(
            f'UPDATE actions {by} SET {assignments} WHERE {condition} '
            f'RETURNING {ACTION_COLUMNS}',
            **values,
        )
        return self._actions(rows)

    def _reserve(self, count: int, table: str) -> Sequence[int]:
        """Return ids that no other transaction will use, in ascending order."""
        rows = self._session.rows(RESERVE.format(table), count=count)
        return sorted(row[0] for row in rows)

    def _insert(self, batch: Batch, rows: Sequence[Row]) -> int:
        """Insert rows with a batch of `insertion`; return how many were new."""
        return self._session.batch_count(batch, rows)

    def _write(self, batch: Batch, rows: Sequence[Row]) -> None:
        """Write rows by their ids, the last of their columns."""
        self._session.batch_count(batch, rows)
