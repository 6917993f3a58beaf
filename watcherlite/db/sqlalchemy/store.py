"""The store on a database: its parts together."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import sqlalchemy as sa

from watcherlite.db import request_keys
from watcherlite.db.api import Transaction
from watcherlite.db.sqlalchemy import key_rotation, migration
from watcherlite.db.sqlalchemy.audits import Audits
from watcherlite.db.sqlalchemy.clusters import Clusters
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.encryption import FieldCipher, Loading, no_keys
from watcherlite.db.sqlalchemy.engine import DatabaseSettings, make_engine
from watcherlite.db.sqlalchemy.events import Outbox
from watcherlite.db.sqlalchemy.links import Links
from watcherlite.db.sqlalchemy.lists import Lists
from watcherlite.db.sqlalchemy.mysql import MysqlTransaction
from watcherlite.db.sqlalchemy.purge import Figures, Purge
from watcherlite.db.sqlalchemy.reading import Reading
from watcherlite.db.sqlalchemy.request_keys import RequestKeys
from watcherlite.db.sqlalchemy.sqlite import SqliteTransaction
from watcherlite.db.sqlalchemy.stacks import Stacks
from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.db.sqlalchemy.workers import Workers

_TRANSACTIONS: dict[str, type[SqlTransaction]] = {
    'postgresql': SqlTransaction,
    'mysql': MysqlTransaction,
    'sqlite': SqliteTransaction,
}


class SqlStore(
    Workers,
    Links,
    Outbox,
    Reading,
    Purge,
    Figures,
    Lists,
    Audits,
    Stacks,
    Clusters,
    RequestKeys,
):
    """`db.api.Store` on PostgreSQL, MariaDB, MySQL or SQLite.

    Any number of threads may use it at once.

    :ivar engine: to be watched or disposed of, not to be written through
    """

    def __init__(
        self,
        engine: sa.Engine,
        busy_timeout: float = 10,
        keys: Loading = no_keys,
    ) -> None:
        self.engine = engine
        self._db = Database(engine, busy_timeout, FieldCipher(keys))
        self._opens_secrets = False
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
        if not self._opens_secrets:
            # Once: who asks whether a process is well does so every few seconds.
            key_rotation.check(self._db)
            self._opens_secrets = True

    def reseal(self) -> dict[str, int]:
        """Seal all that is to be sealed, with the first key; see `key_rotation`."""
        return key_rotation.reseal(self._db)

    def close(self) -> None:
        self.engine.dispose()

    def unblock_stale(self) -> int:
        with self._db.transaction() as session:
            return self._transaction(session).unblock_stale()


def open_store(settings: DatabaseSettings) -> SqlStore:
    """Return the store of a database.

    An SQLite file is created, or upgraded, here: nobody else takes care of it.
    A server is not asked anything yet, so that it may come up later than a
    daemon: see `SqlStore.check`.

    :raises ConfigurationError: for a URL that cannot work
    :raises StoreUnavailable: for an SQLite file that cannot be used
    :raises SchemaMismatch: for an SQLite file of a newer version
    """
    store = SqlStore(make_engine(settings), settings.busy_timeout, settings.keys)
    if store.engine.dialect.name == 'sqlite':
        try:
            if migration.needs_upgrade(store.engine):
                migration.upgrade(store.engine)
        except BaseException:
            store.close()
            raise
    return store
