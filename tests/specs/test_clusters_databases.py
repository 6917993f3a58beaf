"""Actions on clusters, on databases."""

from tests.functional.db import stores
from tests.specs import test_clusters as clusters
from tests.specs import test_clusters_faults as faults
from tests.specs import test_clusters_health as health
from tests.specs import test_clusters_signals as signals
from tests.specs import test_clusters_sizes as sizes
from tests.specs.database_case import OnDatabase


class SqliteCreateTest(OnDatabase, clusters.TestCreate, stores.SqliteDatabase):
    """`Create` on SQLite."""


class SqliteDeleteTest(OnDatabase, clusters.TestDelete, stores.SqliteDatabase):
    """`Delete` on SQLite."""


class SqliteUpdateTest(OnDatabase, clusters.TestUpdate, stores.SqliteDatabase):
    """`Update` on SQLite."""


class SqliteCheckTest(OnDatabase, clusters.TestCheck, stores.SqliteDatabase):
    """`Check` on SQLite."""


class SqliteRecoverTest(OnDatabase, clusters.TestRecover, stores.SqliteDatabase):
    """`Recover` on SQLite."""


class SqliteOperationTest(OnDatabase, clusters.TestOperation, stores.SqliteDatabase):
    """`Operation` on SQLite."""


class SqliteScaleOutTest(OnDatabase, sizes.TestScaleOut, stores.SqliteDatabase):
    """`ScaleOut` on SQLite."""


class SqliteScaleInTest(OnDatabase, sizes.TestScaleIn, stores.SqliteDatabase):
    """`ScaleIn` on SQLite."""


class SqliteScaleInByPolicyTest(
    OnDatabase, sizes.TestScaleInByPolicy, stores.SqliteDatabase
):
    """`ScaleInByPolicy` on SQLite."""


class SqliteResizeTest(OnDatabase, sizes.TestResize, stores.SqliteDatabase):
    """`Resize` on SQLite."""


class SqliteAddNodesTest(OnDatabase, sizes.TestAddNodes, stores.SqliteDatabase):
    """`AddNodes` on SQLite."""


class SqliteDelNodesTest(OnDatabase, sizes.TestDelNodes, stores.SqliteDatabase):
    """`DelNodes` on SQLite."""


class SqliteReplaceNodesTest(OnDatabase, sizes.TestReplaceNodes, stores.SqliteDatabase):
    """`ReplaceNodes` on SQLite."""


class SqliteAFailedMemberTest(
    OnDatabase, faults.TestAFailedMember, stores.SqliteDatabase
):
    """`AFailedMember` on SQLite."""


class SqliteCancelTest(OnDatabase, faults.TestCancel, stores.SqliteDatabase):
    """`Cancel` on SQLite."""


class SqliteSuspendTest(OnDatabase, faults.TestSuspend, stores.SqliteDatabase):
    """`Suspend` on SQLite."""


class SqliteALostWorkerTest(OnDatabase, faults.TestALostWorker, stores.SqliteDatabase):
    """`ALostWorker` on SQLite, where each story takes longer than in memory."""

    deaths = ('dies_after',)


class SqliteStoredNodesTest(OnDatabase, signals.TestStoredNodes, stores.SqliteDatabase):
    """`StoredNodes` on SQLite."""


class SqlitePausesTest(OnDatabase, signals.TestPauses, stores.SqliteDatabase):
    """`Pauses` on SQLite."""


class SqliteSuspendedWithoutAWorkerTest(
    OnDatabase, signals.TestSuspendedWithoutAWorker, stores.SqliteDatabase
):
    """`SuspendedWithoutAWorker` on SQLite."""


class SqliteRoundsTest(OnDatabase, health.TestRounds, stores.SqliteDatabase):
    """`Rounds` on SQLite."""


class SqliteItsEndTest(OnDatabase, health.TestItsEnd, stores.SqliteDatabase):
    """`ItsEnd` on SQLite."""


class PostgresqlCreateTest(OnDatabase, clusters.TestCreate, stores.PostgresqlDatabase):
    """`Create` on PostgreSQL."""


class PostgresqlDeleteTest(OnDatabase, clusters.TestDelete, stores.PostgresqlDatabase):
    """`Delete` on PostgreSQL."""


class PostgresqlReplaceNodesTest(
    OnDatabase, sizes.TestReplaceNodes, stores.PostgresqlDatabase
):
    """`ReplaceNodes` on PostgreSQL."""


class PostgresqlCancelTest(OnDatabase, faults.TestCancel, stores.PostgresqlDatabase):
    """`Cancel` on PostgreSQL."""


class PostgresqlALostWorkerTest(
    OnDatabase, faults.TestALostWorker, stores.PostgresqlDatabase
):
    """`ALostWorker` on PostgreSQL, likewise."""

    deaths = ('dies_after',)


class PostgresqlStoredNodesTest(
    OnDatabase, signals.TestStoredNodes, stores.PostgresqlDatabase
):
    """`StoredNodes` on PostgreSQL."""


class PostgresqlSuspendedWithoutAWorkerTest(
    OnDatabase, signals.TestSuspendedWithoutAWorker, stores.PostgresqlDatabase
):
    """`SuspendedWithoutAWorker` on PostgreSQL."""


class PostgresqlRoundsTest(OnDatabase, health.TestRounds, stores.PostgresqlDatabase):
    """`Rounds` on PostgreSQL."""
