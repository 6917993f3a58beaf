"""SUSPEND and RESUME of what waits for what it derived, on each kind of database."""

from tests.functional.db import stores
from tests.specs import test_actions_suspended as told
from tests.specs.database_case import OnDatabase


class SqliteSuspendingTest(
    OnDatabase, told.TestSuspendingAnActionThatDerived, stores.SqliteDatabase
):
    """On SQLite."""


class SqliteCancellingTest(
    OnDatabase, told.TestCancellingASuspendedActionThatDerived, stores.SqliteDatabase
):
    """Likewise."""


class PostgresqlSuspendingTest(
    OnDatabase, told.TestSuspendingAnActionThatDerived, stores.PostgresqlDatabase
):
    """On PostgreSQL."""


class PostgresqlCancellingTest(
    OnDatabase,
    told.TestCancellingASuspendedActionThatDerived,
    stores.PostgresqlDatabase,
):
    """Likewise."""


class MysqlSuspendingTest(
    OnDatabase, told.TestSuspendingAnActionThatDerived, stores.MysqlDatabase
):
    """On MariaDB or MySQL."""


class MysqlCancellingTest(
    OnDatabase, told.TestCancellingASuspendedActionThatDerived, stores.MysqlDatabase
):
    """Likewise."""
