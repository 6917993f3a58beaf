"""The rollback of a failed plan."""

from tests import base, factories
from tests.unit.applier.operating import ReversibleType
from watcherlite.applier import rollback
from watcherlite.domain.actions import REVERT
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore

NOW = factories.at(600)


class TestRollback(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def roll_back(self, *actions, **values):
        """Store a plan with these actions, and start its rollback; return both."""
        plan, stored = factories.store_plan(
            self.store,
            *actions,
            **{
                'stage': 'stopping',
                'on_failure': 'rollback',
                'unfinished': 0,
                **values,
            },
        )
        with self.store.transaction() as tx:
            plan = tx.lock_plans([plan.id])[plan.id]
            self.after, self.made = rollback.start(
                self.store, tx, plan, ReversibleType(), NOW
            )
            tx.save_plans([self.after])
        self.before = plan
        every = self.store.list_actions(plan_id=plan.id, limit=5000)
        return stored, every[len(stored) :]

    def done(self, name, seconds, **values):
        """Return a reversible action that succeeded at a time."""
        return factories.make_action(
            **{
                'name': name,
                'action_type': 'reversible',
                'status': states.SUCCEEDED,
                'end_time': factories.at(seconds),
                **values,
            }
        )

    def reverted(self, *actions):
        """Return the names of the actions that a rollback of these creates."""
        _, made = self.roll_back(*actions)
        return [action.name for action in made]

    def test_succeeded_actions_are_reverted_in_reverse_order(self):
        # Actions that ended at the same time are reverted by descending id.
        self.assertEqual(
            ['revert b', 'revert d', 'revert c', 'revert a'],
            self.reverted(
                self.done('a', 1),
                self.done('b', 3),
                self.done('c', 2),
                self.done('d', 2),
            ),
        )

    def test_only_succeeded_actions_whose_types_can_revert_are_reverted(self):
        self.assertEqual(
            ['revert SUCCEEDED'],
            self.reverted(
                self.done('irreversible', 1, action_type='irreversible'),
                self.done('a revert', 1, phase=REVERT),
                *(self.done(status, 1, status=status) for status in states.FINAL),
            ),
        )

    def test_each_revert_has_an_event_and_waits_for_the_one_before(self):
        _, made = self.roll_back(
            *(self.done(name, 1) for name in 'abc'), failed=1, total=5
        )

        first, second = made[:2]
        self.assertEqual(
            [
                ((), 0, 1, []),
                ((first.uuid,), 1, 1, [first.uuid]),
                ((second.uuid,), 1, 0, [second.uuid]),
            ],
            [
                (a.parents, a.pending, a.dependents, self.store.depends_on(a.id))
                for a in made
            ],
        )
        self.assertEqual(
            [('created', action.id, None, 'INIT', 'ONGOING', NOW) for action in made],
            [
                (
                    *(event.kind, event.action_id, event.old_status, event.new_status),
                    *(event.plan_state, event.occurred_at),
                )
                for event in self.made
            ],
        )
        self.assertEqual(
            self.before.evolve(
                stage='reverting', total=8, unfinished=3, updated_at=NOW
            ),
            self.after,
        )

    def test_a_revert_has_the_data_of_its_action(self):
        (action,), (made,) = self.roll_back(
            self.done(
                'a',
                1,
                target='host-1',
                inputs={'x': 1},
                context={'user': 'u'},
                outputs={'snapshot': 7},
                timeout=30,
                lane='engine',
                data={'decided': True},
                interval=60,
            )
        )

        self.assertEqual(
            factories.make_action(
                uuid=made.uuid,
                id=made.id,
                name='revert a',
                action_type='reversible',
                lane='engine',
                plan_id=self.before.id,
                derived_from=action.id,
                target='host-1',
                cause='RPC Request',
                inputs={'x': 1},
                context={'user': 'u'},
                timeout=30,
                created_at=NOW,
                status='INIT',
                phase=REVERT,
                data={'reverts': action.uuid, 'outputs': {'snapshot': 7}},
            ),
            made,
        )

        (action,), (made,) = self.roll_back(self.done(None, 1))
        self.assertEqual(f'revert {action.uuid}', made.name)

    def test_a_rollback_without_actions_is_empty(self):
        _, made = self.roll_back(self.done('a', 1, status='FAILED'))

        self.assertEqual(
            ([], [], 'reverting', 0),
            (made, self.made, self.after.stage, self.after.unfinished),
        )

    def test_more_actions_than_a_page_are_reverted(self):
        count = rollback.PAGE + 5
        self.assertEqual(
            [f'revert {at}' for at in reversed(range(count))],
            self.reverted(*(self.done(str(at), at) for at in range(count))),
        )
