"""Actions on clusters, on databases."""

from tests.functional.db import stores
from tests.functional.db.stores import POSTGRESQL
from tests.specs import test_clusters as clusters
from tests.specs import test_clusters_faults as faults
from tests.specs import test_clusters_health as health
from tests.specs import test_clusters_signals as signals
from tests.specs import test_clusters_sizes as sizes
from tests.specs.database_case import OnDatabase, define_stories


class SqliteALostWorkerTest(OnDatabase, faults.TestALostWorker, stores.SqliteDatabase):
    """`ALostWorker` on SQLite, where each story takes longer than in memory."""

    deaths = ('dies_after',)


class PostgresqlALostWorkerTest(
    OnDatabase, faults.TestALostWorker, stores.PostgresqlDatabase
):
    """`ALostWorker` on PostgreSQL, likewise."""

    deaths = ('dies_after',)


define_stories(
    __name__,
    {
        clusters.TestCreate: (POSTGRESQL,),
        clusters.TestDelete: (POSTGRESQL,),
        sizes.TestReplaceNodes: (POSTGRESQL,),
        faults.TestCancel: (POSTGRESQL,),
        signals.TestStoredNodes: (POSTGRESQL,),
        signals.TestSuspendedWithoutAWorker: (POSTGRESQL,),
        health.TestRounds: (POSTGRESQL,),
    },
)
