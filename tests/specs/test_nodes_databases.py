"""Nodes (spec 001), on databases."""

from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from tests.unit.engine.clusters import test_node_actions as nodes
from tests.unit.engine.clusters import test_node_health as health
from tests.unit.engine.clusters import test_node_lost_workers as lost
from tests.unit.engine.clusters import test_node_sizes as sizes


class SqliteSizesTest(OnDatabase, sizes.TestSizes, stores.SqliteDatabase):
    """`Sizes` on SQLite."""


class SqliteMembershipTest(OnDatabase, nodes.TestMembership, stores.SqliteDatabase):
    """`Membership` on SQLite."""


class SqliteRecoveringTest(OnDatabase, health.TestRecovering, stores.SqliteDatabase):
    """`Recovering` on SQLite."""


class SqliteLostWorkersTest(OnDatabase, lost.TestLostWorkers, stores.SqliteDatabase):
    """`LostWorkers` on SQLite."""


class PostgresqlSizesTest(OnDatabase, sizes.TestSizes, stores.PostgresqlDatabase):
    """`Sizes` on PostgreSQL."""


class PostgresqlLostWorkersTest(
    OnDatabase, lost.TestLostWorkers, stores.PostgresqlDatabase
):
    """`LostWorkers` on PostgreSQL."""


class MysqlSizesTest(OnDatabase, sizes.TestSizes, stores.MysqlDatabase):
    """`Sizes` on MariaDB or MySQL."""


class MysqlLostWorkersTest(OnDatabase, lost.TestLostWorkers, stores.MysqlDatabase):
    """`LostWorkers` on MariaDB or MySQL."""
