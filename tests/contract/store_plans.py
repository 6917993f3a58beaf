"""Contract of the store: plans, their audits, purge and statistics."""

import datetime
from typing import Any

from tests.contract.store_case import StoreCase
from tests.factories import (
    NOW,
    all_plans,
    at,
    make_action,
    make_audit,
    make_event,
    make_goal,
    make_plan,
    make_strategy,
    make_worker,
    new_uuid,
    store_plan,
)
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.action_plans import STOPPING, ActionPlan, PlanRelations
from watcherlite.domain.creators import Creator
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states
from watcherlite.states import audit as audit_states


class StorePlansContract(StoreCase):
    """Plans are stored, saved under a lock, listed and purged."""

    def save(self, plan: ActionPlan) -> None:
        """Lock and save a plan in a transaction of its own."""

        def block(tx: Transaction) -> None:
            tx.lock_plans([plan.id])
            tx.save_plans([plan])

        self.commit(block)

    def test_a_new_store_passes_its_check(self) -> None:
        self.assertIsNone(self.store.check())  # type: ignore[func-returns-value]

    # insert_plan, lock_plans, save_plans

    def test_a_plan_is_returned_as_it_was_stored(self) -> None:
        plan, _ = store_plan(
            self.store,
            name='noční 🚀',
            on_failure=states.ROLLBACK,
            on_worker_loss=states.CANCEL,
            max_parallel=8,
            global_efficacy=[{'name': 'ž', 'value': 1.5, 'unit': None}],
            creator=Creator('ů', 'a-project', True),
            state=states.CANCELLING,
            stage=STOPPING,
            status_message='🚀' * 255,
            total=5,
            unfinished=4,
            active=3,
            failed=2,
            skipped=1,
            fault={'exception': 'E', 'message': 'm', 'module': 'x', 'function': 'f'},
            updated_at=at(1.000001),
            deleted_at=at(2),
        )
        self.assertEqual(plan, self.store.get_plan(plan.uuid))
        bare, _ = store_plan(self.store)
        self.assertEqual(bare, self.store.get_plan(bare.uuid))
        self.assertNotEqual(plan.id, bare.id)

    def test_saving_writes_only_the_variable_fields(self) -> None:
        plan, _ = store_plan(self.store, name='its name')
        values = {
            'state': states.FAILED,
            'stage': STOPPING,
            'status_message': 'změněno',
            'total': 9,
            'unfinished': 8,
            'active': 7,
            'failed': 6,
            'skipped': 5,
            'fault': {'exception': 'E'},
            'updated_at': at(1),
            'deleted_at': at(2),
        }
        self.save(
            plan.evolve(**values, name='other', max_parallel=3, on_failure='stop')
        )
        self.assertEqual(plan.evolve(**values), self.store.get_plan(plan.uuid))
        self.save(plan)
        self.assertEqual(plan, self.store.get_plan(plan.uuid))

    def test_saving_writes_only_the_given_plans(self) -> None:
        plans = [store_plan(self.store)[0] for _ in range(4)]
        ids = [plan.id for plan in plans]

        def block(tx: Transaction) -> dict[int, ActionPlan]:
            locked = tx.lock_plans([*reversed(ids), 10**9])
            tx.save_plans(locked[i].evolve(total=i, active=2) for i in ids[:2])
            return locked

        self.assertEqual(dict(zip(ids, plans, strict=True)), self.commit(block))
        self.assertEqual(
            [p.evolve(total=p.id, active=2) for p in plans[:2]] + plans[2:],
            [self.store.get_plan(p.uuid) for p in plans],
        )

    def test_a_lock_blocks_other_transactions_until_the_end(self) -> None:
        first, _ = store_plan(self.store, total=0)
        second, _ = store_plan(self.store, total=0)
        ids = [first.id, second.id]

        def count_up(order: list[int]) -> None:
            def block(tx: Transaction) -> None:
                plans = tx.lock_plans(order)
                tx.save_plans(p.evolve(total=p.total + 1) for p in plans.values())

            for _ in range(5):
                self.commit(block)

        self.run_concurrently(
            *(lambda o=order: count_up(o) for order in (ids, ids[::-1]) * 2)
        )
        totals = [self.store.get_plan(p.uuid).total for p in (first, second)]
        self.assertEqual([20, 20], totals)

    def test_a_plan_of_a_failed_transaction_is_not_stored(self) -> None:
        plan = make_plan()

        def block(tx: Transaction) -> None:
            goal = tx.ensure_goal(make_goal())
            audit = tx.insert_audit(make_audit(goal.id))
            tx.insert_plan(plan.evolve(audit_id=audit.id))
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            self.commit(block)
        with self.assertRaisesRegex(exceptions.NotFound, plan.uuid):
            self.store.get_plan(plan.uuid)
        self.assertEqual([], all_plans(self.store))

    def test_a_plan_with_a_stored_uuid_is_a_conflict(self) -> None:
        plan, _ = store_plan(self.store)
        with self.assertRaises(exceptions.Conflict):
            self.commit(lambda tx: tx.insert_plan(plan))
        self.assertEqual([plan], all_plans(self.store))

    # The objects that a plan refers to

    def test_a_goal_and_a_strategy_are_stored_once_by_name(self) -> None:
        goal = make_goal(efficacy_specification=[{'name': 'ž'}])
        first = self.commit(lambda tx: tx.ensure_goal(goal))
        self.assertEqual(goal.__class__, first.__class__)
        again = self.commit(
            lambda tx: tx.ensure_goal(make_goal(name=goal.name, display_name='other'))
        )
        self.assertEqual(first, again)
        strategy = make_strategy(goal_id=first.id, parameters_spec={'type': 'object'})
        stored = self.commit(lambda tx: tx.ensure_strategy(strategy))
        twice = self.commit(
            lambda tx: tx.ensure_strategy(make_strategy(name=strategy.name))
        )
        self.assertEqual(stored, twice)
        self.assertEqual(
            (goal.uuid, strategy.uuid, first.id),
            (first.uuid, stored.uuid, stored.goal_id),
        )
        other = self.commit(lambda tx: tx.ensure_goal(make_goal()))
        self.assertNotEqual(first.id, other.id)

    def test_concurrent_transactions_get_the_same_goal(self) -> None:
        def ensure() -> tuple[int | None, int | None]:
            def block(tx: Transaction) -> tuple[int | None, int | None]:
                goal = tx.ensure_goal(make_goal(name='dummy'))
                strategy = tx.ensure_strategy(make_strategy(name='dummy'))
                return goal.id, strategy.id

            return self.commit(block)

        self.assertEqual(1, len(set(self.run_concurrently(*[ensure] * 4))))

    def test_the_relations_of_plans_are_read_together(self) -> None:
        def block(tx: Transaction) -> PlanRelations:
            goal = tx.ensure_goal(make_goal(efficacy_specification=[{'a': 1}]))
            strategy = tx.ensure_strategy(
                make_strategy(goal_id=goal.id, parameters_spec={'b': ['ž']})
            )
            audit = tx.insert_audit(
                make_audit(
                    goal.id,
                    strategy_id=strategy.id,
                    name='noční',
                    parameters={'c': None},
                    scope=[{'d': 2}],
                    interval='3600',
                    auto_trigger=True,
                    status_message='ž' * 255,
                    next_run_time=at(0.000001),
                    updated_at=at(1),
                )
            )
            plan = tx.insert_plan(make_plan(audit_id=audit.id, strategy_id=strategy.id))
            return PlanRelations(plan, audit, goal, strategy)

        expected = self.commit(block)
        found = self.store.plan_relations(expected.plan.id)
        self.assertEqual(expected, found)
        self.assertIsNone(self.store.plan_relations(10**9))
        # With several plans, and with one without a strategy.
        two, _ = store_plan(self.store, strategy_id=None)
        other = self.store.plan_relations(two.id)
        assert other is not None
        self.assertEqual((two, None), (other.plan, other.strategy))
        keys = [expected.plan.id, two.id]
        self.assertEqual(
            dict(zip(keys, (expected, other), strict=True)),
            self.store.relations_of_plans([*keys, keys[0], 10**9]),
        )
        self.assertEqual({}, self.store.relations_of_plans([]))

    # listing

    def test_active_plans_are_listed_oldest_first(self) -> None:
        plans = {
            state: store_plan(self.store, state=state)[0] for state in states.STATES
        }
        expected = [
            plans[s] for s in (states.PENDING, states.ONGOING, states.CANCELLING)
        ]
        self.assertEqual(expected, self.store.active_plans(10))
        self.assertEqual(expected[:2], self.store.active_plans(2))
        self.save(expected[0].evolve(state=states.CANCELLED))
        self.assertEqual(expected[1:], self.store.active_plans(10))

    # purge, statistics

    def insert_old_plan(self, **values: object) -> ActionPlan:
        """Store an ended plan of two actions with one published event each."""
        parent = make_action(status=action_states.SUCCEEDED)
        child = make_action(status=action_states.SUCCEEDED, parents=(parent.uuid,))
        given: dict[str, Any] = {
            'state': states.SUCCEEDED,
            'updated_at': at(-10),
            **values,
        }
        plan, actions = store_plan(self.store, parent, child, **given)
        self.commit(lambda tx: tx.add_events([make_event(a) for a in actions]))
        self.store.mark_published(
            [stored.sequence for stored in self.store.list_events(plan_id=plan.id)], NOW
        )
        return plan

    def test_a_purge_deletes_the_rows_of_ended_plans_and_a_dry_run_none(self) -> None:
        old = self.insert_old_plan()
        young = self.insert_old_plan(updated_at=NOW)
        foretold = [self.store.purge(NOW, 10, dry_run=True) for _ in range(2)]
        self.assertEqual([old, young], all_plans(self.store))
        self.assertEqual(2, len(self.store.list_events(plan_id=old.id)))
        counts = self.store.purge(NOW, 10)
        self.assertEqual([counts] * 2, foretold)
        self.assertEqual(
            {'action_plans': 1, 'audits': 1, 'actions': 2, 'events': 2}, dict(counts)
        )
        self.assertEqual([young], all_plans(self.store))
        self.assertEqual([], self.store.list_actions(plan_id=old.id))
        self.assertEqual([], self.store.list_events(plan_id=old.id))
        self.assertEqual(2, len(self.store.list_actions()))
        self.assertEqual(2, len(self.store.list_events()))
        self.assertEqual(0, self.store.purge(NOW, 10)['action_plans'])

    def test_a_purge_deletes_an_audit_with_its_last_plan(self) -> None:
        first = self.insert_old_plan()
        kept, _ = store_plan(self.store, audit_id=first.audit_id)
        last = self.insert_old_plan()
        young = self.insert_old_plan(updated_at=NOW, audit_id=last.audit_id)

        def audits(before: datetime.datetime, **options: bool) -> int:
            return self.store.purge(before, 10, **options)['audits']

        self.assertEqual((0, 0), (audits(NOW, dry_run=True), audits(NOW)))
        self.assertEqual([kept, young], all_plans(self.store))
        for plan in (kept, young):
            self.assertIsNotNone(self.store.plan_relations(plan.id))
        # Two more audits never had a plan; the plans below have another audit.
        self.assertEqual(3, audits(at(1), dry_run=True))
        self.assertEqual(3, audits(at(1)))
        self.assertEqual([kept], all_plans(self.store))
        # Its audit still exists.
        store_plan(self.store, audit_id=kept.audit_id)

    def test_a_purge_stops_at_its_limit_and_deletes_an_audit_with_all_plans(
        self,
    ) -> None:
        audit = self.insert_old_plan().audit_id
        self.insert_old_plan(audit_id=audit)
        last = self.insert_old_plan()
        found = [
            self.store.purge(NOW, limit, dry_run=dry)
            for limit, dry in ((1, True), (2, True), (2, False))
        ]
        self.assertEqual(
            [(1, 0), (2, 1), (2, 1)],
            [(counts['action_plans'], counts['audits']) for counts in found],
        )
        self.assertEqual([last], all_plans(self.store))

    def test_a_purge_keeps_plans_and_audits_that_have_not_ended(self) -> None:
        for state in states.STATES:
            self.insert_old_plan(state=state)
        with self.store.transaction() as tx:
            goal = tx.ensure_goal(make_goal())
            audits = [
                tx.insert_audit(make_audit(goal.id, state=state))
                for state in audit_states.STATES
            ]
        for audit in audits:
            self.insert_old_plan(audit_id=audit.id)
        counts = self.store.purge(NOW, 100)
        self.assertEqual(
            (
                len(states.ENDED) + len(audit_states.STATES),
                len(states.ENDED) + len(audit_states.ENDED),
            ),
            (counts['action_plans'], counts['audits']),
        )
        self.assertEqual(
            set(states.STATES) - states.ENDED,
            {plan.state for plan in all_plans(self.store)},
        )

    def test_a_purge_keeps_plans_with_unpublished_events(self) -> None:
        plan = self.insert_old_plan()
        (action, _) = self.store.list_actions(plan_id=plan.id)
        lonely = self.stored_action(status=action_states.SUCCEEDED, end_time=at(-10))
        events = [make_event(action), make_event(lonely)]
        self.commit(lambda tx: tx.add_events(events))
        self.assertEqual(0, self.store.purge(NOW, 10)['action_plans'])
        pending = self.store.pending_events(10)
        self.assertEqual(events, [stored.event for stored in pending])
        self.assertEqual(action.uuid, pending[0].action_uuid)
        self.store.mark_published([pending[0].sequence], NOW)
        self.assertEqual(1, self.store.purge(NOW, 10)['action_plans'])
        self.assertEqual([lonely], self.store.list_actions())
        self.assertEqual(events[1:], [s.event for s in self.store.pending_events(10)])

    def test_statistics_count_active_rows(self) -> None:
        self.assertEqual(
            {
                'action_plans': {},
                'actions': {},
                'pending_events': 0,
                'stacks': {},
                'resources_in_progress': 0,
                'workers': 0,
            },
            dict(self.store.statistics()),
        )
        plan, _ = store_plan(
            self.store,
            make_action(),
            make_action(),
            make_action(status=action_states.RUNNING, owner=new_uuid()),
            make_action(status=action_states.FAILED),
        )
        store_plan(self.store, state=states.PENDING)
        store_plan(self.store, state=states.FAILED)
        self.commit(lambda tx: tx.add_events([make_event(plan)]))
        self.store.register_worker(make_worker(), 3600)
        self.store.register_worker(make_worker(), -1)
        self.assertEqual(
            {
                'action_plans': {'ONGOING': 1, 'PENDING': 1},
                'actions': {'INIT': 2, 'RUNNING': 1},
                'pending_events': 1,
                'stacks': {},
                'resources_in_progress': 0,
                'workers': 1,
            },
            dict(self.store.statistics()),
        )
