"""What plans do with stacks, on databases."""

from tests.functional.db import stores
from tests.specs import test_locks_for_plans as locks
from tests.specs import test_stacks_in_plans as stories
from tests.specs.database_case import OnDatabase


class SqliteUpdateTest(OnDatabase, stories.TestUpdate, stores.SqliteDatabase):
    """`stack_update` on SQLite."""


class SqliteLocksTest(OnDatabase, locks.TestLocks, stores.SqliteDatabase):
    """Locks on SQLite."""


class PostgresqlUpdateTest(OnDatabase, stories.TestUpdate, stores.PostgresqlDatabase):
    """`stack_update` on PostgreSQL."""


class PostgresqlLocksTest(OnDatabase, locks.TestLocks, stores.PostgresqlDatabase):
    """Locks on PostgreSQL."""


class PostgresqlCancelTest(OnDatabase, stories.TestCancel, stores.PostgresqlDatabase):
    """Cancelling on PostgreSQL."""


class PostgresqlLostWorkersTest(
    OnDatabase, stories.TestLostWorkers, stores.PostgresqlDatabase
):
    """Lost workers on PostgreSQL."""


class MysqlUpdateTest(OnDatabase, stories.TestUpdate, stores.MysqlDatabase):
    """`stack_update` on MariaDB or MySQL."""
