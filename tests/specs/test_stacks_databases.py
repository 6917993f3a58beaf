"""Stacks, health marks and locks (specs 002 and 004), on servers."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE
from tests.specs import test_groups_signalled as signalled
from tests.specs import test_lock_stack as locks
from tests.specs import test_lock_stack_cases as cases
from tests.specs import test_mark_unhealthy as marks
from tests.specs import test_stacks as stacks
from tests.specs.database_case import define_stories

define_stories(
    __name__,
    {
        marks.TestWhileSomethingRuns: (POSTGRESQL,),
        locks.TestALostWorker: (POSTGRESQL, MYSQL),
        cases.TestRaces: (SQLITE, POSTGRESQL, MYSQL),
        stacks.TestUpdate: (POSTGRESQL,),
        stacks.TestWhileAnotherRuns: (POSTGRESQL, MYSQL),
        stacks.TestLostWorkers: (POSTGRESQL, MYSQL),
        signalled.TestWhileAGroupScales: (POSTGRESQL, MYSQL),
        signalled.TestWhileAGroupPauses: (POSTGRESQL, MYSQL),
    },
)
