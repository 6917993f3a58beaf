"""The stored progress of a plan, in steps."""

from tests import base, factories
from tests.unit.applier.operating import ReversibleType
from watcherlite import exceptions
from watcherlite.applier.progress import WINDOW, PlanProgress
from watcherlite.domain.action_plans import REVERTING, STOPPING
from watcherlite.domain.actions import COMPLETE
from watcherlite.states import action_plan as states
from watcherlite.testing.memory_store import MemoryStore

NOW = factories.at(600)
STOPPED = 'Action was not started because another action of its plan failed.'
UNSTARTED = 'Action was cancelled before it started.'
RAN = 'Action was cancelled while it ran.'


class StoredCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.progress = PlanProgress(ReversibleType())
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def create_plan(self, *actions, **values):
        """Store a plan with actions: each a status, or its fields."""
        made = [
            factories.make_action(**({'status': a} if isinstance(a, str) else a))
            for a in actions
        ]
        return factories.store_plan(self.store, *made, **values)

    def statuses(self, plan):
        return [
            (a.status, a.status_message)
            for a in self.store.list_actions(plan_id=plan.id, limit=2000)
        ]

    def states(self):
        """Return the stored events: (old, new, state of the plan)."""
        return [
            (s.event.old_status, s.event.new_status, s.event.plan_state)
            for s in self.store.pending_events(2000)
        ]


class TestEndWindow(StoredCase):
    def end(self, plan, limit=WINDOW):
        with self.store.transaction() as tx:
            after, written, _, more = self.progress.end_window(tx, plan, limit, NOW)
        return after, written, more

    def test_unstarted_actions_are_cancelled_and_counted(self):
        claimed = {'status': 'READY', 'owner': 'me', 'attempt': 1}
        unstarted = ('INIT', 'WAITING', 'READY', claimed)
        others = ('RUNNING', 'SUCCEEDED', 'SKIPPED')
        for values, message in (
            ({'state': 'CANCELLING'}, UNSTARTED),
            ({'stage': STOPPING}, STOPPED),
        ):
            plan, _ = self.create_plan(
                *unstarted, *others, active=1, unfinished=5, **values
            )

            after, written, more = self.end(plan)

            self.assertEqual(
                [('CANCELLED', message)] * 4 + [(status, None) for status in others],
                self.statuses(plan),
            )
            self.assertEqual(
                [
                    (before, 'CANCELLED', message, plan.state)
                    for before in ('INIT', 'WAITING', 'READY', 'READY')
                ],
                [
                    (e.old_status, e.new_status, e.message, e.plan_state)
                    for e in written
                ],
            )
            self.assertEqual(
                (plan.evolve(unfinished=1, active=0, updated_at=NOW), False),
                (after, more),
            )

    def test_at_most_a_window_is_ended_at_one_time(self):
        plan, _ = self.create_plan(*['INIT'] * 5, state='CANCELLING')

        found = []
        for _ in range(3):
            plan, written, more = self.end(plan, 2)
            found.append((len(written), plan.unfinished, more))

        self.assertEqual([(2, 3, True), (2, 1, True), (1, 0, False)], found)

    def test_the_message_of_a_started_action_names_the_start(self):
        plan, (action,) = self.create_plan(
            {'status': 'READY', 'phase': COMPLETE, 'start_time': factories.NOW},
            state='CANCELLING',
        )

        after, (event,), _ = self.end(plan)

        self.assertEqual([('CANCELLED', RAN)], self.statuses(plan))
        self.assertEqual(
            (RAN, {'started': True}), (event.message, dict(event.detail or {}))
        )
        self.assertEqual(0, after.unfinished)
        self.assertEqual(NOW, self.store.get_action(action.uuid).end_time)


class TestStep(StoredCase):
    def step(self, plan):
        return self.progress.step(self.store, plan.uuid, NOW).more

    def test_an_inactive_plan_and_one_in_stage_forward_do_not_change(self):
        for state in set(states.STATES) - {'CANCELLING'}:
            plan, _ = self.create_plan('INIT', 'READY', state=state)

            self.assertFalse(self.step(plan))
            self.assertEqual(plan, self.store.get_plan(plan.uuid))
        self.assertEqual([], self.states())

    def test_an_unknown_plan_is_not_found(self):
        self.assertRaises(exceptions.NotFound, self.step, factories.make_plan())

    def test_a_plan_ends_unless_it_has_running_actions(self):
        failed = {'stage': STOPPING, 'failed': 1}
        for statuses, values, after, written in (
            (
                ['SKIPPED'],
                {'state': 'PENDING', 'unfinished': 0},
                ('SUCCEEDED', 0),
                [
                    ('PENDING', 'ONGOING', 'ONGOING'),
                    ('ONGOING', 'SUCCEEDED', 'SUCCEEDED'),
                ],
            ),
            (
                ['INIT', 'WAITING'],
                {'state': 'CANCELLING'},
                ('CANCELLED', 0),
                [
                    ('INIT', 'CANCELLED', 'CANCELLING'),
                    ('WAITING', 'CANCELLED', 'CANCELLING'),
                    ('CANCELLING', 'CANCELLED', 'CANCELLED'),
                ],
            ),
            (
                ['FAILED', 'INIT'],
                {**failed, 'on_failure': 'stop', 'unfinished': 1},
                ('FAILED', 0),
                [('INIT', 'CANCELLED', 'ONGOING'), ('ONGOING', 'FAILED', 'FAILED')],
            ),
            # Nothing is to be reverted.
            (
                ['FAILED'],
                {**failed, 'on_failure': 'rollback', 'unfinished': 0},
                ('FAILED', 0),
                [('ONGOING', 'FAILED', 'FAILED')],
            ),
            (
                ['INIT', 'RUNNING'],
                {'state': 'CANCELLING'},
                ('CANCELLING', 1),
                [('INIT', 'CANCELLED', 'CANCELLING')],
            ),
        ):
            plan, _ = self.create_plan(*statuses, **values)
            before = len(self.states())

            self.assertFalse(self.step(plan))
            found = self.store.get_plan(plan.uuid)
            self.assertEqual(after, (found.state, found.unfinished))
            self.assertEqual(written, self.states()[before:])

            # A further step changes nothing.
            self.assertFalse(self.step(plan))
            self.assertEqual(found, self.store.get_plan(plan.uuid))
            self.assertEqual(written, self.states()[before:])

    def test_a_large_plan_takes_several_steps(self):
        plan, _ = self.create_plan(*['INIT'] * (WINDOW + 1), state='CANCELLING')

        self.assertEqual((True, False), (self.step(plan), self.step(plan)))
        self.assertEqual('CANCELLED', self.store.get_plan(plan.uuid).state)

    def test_a_rollback_starts_after_the_last_action(self):
        plan, _ = self.create_plan(
            {'status': 'SUCCEEDED', 'action_type': 'reversible', 'name': 'a'},
            'FAILED',
            'INIT',
            stage=STOPPING,
            on_failure='rollback',
            failed=1,
            unfinished=1,
        )

        self.assertFalse(self.step(plan))
        found = self.store.get_plan(plan.uuid)
        self.assertEqual(
            ('ONGOING', REVERTING, 4, 1),
            (found.state, found.stage, found.total, found.unfinished),
        )
        (made,) = self.store.list_actions(plan_id=plan.id)[3:]
        self.assertEqual(('revert a', 'INIT'), (made.name, made.status))


class TestLost(StoredCase):
    def lose_worker(self, plan):
        return self.progress.on_worker_lost(self.store, plan.id, NOW)

    def test_a_failing_plan_stops(self):
        plan, (action,) = self.create_plan('RUNNING', on_worker_loss='fail')

        self.assertEqual('FAILED', self.lose_worker(plan))
        self.assertEqual(
            plan.evolve(stage=STOPPING, updated_at=NOW), self.store.get_plan(plan.uuid)
        )
        self.assertEqual(
            ([], None), (self.states(), self.store.get_action(action.uuid).control)
        )

    def test_a_cancelled_plan_signals_its_running_actions(self):
        plan, (first, second) = self.create_plan(
            'RUNNING', 'INIT', on_worker_loss='cancel'
        )

        self.assertEqual('CANCELLED', self.lose_worker(plan))
        self.assertEqual(
            plan.evolve(
                state='CANCELLING',
                status_message='Action plan was cancelled because a worker was lost '
                'while it ran an action of it.',
                updated_at=NOW,
            ),
            self.store.get_plan(plan.uuid),
        )
        self.assertEqual(
            ['CANCEL', None],
            [self.store.get_action(a.uuid).control for a in (first, second)],
        )
        self.assertEqual(
            [
                ('ONGOING', 'CANCELLING', 'CANCELLING'),
                ('RUNNING', 'RUNNING', 'CANCELLING'),
            ],
            self.states(),
        )

    def test_only_a_plan_that_runs_forward_and_does_not_resume_is_changed(self):
        self.assertIsNone(self.progress.on_worker_lost(self.store, 4711, NOW))
        others = set(states.STATES) - {'ONGOING'}
        for values in (
            {'on_worker_loss': 'resume'},
            # A rollback is not interrupted.
            *({'on_worker_loss': a, 'stage': REVERTING} for a in states.ON_WORKER_LOSS),
            *(
                {'on_worker_loss': answer, 'state': state}
                for answer in states.ON_WORKER_LOSS
                for state in others
            ),
        ):
            plan, _ = self.create_plan('RUNNING', **values)
            self.assertIsNone(self.lose_worker(plan), values)
            self.assertEqual(plan, self.store.get_plan(plan.uuid))
