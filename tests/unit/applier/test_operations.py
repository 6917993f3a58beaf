"""The operations of operators on plans, and their notifications."""

from tests import factories
from tests.factories import all_plans
from tests.unit.applier.operating import EVENTS, NOW, OperationsCase
from watcherlite import exceptions
from watcherlite.applier.progress import CANCELLED
from watcherlite.domain import commands
from watcherlite.domain.documents import plan_document
from watcherlite.execution.retries import MAX_ATTEMPTS
from watcherlite.states import action_plan as states


class TestStart(OperationsCase):
    def test_a_started_plan_is_pending_and_announced(self):
        plan, _ = self.a_plan('INIT', state='RECOMMENDED')

        after = self.operations.start(plan.uuid)

        self.assertEqual(plan.evolve(state='PENDING', updated_at=NOW), after)
        self.assertEqual(after, self.store.get_plan(plan.uuid))
        self.assertEqual(
            [('state_changed', 'RECOMMENDED', 'PENDING', None, 'PENDING')],
            self.events(),
        )
        self.assertEqual(
            [('applier', commands.LaunchActionPlan(plan.uuid)), EVENTS], self.told
        )

    def test_a_second_start_changes_nothing(self):
        for state in ('PENDING', 'ONGOING'):
            plan, _ = self.a_plan(state=state)

            self.assertEqual(plan, self.operations.start(plan.uuid))
            self.assertEqual(([], []), (self.events(), self.told))

    def test_a_start_in_any_other_state_is_refused(self):
        for state in set(states.STATES) - {'RECOMMENDED', 'PENDING', 'ONGOING'}:
            plan, _ = self.a_plan(state=state)
            self.assert_refused(
                exceptions.Conflict,
                f"Couldn't start when state is '{state}'.",
                self.operations.start,
                plan.uuid,
            )

    def test_an_unknown_plan_is_not_found(self):
        self.assertRaises(
            exceptions.NotFound, self.operations.start, factories.new_uuid()
        )


class TestCancel(OperationsCase):
    def test_an_unclaimed_plan_is_cancelled_with_its_actions(self):
        for state in ('RECOMMENDED', 'PENDING'):
            plan, _ = self.a_plan('INIT', 'SKIPPED', 'INIT', state=state, unfinished=2)

            after = self.operations.cancel(plan.uuid)

            message = 'Action was cancelled before it started.'
            self.assertEqual('CANCELLED', after.state)
            self.assertEqual(0, after.unfinished)
            self.assertEqual(after, self.store.get_plan(plan.uuid))
            self.assertEqual(
                [
                    ('a', 'CANCELLED', message),
                    ('b', 'SKIPPED', None),
                    ('c', 'CANCELLED', message),
                ],
                self.statuses(plan),
            )
            self.assertEqual(
                [
                    ('state_changed', 'INIT', 'CANCELLED', message, 'CANCELLED'),
                    ('state_changed', 'INIT', 'CANCELLED', message, 'CANCELLED'),
                    ('state_changed', state, 'CANCELLED', CANCELLED, 'CANCELLED'),
                ],
                self.events()[-3:],
            )

    def test_the_cancel_of_a_running_plan_signals_its_running_actions(self):
        plan, actions = self.a_plan('RUNNING', 'INIT', 'SUSPENDED', 'SUCCEEDED')

        after = self.operations.cancel(plan.uuid)

        self.assertEqual(
            plan.evolve(state='CANCELLING', status_message=CANCELLED, updated_at=NOW),
            after,
        )
        self.assertEqual(
            ['CANCEL', None, 'CANCEL', None],
            [self.store.get_action(action.uuid).control for action in actions],
        )
        self.assertEqual(
            [
                ('state_changed', 'ONGOING', 'CANCELLING', CANCELLED, 'CANCELLING'),
                ('signalled', 'RUNNING', 'RUNNING', None, 'CANCELLING'),
                ('signalled', 'SUSPENDED', 'SUSPENDED', None, 'CANCELLING'),
            ],
            self.events(),
        )
        self.assertEqual(
            [(None, commands.ActionsSignalled((plan.uuid,))), EVENTS], self.told
        )

    def test_a_second_cancel_changes_nothing(self):
        for state in ('CANCELLING', 'CANCELLED'):
            plan, _ = self.a_plan('RUNNING', state=state)

            self.assertEqual(plan, self.operations.cancel(plan.uuid))
            self.assertEqual(([], []), (self.events(), self.told))

    def test_the_cancel_of_an_ended_plan_is_refused(self):
        for state in ('SUCCEEDED', 'FAILED', 'SUPERSEDED', 'DELETED'):
            plan, _ = self.a_plan(state=state)
            self.assert_refused(
                exceptions.Conflict,
                f"Couldn't cancel when state is '{state}'.",
                self.operations.cancel,
                plan.uuid,
            )

    def test_each_state_is_cancelled_unchanged_or_refused(self):
        found = {}
        for state in states.STATES:
            plan, _ = self.a_plan(state=state)
            try:
                found[state] = self.operations.cancel(plan.uuid).state
            except exceptions.Conflict:
                found[state] = 'refused'

        self.assertEqual(
            {
                'RECOMMENDED': 'CANCELLED',
                'PENDING': 'CANCELLED',
                'ONGOING': 'CANCELLING',
                'CANCELLING': 'CANCELLING',
                'CANCELLED': 'CANCELLED',
                'SUCCEEDED': 'refused',
                'FAILED': 'refused',
                'SUPERSEDED': 'refused',
                'DELETED': 'refused',
            },
            found,
        )


class TestDelete(OperationsCase):
    def test_a_plan_is_deleted_with_its_actions(self):
        plan, actions = self.a_plan('SUCCEEDED', 'SKIPPED', state='SUCCEEDED')

        self.operations.delete(plan.uuid)

        self.assertEqual(
            [
                ('deleted', 'SUCCEEDED', 'SUCCEEDED', None, 'SUCCEEDED'),
                ('deleted', 'SKIPPED', 'SKIPPED', None, 'SUCCEEDED'),
                ('deleted', 'SUCCEEDED', 'DELETED', None, 'DELETED'),
            ],
            self.events(),
        )
        self.assertEqual([EVENTS], self.told)
        self.assertEqual(
            plan.evolve(state='DELETED', updated_at=NOW, deleted_at=NOW),
            self.store.get_plan(plan.uuid),
        )
        self.assertEqual(
            [action.evolve(updated_at=NOW, deleted_at=NOW) for action in actions],
            self.store.list_actions(plan_id=plan.id),
        )

    def test_inactive_plans_can_be_deleted(self):
        for state in ('RECOMMENDED', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'SUPERSEDED'):
            plan, _ = self.a_plan(state=state)
            self.assertIsNone(self.operations.delete(plan.uuid))

    def test_the_deletion_of_an_active_plan_is_refused(self):
        for state in ('PENDING', 'ONGOING', 'CANCELLING', 'DELETED'):
            plan, _ = self.a_plan(state=state)
            self.assert_refused(
                exceptions.Conflict,
                f"Couldn't delete when state is '{state}'.",
                self.operations.delete,
                plan.uuid,
            )


class TestCreate(OperationsCase):
    def test_a_plan_with_an_unknown_type_is_refused_and_nothing_is_stored(self):
        document = plan_document.from_mapping(
            {
                'actions': [
                    {'name': 'a', 'action_type': 'absent'},
                    {'name': 'b', 'action_type': 'absent_too'},
                ]
            }
        )

        error = self.assertRaises(
            exceptions.InvalidDocument, self.operations.create, document
        )

        self.assertEqual(2, len(error.problems))
        self.assertEqual([], all_plans(self.store))
        self.assertEqual(([], []), (self.events(), self.told))


class TestConflicts(OperationsCase):
    def test_a_conflict_repeats_the_whole_operation(self):
        plan, _ = self.a_plan('INIT', state='RECOMMENDED')
        self.store.conflicts = MAX_ATTEMPTS - 1

        after = self.operations.start(plan.uuid)

        self.assertEqual(('PENDING', 1), (after.state, len(self.events())))
        self.assertEqual(2, len(self.told))

    def test_the_number_of_retries_is_limited(self):
        plan, _ = self.a_plan('INIT', state='RECOMMENDED')
        self.store.conflicts = MAX_ATTEMPTS

        self.assertRaises(exceptions.StoreConflict, self.operations.start, plan.uuid)
        self.assertEqual((0, [], []), (self.store.conflicts, self.events(), self.told))
        self.assertEqual(plan, self.store.get_plan(plan.uuid))

    def test_every_operation_is_retried(self):
        def tries(call, *arguments):
            self.store.conflicts = 1
            call(*arguments)
            return self.store.conflicts

        proposed, (first,) = self.a_plan('INIT', state='RECOMMENDED')
        _, (running,) = self.a_plan('RUNNING')

        self.assertEqual(
            [0, 0, 0, 0, 0],
            [
                tries(self.operations.skip_action, first.uuid),
                tries(self.operations.edit_skip_message, first.uuid, 'new'),
                tries(self.operations.signal_action, running.uuid, 'CANCEL'),
                tries(self.operations.cancel, proposed.uuid),
                tries(self.operations.delete, proposed.uuid),
            ],
        )
