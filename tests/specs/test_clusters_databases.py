"""Actions on clusters, on databases."""

from tests.functional.db import stores
from tests.functional.db.stores import POSTGRESQL, SQLITE
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
        clusters.TestCreate: (SQLITE, POSTGRESQL),
        clusters.TestDelete: (SQLITE, POSTGRESQL),
        clusters.TestUpdate: (SQLITE,),
        clusters.TestCheck: (SQLITE,),
        clusters.TestRecover: (SQLITE,),
        clusters.TestOperation: (SQLITE,),
        sizes.TestScaleOut: (SQLITE,),
        sizes.TestScaleIn: (SQLITE,),
        sizes.TestScaleInByPolicy: (SQLITE,),
        sizes.TestResize: (SQLITE,),
        sizes.TestAddNodes: (SQLITE,),
        sizes.TestDelNodes: (SQLITE,),
        sizes.TestReplaceNodes: (SQLITE, POSTGRESQL),
        faults.TestAFailedMember: (SQLITE,),
        faults.TestCancel: (SQLITE, POSTGRESQL),
        faults.TestSuspend: (SQLITE,),
        signals.TestStoredNodes: (SQLITE, POSTGRESQL),
        signals.TestPauses: (SQLITE,),
        signals.TestSuspendedWithoutAWorker: (SQLITE, POSTGRESQL),
        health.TestRounds: (SQLITE, POSTGRESQL),
        health.TestItsEnd: (SQLITE,),
    },
)
