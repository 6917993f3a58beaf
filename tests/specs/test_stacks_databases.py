"""Stacks, health marks and locks (specs 002 and 004), on databases."""

from tests.functional.db import stores
from tests.specs import test_groups_signalled as signalled
from tests.specs import test_lock_stack as locks
from tests.specs import test_lock_stack_cases as cases
from tests.specs import test_mark_unhealthy as marks
from tests.specs import test_stacks as stacks
from tests.specs.database_case import OnDatabase


class SqliteTheMarkTest(OnDatabase, marks.TestTheMark, stores.SqliteDatabase):
    """`TheMark` on SQLite."""


class SqliteTheResetTest(OnDatabase, marks.TestTheReset, stores.SqliteDatabase):
    """`TheReset` on SQLite."""


class SqliteWhatTheMarkLeavesAloneTest(
    OnDatabase, marks.TestWhatTheMarkLeavesAlone, stores.SqliteDatabase
):
    """`WhatTheMarkLeavesAlone` on SQLite."""


class SqliteWhileSomethingRunsTest(
    OnDatabase, marks.TestWhileSomethingRuns, stores.SqliteDatabase
):
    """`WhileSomethingRuns` on SQLite."""


class SqliteTheNextUpdateTest(
    OnDatabase, marks.TestTheNextUpdate, stores.SqliteDatabase
):
    """`TheNextUpdate` on SQLite."""


class SqliteStacksInStacksTest(
    OnDatabase, marks.TestStacksInStacks, stores.SqliteDatabase
):
    """`StacksInStacks` on SQLite."""


class SqliteLockInProgressTest(
    OnDatabase, locks.TestLockInProgress, stores.SqliteDatabase
):
    """`LockInProgress` on SQLite."""


class SqliteLockCompleteTest(OnDatabase, locks.TestLockComplete, stores.SqliteDatabase):
    """`LockComplete` on SQLite."""


class SqliteLockFailedTest(OnDatabase, locks.TestLockFailed, stores.SqliteDatabase):
    """`LockFailed` on SQLite."""


class SqliteUnlockInProgressTest(
    OnDatabase, locks.TestUnlockInProgress, stores.SqliteDatabase
):
    """`UnlockInProgress` on SQLite."""


class SqliteUnlockCompleteTest(
    OnDatabase, locks.TestUnlockComplete, stores.SqliteDatabase
):
    """`UnlockComplete` on SQLite."""


class SqliteUnlockFailedTest(OnDatabase, locks.TestUnlockFailed, stores.SqliteDatabase):
    """`UnlockFailed` on SQLite."""


class SqliteOtherStatesTest(OnDatabase, locks.TestOtherStates, stores.SqliteDatabase):
    """`OtherStates` on SQLite."""


class SqliteLevelsTest(OnDatabase, locks.TestLevels, stores.SqliteDatabase):
    """`Levels` on SQLite."""


class SqliteNestedStacksTest(OnDatabase, locks.TestNestedStacks, stores.SqliteDatabase):
    """`NestedStacks` on SQLite."""


class SqliteSignalsTest(OnDatabase, locks.TestSignals, stores.SqliteDatabase):
    """`Signals` on SQLite."""


class SqliteALostWorkerTest(OnDatabase, locks.TestALostWorker, stores.SqliteDatabase):
    """`ALostWorker` on SQLite."""


class SqliteLockAgainTest(OnDatabase, cases.TestLockAgain, stores.SqliteDatabase):
    """`LockAgain` on SQLite."""


class SqliteSignalsUnderALockTest(
    OnDatabase, cases.TestSignalsUnderALock, stores.SqliteDatabase
):
    """`SignalsUnderALock` on SQLite."""


class SqliteWhatIsLockedTest(OnDatabase, cases.TestWhatIsLocked, stores.SqliteDatabase):
    """`WhatIsLocked` on SQLite."""


class SqliteTwoLocksTest(OnDatabase, cases.TestTwoLocks, stores.SqliteDatabase):
    """`TwoLocks` on SQLite."""


class SqliteRacesTest(OnDatabase, cases.TestRaces, stores.SqliteDatabase):
    """`Races` on SQLite."""


class SqliteTimeTest(OnDatabase, cases.TestTime, stores.SqliteDatabase):
    """`Time` on SQLite."""


class PostgresqlTheMarkTest(OnDatabase, marks.TestTheMark, stores.PostgresqlDatabase):
    """`TheMark` on PostgreSQL."""


class PostgresqlTheResetTest(OnDatabase, marks.TestTheReset, stores.PostgresqlDatabase):
    """`TheReset` on PostgreSQL."""


class PostgresqlWhileSomethingRunsTest(
    OnDatabase, marks.TestWhileSomethingRuns, stores.PostgresqlDatabase
):
    """`WhileSomethingRuns` on PostgreSQL."""


class PostgresqlTheNextUpdateTest(
    OnDatabase, marks.TestTheNextUpdate, stores.PostgresqlDatabase
):
    """`TheNextUpdate` on PostgreSQL."""


class PostgresqlStacksInStacksTest(
    OnDatabase, marks.TestStacksInStacks, stores.PostgresqlDatabase
):
    """`StacksInStacks` on PostgreSQL."""


class PostgresqlLockInProgressTest(
    OnDatabase, locks.TestLockInProgress, stores.PostgresqlDatabase
):
    """`LockInProgress` on PostgreSQL."""


class PostgresqlLockCompleteTest(
    OnDatabase, locks.TestLockComplete, stores.PostgresqlDatabase
):
    """`LockComplete` on PostgreSQL."""


class PostgresqlLockFailedTest(
    OnDatabase, locks.TestLockFailed, stores.PostgresqlDatabase
):
    """`LockFailed` on PostgreSQL."""


class PostgresqlUnlockInProgressTest(
    OnDatabase, locks.TestUnlockInProgress, stores.PostgresqlDatabase
):
    """`UnlockInProgress` on PostgreSQL."""


class PostgresqlUnlockCompleteTest(
    OnDatabase, locks.TestUnlockComplete, stores.PostgresqlDatabase
):
    """`UnlockComplete` on PostgreSQL."""


class PostgresqlUnlockFailedTest(
    OnDatabase, locks.TestUnlockFailed, stores.PostgresqlDatabase
):
    """`UnlockFailed` on PostgreSQL."""


class PostgresqlOtherStatesTest(
    OnDatabase, locks.TestOtherStates, stores.PostgresqlDatabase
):
    """`OtherStates` on PostgreSQL."""


class PostgresqlLevelsTest(OnDatabase, locks.TestLevels, stores.PostgresqlDatabase):
    """`Levels` on PostgreSQL."""


class PostgresqlNestedStacksTest(
    OnDatabase, locks.TestNestedStacks, stores.PostgresqlDatabase
):
    """`NestedStacks` on PostgreSQL."""


class PostgresqlSignalsTest(OnDatabase, locks.TestSignals, stores.PostgresqlDatabase):
    """`Signals` on PostgreSQL."""


class PostgresqlALostWorkerTest(
    OnDatabase, locks.TestALostWorker, stores.PostgresqlDatabase
):
    """`ALostWorker` on PostgreSQL."""


class PostgresqlCreateTest(OnDatabase, stacks.TestCreate, stores.PostgresqlDatabase):
    """`Create` on PostgreSQL."""


class PostgresqlUpdateTest(OnDatabase, stacks.TestUpdate, stores.PostgresqlDatabase):
    """`Update` on PostgreSQL."""


class PostgresqlOtherOperationsTest(
    OnDatabase, stacks.TestOtherOperations, stores.PostgresqlDatabase
):
    """`OtherOperations` on PostgreSQL."""


class PostgresqlTimeoutsTest(
    OnDatabase, stacks.TestTimeouts, stores.PostgresqlDatabase
):
    """`Timeouts` on PostgreSQL."""


class SqliteWhileAnotherRunsTest(
    OnDatabase, stacks.TestWhileAnotherRuns, stores.SqliteDatabase
):
    """`WhileAnotherRuns` on SQLite."""


class SqliteLostWorkersTest(OnDatabase, stacks.TestLostWorkers, stores.SqliteDatabase):
    """`LostWorkers` on SQLite."""


class PostgresqlWhileAnotherRunsTest(
    OnDatabase, stacks.TestWhileAnotherRuns, stores.PostgresqlDatabase
):
    """`WhileAnotherRuns` on PostgreSQL."""


class PostgresqlLostWorkersTest(
    OnDatabase, stacks.TestLostWorkers, stores.PostgresqlDatabase
):
    """`LostWorkers` on PostgreSQL."""


class MysqlWhileAnotherRunsTest(
    OnDatabase, stacks.TestWhileAnotherRuns, stores.MysqlDatabase
):
    """`WhileAnotherRuns` on MariaDB or MySQL."""


class MysqlLostWorkersTest(OnDatabase, stacks.TestLostWorkers, stores.MysqlDatabase):
    """`LostWorkers` on MariaDB or MySQL."""


class MysqlALostWorkerTest(OnDatabase, locks.TestALostWorker, stores.MysqlDatabase):
    """`ALostWorker` on MariaDB or MySQL."""


class MysqlStacksInStacksTest(
    OnDatabase, marks.TestStacksInStacks, stores.MysqlDatabase
):
    """`StacksInStacks` on MariaDB or MySQL."""


class PostgresqlLockAgainTest(
    OnDatabase, cases.TestLockAgain, stores.PostgresqlDatabase
):
    """`LockAgain` on PostgreSQL."""


class PostgresqlSignalsUnderALockTest(
    OnDatabase, cases.TestSignalsUnderALock, stores.PostgresqlDatabase
):
    """`SignalsUnderALock` on PostgreSQL."""


class PostgresqlWhatIsLockedTest(
    OnDatabase, cases.TestWhatIsLocked, stores.PostgresqlDatabase
):
    """`WhatIsLocked` on PostgreSQL."""


class PostgresqlTwoLocksTest(OnDatabase, cases.TestTwoLocks, stores.PostgresqlDatabase):
    """`TwoLocks` on PostgreSQL."""


class PostgresqlRacesTest(OnDatabase, cases.TestRaces, stores.PostgresqlDatabase):
    """`Races` on PostgreSQL."""


class PostgresqlTimeTest(OnDatabase, cases.TestTime, stores.PostgresqlDatabase):
    """`Time` on PostgreSQL."""


class MysqlRacesTest(OnDatabase, cases.TestRaces, stores.MysqlDatabase):
    """`Races` on MariaDB or MySQL."""


class SqliteWhileAGroupScalesTest(
    OnDatabase, signalled.TestWhileAGroupScales, stores.SqliteDatabase
):
    """`WhileAGroupScales` on SQLite."""


class PostgresqlWhileAGroupScalesTest(
    OnDatabase, signalled.TestWhileAGroupScales, stores.PostgresqlDatabase
):
    """`WhileAGroupScales` on PostgreSQL."""


class MysqlWhileAGroupScalesTest(
    OnDatabase, signalled.TestWhileAGroupScales, stores.MysqlDatabase
):
    """`WhileAGroupScales` on MariaDB or MySQL."""


class SqliteWhileAGroupPausesTest(
    OnDatabase, signalled.TestWhileAGroupPauses, stores.SqliteDatabase
):
    """`WhileAGroupPauses` on SQLite."""


class PostgresqlWhileAGroupPausesTest(
    OnDatabase, signalled.TestWhileAGroupPauses, stores.PostgresqlDatabase
):
    """`WhileAGroupPauses` on PostgreSQL."""


class MysqlWhileAGroupPausesTest(
    OnDatabase, signalled.TestWhileAGroupPauses, stores.MysqlDatabase
):
    """`WhileAGroupPauses` on MariaDB or MySQL."""
