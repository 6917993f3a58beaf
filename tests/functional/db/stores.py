"""Stores on databases of their own, for the tests of this folder.

Creating a schema takes a server longer than any test here. It is done once for
each class, and the rows are deleted between its tests.
"""

import base64
import unittest
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import sqlalchemy as sa

from tests import base, services
from watcherlite.conf.secrets import BYTES, Keys
from watcherlite.db.sqlalchemy import migration, models
from watcherlite.db.sqlalchemy.engine import DatabaseSettings
from watcherlite.db.sqlalchemy.store import SqlStore, open_store

#: What seals in tests, which keep no secrets.
KEY = base64.urlsafe_b64encode(b'k' * BYTES).decode()
#: Short, so that a test that would wait for ever for a lock does not.
SETTINGS: dict[str, Any] = {
    'keys': lambda make: Keys((KEY,), 'the key of the tests'),
    'max_pool_size': 10,
    # Long: a server that is busy with other tests takes its time to accept one.
    'connect_timeout': 20,
    'statement_timeout': 20,
    'busy_timeout': 10,
}


if TYPE_CHECKING:
    Base = base.TestCase
else:
    # Each kind of database brings the real one.
    Base = object


class StoreTests(Base):
    """Tests that are run on each kind of database; mixed in before one of these."""

    store: SqlStore
    #: From the kind of database.
    open_empty: Callable[..., SqlStore]
    open_again: Callable[..., SqlStore]

    def setUp(self) -> None:
        super().setUp()
        self.store = self.open_empty()
        self.addCleanup(self.store.close)


class ServerDatabase(unittest.TestCase):
    """A database with the schema in it, on a server of one kind."""

    kind: ClassVar[str]
    url: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        database = services.Database(cls.kind)
        database.setUp()
        cls.addClassCleanup(database.cleanUp)
        cls.url = database.url
        migration.upgrade(cls.url)

    def open_empty(self, **settings: Any) -> SqlStore:
        """Return a store with nothing in it."""
        store = open_store(DatabaseSettings(self.url, **{**SETTINGS, **settings}))
        with store.engine.connect() as connection:
            for table in reversed(models.metadata.sorted_tables):
                connection.execute(sa.delete(table))
        return store

    def open_again(self, **settings: Any) -> SqlStore:
        """Return another store on what is there."""
        return open_store(DatabaseSettings(self.url, **{**SETTINGS, **settings}))


class SqliteDatabase(base.TestCase):
    """The same for SQLite, in the home of the test."""

    def open_again(self, **settings: Any) -> SqlStore:
        """Return a store on the file of this test."""
        url = f'sqlite:///{self.home}/store.sqlite'
        return open_store(DatabaseSettings(url, **{**SETTINGS, **settings}))

    open_empty = open_again


class PostgresqlDatabase(ServerDatabase, base.TestCase):
    """The same for PostgreSQL."""

    kind = services.POSTGRESQL


class MysqlDatabase(ServerDatabase, base.TestCase):
    """The same for MariaDB or MySQL."""

    kind = services.MYSQL
