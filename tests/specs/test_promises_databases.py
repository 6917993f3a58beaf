"""The promises of the design, on each kind of database."""

from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from tests.specs.test_promises import Promises
from tests.worlds import WorldCase


class DatabasePromises(OnDatabase, Promises):
    """The suite on a database; mixed in before WorldCase and a kind of database."""

    #: Fewer than in memory, where each takes a fraction of the time.
    disorders = 5
    every = 7
    #: How many actions share a statement depends on how long a commit takes, which
    #: on a busy machine is not always the same.
    growth = 3.0


class SqlitePromisesTest(DatabasePromises, WorldCase, stores.SqliteDatabase):
    """On SQLite, in a file of its own for each store."""


class PostgresqlPromisesTest(DatabasePromises, WorldCase, stores.PostgresqlDatabase):
    """On PostgreSQL."""


class MysqlPromisesTest(DatabasePromises, WorldCase, stores.MysqlDatabase):
    """On MariaDB or MySQL."""
