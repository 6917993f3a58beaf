"""Contract of the store: claims, signals and owners of actions."""

import datetime
from typing import Any

from tests.contract.store_actions import ids_of
from tests.contract.store_case import StoreCase, names
from tests.factories import NOW, at, make_action, new_uuid, store_actions, store_plan
from watcherlite.clock import EPOCH
from watcherlite.domain import actions as domain
from watcherlite.domain.actions import Action
from watcherlite.states import action as states


class StoreClaimsContract(StoreCase):
    """Claims, claimable actions, signals, and actions that end without a run."""

    def insert_ready_action(self, **values: object) -> Action:
        """Store an action without a plan that can be claimed."""
        return self.stored_action(**{'status': states.READY, **values})

    # claim

    def test_a_claimed_action_is_ready_and_owned_in_a_new_attempt(self) -> None:
        worker = new_uuid()
        plan, actions = store_plan(
            self.store,
            make_action(inputs={'host': 'ž'}),
            make_action(status=states.READY, attempt=3, recoveries=1, phase='check'),
        )
        expected = [
            action.evolve(
                status=states.READY,
                owner=worker,
                attempt=action.attempt + 1,
                updated_at=at(1),
            )
            for action in actions
        ]
        self.assertEqual(expected, self.claim(worker, plan_id=plan.id, now=at(1)))
        self.assert_stored(*expected)

    def test_the_oldest_actions_of_a_plan_are_claimed_first_and_none_twice(
        self,
    ) -> None:
        plan, _ = store_plan(self.store, *(make_action(name=str(n)) for n in range(7)))
        store_plan(self.store, make_action(name='other plan'))
        self.insert_ready_action(name='no plan')
        claimed = [
            names(self.claim(new_uuid(), plan_id=plan.id, limit=3)) for _ in range(4)
        ]
        self.assertEqual([['0', '1', '2'], ['3', '4', '5'], ['6'], []], claimed)

    def test_the_oldest_actions_are_first_even_if_they_were_scheduled(self) -> None:
        for n, not_before in enumerate((at(-1), EPOCH, at(-5), EPOCH)):
            self.insert_ready_action(name=str(n), not_before=not_before)
        self.assertEqual(
            ['0', '1', '2'], names(self.claim(new_uuid(), lane='applier', limit=3))
        )

    def test_a_claim_of_a_lane_takes_its_ready_actions_without_plan(self) -> None:
        store_plan(self.store, make_action(status=states.READY, name='of a plan'))
        self.stored_action(name='not released')
        self.insert_ready_action(name='mine')
        self.insert_ready_action(name='other lane', lane=domain.ENGINE)
        self.assertEqual(['mine'], names(self.claim(new_uuid(), lane='applier')))
        self.assertEqual(['other lane'], names(self.claim(new_uuid(), lane='engine')))

    def test_only_claimable_actions_are_claimed(self) -> None:
        claimable = {states.INIT, states.READY}
        plan, _ = store_plan(
            self.store,
            *(make_action(status=status, name=status) for status in states.STATES),
            make_action(owner=new_uuid()),
            make_action(status=states.READY, owner=new_uuid(), attempt=1),
            make_action(blocked_on='node-1'),
            make_action(status=states.READY, blocked_on='node-1'),
            make_action(not_before=at(0.000001)),
            make_action(not_before=NOW, name='due now'),
        )
        parent = make_action(plan_id=plan.id, status=states.RUNNING)
        store_actions(
            self.store, parent, make_action(plan_id=plan.id, parents=(parent.uuid,))
        )
        self.assertEqual(
            {*claimable, 'due now'}, set(names(self.claim(new_uuid(), plan_id=plan.id)))
        )

    def test_an_action_is_claimed_when_it_is_due_and_again_after_its_release(
        self,
    ) -> None:
        action, worker = self.insert_ready_action(not_before=at(60)), new_uuid()

        def claimed(seconds: float, worker: str = worker) -> list[Action]:
            return self.claim(worker, lane='applier', now=at(seconds))

        self.assertEqual([], claimed(59.999999))
        (first,) = claimed(60)
        self.changed(first, owner=None)
        (second,) = claimed(60)
        self.assertIsNone(self.change(first, status=states.RUNNING))
        self.changed(second, owner=None, not_before=at(90))
        self.assertEqual([], claimed(89))
        (third,) = claimed(90, new_uuid())
        self.assertEqual(
            [(action.id, n) for n in (1, 2, 3)],
            [(each.id, each.attempt) for each in (first, second, third)],
        )
        self.changed(third, status=states.RUNNING)

    def test_concurrent_claims_never_take_the_same_action(self) -> None:
        plan, actions = store_plan(self.store, *(make_action() for _ in range(60)))

        def take_all(worker: str) -> list[Action]:
            taken: list[Action] = []
            while got := self.claim(worker, plan_id=plan.id, limit=7):
                taken += got
            return taken

        workers = [new_uuid() for _ in range(4)]
        taken = self.run_concurrently(*(lambda w=w: take_all(w) for w in workers))
        # A claim that skipped locked rows may have ended early.
        taken.append(take_all(workers[0]))
        by_id = sorted((a for each in taken for a in each), key=lambda a: a.id)
        self.assertEqual(ids_of(actions), ids_of(by_id))
        self.assert_stored(*by_id)
        self.assertEqual({1}, {a.attempt for a in by_id})

    def test_a_claim_takes_either_a_plan_or_a_lane(self) -> None:
        for values in ({}, {'plan_id': 1, 'lane': 'applier'}):
            with self.assertRaises(ValueError):
                self.claim(new_uuid(), **values)

    # has_claimable, next_not_before

    def test_claimable_actions_of_a_lane_are_detected(self) -> None:
        store_plan(self.store, make_action(status=states.READY))
        self.assertFalse(self.store.has_claimable('applier', NOW))
        self.insert_ready_action(not_before=at(5))
        self.assertFalse(self.store.has_claimable('applier', NOW))
        self.assertTrue(self.store.has_claimable('applier', at(5)))
        self.assertFalse(self.store.has_claimable('engine', at(5)))
        self.claim(new_uuid(), lane='applier', now=at(5))
        self.assertFalse(self.store.has_claimable('applier', at(5)))

    def test_deadlines_of_a_lane_are_returned_in_order(self) -> None:
        def waits(seconds: float, **values: Any) -> str:
            waiting = {'status': states.WAITING, 'phase': domain.COMPLETE, 'pending': 1}
            values = {'deadline': at(seconds), **waiting, **values}
            return self.stored_action(**values).uuid

        later, first = waits(5), waits(1.000001)
        second = waits(2, lane='applier')
        waits(1, lane=domain.ENGINE)
        waits(1, deadline=None)
        # The first has been signalled after its deadline; the second is suspended, so
        # its deadline does not count.
        waits(1, deadline=EPOCH)
        waits(
            1, deadline=EPOCH + datetime.timedelta(seconds=1), status=states.SUSPENDED
        )
        for status in (states.READY, states.RUNNING, states.FAILED):
            waits(1, status=status)

        def ask(seconds: float, limit: int = 9) -> list[tuple[str, datetime.datetime]]:
            return self.store.deadlines('applier', at(seconds), limit)

        self.assertEqual([], ask(1))
        self.assertEqual(
            [(first, at(1.000001)), (second, at(2)), (later, at(5))], ask(5)
        )
        self.assertEqual([first, second], [uuid for uuid, _ in ask(5, limit=2)])

    def test_the_next_scheduled_time_of_a_lane_is_returned(self) -> None:
        def ask(after: datetime.datetime = NOW) -> datetime.datetime | None:
            return self.store.next_not_before('applier', after)

        self.insert_ready_action()
        self.insert_ready_action(lane=domain.ENGINE, not_before=at(1))
        self.insert_ready_action(owner=new_uuid(), not_before=at(2))
        self.insert_ready_action(status=states.FAILED, not_before=at(3))
        self.insert_ready_action(blocked_on='node-1', not_before=at(4))
        self.assertIsNone(ask())
        self.insert_ready_action(not_before=at(40.000001))
        self.assertEqual(at(40.000001), ask())
        store_plan(self.store, make_action(not_before=at(20)))
        self.assertEqual(at(20), ask())
        self.assertEqual(at(40.000001), ask(at(20)))
        self.assertIsNone(ask(at(41)))

    # owners

    def test_a_worker_owns_claimed_actions_until_they_end(self) -> None:
        worker, other = new_uuid(), new_uuid()
        first, second, third = (
            self.insert_ready_action(owner=worker, attempt=n) for n in (1, 2, 3)
        )
        self.insert_ready_action(owner=other, attempt=9)
        self.assertEqual(
            [(first.id, 1), (second.id, 2), (third.id, 3)], self.store.owned_ids(worker)
        )
        second = self.changed(second, status=states.RUNNING)
        self.changed(first, status=states.SUCCEEDED)
        self.changed(third, owner=None)
        self.assertEqual([(second.id, 2)], self.store.owned_ids(worker))
        self.assertEqual([], self.store.owned_ids(new_uuid()))

    # signals

    def test_signals_are_written_to_started_unfinished_actions_only(self) -> None:
        plan, actions = store_plan(
            self.store,
            *(make_action(status=status, owner=new_uuid()) for status in states.STATES),
        )
        _, others = store_plan(self.store, make_action(status=states.RUNNING))
        started = [
            a.evolve(control=states.SUSPEND, updated_at=at(2))
            for a in actions
            if a.status in (states.RUNNING, states.SUSPENDED)
        ]
        self.assertEqual(
            started,
            self.commit(
                lambda tx: tx.set_control(states.SUSPEND, at(2), plan_id=plan.id)
            ),
        )
        by_id = {a.id: a for a in started}
        self.assert_stored(*(by_id.get(a.id, a) for a in actions), *others)
        both = self.commit(
            lambda tx: tx.set_control(
                states.RESUME,
                at(3),
                action_ids=[*ids_of(others), *ids_of(actions)],
                plan_id=plan.id,
            )
        )
        self.assertEqual(ids_of(started), ids_of(both))

    def write_signal(self, word: str, *actions: Action) -> list[Action]:
        """Write a signal to actions; return those that received it."""
        ids = ids_of(list(actions))
        return self.commit(lambda tx: tx.set_control(word, NOW, action_ids=ids))

    def test_signals_are_written_by_id_and_read_by_owner(self) -> None:
        worker, running = new_uuid(), {'status': states.RUNNING}
        first, second = (
            self.insert_ready_action(**running, owner=worker) for _ in range(2)
        )
        other = self.insert_ready_action(**running, owner=new_uuid())
        missing = first.stored(10**9)
        self.assertEqual({}, self.store.controls(worker))
        self.write_signal(states.SUSPEND, first, second, other, missing)
        self.write_signal(states.CANCEL, second)
        self.assertEqual(
            {first.id: states.SUSPEND, second.id: states.CANCEL},
            self.store.controls(worker),
        )
        self.changed(first, status=states.SUCCEEDED)
        self.assertEqual({second.id: states.CANCEL}, self.store.controls(worker))
        self.assertEqual({}, self.store.controls(new_uuid()))

    def test_no_signal_replaces_a_cancel(self) -> None:
        cancelled, other = both = [
            self.insert_ready_action(status=states.RUNNING, owner=new_uuid())
            for _ in range(2)
        ]
        for word, given, expected in (
            (states.SUSPEND, both, both),
            (states.CANCEL, [cancelled], [cancelled]),
            (states.SUSPEND, both, [other]),
            (states.RESUME, both, [other]),
            (states.CANCEL, both, both),
        ):
            got = self.write_signal(word, *given)
            self.assertEqual(ids_of(expected), ids_of(got), word)
        controls = [a.control for a in self.now_stored(cancelled, other)]
        self.assertEqual([states.CANCEL, states.CANCEL], controls)

    def test_a_signal_by_id_is_written_to_prepared_and_retried_actions(self) -> None:
        taken = self.insert_ready_action(owner=new_uuid(), attempt=1)
        again = self.insert_ready_action(start_time=NOW, not_before=at(60))
        new = self.insert_ready_action()
        signalled = self.write_signal(states.CANCEL, taken, again, new)
        self.assertEqual(ids_of([taken, again]), ids_of(signalled))

    def test_a_signal_requires_actions_or_a_plan(self) -> None:
        with self.assertRaises(ValueError):
            self.commit(lambda tx: tx.set_control(states.CANCEL, NOW))

    # end_not_started

    def test_unstarted_actions_are_ended_in_batches_with_or_without_owner(self) -> None:
        plan, actions = store_plan(
            self.store,
            make_action(name='init'),
            make_action(name='running', status=states.RUNNING, owner=new_uuid()),
            make_action(name='ready', status=states.READY),
            make_action(name='done', status=states.SUCCEEDED),
            make_action(name='taken', status=states.READY, owner=new_uuid(), attempt=1),
            make_action(name='derived', status=states.WAITING, phase=domain.COMPLETE),
            make_action(name='complete', status=states.READY, phase=domain.COMPLETE),
            make_action(name='waits', status=states.WAITING),
        )
        _, others = store_plan(self.store, make_action(name='other plan'))
        pieces = [
            self.commit(
                lambda tx: tx.end_not_started(
                    plan.id, states.CANCELLED, 'zrušeno', 3, at(7)
                )
            )
            for _ in range(3)
        ]
        self.assertEqual(
            [['init', 'ready', 'taken'], ['complete', 'waits'], []],
            [names(piece) for piece in pieces],
        )
        ended = {action.id for piece in pieces for action in piece}
        self.assertEqual(
            [a for a in actions if a.id in ended], [a for p in pieces for a in p]
        )
        for before, after in zip(actions, self.now_stored(*actions), strict=True):
            if before.id in ended:
                before = before.evolve(
                    status=states.CANCELLED,
                    status_message='zrušeno',
                    owner=None,
                    end_time=at(7),
                    updated_at=at(7),
                )
            self.assertEqual(before, after)
        self.assert_stored(*others)

    def test_the_owner_of_an_ended_action_cannot_change_it(self) -> None:
        plan, _ = store_plan(self.store, make_action())
        (taken,) = self.claim(new_uuid(), plan_id=plan.id)
        self.commit(
            lambda tx: tx.end_not_started(plan.id, states.CANCELLED, None, 9, NOW)
        )
        self.assertIsNone(self.change(taken, status=states.RUNNING))
        (stored,) = self.now_stored(taken)
        self.assertEqual(
            (states.CANCELLED, None), (stored.status, stored.status_message)
        )
        self.assertEqual([], self.store.owned_ids(taken.owner or ''))
