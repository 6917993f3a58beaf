"""Locks on targets: who may go on, who waits, and who is woken."""

from typing import Any

from tests import base
from tests.factories import at, make_action, store_actions
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.execution import locking
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore


class LockingTest(base.TestCase):
    """Actions that were claimed by worker 'w'."""

    def setUp(self) -> None:
        super().setUp()
        self.store = MemoryStore()

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

    def admit(self, *actions: Action) -> tuple[list[Any], list[Any]]:
        with self.store.transaction() as tx:
            admitted, waiting = locking.admit(tx, actions, at(1))
        for action in waiting:
            stored = self.stored(action)
            self.assertEqual(stored, action)
            self.assertEqual(
                (states.WAITING, None, action.target, at(1)),
                (stored.status, stored.owner, stored.blocked_on, stored.updated_at),
            )
        return [a.name for a in admitted], [a.name for a in waiting]

    def release(self, *actions: Action) -> list[Any]:
        with self.store.transaction() as tx:
            return [a.name for a in locking.release(tx, actions)]

    def stored(self, action: Action) -> Action:
        return self.store.get_action(action.uuid)

    def test_without_a_target_there_is_nothing_to_lock(self) -> None:
        self.assertEqual((['a0', 'a1'], []), self.admit(*self.claimed(None, None)))

    def test_targets_are_locked_one_by_one(self) -> None:
        self.assertEqual((['a0', 'a1'], []), self.admit(*self.claimed('x', 'y')))

    def test_of_two_on_one_target_the_first_goes_on(self) -> None:
        actions = self.claimed('x', 'x', 'y', 'x')
        self.assertEqual((['a0', 'a2'], ['a1', 'a3']), self.admit(*actions))
        self.assertEqual(['a1'], self.release(actions[0]))
        self.assertEqual(states.READY, self.stored(actions[1]).status)
        self.assertEqual(states.WAITING, self.stored(actions[3]).status)

    def test_one_that_never_had_its_target_lets_the_next_one_on(self) -> None:
        holder, *actions = self.claimed('x', 'x', 'x')
        self.admit(holder)
        self.admit(*actions)
        self.assertEqual(['a1'], self.release(holder))
        woken = self.stored(actions[0])
        with self.store.transaction() as tx:
            ended = woken.evolve(status=states.CANCELLED, owner=None)
            tx.change_actions([ActionChange(woken, ended)])
        self.assertEqual(['a2'], self.release(ended))
        self.assertEqual([], self.release(holder))

    def test_a_target_that_is_locked_lets_nobody_on(self) -> None:
        (holder,) = self.claimed('x')
        self.admit(holder)
        self.assertEqual(([], ['a0', 'a1']), self.admit(*self.claimed('x', 'x')))

    def test_who_holds_it_already_goes_on_whoever_comes_with_it(self) -> None:
        # It was READY for a retry while another became free that comes before it.
        first, holder = self.claimed('x', 'x')
        self.admit(holder)
        with self.store.transaction() as tx:
            tx.change_actions([ActionChange(holder, again := holder.evolve(attempt=2))])
        self.assertEqual((['a1'], ['a0']), self.admit(first, again))
        self.assertEqual(['a0'], self.release(again))

    def test_several_that_were_taken_before_are_tried_in_turn(self) -> None:
        actions = self.claimed('x', 'x', 'x', 'x', attempt=2)
        self.admit(actions[2])
        self.assertEqual((['a2'], ['a0', 'a1', 'a3']), self.admit(*actions))

    def test_derived_actions_run_under_the_lock_of_another(self) -> None:
        (holder,) = self.claimed('x')
        self.admit(holder)
        derived = self.claimed('x', cause=states.DERIVED_ACTION)
        self.assertEqual((['a0'], []), self.admit(*derived))
        self.assertEqual([], self.release(*derived))
        self.assertEqual(([], ['a0']), self.admit(*self.claimed('x')))

    def test_to_release_what_nobody_waits_for_wakes_nobody(self) -> None:
        actions = self.claimed('x', None)
        self.admit(*actions)
        self.assertEqual([], self.release(*actions))
        self.assertEqual((['a0'], []), self.admit(*self.claimed('x')))
