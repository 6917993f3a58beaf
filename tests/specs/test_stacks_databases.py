"""Stacks, health marks and locks (specs 002 and 004), on databases."""

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
        marks.TestTheMark: (SQLITE, POSTGRESQL),
        marks.TestTheReset: (SQLITE, POSTGRESQL),
        marks.TestWhatTheMarkLeavesAlone: (SQLITE,),
        marks.TestWhileSomethingRuns: (SQLITE, POSTGRESQL),
        marks.TestTheNextUpdate: (SQLITE, POSTGRESQL),
        marks.TestStacksInStacks: (SQLITE, POSTGRESQL, MYSQL),
        locks.TestLockInProgress: (SQLITE, POSTGRESQL),
        locks.TestLockComplete: (SQLITE, POSTGRESQL),
        locks.TestLockFailed: (SQLITE, POSTGRESQL),
        locks.TestUnlockInProgress: (SQLITE, POSTGRESQL),
        locks.TestUnlockComplete: (SQLITE, POSTGRESQL),
        locks.TestUnlockFailed: (SQLITE, POSTGRESQL),
        locks.TestOtherStates: (SQLITE, POSTGRESQL),
        locks.TestLevels: (SQLITE, POSTGRESQL),
        locks.TestNestedStacks: (SQLITE, POSTGRESQL),
        locks.TestSignals: (SQLITE, POSTGRESQL),
        locks.TestALostWorker: (SQLITE, POSTGRESQL, MYSQL),
        cases.TestLockAgain: (SQLITE, POSTGRESQL),
        cases.TestSignalsUnderALock: (SQLITE, POSTGRESQL),
        cases.TestWhatIsLocked: (SQLITE, POSTGRESQL),
        cases.TestTwoLocks: (SQLITE, POSTGRESQL),
        cases.TestRaces: (SQLITE, POSTGRESQL, MYSQL),
        cases.TestTime: (SQLITE, POSTGRESQL),
        stacks.TestCreate: (POSTGRESQL,),
        stacks.TestUpdate: (POSTGRESQL,),
        stacks.TestOtherOperations: (POSTGRESQL,),
        stacks.TestTimeouts: (POSTGRESQL,),
        stacks.TestWhileAnotherRuns: (SQLITE, POSTGRESQL, MYSQL),
        stacks.TestLostWorkers: (SQLITE, POSTGRESQL, MYSQL),
        signalled.TestWhileAGroupScales: (SQLITE, POSTGRESQL, MYSQL),
        signalled.TestWhileAGroupPauses: (SQLITE, POSTGRESQL, MYSQL),
    },
)
