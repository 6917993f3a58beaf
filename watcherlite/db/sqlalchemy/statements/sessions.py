"""Statements on sessions of the dashboard; see `db.sessions`."""

import sqlalchemy as sa

from watcherlite.db.sessions import UserSession
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import SESSIONS
from watcherlite.db.sqlalchemy.tables.coordination import sessions

FIND = SESSIONS.select().where(sessions.c.digest == sa.bindparam('digest'))
DELETE = sa.delete(sessions).where(sessions.c.digest == sa.bindparam('digest'))
PURGE = sa.delete(sessions).where(
    sessions.c.expires_at < sa.bindparam('before', type_=sessions.c.expires_at.type)
)


class SqlSessionStore:
    """Implementation of `db.sessions.SessionStore`."""

    _db: Database

    def insert_session(self, session: UserSession) -> None:
        self._db.change(PURGE, before=session.created_at)
        self._db.change_once(sa.insert(sessions), **SESSIONS.by_column(session))

    def find_session(self, digest: str) -> UserSession | None:
        rows = self._db.rows(FIND, digest=digest)
        return SESSIONS.read(rows[0]) if rows else None

    def delete_session(self, digest: str) -> None:
        self._db.change(DELETE, digest=digest)
