"""The transaction on SQLite, which has one writer at a time."""

from collections.abc import Sequence

from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.domain.stacks import Stack


class SqliteTransaction(SqlTransaction):
    """Implementation of `db.api.Transaction` on SQLite."""

    def lock_tenant(self, tenant: str) -> None:
        """Do nothing: the transaction has the write lock of the database."""

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        # No other transaction can have inserted a stack.
        return True
