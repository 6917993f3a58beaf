"""Contract of the store: audits, templates, goals and strategies."""

import dataclasses
from typing import Any

from tests.contract.store_case import StoreCase, make_bare_event
from tests.factories import (
    NOW,
    at,
    make_audit,
    make_event,
    make_goal,
    make_plan,
    make_scoring_engine,
    make_strategy,
    make_template,
    new_uuid,
    store_plan,
)
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.query import Query
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import Audit, AuditRelations, AuditTemplate
from watcherlite.domain.creators import Creator
from watcherlite.domain.events import Event


class StoreAuditsContract(StoreCase):
    """Audits and templates, their locks and unique names."""

    def new_goal(self) -> int:
        self.goal = self.commit(lambda tx: tx.ensure_goal(make_goal()))
        return self.goal.id

    def new_audit(self, **values: Any) -> Audit:
        goal = self.new_goal()
        return self.commit(lambda tx: tx.insert_audit(make_audit(goal, **values)))

    def new_template(self, **values: Any) -> AuditTemplate:
        template = make_template(self.new_goal(), **values)
        return self.commit(lambda tx: tx.insert_audit_template(template))

    def save_audit(self, audit: Audit) -> None:
        def block(tx: Transaction) -> None:
            self.assertIsNotNone(tx.lock_audit(audit.uuid))
            tx.save_audit(audit)

        self.commit(block)

    def save_template(self, template: AuditTemplate) -> None:
        def block(tx: Transaction) -> None:
            self.assertIsNotNone(tx.lock_audit_template(template.uuid))
            tx.save_audit_template(template)

        self.commit(block)

    # audits

    def test_an_audit_is_returned_as_it_was_stored_and_saved(self) -> None:
        audit = self.new_audit(
            audit_type='CONTINUOUS',
            state='PENDING',
            parameters={'a': [1, {'ž': None}]},
            scope=[{'compute': ['x']}],
            interval='*/5 * * * *',
            auto_trigger=True,
            status_message='why',
            next_run_time=at(1),
            start_time=at(2),
            end_time=at(3),
            force=True,
            action_id=4711,
            creator=Creator('a user', 'a-project'),
            updated_at=at(4),
        )
        self.assertEqual(audit, self.store.get_audit(audit.uuid))
        self.assertEqual(audit, self.commit(lambda tx: tx.lock_audit(audit.uuid)))
        strategy = self.commit(lambda tx: tx.ensure_strategy(make_strategy()))
        changed = audit.evolve(
            name='another',
            audit_type='EVENT',
            state='ONGOING',
            goal_id=self.new_goal(),
            strategy_id=strategy.id,
            parameters={'x': 1},
            scope=[1],
            interval='60',
            auto_trigger=False,
            status_message='é \' " \\ %s :x',
            next_run_time=at(5),
            updated_at=at(6),
            start_time=at(7),
            end_time=at(8),
            force=False,
            action_id=5,
            creator=Creator(everywhere=True),
        )
        self.save_audit(changed)
        self.assertEqual(changed, self.store.get_audit(audit.uuid))
        self.assertEqual(changed, self.store.find_audit('ANOTHER').audit)
        self.save_audit(audit)
        self.assertEqual(audit, self.store.get_audit(audit.uuid))

    def test_a_deleted_audit_can_be_neither_locked_nor_read(self) -> None:
        audit = self.new_audit()
        gone = audit.evolve(state='DELETED', deleted_at=at(1))
        self.save_audit(gone)
        self.assertIsNone(self.commit(lambda tx: tx.lock_audit(audit.uuid)))
        self.assertIsNone(self.commit(lambda tx: tx.lock_audit(new_uuid())))
        for uuid in (audit.uuid, new_uuid()):
            with self.assertRaisesRegex(exceptions.NotFound, f'Audit {uuid} could not'):
                self.store.get_audit(uuid)
        self.assertEqual(gone, self.store.find_audit(audit.uuid, True).audit)

    def test_uuids_of_audits_are_unique_and_names_unless_deleted(self) -> None:
        first = self.new_audit(name='nightly')
        with self.assertRaisesRegex(
            exceptions.Conflict, 'Audit with UUID or name nightly already exists'
        ):
            self.new_audit(name='nightly')
        other = self.new_audit(name='Nightly')
        with self.assertRaisesRegex(exceptions.Conflict, 'name nightly already'):
            self.save_audit(other.evolve(name='nightly'))
        self.assertEqual(other, self.store.get_audit(other.uuid))
        for second in (first, None):
            audit = second or self.new_audit(name='nightly')
            self.save_audit(audit.evolve(deleted_at=at(1)))
        self.save_audit(other.evolve(name='nightly'))
        self.assertEqual(3, len(self.store.list_audits(Query(deleted=True))))
        with self.assertRaises(exceptions.Conflict):
            self.new_audit(uuid=other.uuid)

    def test_one_of_two_concurrent_inserts_gets_a_name(self) -> None:
        goal = self.new_goal()

        def insert() -> bool:
            audit = make_audit(goal, name='one')
            return self.is_committed(lambda tx: tx.insert_audit(audit))

        self.assertEqual([False, True], sorted(self.run_concurrently(insert, insert)))

    def test_changes_of_a_locked_audit_are_not_lost(self) -> None:
        audit = self.new_audit(parameters={'n': 0})

        def block(tx: Transaction) -> None:
            locked = tx.lock_audit(audit.uuid)
            assert locked is not None
            number = locked.parameters['n'] + 1
            tx.save_audit(locked.evolve(parameters={'n': number}))

        self.commit_often(block)
        self.assertEqual({'n': 20}, self.store.get_audit(audit.uuid).parameters)

    def test_a_transaction_that_fails_changes_no_audit(self) -> None:
        audit = self.new_audit()
        with self.assertRaises(ZeroDivisionError), self.store.transaction() as tx:
            locked = tx.lock_audit(audit.uuid)
            assert locked is not None
            tx.save_audit(locked.evolve(name='never'))
            tx.insert_audit(make_audit(audit.goal_id, name='neither'))
            raise ZeroDivisionError
        self.assertEqual(audit, self.store.get_audit(audit.uuid))
        self.assertEqual(1, len(self.store.list_audits(Query())))

    def test_the_relations_of_an_audit_are_its_goal_and_strategy(self) -> None:
        audit = self.new_audit()
        goal = self.goal
        self.assertEqual(
            AuditRelations(audit, goal, None), self.store.audit_relations(audit.id)
        )
        strategy = self.commit(
            lambda tx: tx.ensure_strategy(
                make_strategy(goal_id=goal.id, parameters_spec={'type': 'object'})
            )
        )
        gone = audit.evolve(strategy_id=strategy.id, deleted_at=at(1))
        self.save_audit(gone)
        self.assertEqual(
            AuditRelations(gone, goal, strategy), self.store.audit_relations(audit.id)
        )
        self.assertIsNone(self.store.audit_relations(0))
        other = self.new_audit(name='another')
        self.assertEqual(
            {
                gone.id: AuditRelations(gone, goal, strategy),
                other.id: AuditRelations(other, self.goal, None),
            },
            self.store.relations_of_audits([other.id, 0, gone.id]),
        )
        self.assertEqual({}, self.store.relations_of_audits([]))

    # templates

    def test_a_template_is_returned_as_it_was_stored_and_saved(self) -> None:
        template = self.new_template(
            description='what for', scope=[{'x': 1}], default_parameters={'period': 5}
        )
        locked = self.commit(lambda tx: tx.lock_audit_template(template.uuid))
        self.assertEqual(template, locked)
        strategy = self.commit(lambda tx: tx.ensure_strategy(make_strategy()))
        changed = template.evolve(
            name='Another',
            goal_id=self.new_goal(),
            strategy_id=strategy.id,
            description=None,
            scope=[],
            default_parameters={},
            updated_at=at(1),
        )
        self.save_template(changed)
        self.assertEqual(changed, self.store.find_audit_template('another').template)

    def test_names_of_templates_are_unique_unless_deleted(self) -> None:
        first = self.new_template(name='x')
        text = 'Audit template with UUID or name x already exists'
        with self.assertRaisesRegex(exceptions.Conflict, text):
            self.new_template(name='x')
        other = self.new_template(name='y')
        with self.assertRaisesRegex(exceptions.Conflict, text):
            self.save_template(other.evolve(name='x'))
        self.save_template(first.evolve(deleted_at=at(1)))
        self.assertIsNone(self.commit(lambda tx: tx.lock_audit_template(first.uuid)))
        self.save_template(other.evolve(name='x'))

    # goals and strategies

    def test_new_and_changed_goals_are_synchronized(self) -> None:
        same = make_goal(name='same', efficacy_specification=[{'name': 'x'}])
        old = make_goal(name='old', display_name='Old')
        gone = make_goal(name='gone')
        self.commit(lambda tx: tx.sync_goals([same, old, gone], at(1)))
        before = {g.goal.name: g.goal for g in self.store.list_goals(Query())}
        self.assertEqual(
            dataclasses.replace(same, id=before['same'].id), before['same']
        )

        def again(goal: Any, **values: Any) -> Any:
            return dataclasses.replace(goal, uuid=new_uuid(), created_at=None, **values)

        self.commit(
            lambda tx: tx.sync_goals(
                [
                    again(same),
                    again(old, display_name='New', efficacy_specification=[1]),
                    make_goal(name='new', created_at=None),
                ],
                at(2),
            )
        )
        after = {g.goal.name: g.goal for g in self.store.list_goals(Query())}
        self.assertEqual(
            {
                'same': before['same'],
                'gone': before['gone'],
                'old': dataclasses.replace(
                    before['old'],
                    display_name='New',
                    efficacy_specification=[1],
                    updated_at=at(2),
                ),
            },
            {name: goal for name, goal in after.items() if name != 'new'},
        )
        self.assertEqual(at(2), after['new'].created_at)
        self.assertEqual(after['new'], self.store.find_goal('NEW').goal)

    def test_strategies_are_synchronized_by_goal(self) -> None:
        goals = [make_goal(name=name) for name in 'ab']
        members = [make_strategy(name=f's{n}') for n in range(3)]
        strategies = {'a': members[:1], 'b': members[1:]}

        def block(tx: Transaction) -> None:
            tx.sync_goals(goals, at(1))
            tx.sync_strategies(strategies, at(1))

        self.commit(block)
        before = [s.strategy for s in self.store.list_strategies(Query())]
        self.assertEqual(
            [('a', 's0'), ('b', 's1'), ('b', 's2')],
            [
                (s.goal_name, s.strategy.name)
                for s in self.store.list_strategies(Query())
            ],
        )
        changed = dataclasses.replace(
            members[0], uuid=new_uuid(), parameters_spec={'type': 'object'}
        )
        self.commit(lambda tx: tx.sync_strategies({'b': [changed, members[1]]}, at(2)))
        self.assertEqual(
            [
                dataclasses.replace(
                    before[0],
                    goal_id=before[1].goal_id,
                    parameters_spec={'type': 'object'},
                    updated_at=at(2),
                ),
                *before[1:],
            ],
            [s.strategy for s in self.store.list_strategies(Query())],
        )
        with self.assertRaisesRegex(exceptions.NotFound, 'Goal unknown could not be'):
            self.commit(lambda tx: tx.sync_strategies({'unknown': []}, at(3)))

    def test_new_and_changed_scoring_engines_are_synchronized(self) -> None:
        same, old, gone = (make_scoring_engine(name=name) for name in 'abc')
        self.commit(lambda tx: tx.sync_scoring_engines([same, old, gone], at(1)))
        before = [one.engine for one in self.store.list_scoring_engines(Query())]
        self.assertEqual(
            [same, old, gone],
            [dataclasses.replace(engine, id=same.id) for engine in before],
        )

        new = make_scoring_engine(name='d', created_at=None)
        changed = dataclasses.replace(
            old, uuid=new_uuid(), description='New', metainfo='[1]'
        )
        again = dataclasses.replace(same, uuid=new_uuid(), created_at=None)
        self.commit(lambda tx: tx.sync_scoring_engines([again, changed, new], at(2)))

        after = [one.engine for one in self.store.list_scoring_engines(Query())]
        renewed = dataclasses.replace(
            before[1], description='New', metainfo='[1]', updated_at=at(2)
        )
        self.assertEqual([before[0], renewed, before[2]], after[:3])
        self.assertEqual(
            dataclasses.replace(new, id=after[3].id, created_at=at(2)), after[3]
        )

    def test_concurrent_synchronizations_insert_each_row_once(self) -> None:
        def sync() -> None:
            def block(tx: Transaction) -> None:
                tx.sync_goals([make_goal(name=f'g{n}') for n in range(4)], NOW)
                tx.sync_strategies(
                    {f'g{n}': [make_strategy(name=f's{n}')] for n in range(4)}, NOW
                )

            self.commit(block)

        self.run_concurrently(sync, sync, sync)
        self.assertEqual(
            [(f'g{n}', f's{n}') for n in range(4)],
            sorted(
                (s.goal_name or '', s.strategy.name)
                for s in self.store.list_strategies(Query())
            ),
        )
        self.assertEqual(4, len(self.store.list_goals(Query())))

    # Plans of audits

    def new_plan(self, audit: Audit, **values: Any) -> ActionPlan:
        plan = make_plan(audit_id=audit.id, **values)
        return self.commit(lambda tx: tx.insert_plan(plan))

    def test_the_plans_of_an_audit_are_found_by_their_states_and_locked(self) -> None:
        audit, other = self.new_audit(), self.new_audit()
        proposed = [self.new_plan(audit, state='RECOMMENDED') for _ in range(2)]
        running = self.new_plan(audit, state='ONGOING')
        self.new_plan(audit, state='SUCCEEDED')
        self.new_plan(other, state='RECOMMENDED')

        def block(tx: Transaction) -> list[ActionPlan]:
            plans = tx.plans_of_audit(audit.id, ['ONGOING', 'RECOMMENDED'])
            tx.save_plans([plan.evolve(state='SUPERSEDED') for plan in plans])
            return plans

        self.assertEqual([*proposed, running], self.commit(block))
        self.assertEqual('SUPERSEDED', self.store.get_plan(running.uuid).state)
        self.assertEqual([], self.commit(lambda tx: tx.plans_of_audit(0, ['ONGOING'])))
        self.assertEqual([], self.commit(lambda tx: tx.plans_of_audit(audit.id, [])))

    def test_a_plan_in_a_state_is_detected(self) -> None:
        self.assertFalse(self.store.has_plan_in(['ONGOING']))
        self.new_plan(self.new_audit(), state='ONGOING')
        self.assertTrue(self.store.has_plan_in(iter(['PENDING', 'ONGOING'])))
        self.assertFalse(self.store.has_plan_in(['PENDING']))
        self.assertFalse(self.store.has_plan_in([]))

    def test_expired_plans_are_found_oldest_first(self) -> None:
        audit = self.new_audit()
        old, older, _new, *_others = (
            self.new_plan(audit, state=state, created_at=at(seconds))
            for state, seconds in (
                ('RECOMMENDED', 2),
                ('RECOMMENDED', 1),
                ('RECOMMENDED', 3),
                ('ONGOING', 0),
            )
        )
        self.assertEqual(
            [older, old], self.store.expired_plans(['RECOMMENDED'], at(3), 9)
        )
        self.assertEqual([older], self.store.expired_plans(['RECOMMENDED'], at(3), 1))
        self.assertEqual([], self.store.expired_plans([], at(3), 9))

    def test_the_indicators_of_a_plan_are_returned(self) -> None:
        indicators = [{'name': 'x', 'description': 'ž', 'unit': '%', 'value': 1.5}]
        plan = self.new_plan(self.new_audit(), efficacy_indicators=indicators)
        self.assertEqual(indicators, self.store.get_plan(plan.uuid).efficacy_indicators)

    # History

    def step_of(self, audit: Audit, message: str) -> Event:
        return make_bare_event(
            subject=events.AUDIT,
            subject_id=audit.id,
            kind=events.STEPPED,
            message=message,
            detail={'step': events.PLANNER_START},
        )

    def test_the_history_of_an_audit_is_its_own(self) -> None:
        audit, other = self.new_audit(), self.new_audit()
        plan, _ = store_plan(self.store)
        written = [
            self.step_of(audit, 'one'),
            self.step_of(other, 'of another'),
            make_event(plan),
            self.step_of(audit, 'two'),
        ]
        self.commit(lambda tx: tx.add_events(written))
        of_audit = {'subject': events.AUDIT, 'subject_id': audit.id}

        def list_events(**values: Any) -> list[Event]:
            return [stored.event for stored in self.store.list_events(**values)]

        self.assertEqual(written, list_events())
        self.assertEqual([written[0], written[3]], list_events(**of_audit))
        first = self.store.list_events(**of_audit, limit=1)
        self.assertEqual([written[3]], list_events(**of_audit, after=first[0].sequence))
        self.assertEqual([], list_events(subject='other', subject_id=audit.id))
        self.assertEqual(
            written, [stored.event for stored in self.store.pending_events(9)]
        )
        for wrong in (
            {'subject': events.AUDIT},
            {'subject_id': 1},
            {**of_audit, 'plan_id': plan.id},
        ):
            with self.assertRaises(ValueError):
                self.store.list_events(**wrong)
