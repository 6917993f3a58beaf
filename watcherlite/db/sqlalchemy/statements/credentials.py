"""Statements on credentials; see `db.credentials`."""

import datetime

import sqlalchemy as sa

from watcherlite.db.credentials import Credential
from watcherlite.db.sqlalchemy.constructs import LIMIT
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import CREDENTIALS
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.clusters import clusters, nodes, receivers
from watcherlite.db.sqlalchemy.tables.coordination import credentials
from watcherlite.db.sqlalchemy.tables.stacks import stacks

_newer = credentials.alias()
_OWNERS = (stacks, clusters, nodes, receivers)

GET = CREDENTIALS.select().where(credentials.c.uuid == sa.bindparam('uuid'))
FIND = (
    CREDENTIALS.select()
    .where(credentials.c.owner == sa.bindparam('owner'))
    .order_by(credentials.c.id.desc())
    .limit(1)
)
UNUSED = (
    CREDENTIALS.select()
    .where(
        sa.or_(
            sa.and_(
                credentials.c.owner.is_(None),
                credentials.c.created_at
                < sa.bindparam('before', type_=credentials.c.created_at.type),
            ),
            sa.exists().where(
                _newer.c.owner == credentials.c.owner, _newer.c.id > credentials.c.id
            ),
            sa.and_(
                credentials.c.owner.is_not(None),
                *(
                    ~sa.exists().where(
                        owner.c.uuid == credentials.c.owner,
                        *(
                            [owner.c.deleted_at.is_(None)]
                            if 'deleted_at' in owner.c
                            else []
                        ),
                    )
                    for owner in _OWNERS
                ),
            ),
        )
    )
    .order_by(credentials.c.id)
    .limit(LIMIT)
)
DELETE = sa.delete(credentials).where(credentials.c.uuid == sa.bindparam('uuid'))
ASSIGN = (
    sa.update(credentials)
    .where(credentials.c.uuid == sa.bindparam('key'), credentials.c.owner.is_(None))
    .values(owner=sa.bindparam('new_owner'))
)


class SqlCredentialStore:
    """Implementation of `db.credentials.CredentialStore`."""

    _db: Database

    def insert_credential(self, credential: Credential) -> None:
        self._db.change_once(
            sa.insert(credentials), **CREDENTIALS.by_column(credential)
        )

    def find_credential(self, owner: str) -> Credential | None:
        rows = self._db.rows(FIND, owner=owner)
        return CREDENTIALS.read(rows[0]) if rows else None

    def get_credential(self, uuid: str) -> Credential | None:
        rows = self._db.rows(GET, uuid=uuid)
        return CREDENTIALS.read(rows[0]) if rows else None

    def unused_credentials(
        self, before: datetime.datetime, limit: int
    ) -> list[Credential]:
        rows = self._db.rows(UNUSED, before=before, limit=limit)
        return [CREDENTIALS.read(row) for row in rows]

    def delete_credential(self, uuid: str) -> None:
        self._db.change(DELETE, uuid=uuid)


class CredentialStatements(StatementGroup):
    """Implementation of `db.credentials.CredentialTransaction`."""

    def assign_credential(self, uuid: str, owner: str) -> None:
        self._session.count(ASSIGN, key=uuid, new_owner=owner)
