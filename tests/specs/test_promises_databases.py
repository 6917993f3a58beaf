"""The promises of the design, on each kind of database."""

from collections.abc import Callable

from tests.functional.db import stores
from tests.specs.test_promises import Promises
from tests.worlds import WorldCase
from watcherlite.db.api import Store
from watcherlite.db.sqlalchemy.engine import DatabaseSettings
from watcherlite.db.sqlalchemy.store import SqlStore, open_store


class DatabasePromises(Promises):
    """The suite on a database; mixed in before WorldCase and a kind of database."""

    #: Fewer than in memory, where each takes a fraction of the time.
    disorders = 10
    every = 5
    #: How many actions share a statement depends on how long a commit takes, which
    #: on a busy machine is not always the same.
    growth = 3.0

    #: From the kind of database.
    open_empty: Callable[..., SqlStore]
    _store: SqlStore | None = None

    def make_store(self) -> Store:
        """Return an empty store; the one before it is closed."""
        self._close()
        self._store = self.open_empty()
        # Of all cleanups this one is last: no worker is left then.
        self.addCleanup(self._close)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


class SqlitePromisesTest(DatabasePromises, WorldCase, stores.SqliteDatabase):
    """On SQLite, in a file of its own for each store."""

    def open_empty(self) -> SqlStore:
        """Return a store on a file that was not there."""
        number = len(list(self.home.glob('*.sqlite')))
        url = f'sqlite:///{self.home}/{number}.sqlite'
        return open_store(DatabaseSettings(url, **stores.SETTINGS))


class PostgresqlPromisesTest(DatabasePromises, WorldCase, stores.PostgresqlDatabase):
    """On PostgreSQL."""


class MysqlPromisesTest(DatabasePromises, WorldCase, stores.MysqlDatabase):
    """On MariaDB or MySQL."""
