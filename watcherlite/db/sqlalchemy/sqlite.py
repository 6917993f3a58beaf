"""The transaction on SQLite, where it is the only one that writes."""

from collections.abc import Sequence

from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.domain.stacks import Stack


class SqliteTransaction(SqlTransaction):
    """`db.api.Transaction` on SQLite."""

    def lock_tenant(self, tenant: str) -> None:
        """Do nothing: all others wait already."""

    def _is_whole(self, root_id: int, found: Sequence[Stack]) -> bool:
        # Nobody else writes.
        return True
