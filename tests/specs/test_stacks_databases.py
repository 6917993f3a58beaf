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
        marks.TestTheMark: (POSTGRESQL,),
        marks.TestTheReset: (POSTGRESQL,),
        marks.TestWhileSomethingRuns: (POSTGRESQL,),
        marks.TestTheNextUpdate: (POSTGRESQL,),
        marks.TestStacksInStacks: (POSTGRESQL, MYSQL),
        locks.TestLockInProgress: (POSTGRESQL,),
        locks.TestLockComplete: (POSTGRESQL,),
        locks.TestLockFailed: (POSTGRESQL,),
        locks.TestUnlockInProgress: (POSTGRESQL,),
        locks.TestUnlockComplete: (POSTGRESQL,),
        locks.TestUnlockFailed: (POSTGRESQL,),
        locks.TestOtherStates: (POSTGRESQL,),
        locks.TestLevels: (POSTGRESQL,),
        locks.TestNestedStacks: (POSTGRESQL,),
        locks.TestSignals: (POSTGRESQL,),
        locks.TestALostWorker: (SQLITE, POSTGRESQL, MYSQL),
        cases.TestLockAgain: (POSTGRESQL,),
        cases.TestSignalsUnderALock: (POSTGRESQL,),
        cases.TestWhatIsLocked: (POSTGRESQL,),
        cases.TestTwoLocks: (POSTGRESQL,),
        cases.TestRaces: (SQLITE, POSTGRESQL, MYSQL),
        cases.TestTime: (POSTGRESQL,),
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
