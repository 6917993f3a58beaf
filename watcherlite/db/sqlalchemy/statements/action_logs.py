"""Statements on the logs of actions; see `db.action_logs`."""

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db.action_logs import LogEntry, StoredLogEntry
from watcherlite.db.sqlalchemy.constructs import (
    LIMIT,
    ONE,
    RowSource,
    id_in,
    insert_rows,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import LOG_ENTRIES
from watcherlite.db.sqlalchemy.tables.actions import action_log_entries as entries

NEW = RowSource(*LOG_ENTRIES.columns)
ADD = insert_rows(entries, NEW)
_OF_ACTION = entries.c.action_id == sa.bindparam('action_id', type_=sa.BigInteger)
EXISTS = sa.select(ONE).where(
    _OF_ACTION,
    entries.c.attempt == sa.bindparam('attempt'),
    entries.c.logged_at == sa.bindparam('logged_at', type_=entries.c.logged_at.type),
)
_LATER = entries.c.sequence > sa.bindparam('after', type_=sa.BigInteger)
_EARLIER = entries.c.sequence < sa.bindparam('before', type_=sa.BigInteger)
_PAGE = sa.select(entries.c.sequence, *LOG_ENTRIES.columns).where(
    id_in(entries.c.action_id, 'ids')
)
AFTER = _PAGE.where(_LATER).order_by(entries.c.sequence).limit(LIMIT)
BEFORE = _PAGE.where(_EARLIER).order_by(entries.c.sequence.desc()).limit(LIMIT)
OLD = (
    sa.select(entries.c.sequence)
    .where(entries.c.logged_at < sa.bindparam('before', type_=entries.c.logged_at.type))
    .order_by(entries.c.logged_at)
    .limit(LIMIT)
)
DELETE = sa.delete(entries).where(id_in(entries.c.sequence, 'ids'))


class SqlActionLogStore:
    """Implementation of `db.action_logs.ActionLogStore`."""

    _db: Database

    def insert_log_entries(self, entries: Sequence[LogEntry]) -> None:
        with self._db.transaction() as session:
            session.write_rows(ADD, NEW, list(map(LOG_ENTRIES.values, entries)))

    def log_entry_exists(self, entry: LogEntry) -> bool:
        found = self._db.rows(
            EXISTS,
            action_id=entry.action_id,
            attempt=entry.attempt,
            logged_at=entry.logged_at,
        )
        return bool(found)

    def list_log_entries(
        self,
        action_ids: Sequence[int],
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[StoredLogEntry]:
        values: dict[str, Any] = {'ids': action_ids, 'limit': limit}
        if not action_ids:
            return []
        if before is None:
            rows = self._db.rows(AFTER, after=after, **values)
        else:
            rows = self._db.rows(BEFORE, before=before, **values)
        return [StoredLogEntry(row[0], LOG_ENTRIES.read(row[1:])) for row in rows]

    def purge_log_entries(self, before: datetime.datetime) -> int:
        return self._db.delete_in_batches(OLD, DELETE, before=before)
