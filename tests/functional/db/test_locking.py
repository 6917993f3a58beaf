"""A waiter is never forgotten: the race between who blocks itself and a release."""

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
    """Row locks that every database takes alike."""

    def setUp(self) -> None:
        super().setUp()
        self.holder, self.waiter = store_actions(
            self.store,
            *(make_action(status=states.READY, target=TARGET) for _ in range(2)),
        )
        with self.store.transaction() as tx:
            tx.take_locks({TARGET: self.holder.id or 0})
        self.woken: list[Action] = []

    def release(self) -> None:
        """Release the lock, as often as it takes."""
        while True:
            try:
                with self.store.transaction() as tx:
                    woken = tx.release_locks([self.holder.id or 0])
            except exceptions.StoreConflict:
                continue
            self.woken = woken
            return

    def test_who_is_about_to_wait_is_woken_by_a_release_in_between(self) -> None:
        thread = threading.Thread(target=self.release, daemon=True)
        blocked = self.waiter.evolve(status=states.WAITING, blocked_on=TARGET)

        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.take_locks({TARGET: self.waiter.id or 0}))
            thread.start()
            thread.join(A_WHILE)
            tx.change_actions([ActionChange(self.waiter, blocked)])
        thread.join(DEADLINE)

        ready = blocked.evolve(status=states.READY, blocked_on=None)
        self.assertEqual([ready], self.woken)
        with self.store.transaction() as tx:
            claimed = tx.claim(worker=new_uuid(), limit=9, now=NOW, lane='applier')
            self.assertIn(ready.id, [action.id for action in claimed])

    def test_who_comes_during_a_release_waits_for_it_and_gets_the_lock(self) -> None:
        taken: list[set[str]] = []

        def take() -> None:
            with self.store.transaction() as tx:
                taken.append(tx.take_locks({TARGET: self.waiter.id or 0}))

        thread = threading.Thread(target=take, daemon=True)
        with self.store.transaction() as tx:
            self.assertEqual([], tx.release_locks([self.holder.id or 0]))
            thread.start()
            thread.join(A_WHILE)
        thread.join(DEADLINE)

        self.assertEqual([{TARGET}], taken)

    def test_who_is_about_to_wait_is_woken_by_the_last_who_leaves(self) -> None:
        def leave() -> None:
            with self.store.transaction() as tx:
                self.woken = tx.release_locks([self.holder.id or 0], (), {'whole'})

        thread = threading.Thread(target=leave, daemon=True)
        blocked = self.waiter.evolve(status=states.WAITING, blocked_on='whole')
        with self.store.transaction() as tx:
            tx.share_locks({'whole': [self.holder.id or 0]})

        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.take_locks({'whole': self.waiter.id or 0}))
            thread.start()
            thread.join(A_WHILE)
            tx.change_actions([ActionChange(self.waiter, blocked)])
        thread.join(DEADLINE)

        ready = blocked.evolve(status=states.READY, blocked_on=None)
        self.assertEqual([ready], self.woken)

    def test_who_comes_while_the_last_leaves_waits_and_shares_the_lock(self) -> None:
        shared: list[set[int]] = []

        def share() -> None:
            with self.store.transaction() as tx:
                shared.append(tx.share_locks({'whole': [self.waiter.id or 0]}))

        with self.store.transaction() as tx:
            tx.share_locks({'whole': [self.holder.id or 0]})
        thread = threading.Thread(target=share, daemon=True)
        with self.store.transaction() as tx:
            self.assertEqual([], tx.release_locks([self.holder.id or 0], (), {'whole'}))
            thread.start()
            thread.join(A_WHILE)
        thread.join(DEADLINE)

        self.assertEqual([{self.waiter.id}], shared)
        with self.store.transaction() as tx:
            self.assertEqual(set(), tx.take_locks({'whole': self.holder.id or 0}))

    def test_who_locks_a_project_waits_for_who_has_it(self) -> None:
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
    """What holds where several may write at once."""

    def test_who_locks_another_project_does_not_wait(self) -> None:
        for _ in range(2):
            with self.store.transaction() as tx, self.store.transaction() as other:
                tx.lock_tenant('here')
                other.lock_tenant('there')

    def test_a_claim_passes_over_what_another_is_about_to_change(self) -> None:
        plan, (first, second) = store_plan(
            self.store, *(make_action(status=states.READY) for _ in range(2))
        )
        with self.store.transaction() as tx, self.store.transaction() as other:
            tx.lock_actions([first.id or 0])
            claimed = other.claim(worker=new_uuid(), limit=9, now=NOW, plan_id=plan.id)

        self.assertEqual([second.id], [action.id for action in claimed])


define_tests(__name__, LockingTests, on=(SQLITE,))
define_tests(__name__, ServerLockingTests, on=(POSTGRESQL, MYSQL), name='Locking')
