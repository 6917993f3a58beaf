"""Stacks, health marks and locks (specs 002 and 004), on database servers."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from tests.specs import test_groups_signalled as signalled
from tests.specs import test_lock_stack as locks
from tests.specs import test_lock_stack_cases as cases
from tests.specs import test_mark_unhealthy as marks
from tests.specs import test_stacks as stacks
from tests.specs.database_case import OnDatabase, define_database_tests


class LostWorkers(OnDatabase):
    """Fewer than in memory, where each takes a fraction of the time."""

    commits = (2, 8, 21)


define_database_tests(
    __name__,
    {
        marks.TestMarkDuringOperation: (POSTGRESQL,),
        locks.TestLostWorker: (POSTGRESQL, MYSQL),
        cases.TestRaces: (SQLITE, POSTGRESQL, MYSQL),
        stacks.TestWhileAnotherRuns: (POSTGRESQL, MYSQL),
        signalled.TestWhileAGroupScales: (MYSQL,),
        signalled.TestWhileAGroupPauses: (POSTGRESQL,),
    },
)
define_tests(
    __name__, stacks.TestLostWorkers, on=(POSTGRESQL, MYSQL), before=(LostWorkers,)
)
