"""Locks on targets: acquisition, waiting, release."""

from typing import Any

from tests import base
from tests.factories import at, make_action, store_actions
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.execution import locks
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore


class LockingCase(base.TestCase):
    """Actions that worker 'w' has claimed."""

    def setUp(self) -> None:
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def claimed(self, *targets: str | None, **values: Any) -> list[Action]:
        return store_actions(
            self.store,
            *(
                make_action(
                    name=f'a{n}',
                    target=target,
                    **{'status': states.READY, 'owner': 'w', 'attempt': 1, **values},
                )
                for n, target in enumerate(targets)
            ),
        )

    def acquire(self, *actions: Action) -> tuple[list[Any], list[Any]]:
        with self.store.transaction() as tx:
            admitted, waiting = locks.acquire(tx, actions, at(1))
        for action in waiting:
            stored = self.stored(action)
            self.assertEqual(stored, action)
            self.assertEqual(
                (states.WAITING, None, at(1)),
                (stored.status, stored.owner, stored.updated_at),
            )
            self.assertIn(stored.blocked_on, (action.target, action.within))
        return [a.name for a in admitted], [a.name for a in waiting]

    def release(self, *actions: Action) -> list[Any]:
        with self.store.transaction() as tx:
            return [a.name for a in locks.release(tx, actions)]

    def stored(self, action: Action) -> Action:
        return self.store.get_action(action.uuid)


class LockingTest(LockingCase):
    """Exclusive locks."""

    def test_the_first_action_on_each_target_and_those_on_none_run(self) -> None:
        actions = self.claimed('x', 'x', 'y', 'x', None, None)
        self.assertEqual(
            (['a0', 'a2', 'a4', 'a5'], ['a1', 'a3']), self.acquire(*actions)
        )
        self.assertEqual(['a1'], self.release(actions[0]))
        self.assertEqual(states.READY, self.stored(actions[1]).status)
        self.assertEqual(states.WAITING, self.stored(actions[3]).status)

    def test_a_waiter_that_ends_wakes_the_next(self) -> None:
        holder, *actions = self.claimed('x', 'x', 'x')
        self.acquire(holder)
        self.assertEqual(([], ['a1', 'a2']), self.acquire(*actions))
        self.assertEqual(['a1'], self.release(holder))
        woken = self.stored(actions[0])
        with self.store.transaction() as tx:
            ended = woken.evolve(status=states.CANCELLED, owner=None)
            tx.change_actions([ActionChange(woken, ended)])
        self.assertEqual(['a2'], self.release(ended))
        self.assertEqual([], self.release(holder))

    def test_many_waiters_cost_one_statement(self) -> None:
        (holder,) = self.claimed('x')
        self.acquire(holder)
        actions = self.claimed('x', 'x', 'x')
        asked: list[Any] = []
        with self.store.transaction() as tx:
            take = tx.acquire_locks
            self.patch(tx, 'acquire_locks', lambda x: asked.append(x) or take(x))
            _, waiting = locks.acquire(tx, actions, at(1))
        self.assertEqual((1, 3), (len(asked), len(waiting)))

    def test_the_holder_keeps_its_lock_among_new_actions(self) -> None:
        # It was READY for a retry when actions with lower ids became READY.
        first, second, holder = self.claimed('x', 'x', 'x')
        self.acquire(holder)
        with self.store.transaction() as tx:
            tx.change_actions([ActionChange(holder, again := holder.evolve(attempt=2))])
        self.assertEqual((['a2'], ['a0', 'a1']), self.acquire(first, second, again))
        self.assertEqual(['a0'], self.release(again))

    def test_actions_claimed_before_are_tried_in_turn(self) -> None:
        actions = self.claimed('x', 'x', 'x', 'x', attempt=2)
        self.acquire(actions[2])
        self.assertEqual((['a2'], ['a0', 'a1', 'a3']), self.acquire(*actions))

    def test_derived_actions_run_under_the_lock_of_another(self) -> None:
        (holder,) = self.claimed('x')
        self.acquire(holder)
        derived = self.claimed('x', cause=states.DERIVED_ACTION)
        self.assertEqual((['a0'], []), self.acquire(*derived))
        self.assertEqual([], self.release(*derived))
        self.assertEqual(([], ['a0']), self.acquire(*self.claimed('x')))

    def test_a_release_without_waiters_wakes_no_action(self) -> None:
        actions = self.claimed('x', None)
        self.acquire(*actions)
        self.assertEqual([], self.release(*actions))
        self.assertEqual((['a0'], []), self.acquire(*self.claimed('x')))


class SharingTest(LockingCase):
    """Shared locks: actions on the parts 'p' and 'q' of 'whole', and on 'whole'."""

    def parts(self, *targets: str, **values: Any) -> list[Action]:
        return self.claimed(*targets, within='whole', **values)

    def whole(self) -> Action:
        (action,) = store_actions(
            self.store,
            make_action(
                name='whole', target='whole', status=states.READY, owner='w', attempt=1
            ),
        )
        return action

    def test_the_first_action_on_each_part_gets_the_lock(self) -> None:
        first, second, other = self.parts('p', 'p', 'q')
        self.assertEqual((['a0', 'a2'], ['a1']), self.acquire(first, second, other))
        self.assertEqual('p', self.stored(second).blocked_on)
        self.assertEqual(['a1'], self.release(first))

    def test_actions_on_parts_wait_for_an_action_on_the_whole(self) -> None:
        whole, parts = self.whole(), self.parts('p', 'q')
        self.assertEqual((['whole'], ['a0', 'a1']), self.acquire(whole, *parts))
        self.assertEqual(
            ['whole', 'whole'], [self.stored(part).blocked_on for part in parts]
        )
        self.assertEqual(['a0', 'a1'], self.release(whole))

    def test_an_action_on_the_whole_waits_for_all_parts(self) -> None:
        parts = self.parts('p', 'q')
        whole, late = self.whole(), *self.parts('late')
        self.assertEqual(
            (['a0', 'a1'], ['whole', 'a0']), self.acquire(*parts, whole, late)
        )
        self.assertEqual([], self.release(parts[0]))
        self.assertEqual(['whole'], self.release(parts[1]))
        self.assertEqual(
            [states.READY, states.WAITING],
            [self.stored(action).status for action in (whole, late)],
        )

    def test_a_holder_of_the_shared_lock_keeps_it_for_a_retry(self) -> None:
        (part,) = self.parts('p')
        self.acquire(part)
        self.acquire(self.whole())
        again = part.evolve(attempt=2)
        with self.store.transaction() as tx:
            tx.change_actions([ActionChange(part, again)])
        self.assertEqual((['a0'], ['a0']), self.acquire(*self.parts('q'), again))

    def test_a_cancelled_waiter_for_a_part_releases_the_whole(self) -> None:
        first, second = self.parts('p', 'p')
        self.acquire(first, second)
        whole = self.whole()
        self.acquire(whole)
        waiting = self.stored(second)
        ended = waiting.evolve(status=states.CANCELLED)
        with self.store.transaction() as tx:
            tx.change_actions([ActionChange(waiting, ended)])
        self.assertEqual([], self.release(ended))
        self.assertEqual(['whole'], self.release(first))
        self.assertEqual(states.READY, self.stored(whole).status)

    def test_derived_actions_on_parts_run_under_the_lock_of_the_whole(self) -> None:
        whole = self.whole()
        self.acquire(whole)
        derived = self.parts('p', 'q', cause=states.DERIVED_ACTION)
        self.assertEqual((['a0', 'a1'], []), self.acquire(*derived))
        self.assertEqual([], self.release(*derived))
        self.assertEqual(([], ['a0']), self.acquire(*self.parts('p')))

    def test_a_target_that_is_its_own_whole_is_locked_once(self) -> None:
        (odd,) = self.parts('whole')
        self.assertEqual((['a0'], []), self.acquire(odd))
        self.assertEqual(([], ['a0']), self.acquire(*self.parts('p')))
        self.assertEqual(['a0'], self.release(odd))
