"""The store on a database: `SqlStore`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import sqlalchemy as sa

from watcherlite.db import request_keys
from watcherlite.db.api import Transaction
from watcherlite.db.sqlalchemy import key_rotation, migration
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.encryption import FieldCipher, KeyLoader, no_keys
from watcherlite.db.sqlalchemy.engine import DatabaseSettings, make_engine
from watcherlite.db.sqlalchemy.lists.queries import SqlListStore
from watcherlite.db.sqlalchemy.mysql import MysqlTransaction
from watcherlite.db.sqlalchemy.purge import Purger
from watcherlite.db.sqlalchemy.sqlite import SqliteTransaction
from watcherlite.db.sqlalchemy.statements.action_logs import SqlActionLogStore
from watcherlite.db.sqlalchemy.statements.action_queries import SqlActionStore
from watcherlite.db.sqlalchemy.statements.audits import SqlAuditStore
from watcherlite.db.sqlalchemy.statements.chain_commit import ChainCommits
from watcherlite.db.sqlalchemy.statements.clusters import SqlClusterStore
from watcherlite.db.sqlalchemy.statements.credentials import SqlCredentialStore
from watcherlite.db.sqlalchemy.statements.events import SqlEventStore
from watcherlite.db.sqlalchemy.statements.plans import SqlPlanStore
from watcherlite.db.sqlalchemy.statements.request_keys import SqlRequestKeyStore
from watcherlite.db.sqlalchemy.statements.requests import SqlRequestStore
from watcherlite.db.sqlalchemy.statements.sessions import SqlSessionStore
from watcherlite.db.sqlalchemy.statements.software import SqlSoftwareStore
from watcherlite.db.sqlalchemy.statements.stacks import SqlStackStore
from watcherlite.db.sqlalchemy.statements.statistics import Statistics
from watcherlite.db.sqlalchemy.statements.workers import SqlWorkerStore
from watcherlite.db.sqlalchemy.transaction import SqlTransaction

_TRANSACTIONS: dict[str, type[SqlTransaction]] = {
    'postgresql': SqlTransaction,
    'mysql': MysqlTransaction,
    'sqlite': SqliteTransaction,
}


class SqlStore(
    SqlWorkerStore,
    ChainCommits,
    SqlEventStore,
    SqlActionStore,
    SqlPlanStore,
    Purger,
    Statistics,
    SqlListStore,
    SqlAuditStore,
    SqlStackStore,
    SqlSoftwareStore,
    SqlClusterStore,
    SqlRequestKeyStore,
    SqlRequestStore,
    SqlSessionStore,
    SqlCredentialStore,
    SqlActionLogStore,
):
    """Implementation of `db.api.Store` on PostgreSQL, MariaDB, MySQL or SQLite.

    Thread-safe.

    :ivar engine: for monitoring and disposal; do not execute statements on it
    """

    def __init__(
        self, engine: sa.Engine, busy_timeout: float = 10, keys: KeyLoader = no_keys
    ) -> None:
        self.engine = engine
        self._db = Database(engine, busy_timeout, FieldCipher(keys))
        self._has_keys = False
        self._transaction: Callable[[Session], SqlTransaction] = _TRANSACTIONS[
            engine.dialect.name
        ]

    def transaction(self) -> AbstractContextManager[Transaction]:
        record = request_keys.current()
        return self._begin() if record is None else record.around(self._begin())

    @contextmanager
    def _begin(self) -> Iterator[Transaction]:
        with self._db.transaction() as session:
            yield self._transaction(session)

    def check(self) -> None:
        migration.check(self.engine)
        if not self._has_keys:
            # Once, because health checks call this method every few seconds.
            key_rotation.check(self._db)
            self._has_keys = True

    def reencrypt(self) -> dict[str, int]:
        """Encrypt all secrets with the first key; see `key_rotation.reencrypt`."""
        return key_rotation.reencrypt(self._db)

    def close(self) -> None:
        self.engine.dispose()

    def unblock_stale(self) -> int:
        with self._db.transaction() as session:
            return self._transaction(session).unblock_stale()


def open_store(settings: DatabaseSettings) -> SqlStore:
    """Return the store of a database.

    An SQLite file is created or upgraded, as its users do not do that by hand. No
    connection to a server is made, so that a daemon can start before its database: see
    `SqlStore.check`.

    :raises ConfigurationError: the URL is invalid
    :raises StoreUnavailable: the SQLite file cannot be used
    :raises SchemaMismatch: the SQLite file has the schema of a newer version
    """
    store = SqlStore(make_engine(settings), settings.busy_timeout, settings.keys)
    if store.engine.dialect.name == 'sqlite':
        try:
            if migration.needs_upgrade(store.engine):
                migration.upgrade(settings)
        except BaseException:
            store.close()
            raise
    return store
