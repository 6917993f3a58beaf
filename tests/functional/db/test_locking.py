"""No waiter is lost in the race between a blocked action and a release."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from tests.bounded import TIMEOUT
from tests.factories import NOW, make_action, new_uuid, store_actions
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states

TARGET = 'node-1'
#: Seconds that a release may take until it is considered blocked.
A_WHILE = 0.3


class LockingTests(stores.StoreTests):
    """Row locks on every database."""

    def setUp(self) -> None:
        super().setUp()
        self.holder, self.waiter = store_actions(
            self.store,
            *(make_action(status=states.READY, target=TARGET) for _ in range(2)),
        )
        with self.store.transaction() as tx:
            tx.acquire_locks({TARGET: self.holder.id})
        self.woken: list[Action] = []

    @contextlib.contextmanager
    def overlapping(
        self, call: Callable[[], object]
    ) -> Iterator[tuple[Transaction, Callable[[], None]]]:
        """Begin a transaction; yield it, and a function that starts the call."""
        thread = threading.Thread(target=call, daemon=True)

        def begin() -> None:
            thread.start()
            thread.join(A_WHILE)

        with self.store.transaction() as tx:
            yield tx, begin
        thread.join(TIMEOUT)

    def release(self) -> None:
        """Release the lock; retry on conflicts."""
        while True:
            try:
                with self.store.transaction() as tx:
                    woken = tx.release_locks([self.holder.id])
            except exceptions.StoreConflict:
                continue
            self.woken = woken
            return

    def test_a_concurrent_release_unblocks_a_new_waiter(self) -> None:
        blocked = self.waiter.evolve(status=states.WAITING, blocked_on=TARGET)

        with self.overlapping(self.release) as (tx, begin):
            self.assertEqual(set(), tx.acquire_locks({TARGET: self.waiter.id}))
            begin()
            tx.change_actions([ActionChange(self.waiter, blocked)])

        ready = blocked.evolve(status=states.READY, blocked_on=None)
        self.assertEqual([ready], self.woken)
        with self.store.transaction() as tx:
            claimed = tx.claim(worker=new_uuid(), limit=9, now=NOW, lane='applier')
            self.assertIn(ready.id, [action.id for action in claimed])

    def test_an_action_that_arrives_during_a_release_gets_the_lock(self) -> None:
        taken: list[set[str]] = []

        def take() -> None:
            with self.store.transaction() as tx:
                taken.append(tx.acquire_locks({TARGET: self.waiter.id}))

        with self.overlapping(take) as (tx, begin):
            self.assertEqual([], tx.release_locks([self.holder.id]))
            begin()

        self.assertEqual([{TARGET}], taken)

    def test_the_last_sharer_unblocks_a_new_waiter(self) -> None:
        def leave() -> None:
            with self.store.transaction() as tx:
                self.woken = tx.release_locks([self.holder.id], (), {'whole'})

        blocked = self.waiter.evolve(status=states.WAITING, blocked_on='whole')
        with self.store.transaction() as tx:
            tx.share_locks({'whole': [self.holder.id]})

        with self.overlapping(leave) as (tx, begin):
            self.assertEqual(set(), tx.acquire_locks({'whole': self.waiter.id}))
            begin()
            tx.change_actions([ActionChange(self.waiter, blocked)])

        ready = blocked.evolve(status=states.READY, blocked_on=None)
        self.assertEqual([ready], self.woken)

    def test_a_sharer_that_arrives_during_the_last_release_gets_the_lock(self) -> None:
        shared: list[set[int]] = []

        def share() -> None:
            with self.store.transaction() as tx:
                shared.append(tx.share_locks({'whole': [self.waiter.id]}))

        with self.store.transaction() as tx:
            tx.share_locks({'whole': [self.holder.id]})
        with self.overlapping(share) as (tx, begin):
            self.assertEqual([], tx.release_locks([self.holder.id], (), {'whole'}))
            begin()

        self.assertEqual([{self.waiter.id}], shared)
        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.acquire_locks({'whole': self.holder.id}))

    def test_a_lock_of_a_project_waits_for_its_holder(self) -> None:
        came = threading.Event()

        def lock() -> None:
            with self.store.transaction() as tx:
                tx.lock_tenant('here')
                came.set()

        for _ in range(2):
            came.clear()
            thread = threading.Thread(target=lock, daemon=True)
            with self.store.transaction() as tx:
                tx.lock_tenant('here')
                tx.lock_tenant('here')
                thread.start()
                self.assertFalse(came.wait(A_WHILE))
            self.assertTrue(came.wait(TIMEOUT))
            thread.join(TIMEOUT)


class ServerLockingTests(LockingTests):
    """The behavior of databases with concurrent writers."""

    def test_locks_of_different_projects_are_independent(self) -> None:
        for _ in range(2):
            with self.store.transaction() as tx, self.store.transaction() as other:
                tx.lock_tenant('here')
                other.lock_tenant('there')


define_tests(__name__, LockingTests, on=(SQLITE,))
define_tests(__name__, ServerLockingTests, on=(POSTGRESQL, MYSQL), name='Locking')
