"""The stories of audits, on the databases of services.

The clock of these stories stands still, and with it the pause that a worker makes
after a deadlock. MariaDB has deadlocks when two workers die and recover at once, so
that the stories of lost workers are not told on it.
"""

from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE
from tests.specs import test_audits, test_audits_continuous, test_audits_lost_workers
from tests.specs.database_case import define_stories

define_stories(
    __name__,
    {
        test_audits.TestOneshot: (POSTGRESQL,),
        test_audits_continuous.TestInterval: (MYSQL,),
        test_audits_continuous.TestEvent: (POSTGRESQL,),
        test_audits_lost_workers.TestLostWorkers: (SQLITE, POSTGRESQL, MYSQL),
    },
)
