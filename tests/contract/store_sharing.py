"""Contract of the store: shared locks, and their waiters."""

import functools

from tests.contract.store_actions import ids_of
from tests.contract.store_case import StoreCase
from tests.factories import make_action, store_actions
from watcherlite.domain.actions import Action
from watcherlite.states import action as states


class StoreSharingContract(StoreCase):
    """Shared locks, and exclusive locks between them."""

    def take_exclusively(self, target: str, action: Action) -> bool:
        """Try to take an exclusive lock in a transaction of its own."""
        desired = {target: action.id}
        return target in self.commit(lambda tx: tx.acquire_locks(desired))

    def share(self, target: str, *actions: Action) -> list[Action]:
        """Try to share a lock; return the actions that share it."""
        desired = {target: ids_of(list(actions))}
        found = self.commit(lambda tx: tx.share_locks(desired))
        return [action for action in actions if action.id in found]

    def release_lock(self, target: str, *actions: Action) -> list[Action]:
        """Release a shared lock; return the woken actions."""
        ids = ids_of(list(actions))
        return self.commit(lambda tx: tx.release_locks(ids, (), {target}))

    def insert_lock_waiters(self, whole: str, order: str) -> list[Action]:
        """Store waiters for a lock: 's' for a shared one, 'x' for an exclusive one."""
        return store_actions(
            self.store,
            *(
                make_action(
                    status=states.WAITING,
                    target=f'part-{n}' if letter == 's' else whole,
                    within=whole if letter == 's' else None,
                    blocked_on=whole,
                )
                for n, letter in enumerate(order)
            ),
        )

    def unblocked(self, *waiters: Action) -> list[Action]:
        """Return waiters in their state after the release."""
        return [a.evolve(blocked_on=None, status=states.READY) for a in waiters]

    def test_a_shared_lock_excludes_an_exclusive_one(self) -> None:
        a, b, c, other = self.running_actions(4)
        self.assertEqual([a, b], self.share('w', a, b))
        self.assertEqual([c], self.share('w', c))
        self.assertFalse(self.take_exclusively('w', other))
        self.assertTrue(self.take_exclusively('v', other))
        self.assertEqual([], self.release_lock('w', a, b))
        self.assertFalse(self.take_exclusively('w', other))
        self.assertEqual([], self.release_lock('w', c))
        self.assertTrue(self.take_exclusively('w', other))

    def test_an_exclusive_lock_excludes_shared_ones(self) -> None:
        holder, *others = self.running_actions(3)
        self.assertTrue(self.take_exclusively('w', holder))
        self.assertEqual([], self.share('w', *others))
        self.unlock(holder)
        self.assertEqual(others, self.share('w', *others))

    def test_several_locks_are_shared_together(self) -> None:
        a, b, c, holder = self.running_actions(4)
        self.take_exclusively('held', holder)
        desired = {'x': [a.id], 'held': [b.id], 'y': [c.id]}
        self.assertEqual({a.id, c.id}, self.commit(lambda tx: tx.share_locks(desired)))
        self.assertEqual(
            [False, False], [self.take_exclusively(w, holder) for w in 'xy']
        )

    def test_an_exclusive_waiter_is_not_overtaken(self) -> None:
        first, late, waiter = self.running_actions(3)
        self.share('w', first)
        self.assertFalse(self.take_exclusively('w', waiter))
        self.assertEqual([], self.share('w', late))
        # An action that already shares the lock keeps it, as after a retry.
        self.assertEqual([first], self.share('w', first, late))
        self.assertEqual([], self.release_lock('w', first))
        self.assertEqual([late], self.share('w', late))

    def test_the_last_sharer_unblocks_the_first_waiter(self) -> None:
        first, second = self.running_actions(2)
        self.share('w', first, second)
        waiting = self.insert_lock_waiters('w', 'xxs')
        self.assertEqual([], self.release_lock('w', first))
        self.assert_stored(*waiting)
        woken = self.unblocked(waiting[0])
        self.assertEqual(woken, self.release_lock('w', second))
        self.assert_stored(*woken, *waiting[1:])

    def test_shared_waiters_before_the_first_exclusive_one_are_unblocked(self) -> None:
        (holder,) = self.running_actions(1)
        self.take_exclusively('w', holder)
        self.take_exclusively('v', holder)
        waiting = self.insert_lock_waiters('w', 'sssxsx')
        others = self.insert_lock_waiters('v', 'xs')
        expected = self.unblocked(*waiting[:3], others[0])
        self.assertEqual(expected, self.unlock(holder))
        self.assert_stored(*expected[:3], *waiting[3:], expected[3], others[1])

    def test_ended_waiters_are_skipped(self) -> None:
        (holder,) = self.running_actions(1)
        self.take_exclusively('w', holder)
        first, alone, second = self.insert_lock_waiters('w', 'sxs')
        alone = self.changed(alone, status=states.CANCELLED)
        woken = self.unblocked(first, second)
        self.assertEqual(woken, self.unlock(holder))
        self.assert_stored(alone, *woken)

    def test_a_release_of_a_free_shared_lock_unblocks_the_next_waiter(self) -> None:
        gone, free = self.running_actions(2)
        waiting = self.insert_lock_waiters('w', 'ssx')
        woken = self.unblocked(*waiting[:2])
        self.assertEqual(woken, self.release_lock('w', gone))
        self.assertEqual([], self.release_lock('u', free))
        self.assert_stored(*woken, waiting[2])

    def test_a_waiter_for_a_shared_lock_is_not_stale(self) -> None:
        (sharer,) = self.running_actions(1)
        self.share('w', sharer)
        held, *lost = [
            *self.insert_lock_waiters('w', 'x'),
            *self.insert_lock_waiters('lost', 'sx'),
        ]
        self.assertEqual(2, self.store.unblock_stale())
        self.assert_stored(held, *self.unblocked(*lost))

    def test_concurrent_shared_and_exclusive_locks_exclude_each_other(self) -> None:
        for n in range(8):
            one, *some = self.running_actions(4)
            whole = f'w{n}'
            alone, *shared = self.run_concurrently(
                functools.partial(self.take_exclusively, whole, one),
                *(functools.partial(self.share, whole, action) for action in some),
            )
            # Exactly one kind gets the lock; the other waits.
            self.assertNotEqual(alone, any(shared))
            left = self.run_concurrently(
                *(functools.partial(self.release_lock, whole, a) for a in some)
            )
            self.assertEqual([[], [], []], left)
            self.unlock(one)
            self.assertTrue(self.take_exclusively(whole, some[0]))

    def test_one_of_concurrent_sharers_is_the_last(self) -> None:
        for n in range(8):
            sharers = self.running_actions(3)
            whole = f'w{n}'
            self.share(whole, *sharers)
            (waiter,) = self.insert_lock_waiters(whole, 'x')
            woken = self.run_concurrently(
                *(functools.partial(self.release_lock, whole, a) for a in sharers)
            )
            self.assertEqual(
                self.unblocked(waiter), [a for found in woken for a in found]
            )
            self.assertTrue(self.take_exclusively(whole, waiter))
