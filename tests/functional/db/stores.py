"""Empty stores on each kind of database; see `tests.schemas`."""

import base64
import functools
import pathlib
import sys
import unittest
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from tests import base, schemas, services
from watcherlite.conf.secrets import BYTES, Keys
from watcherlite.db.sqlalchemy.engine import DatabaseSettings
from watcherlite.db.sqlalchemy.store import SqlStore, open_store

#: The encryption key of tests, which keep no secrets.
KEY = base64.urlsafe_b64encode(b'k' * BYTES).decode()
#: Short, so that a test does not wait for a lock permanently.
SETTINGS: dict[str, Any] = {
    'keys': lambda make: Keys((KEY,), 'the key of the tests'),
    'max_pool_size': 10,
    # Long, since a server that is busy with other tests accepts connections slowly.
    'connect_timeout': 20,
    'statement_timeout': 20,
    'busy_timeout': 10,
}

if TYPE_CHECKING:
    Base = base.TestCase
else:
    # The database mixins provide the real base class.
    Base = object


class StoreTests(Base):
    """The base of tests for each kind of database; it precedes the database class."""

    store: SqlStore
    #: Provided by the database mixin.
    empty_shared: ClassVar[Callable[[], SqlStore]]
    open_empty: Callable[..., SqlStore]
    open_again: Callable[..., SqlStore]

    def setUp(self) -> None:
        super().setUp()
        self.store = self.make_store()

    def make_store(self) -> SqlStore:
        """Return the store of a test."""
        return self.open_empty()


def _open(url: str, settings: dict[str, Any]) -> SqlStore:
    """Return a store."""
    return open_store(DatabaseSettings(url, **{**SETTINGS, **settings}))


# Of each kind of database, and of the one that a class has for itself.
@functools.lru_cache(maxsize=4)
def _shared(url: str) -> SqlStore:
    """Return the store that tests share sequentially.

    Its statements stay compiled: compiling took a third of the time of contract tests.
    """
    # No test crashes the machine, so durability is not needed.
    return _open(url, {'sqlite_synchronous': 'NORMAL'})


class Database(unittest.TestCase):
    """A database with the schema.

    The tests of a class share a store, whose connections are closed after the last one.
    """

    #: The URL of the database.
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.addClassCleanup(_shared(cls.url).close)

    @classmethod
    def empty_shared(cls) -> SqlStore:
        """Return the store that the tests of the class share, without rows."""
        store = _shared(cls.url)
        with store.engine.connect() as connection:
            schemas.empty(connection)
        return store

    def open_empty(self, **settings: Any) -> SqlStore:
        """Return an empty store: with other settings, one that no other test uses."""
        store = self.empty_shared()
        if settings:
            store = self.open_again(**settings)
            self.addCleanup(store.close)
        return store

    def open_again(self, **settings: Any) -> SqlStore:
        """Return another store on the same database."""
        return _open(self.url, settings)


class ServerDatabase(Database):
    """A database on a server.

    :cvar unknown: whether to create a new database for the class, for which the server
        has no statistics: its query plans do not depend on earlier tests
    """

    kind: ClassVar[str]
    unknown: ClassVar[bool] = False

    @classmethod
    def setUpClass(cls) -> None:
        if cls.unknown:
            database = schemas.create_database(cls.kind)
            cls.addClassCleanup(database.cleanUp)
            cls.url = database.url
        else:
            cls.url = schemas.server(cls.kind)
        super().setUpClass()


class SqliteDatabase(Database, base.TestCase):
    """An SQLite file."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.url = schemas.shared_sqlite()
        super().setUpClass()


class SqliteFiles(SqliteDatabase):
    """A new SQLite file for each store, in the home directory of the test."""

    path: pathlib.Path

    def open_empty(self, **settings: Any) -> SqlStore:
        """Return a store on a new file."""
        self.path = self.home / f'{len(list(self.home.glob("*.sqlite")))}.sqlite'
        self.url = schemas.copy_sqlite(self.path)
        store = self.open_again(**settings)
        self.addCleanup(store.close)
        return store


class PostgresqlDatabase(ServerDatabase, base.TestCase):
    """Databases on PostgreSQL."""

    kind = services.POSTGRESQL


class MysqlDatabase(ServerDatabase, base.TestCase):
    """Databases on MariaDB or MySQL."""

    kind = services.MYSQL


SQLITE = SqliteDatabase
POSTGRESQL = PostgresqlDatabase
MYSQL = MysqlDatabase
_NAMES: dict[type, str] = {SQLITE: 'Sqlite', POSTGRESQL: 'Postgresql', MYSQL: 'Mysql'}


def define_tests(
    module: str,
    tests: type,
    *,
    on: Iterable[type],
    before: tuple[type, ...] = (),
    after: tuple[type, ...] = (),
    name: str | None = None,
) -> None:
    """Define a test case in a module for each database that tests run on.

    `define_tests(__name__, LeaseTests, on=(SQLITE, MYSQL))` defines SqliteLeaseTest and
    MysqlLeaseTest; for TestLeases, SqliteLeasesTest and MysqlLeasesTest.

    :param before: bases that precede the tests
    :param after: bases between the tests and the database
    :param name: of the test cases, between the database and "Test"
    """
    subject = name or tests.__name__.removeprefix('Test').removesuffix('Tests')
    namespace = sys.modules[module].__dict__
    for database in on:
        case = f'{_NAMES[database]}{subject}Test'
        bases = (*before, tests, *after, database)
        if case in namespace:
            raise ValueError(f'{module} has two test cases {case}')
        namespace[case] = type(case, bases, {'__module__': module})
