"""The actions that undo what a failed plan has done."""

from tests import base, factories
from watcherlite.applier import rollback
from watcherlite.domain.actions import REVERT
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore

NOW = factories.at(600)


def reverts(action_type):
    return action_type == 'reversible'


class TestRollback(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def begin(self, *actions, **values):
        """Store a plan with these actions, begin its rollback; return what it made."""
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
            self.after, self.made = rollback.begin(self.store, tx, plan, reverts, NOW)
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

    def test_what_succeeded_is_undone_the_last_first(self):
        _, made = self.begin(self.done('a', 1), self.done('b', 3), self.done('c', 2))

        self.assertEqual(
            ['revert b', 'revert c', 'revert a'], [action.name for action in made]
        )

    def test_of_those_that_ended_together_the_later_one_is_undone_first(self):
        _, made = self.begin(*(self.done(name, 1) for name in 'abc'))

        self.assertEqual(
            ['revert c', 'revert b', 'revert a'], [action.name for action in made]
        )

    def test_each_waits_for_the_one_before(self):
        _, made = self.begin(*(self.done(name, 1) for name in 'abc'))

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

    def test_it_takes_over_what_its_hook_needs(self):
        (action,), (made,) = self.begin(
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

    def test_one_without_a_name_is_named_by_its_id(self):
        (action,), (made,) = self.begin(self.done(None, 1))

        self.assertEqual(f'revert {action.uuid}', made.name)

    def test_only_what_succeeded_is_undone(self):
        _, made = self.begin(
            *(self.done(status, 1, status=status) for status in sorted(states.FINAL))
        )

        self.assertEqual(['revert SUCCEEDED'], [action.name for action in made])

    def test_only_types_that_can_are_asked_to(self):
        _, made = self.begin(
            self.done('a', 1), self.done('b', 2, action_type='irreversible')
        )

        self.assertEqual(['revert a'], [action.name for action in made])

    def test_what_undoes_is_not_undone(self):
        _, made = self.begin(self.done('a', 1), self.done('b', 2, phase=REVERT))

        self.assertEqual(['revert a'], [action.name for action in made])

    def test_the_plan_counts_them_and_goes_back(self):
        self.begin(self.done('a', 1), self.done('b', 2), failed=1, total=5)

        self.assertEqual(
            self.before.evolve(
                stage='reverting', total=7, unfinished=2, updated_at=NOW
            ),
            self.after,
        )

    def test_each_is_told_of(self):
        _, made = self.begin(self.done('a', 1), self.done('b', 2))

        self.assertEqual(
            [('created', action.id, None, 'INIT', 'ONGOING', NOW) for action in made],
            [
                (
                    event.kind,
                    event.action_id,
                    event.old_status,
                    event.new_status,
                    event.plan_state,
                    event.occurred_at,
                )
                for event in self.made
            ],
        )

    def test_with_nothing_to_undo_the_plan_has_nothing_left(self):
        _, made = self.begin(self.done('a', 1, status='FAILED'))

        self.assertEqual(
            ([], [], 'reverting', 0),
            (made, self.made, self.after.stage, self.after.unfinished),
        )

    def test_more_than_a_page_is_undone_whole(self):
        count = rollback.PAGE + 5
        _, made = self.begin(*(self.done(str(at), at) for at in range(count)))

        self.assertEqual(
            [f'revert {at}' for at in reversed(range(count))],
            [action.name for action in made],
        )
