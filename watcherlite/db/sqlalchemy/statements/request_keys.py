"""Statements on idempotency keys; see `db.request_keys`."""

import datetime

import sqlalchemy as sa

from watcherlite.db.request_keys import RequestKey
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import REQUEST_KEYS
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.coordination import request_keys

FIND = REQUEST_KEYS.select().where(request_keys.c.digest == sa.bindparam('digest'))
PURGE = sa.delete(request_keys).where(
    request_keys.c.created_at
    < sa.bindparam('before', type_=request_keys.c.created_at.type)
)


class SqlRequestKeyStore:
    """Implementation of `db.request_keys.RequestKeyStore`."""

    _db: Database

    def find_request_key(self, digest: str) -> RequestKey | None:
        rows = self._db.rows(FIND, digest=digest)
        return REQUEST_KEYS.read(rows[0]) if rows else None

    def purge_request_keys(self, before: datetime.datetime) -> int:
        return self._db.change(PURGE, before=before)


class RequestKeyStatements(StatementGroup):
    """Implementation of `db.request_keys.RequestKeyTransaction`."""

    def insert_request_key(self, key: RequestKey) -> None:
        values = {**REQUEST_KEYS.by_column(key), 'created': dict(key.created)}
        self._session.insert_row(request_keys, values)
