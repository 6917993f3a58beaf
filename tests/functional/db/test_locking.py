"""No waiter is lost in the race between a blocked action and a release."""

import threading

from tests.factories import NOW, make_action, new_uuid, store_actions, store_plan
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from watcherlite import exceptions
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states

TARGET = 'node-1'
#: Seconds after which a thread that should have ended counts as stuck.
DEADLINE = 30
#: Seconds for which a release may try to get past somebody who holds it up.
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
            tx.take_locks({TARGET: self.holder.id})
        self.woken: list[Action] = []

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
        thread = threading.Thread(target=self.release, daemon=True)
        blocked = self.waiter.evolve(status=states.WAITING, blocked_on=TARGET)

        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.take_locks({TARGET: self.waiter.id}))
            thread.start()
            thread.join(A_WHILE)
            tx.change_actions([ActionChange(self.waiter, blocked)])
        thread.join(DEADLINE)

        ready = blocked.evolve(status=states.READY, blocked_on=None)
        self.assertEqual([ready], self.woken)
        with self.store.transaction() as tx:
            claimed = tx.claim(worker=new_uuid(), limit=9, now=NOW, lane='applier')
            self.assertIn(ready.id, [action.id for action in claimed])

    def test_an_action_that_comes_during_a_release_gets_the_lock(self) -> None:
        taken: list[set[str]] = []

        def take() -> None:
            with self.store.transaction() as tx:
                taken.append(tx.take_locks({TARGET: self.waiter.id}))

        thread = threading.Thread(target=take, daemon=True)
        with self.store.transaction() as tx:
            self.assertEqual([], tx.release_locks([self.holder.id]))
            thread.start()
            thread.join(A_WHILE)
        thread.join(DEADLINE)

        self.assertEqual([{TARGET}], taken)

    def test_the_last_sharer_unblocks_a_new_waiter(self) -> None:
        def leave() -> None:
            with self.store.transaction() as tx:
                self.woken = tx.release_locks([self.holder.id], (), {'whole'})

        thread = threading.Thread(target=leave, daemon=True)
        blocked = self.waiter.evolve(status=states.WAITING, blocked_on='whole')
        with self.store.transaction() as tx:
            tx.share_locks({'whole': [self.holder.id]})

        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.take_locks({'whole': self.waiter.id}))
            thread.start()
            thread.join(A_WHILE)
            tx.change_actions([ActionChange(self.waiter, blocked)])
        thread.join(DEADLINE)

        ready = blocked.evolve(status=states.READY, blocked_on=None)
        self.assertEqual([ready], self.woken)

    def test_a_sharer_that_comes_while_the_last_leaves_gets_the_lock(self) -> None:
        shared: list[set[int]] = []

        def share() -> None:
            with self.store.transaction() as tx:
                shared.append(tx.share_locks({'whole': [self.waiter.id]}))

        with self.store.transaction() as tx:
            tx.share_locks({'whole': [self.holder.id]})
        thread = threading.Thread(target=share, daemon=True)
        with self.store.transaction() as tx:
            self.assertEqual([], tx.release_locks([self.holder.id], (), {'whole'}))
            thread.start()
            thread.join(A_WHILE)
        thread.join(DEADLINE)

        self.assertEqual([{self.waiter.id}], shared)
        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.take_locks({'whole': self.holder.id}))

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
            self.assertTrue(came.wait(DEADLINE))
            thread.join(DEADLINE)


class ServerLockingTests(LockingTests):
    """The behavior of databases with concurrent writers."""

    def test_locks_of_different_projects_are_independent(self) -> None:
        for _ in range(2):
            with self.store.transaction() as tx, self.store.transaction() as other:
                tx.lock_tenant('here')
                other.lock_tenant('there')

    def test_a_claim_skips_locked_actions(self) -> None:
        plan, (first, second) = store_plan(
            self.store, *(make_action(status=states.READY) for _ in range(2))
        )
        with self.store.transaction() as tx, self.store.transaction() as other:
            tx.lock_actions([first.id])
            claimed = other.claim(worker=new_uuid(), limit=9, now=NOW, plan_id=plan.id)

        self.assertEqual([second.id], [action.id for action in claimed])


define_tests(__name__, LockingTests, on=(SQLITE,))
define_tests(__name__, ServerLockingTests, on=(POSTGRESQL, MYSQL), name='Locking')
