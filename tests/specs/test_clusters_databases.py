"""Actions on clusters, on database servers."""

from tests.functional.db import stores
from tests.functional.db.stores import POSTGRESQL
from tests.specs import test_clusters_faults as faults
from tests.specs import test_clusters_signals as signals
from tests.specs.database_case import OnDatabase, define_database_tests


class PostgresqlALostWorkerTest(
    OnDatabase, faults.TestLostWorker, stores.PostgresqlDatabase
):
    """`TestLostWorker` on PostgreSQL, where each test takes longer."""

    deaths = ('dies_after',)


define_database_tests(
    __name__,
    {
        faults.TestCancel: (POSTGRESQL,),
        signals.TestStoredNodes: (POSTGRESQL,),
        signals.TestSuspendedWithoutAWorker: (POSTGRESQL,),
    },
)
