"""The stories of audits, on real databases instead of the one in memory.

The clock of these stories stands still, and with it the pause that a worker makes
after a deadlock. MariaDB has deadlocks when two workers die and recover at once, so
that the stories of lost workers are not told on it.
"""

from tests import services
from tests.functional.db.stores import ServerDatabase, SqliteDatabase
from tests.specs import test_audits, test_audits_continuous, test_audits_lost_workers
from watcherlite.db.api import Store


class SqliteStories(SqliteDatabase):
    def make_store(self) -> Store:
        store = self.open_empty()
        self.addCleanup(store.close)
        return store


class PostgresqlStories(ServerDatabase):
    kind = services.POSTGRESQL

    def make_store(self) -> Store:
        store = self.open_empty()
        self.addCleanup(store.close)
        return store


class MysqlStories(PostgresqlStories):
    kind = services.MYSQL


class SqliteOneshotTest(SqliteStories, test_audits.TestOneshot):
    """As it says."""


class SqliteIntervalTest(SqliteStories, test_audits_continuous.TestInterval):
    """As it says."""


class SqliteLostWorkersTest(SqliteStories, test_audits_lost_workers.TestLostWorkers):
    """As it says."""


class PostgresqlOneshotTest(PostgresqlStories, test_audits.TestOneshot):
    """As it says."""


class PostgresqlEventTest(PostgresqlStories, test_audits_continuous.TestEvent):
    """As it says."""


class PostgresqlLostWorkersTest(
    PostgresqlStories, test_audits_lost_workers.TestLostWorkers
):
    """As it says."""


class MysqlIntervalTest(MysqlStories, test_audits_continuous.TestInterval):
    """As it says."""


class MysqlLostWorkersTest(MysqlStories, test_audits_lost_workers.TestLostWorkers):
    """As it says."""
