"""Contract of the store: inserts, changes and queries of actions."""

import datetime
import operator
from typing import Any

from tests.contract.store_case import StoreCase, names
from tests.factories import NOW, at, make_action, new_uuid, store_actions, store_plan
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import actions as domain
from watcherlite.domain.actions import Action, ActionChange, Edge
from watcherlite.states import action as states

MEBIBYTE = 1024 * 1024
#: All that JSON can express; drivers tend to change the last key and the integer.
EVERYTHING: dict[str, Any] = {
    'text': 'Žluťoučký kůň 🚀 "quoted" \\ \n\t',
    'empty': ['', {}, [], None],
    'numbers': [0, -1, 2**53 + 1, 0.1, -1.5],
    'truth': [True, False],
    'nested': {'a': [{'b': {'c': [1, [2, [3]]]}}]},
    'příliš.$[0]': '%s :name {x} ?',
}


class RollbackError(Exception):
    """Raised to roll back a transaction."""


class StoreActionsContract(StoreCase):
    """Inserts, compare and set, and queries of actions."""

    def test_an_action_is_returned_as_it_was_stored(self) -> None:
        full = make_action(
            action_type='migrate',
            lane=domain.ENGINE,
            name='první 🚀',
            target='node-1',
            cause=states.DERIVED_ACTION,
            inputs=EVERYTHING,
            context={'user': 'ž', 'roles': ['admin']},
            interval=60,
            timeout=3600,
            tenant='project-1',
            within='cluster-1',
            status=states.RUNNING,
            status_message='ž' * 255,
            owner=new_uuid(),
            attempt=3,
            recoveries=2,
            phase=domain.COMPLETE,
            not_before=at(5),
            blocked_on='node-2',
            control=states.SUSPEND,
            token={'job': 7},
            start_time=at(1),
            end_time=at(2.000001),
            deadline=at(9.000001),
            outputs=EVERYTHING,
            data=EVERYTHING,
            updated_at=at(3),
            deleted_at=at(4),
        )
        plain = make_action()
        stored = store_actions(self.store, full, plain)
        self.assert_stored(*stored)
        self.assertEqual(stored, [self.store.get_action(a.uuid) for a in (full, plain)])

    def test_all_times_are_aware_and_in_utc_and_keep_their_microseconds(self) -> None:
        stored = self.stored_action(start_time=NOW, not_before=at(0.000001))
        (read,) = self.now_stored(stored)
        for value in (read.created_at, read.start_time, read.not_before):
            assert value is not None
            self.assertEqual(datetime.timedelta(0), value.utcoffset())
        self.assertEqual((NOW, at(0.000001)), (read.start_time, read.not_before))

    def test_none_and_empty_values_are_stored_distinctly(self) -> None:
        tokens: list[Any] = [None, 0, '', False, [], {}, 'x', [None]]
        actions = store_actions(
            self.store, *(make_action(token=token) for token in tokens)
        )
        read = [action.token for action in self.now_stored(*actions)]
        self.assertEqual([repr(t) for t in tokens], [repr(t) for t in read])
        none, empty = self.stored_action(outputs=None), self.stored_action(outputs={})
        outputs = [action.outputs for action in self.now_stored(none, empty)]
        self.assertEqual([None, {}], outputs)

    def test_long_documents_and_messages_are_kept(self) -> None:
        text = 'ř' * (MEBIBYTE // 2)
        stored = self.stored_action(inputs={'text': text}, status=states.RUNNING)
        after = self.changed(
            stored,
            outputs={'text': text, 'list': ['x' * 1024] * 1024},
            data={'t': text},
            status_message='🚀' * 255,
        )
        self.assert_stored(after)

    def test_later_changes_of_a_mapping_are_not_stored(self) -> None:
        inputs = {'hosts': ['a']}
        stored = self.stored_action(inputs=inputs)
        inputs['hosts'].append('b')
        (read,) = self.now_stored(stored)
        self.assertEqual({'hosts': ['a']}, read.inputs)
        read.inputs['hosts'].append('c')
        self.assertEqual({'hosts': ['a']}, self.now_stored(stored)[0].inputs)

    # insert_actions

    def test_ids_ascend_in_the_given_order(self) -> None:
        actions = [make_action(name=str(n)) for n in range(250)]
        first = self.commit(lambda tx: tx.insert_actions(actions[:200], []))
        second = self.commit(lambda tx: tx.insert_actions(actions[200:], []))
        ids = first + second
        self.assertEqual(sorted(set(ids)), ids)
        found = self.store.actions_by_id(ids)
        self.assertEqual([str(n) for n in range(250)], [found[i].name for i in ids])

    def test_counts_are_stored_as_the_caller_counted_them(self) -> None:
        parent = make_action(dependents=7)
        child = make_action(pending=5, parents=(parent.uuid,))
        (parent_id,) = self.commit(lambda tx: tx.insert_actions([parent], []))
        (child_id,) = self.commit(
            lambda tx: tx.insert_actions([child], [Edge(parent.uuid, child.uuid)])
        )
        self.assert_stored(parent.stored(parent_id), child.stored(child_id))

    def test_either_end_of_an_edge_may_be_stored_already(self) -> None:
        asking, before = store_actions(
            self.store, make_action(name='asking'), make_action(name='before')
        )
        derived = make_action(name='derived', derived_from=asking.id)
        edges = [Edge(derived.uuid, asking.uuid), Edge(before.uuid, derived.uuid)]
        (key,) = self.commit(lambda tx: tx.insert_actions([derived], edges))
        self.assertEqual([derived.uuid], self.store.depends_on(asking.id))
        self.assertEqual([derived.uuid], self.store.depended_by(before.id))
        self.assertEqual([before.uuid], self.store.depends_on(key))
        self.assertEqual([asking.uuid], self.store.depended_by(key))

    def test_an_edge_to_a_missing_action_is_refused(self) -> None:
        action, missing = make_action(), new_uuid()
        for edge in (Edge(missing, action.uuid), Edge(action.uuid, missing)):
            with self.assertRaisesRegex(exceptions.NotFound, missing):
                self.commit(operator.methodcaller('insert_actions', [action], [edge]))
        self.assertEqual([], self.store.list_actions())

    def test_a_stored_uuid_is_a_conflict(self) -> None:
        stored = self.stored_action()
        with self.assertRaises(exceptions.Conflict):
            self.commit(lambda tx: tx.insert_actions([make_action(), stored], []))
        self.assertEqual([stored], self.store.list_actions())

    def test_an_error_rolls_the_transaction_back(self) -> None:
        stored = self.stored_action(status=states.READY)

        def block(tx: Transaction) -> None:
            tx.insert_actions([make_action()], [])
            tx.claim(worker=new_uuid(), limit=1, now=NOW, lane=domain.APPLIER)
            tx.acquire_locks({'node-1': stored.id})
            tx.add_pending(stored.id, 2)
            raise RollbackError

        with self.assertRaises(RollbackError):
            self.commit(block)
        self.assertEqual([stored], self.store.list_actions())
        self.assertTrue(self.store.has_claimable(domain.APPLIER, NOW))
        free = self.commit(lambda tx: tx.acquire_locks({'node-1': 4711}))
        self.assertEqual({'node-1'}, free)

    # change_actions

    def test_a_change_writes_only_the_variable_fields(self) -> None:
        stored = self.stored_action(control=states.CANCEL)
        values = {
            'status': states.RUNNING,
            'status_message': 'změněno',
            'owner': new_uuid(),
            'attempt': 4,
            'recoveries': 1,
            'phase': domain.CHECK,
            'not_before': at(1),
            'blocked_on': 'node-1',
            'token': {'id': 1},
            'start_time': at(2),
            'end_time': at(3),
            'deadline': at(6),
            'outputs': {'a': 1},
            'data': {'b': 2},
            'updated_at': at(4),
            'deleted_at': at(5),
        }
        self.changed(
            stored,
            **values,
            name='other',
            inputs={'other': 1},
            target='other',
            timeout=1,
            dependents=9,
            pending=9,
            control=None,
        )
        self.assert_stored(stored.evolve(**values))
        emptied = {name: getattr(stored, name) for name in values if name != 'status'}
        before = stored.evolve(**values)
        # The control is not compared.
        self.changed(before.evolve(control=None), **emptied)
        self.assert_stored(before.evolve(**emptied))
        self.changed(before.evolve(**emptied))

    def test_an_outdated_change_has_no_effect(self) -> None:
        stored = self.stored_action(status=states.RUNNING, owner=new_uuid(), attempt=2)
        free = self.stored_action()
        for before in (
            stored.evolve(status=states.READY),
            stored.evolve(owner=new_uuid()),
            stored.evolve(owner=None),
            stored.evolve(attempt=1),
            stored.evolve(attempt=3),
            stored.stored(stored.id + 1000),
            free.evolve(owner=new_uuid()),
        ):
            self.assertIsNone(self.change(before, status=states.FAILED), before)
        self.assert_stored(stored, free)

    def test_the_successful_changes_are_returned(self) -> None:
        actions = store_actions(self.store, *(make_action() for _ in range(60)))
        changes = [
            ActionChange(
                action.evolve(attempt=n % 3),
                action.evolve(
                    status=states.SKIPPED if n % 2 else states.READY,
                    status_message=None if n % 5 else f'message {n}',
                    outputs={'n': n} if n % 4 else None,
                    not_before=at(n),
                ),
            )
            for n, action in enumerate(actions)
        ]
        won = self.commit(lambda tx: tx.change_actions(changes))
        self.assertEqual({a.id for a in actions[::3]}, won)
        self.assert_stored(
            *(action if n % 3 else changes[n].after for n, action in enumerate(actions))
        )

    def test_one_of_two_concurrent_changes_succeeds(self) -> None:
        stored = store_actions(
            self.store, *(make_action(status=states.READY) for _ in range(5))
        )
        owners = [new_uuid() for _ in range(4)]

        def take(owner: str) -> set[int]:
            changes = [
                ActionChange(a, a.evolve(owner=owner, attempt=1)) for a in stored
            ]
            return self.commit(lambda tx: tx.change_actions(changes))

        won = self.run_concurrently(*(lambda o=owner: take(o) for owner in owners))
        self.assertEqual(
            sorted(a.id for a in stored), sorted(i for ids in won for i in ids)
        )
        by_id = {i: owners[n] for n, ids in enumerate(won) for i in ids}
        self.assert_stored(*(a.evolve(owner=by_id[a.id], attempt=1) for a in stored))

    # Methods for single actions

    def test_derived_actions_increase_pending(self) -> None:
        stored = self.stored_action(pending=0)
        self.commit(lambda tx: tx.add_pending(stored.id, 3))
        self.commit(lambda tx: tx.add_pending(stored.id, 2))
        self.assert_stored(stored.evolve(pending=5))

    def test_locked_actions_are_returned_by_id_without_missing_ones(self) -> None:
        stored = store_actions(self.store, make_action(), make_action())
        ids = [a.id for a in stored]
        found = self.commit(lambda tx: tx.lock_actions([*ids, 10**9]))
        self.assertEqual(dict(zip(ids, stored, strict=True)), found)

    def test_empty_sequences_are_accepted(self) -> None:
        def block(tx: Transaction) -> list[object]:
            tx.add_events([])
            tx.save_plans([])
            return [
                tx.insert_actions([], []),
                tx.change_actions([]),
                tx.lock_actions([]),
                tx.release_dependents([], started=True, now=NOW),
                tx.end_dependents([], states.CANCELLED, 'x', NOW),
                tx.successors([], 2),
                tx.set_control(states.CANCEL, NOW, action_ids=[]),
                tx.acquire_locks({}),
                tx.release_locks([]),
                tx.lock_plans([]),
            ]

        self.assertEqual(
            [[], set(), {}, [], [], [], [], set(), [], {}], self.commit(block)
        )
        self.store.mark_published([], NOW)
        self.assertEqual({}, self.store.actions_by_id([]))
        self.assertEqual([], self.store.list_actions(statuses=[]))

    # Queries

    def test_an_unknown_action_is_not_found(self) -> None:
        missing = new_uuid()
        with self.assertRaisesRegex(exceptions.NotFound, missing):
            self.store.get_action(missing)
        self.assertEqual({}, self.store.actions_by_id([4711]))

    def test_derived_actions_are_found_by_the_action_that_derived_them(self) -> None:
        asking, other = store_actions(self.store, make_action(), make_action())
        derived = store_actions(
            self.store,
            *(
                make_action(derived_from=asking.id, created_at=at(seconds))
                for seconds in (0.999999, 1, 2)
            ),
        )
        self.stored_action(derived_from=other.id)
        self.assertEqual(derived, self.store.derived_actions(asking.id))
        # Actions of earlier runs are omitted on request.
        self.assertEqual(derived[1:], self.store.derived_actions(asking.id, at(1)))
        self.assertEqual([], self.store.derived_actions(derived[0].id))

    def test_unfinished_actions_derived_by_several_are_one_query(self) -> None:
        one, two, other = store_actions(
            self.store, make_action(), make_action(), make_action()
        )
        found = store_actions(
            self.store,
            make_action(derived_from=two.id),
            make_action(derived_from=one.id, status=states.RUNNING),
            make_action(derived_from=two.id, status=states.WAITING),
        )
        store_actions(
            self.store,
            make_action(derived_from=one.id, status=states.SUCCEEDED),
            make_action(derived_from=two.id, status=states.SKIPPED),
            make_action(derived_from=other.id),
        )
        self.assertEqual(found, self.store.unfinished_derived([one.id, two.id]))
        self.assertEqual([], self.store.unfinished_derived([]))

    def test_actions_are_listed_in_pages_in_both_directions(self) -> None:
        plan, actions = store_plan(
            self.store, *(make_action(name=str(n)) for n in range(7))
        )
        store_plan(self.store, make_action(name='other plan'))
        store_actions(self.store, make_action(name='no plan'))

        def pages(descending: bool) -> list[list[str | None]]:
            found, last = [], None
            while page := self.store.list_actions(
                plan_id=plan.id, after_id=last, limit=3, descending=descending
            ):
                found.append(names(page))
                last = page[-1].id
            return found

        self.assertEqual(
            [['0', '1', '2'], ['3', '4', '5'], ['6']], pages(descending=False)
        )
        self.assertEqual(
            [['6', '5', '4'], ['3', '2', '1'], ['0']], pages(descending=True)
        )
        self.assertEqual(9, len(self.store.list_actions()))
        self.assertEqual(actions, self.store.list_actions(plan_id=plan.id))

    def test_actions_are_listed_by_status(self) -> None:
        plan, _ = store_plan(
            self.store,
            *(
                make_action(name=status, status=status)
                for status in (states.INIT, states.FAILED, states.READY, states.FAILED)
            ),
        )
        store_actions(self.store, make_action(name='no plan', status=states.FAILED))

        def listed(**values: object) -> list[str | None]:
            return names(self.store.list_actions(**values))  # type: ignore[arg-type]

        self.assertEqual(
            ['FAILED', 'FAILED'], listed(plan_id=plan.id, statuses=iter(['FAILED']))
        )
        self.assertEqual(
            ['FAILED', 'READY'],
            listed(plan_id=plan.id, statuses={'FAILED', 'READY'}, limit=2),
        )
        self.assertEqual(
            ['no plan', 'FAILED', 'FAILED'],
            listed(statuses=['FAILED'], descending=True),
        )

    def test_actions_of_a_plan_are_counted_by_status(self) -> None:
        plan, actions = store_plan(self.store, *(make_action() for _ in range(4)))
        self.assertEqual({'INIT': 4}, self.store.count_actions(plan.id))
        self.changed(actions[0], status=states.SKIPPED)
        self.changed(actions[1], status=states.READY)
        self.assertEqual(
            {'INIT': 2, 'SKIPPED': 1, 'READY': 1}, self.store.count_actions(plan.id)
        )
        self.assertEqual({}, self.store.count_actions(10**9))


def ids_of(actions: list[Action]) -> list[int]:
    """Return the ids of stored actions, in order."""
    return [action.id for action in actions]
