"""The creation of plans from documents."""

import datetime

from tests import base, factories
from tests.worlds import kind, raises
from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.clock import EPOCH
from watcherlite.domain.creators import Creator
from watcherlite.domain.documents import plan_document
from watcherlite.plugins import loader
from watcherlite.testing.memory_store import MemoryStore

NOW = factories.NOW
CREATOR = Creator('u', 'p')


def make_document(*actions, **plan):
    return plan_document.from_mapping(
        {**plan, 'actions': [{'action_type': 'nop', **action} for action in actions]}
    )


class TestCheck(base.TestCase):
    def check(self, document, **types):
        creation.check(
            document, loader.Plugins.of(action_types={'nop': kind(), **types})
        )

    def test_a_document_with_valid_inputs_passes(self):
        self.assertIsNone(self.check(make_document({'name': 'a'}, {'name': 'b'})))

    def test_all_problems_are_reported_at_once(self):
        picky = kind(validate=raises(exceptions.InvalidInput('x is missing')))

        error = self.assertRaises(
            exceptions.InvalidDocument,
            self.check,
            make_document(
                {'name': 'a'},
                {'name': 'b', 'action_type': 'picky'},
                {'name': 'c', 'action_type': 'absent'},
            ),
            picky=picky,
        )

        first, second = error.problems
        self.assertIn('x is missing', first)
        self.assertIn('absent', second)

    def test_a_type_whose_constructor_raises_is_reported_without_its_text(self):
        for wrong in (ValueError('password=hunter2'), SystemExit('hunter2')):
            text = str(
                self.assertRaises(
                    exceptions.WatcherliteError,
                    self.check,
                    make_document({'name': 'a', 'action_type': 'broken'}),
                    broken=kind(__init__=raises(wrong)),
                )
            )

            self.assertIn('broken', text)
            self.assertIn(type(wrong).__name__, text)
            self.assertNotIn('hunter2', text)


class TestStore(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def create(self, *actions, context=None, on_worker_loss='resume', **plan):
        with self.store.transaction() as tx:
            self.plan = creation.store(
                tx,
                make_document(*actions, **plan),
                NOW,
                context or {},
                on_worker_loss,
                CREATOR,
            )
        found = self.store.list_actions(plan_id=self.plan.id, limit=100_000)
        return {action.name: action for action in found}

    def test_the_plan_is_proposed_and_counts_its_actions(self):
        self.create(
            {'name': 'a'},
            {'name': 'b'},
            name='tidy up',
            on_failure='stop',
            max_parallel=3,
            on_worker_loss='cancel',
        )

        plan = self.plan
        stored = self.store.get_plan(plan.uuid)
        lists = {
            'global_efficacy': plan.global_efficacy,
            'efficacy_indicators': plan.efficacy_indicators,
        }
        self.assertEqual(plan, stored.evolve(**lists))
        self.assertEqual(
            factories.make_plan(
                uuid=plan.uuid,
                id=plan.id,
                audit_id=plan.audit_id,
                strategy_id=plan.strategy_id,
                **lists,
                name='tidy up',
                state='RECOMMENDED',
                on_failure='stop',
                creator=CREATOR,
                on_worker_loss='cancel',
                max_parallel=3,
                total=2,
                unfinished=2,
            ),
            plan,
        )
        self.assertEqual([[], []], [list(p.global_efficacy) for p in (plan, stored)])

    def test_each_plan_belongs_to_a_new_audit(self):
        relations = []
        for name in ('tidy up', 'n' * 200):
            self.create({'name': 'a'}, name=name)
            relations.append(self.store.plan_relations(self.plan.id))

        first, second = relations
        self.assertEqual(
            ('unclassified', 'actuator', 'ONESHOT', 'SUCCEEDED', True),
            (
                *(first.goal.name, first.strategy.name, first.audit.audit_type),
                *(first.audit.state, first.audit.name.startswith('tidy up-')),
            ),
        )
        self.assertEqual(
            (first.goal.id, first.strategy.id),
            (first.audit.goal_id, first.audit.strategy_id),
        )
        self.assertEqual((first.goal, first.strategy), (second.goal, second.strategy))
        self.assertNotEqual(first.audit.uuid, second.audit.uuid)
        self.assertEqual(63, len(second.audit.name))

    def test_an_action_has_the_fields_of_the_document(self):
        start = datetime.datetime(2026, 4, 1, 3, 0, tzinfo=datetime.UTC)
        actions = self.create(
            {
                'name': 'a',
                'target': 'host-1',
                'input_parameters': {'x': 1},
                'timeout': 30,
                'not_before': start.isoformat(),
            },
            {'name': 'b', 'parents': ['a'], 'not_before': '1960-01-01T00:00:00Z'},
            {'name': 'c', 'parents': ['a']},
            context={'user': 'u'},
        )

        a, b, c = actions.values()
        both = {
            'lane': 'applier',
            'cause': 'RPC Request',
            'plan_id': self.plan.id,
            'context': {'user': 'u', 'creator': CREATOR.as_mapping()},
        }
        self.assertEqual(
            factories.make_action(
                uuid=a.uuid,
                id=a.id,
                name='a',
                target='host-1',
                inputs={'x': 1},
                dependents=2,
                timeout=30,
                not_before=start,
                **both,
            ),
            a,
        )
        for child in (b, c):
            self.assertEqual(
                factories.make_action(
                    uuid=child.uuid,
                    id=child.id,
                    name=child.name,
                    parents=(a.uuid,),
                    pending=1,
                    not_before=EPOCH,
                    **both,
                ),
                child,
            )

    def test_parents_are_stored_before_their_children(self):
        actions = self.create(
            {'name': 'd', 'parents': ['b', 'c']},
            {'name': 'b', 'parents': ['a']},
            {'name': 'c', 'parents': ['a']},
            {'name': 'a'},
        )

        for action in actions.values():
            for parent in action.parents:
                self.assertLess(self.store.get_action(parent).id, action.id)
        self.assertEqual(
            {'a': (0, 2), 'b': (1, 1), 'c': (1, 1), 'd': (2, 0)},
            {name: (a.pending, a.dependents) for name, a in actions.items()},
        )
        self.assertEqual(
            {actions['b'].uuid, actions['c'].uuid},
            set(self.store.depends_on(actions['d'].id)),
        )

    def test_the_events_of_the_plan_and_then_of_its_actions_are_stored(self):
        actions = self.create({'name': 'b', 'parents': ['a']}, {'name': 'a'})

        self.assertEqual(
            [
                ('action_plan', 'created', None, 'RECOMMENDED', 'RECOMMENDED'),
                ('action', 'created', actions['a'].id, 'INIT', 'RECOMMENDED'),
                ('action', 'created', actions['b'].id, 'INIT', 'RECOMMENDED'),
            ],
            [
                (
                    stored.event.subject,
                    stored.event.kind,
                    stored.event.action_id,
                    stored.event.new_status,
                    stored.event.plan_state,
                )
                for stored in self.store.pending_events(10)
            ],
        )

    def test_more_actions_than_a_chunk_have_events(self):
        count = creation.CHUNK + 3
        actions = self.create(*({'name': str(at)} for at in range(count)))

        action_ids = [s.event.action_id for s in self.store.pending_events(count + 10)]
        self.assertEqual([None, *sorted(a.id for a in actions.values())], action_ids)
