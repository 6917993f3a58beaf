"""Contract of the store: locks on targets, and their waiters."""

from tests.contract.store_actions import ids_of
from tests.contract.store_case import StoreCase
from tests.factories import make_action, new_uuid, store_actions
from watcherlite.domain.actions import Action
from watcherlite.states import action as states


class StoreLocksContract(StoreCase):
    """Locks are taken and released, and their waiters unblocked."""

    def take(self, **targets: Action) -> set[str]:
        """Take locks in a transaction of its own."""
        desired = {target: action.id for target, action in targets.items()}
        return self.commit(lambda tx: tx.acquire_locks(desired))

    def insert_waiters(self, *targets: str, **values: object) -> list[Action]:
        """Store actions that wait for the locks of these targets."""
        values = {'status': states.WAITING, **values}
        return store_actions(
            self.store,
            *(make_action(target=t, blocked_on=t, **values) for t in targets),
        )

    def test_a_lock_has_one_holder_until_it_is_released(self) -> None:
        first, second = self.running_actions(2)
        self.assertEqual({'a', 'b'}, self.take(a=first, b=first))
        self.assertEqual({'c'}, self.take(a=second, c=second))
        self.assertEqual({'a', 'b'}, self.take(a=first, b=first))
        self.assertEqual([], self.unlock(first))
        self.assertEqual({'a', 'b', 'c'}, self.take(a=second, b=second, c=second))

    def test_one_of_several_concurrent_actions_gets_a_lock(self) -> None:
        wanting = self.running_actions(4)
        got = self.run_concurrently(
            *(lambda a=action: self.take(a=a, b=a) for action in wanting)
        )
        self.assertEqual(['a', 'b'], sorted(target for free in got for target in free))

    def test_a_release_unblocks_the_first_waiter_of_each_target(self) -> None:
        (holder, other) = self.running_actions(2)
        self.take(a=holder, b=holder, c=other)
        a1, b1, a2, c1, b2 = self.insert_waiters('a', 'b', 'a', 'c', 'b')
        woken = [
            waiter.evolve(blocked_on=None, status=states.READY) for waiter in (a1, b1)
        ]
        self.assertEqual(woken, self.unlock(holder))
        self.assert_stored(*woken, a2, c1, b2)
        self.assertEqual(
            ids_of([a1, b1]), ids_of(self.claim(new_uuid(), lane='applier'))
        )

    def test_the_waiters_of_a_target_are_unblocked_in_turn(self) -> None:
        (holder,) = self.running_actions(1)
        waiting = self.insert_waiters('a', 'a', 'a')
        order = []
        while holder:
            self.assertEqual({'a'}, self.take(a=holder))
            woken = self.unlock(holder)
            order += ids_of(woken)
            holder = woken[0] if woken else None  # type: ignore[assignment]
        self.assertEqual(ids_of(waiting), order)

    def test_a_release_unblocks_the_first_waiter_that_has_not_ended(self) -> None:
        holder, other = self.running_actions(2)
        self.take(a=holder)
        cancelled, skipped, next_one = self.insert_waiters('a', 'a', 'a')
        # It has no lock.
        self.assertEqual([], self.unlock(other))
        self.assert_stored(next_one)
        cancelled = self.changed(cancelled, status=states.CANCELLED)
        skipped = self.changed(skipped, status=states.SKIPPED)
        self.assertEqual(ids_of([next_one]), ids_of(self.unlock(holder)))
        self.assert_stored(cancelled, skipped)

    def test_a_blocked_action_that_is_not_waiting_keeps_its_status(self) -> None:
        (holder,) = self.running_actions(1)
        self.take(a=holder, b=holder)
        (init,) = self.insert_waiters('a', status=states.INIT)
        (ready,) = self.insert_waiters('b', status=states.READY)
        expected = [init.evolve(blocked_on=None), ready.evolve(blocked_on=None)]
        self.assertEqual(expected, self.unlock(holder))
        self.assert_stored(*expected)

    def test_a_release_of_a_free_target_unblocks_the_first_waiter(self) -> None:
        holder, other = self.running_actions(2)
        self.take(held=holder, own=other)
        held, own, free, next_one = self.insert_waiters('held', 'own', 'free', 'free')
        woken = [a.evolve(blocked_on=None, status=states.READY) for a in (own, free)]
        self.assertEqual(
            woken,
            self.commit(
                lambda tx: tx.release_locks([other.id], {'held', 'own', 'free'})
            ),
        )
        self.assert_stored(held, *woken, next_one)

    def test_an_action_that_waits_for_a_free_lock_is_unblocked(self) -> None:
        (holder,) = self.running_actions(1)
        self.take(held=holder)
        held, gone, gone_too, ready = (
            *self.insert_waiters('held', 'gone', 'gone'),
            *self.insert_waiters('lost', status=states.READY),
        )
        ended = self.insert_waiters('gone', status=states.FAILED)
        self.assertEqual(3, self.store.unblock_stale())
        self.assert_stored(
            held,
            *(a.evolve(blocked_on=None, status=states.READY) for a in (gone, gone_too)),
            ready.evolve(blocked_on=None),
            *ended,
        )
        self.assertEqual(0, self.store.unblock_stale())

    def test_an_action_blocked_on_an_action_waits_while_that_is_suspended(self) -> None:
        paused = self.stored_action(status=states.SUSPENDED)
        ready, waiting = (
            *self.insert_waiters(paused.uuid, status=states.READY),
            *self.insert_waiters(paused.uuid),
        )
        self.commit(lambda tx: tx.add_pending(waiting.id, 1))
        waiting = waiting.evolve(pending=1)
        self.assertEqual(0, self.store.unblock_stale())
        self.assert_stored(ready, waiting)
        self.changed(paused, status=states.WAITING)
        self.assertEqual(2, self.store.unblock_stale())
        self.assert_stored(
            ready.evolve(blocked_on=None), waiting.evolve(blocked_on=None)
        )

    def test_targets_that_differ_in_case_or_accents_are_different_locks(self) -> None:
        first, second = self.running_actions(2)
        self.assertEqual(
            {'node-a', 'uzel'}, self.take(**{'node-a': first, 'uzel': first})
        )
        self.assertEqual(
            {'NODE-A', 'úzel'}, self.take(**{'NODE-A': second, 'úzel': second})
        )
