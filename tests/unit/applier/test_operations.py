"""The operations of operators on plans, and their notifications."""

from tests import factories
from tests.factories import all_plans
from tests.unit.applier.operating import EVENTS, NOW, OperationsCase
from tests.worlds import kind
from watcherlite import exceptions
from watcherlite.applier.operations import PlanOperations
from watcherlite.applier.progress import CANCELLED, PlanProgress
from watcherlite.domain import commands
from watcherlite.domain.creators import Creator
from watcherlite.domain.documents import plan_document
from watcherlite.execution.retries import MAX_ATTEMPTS
from watcherlite.plugins import loader
from watcherlite.states import action_plan as states


class NarrowScope:
    """A scope that has nothing of any project."""

    def check(self, document, creator):
        raise exceptions.InvalidDocument(
            [f'{len(document.actions)} action of {creator.tenant}']
        )


class TestStart(OperationsCase):
    def test_a_started_plan_is_pending_and_announced(self):
        plan, _ = self.create_plan('INIT', state='RECOMMENDED')

        after = self.operations.start(plan.uuid)

        self.assertEqual(plan.evolve(state='PENDING', updated_at=NOW), after)
        self.assertEqual(after, self.store.get_plan(plan.uuid))
        self.assertEqual(
            [('state_changed', 'RECOMMENDED', 'PENDING', None, 'PENDING')],
            self.events(),
        )
        self.assertEqual(
            [('applier', commands.LaunchActionPlan(plan.uuid)), EVENTS], self.sent
        )


class TestCancel(OperationsCase):
    def test_an_unclaimed_plan_is_cancelled_with_its_actions(self):
        for state in ('RECOMMENDED', 'PENDING'):
            plan, _ = self.create_plan(
                'INIT', 'SKIPPED', 'INIT', state=state, unfinished=2
            )

            after = self.operations.cancel(plan.uuid)

            message = 'Action was cancelled before it started.'
            self.assertEqual(('CANCELLED', 0), (after.state, after.unfinished))
            self.assertEqual(after, self.store.get_plan(plan.uuid))
            unstarted = 'state_changed', 'INIT', 'CANCELLED', message, 'CANCELLED'
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
                    unstarted,
                    unstarted,
                    ('state_changed', state, 'CANCELLED', CANCELLED, 'CANCELLED'),
                ],
                self.events()[-3:],
            )

    def test_the_cancel_of_a_running_plan_signals_its_running_actions(self):
        plan, actions = self.create_plan('RUNNING', 'INIT', 'SUSPENDED', 'SUCCEEDED')

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
            [(None, commands.ActionsSignalled((plan.uuid,))), EVENTS], self.sent
        )


class TestDelete(OperationsCase):
    def test_a_plan_is_deleted_with_its_actions(self):
        plan, actions = self.create_plan('SUCCEEDED', 'SKIPPED', state='SUCCEEDED')

        self.operations.delete(plan.uuid)

        self.assertEqual(
            [
                ('deleted', 'SUCCEEDED', 'SUCCEEDED', None, 'SUCCEEDED'),
                ('deleted', 'SKIPPED', 'SKIPPED', None, 'SUCCEEDED'),
                ('deleted', 'SUCCEEDED', 'DELETED', None, 'DELETED'),
            ],
            self.events(),
        )
        self.assertEqual([EVENTS], self.sent)
        self.assertEqual(
            plan.evolve(state='DELETED', updated_at=NOW, deleted_at=NOW),
            self.store.get_plan(plan.uuid),
        )
        self.assertEqual(
            [action.evolve(updated_at=NOW, deleted_at=NOW) for action in actions],
            self.store.list_actions(plan_id=plan.id),
        )


class TestStates(OperationsCase):
    def apply(self, name, state, *statuses, **expected):
        """Return the state of a plan after an operation, or 'refused'.

        Assert that an operation that does not change it writes and sends nothing.
        """
        plan, _ = self.create_plan(*statuses, state=state)
        before = plan, self.events(), list(self.sent)
        result = 'refused'
        try:
            after = getattr(self.operations, name)(plan.uuid, **expected)
        except exceptions.Conflict as error:
            self.assertEqual(f"Couldn't {name} when state is '{state}'.", str(error))
        else:
            stored = self.store.get_plan(plan.uuid)
            self.assertEqual(None if name == 'delete' else stored, after)
            result = stored.state
        if result in (state, 'refused'):
            after = self.store.get_plan(plan.uuid), self.events(), self.sent
            self.assertEqual(before, after)
        return result

    def test_each_operation_is_applied_ignored_or_refused(self):
        table = {
            'RECOMMENDED': ['PENDING', 'CANCELLED', 'DELETED'],
            'PENDING': ['PENDING', 'CANCELLED', 'refused'],
            'ONGOING': ['ONGOING', 'CANCELLING', 'refused'],
            'CANCELLING': ['refused', 'CANCELLING', 'refused'],
            'CANCELLED': ['refused', 'CANCELLED', 'DELETED'],
            'SUCCEEDED': ['refused', 'refused', 'DELETED'],
            'FAILED': ['refused', 'refused', 'DELETED'],
            'SUPERSEDED': ['refused', 'refused', 'DELETED'],
            'DELETED': ['refused', 'refused', 'refused'],
        }
        for state in states.STATES:
            # A second cancel does not signal them again.
            running = ['RUNNING'] if state in ('CANCELLING', 'CANCELLED') else []
            self.assertEqual(
                table[state],
                [self.apply(n, state, *running) for n in ('start', 'cancel', 'delete')],
                state,
            )
        for operation in (
            self.operations.start,
            self.operations.cancel,
            self.operations.delete,
        ):
            self.assertRaises(exceptions.NotFound, operation, factories.new_uuid())

    def test_an_operation_applies_to_the_expected_state_only(self):
        for name, state, status, expected, result in (
            ('start', 'RECOMMENDED', 'INIT', 'RECOMMENDED', 'PENDING'),
            ('start', 'PENDING', 'INIT', 'RECOMMENDED', 'refused'),
            ('cancel', 'ONGOING', 'RUNNING', 'ONGOING', 'CANCELLING'),
            ('cancel', 'ONGOING', 'RUNNING', 'PENDING', 'refused'),
            ('cancel', 'CANCELLED', 'CANCELLED', 'RECOMMENDED', 'refused'),
        ):
            after = self.apply(name, state, status, expected=expected)
            self.assertEqual(result, after, (name, state, expected))


class TestCreate(OperationsCase):
    def test_a_plan_with_an_unknown_type_is_refused_and_nothing_is_stored(self):
        document = plan_document.from_mapping(
            {'actions': [{'name': n, 'action_type': f'absent_{n}'} for n in 'ab']}
        )

        error = self.assertRaises(
            exceptions.InvalidDocument, self.operations.create, document
        )

        self.assertEqual(2, len(error.problems))
        self.assertEqual([], all_plans(self.store))
        self.assertEqual(([], []), (self.events(), self.sent))

    def test_a_plan_and_its_retry_are_checked_against_the_scope_of_their_creator(self):
        types = loader.Plugins.of(action_types={'nop': kind()})
        operations = PlanOperations(
            self.store, types, PlanProgress(), self.clock, self, scope=NarrowScope()
        )
        plan, _ = self.create_plan('FAILED', state='FAILED')
        document = plan_document.from_mapping(
            {'actions': [{'name': 'a', 'action_type': 'nop'}]}
        )
        foreign = Creator('another-user', 'another-project')
        for create, argument in (
            (operations.create, document),
            (
                operations.create_from,
                {'actions': [{'name': 'a', 'action_type': 'nop'}]},
            ),
            (operations.retry, plan.uuid),
        ):
            error = self.assertRaises(
                exceptions.InvalidDocument, create, argument, creator=foreign
            )
            self.assertEqual('1 action of another-project', str(error))

        self.assertEqual([plan], all_plans(self.store))


class TestConflicts(OperationsCase):
    def test_a_conflict_repeats_the_operation_a_limited_number_of_times(self):
        plan, _ = self.create_plan('INIT', state='RECOMMENDED')
        self.store.conflicts = MAX_ATTEMPTS

        self.assertRaises(exceptions.StoreConflict, self.operations.start, plan.uuid)
        self.assertEqual((0, [], []), (self.store.conflicts, self.events(), self.sent))
        self.assertEqual(plan, self.store.get_plan(plan.uuid))

        self.store.conflicts = MAX_ATTEMPTS - 1
        after = self.operations.start(plan.uuid)

        self.assertEqual(('PENDING', 1), (after.state, len(self.events())))
        self.assertEqual(2, len(self.sent))

    def test_every_operation_is_retried(self):
        def tries(call, *arguments):
            self.store.conflicts = 1
            call(*arguments)
            return self.store.conflicts

        proposed, (first,) = self.create_plan('INIT', state='RECOMMENDED')
        _, (running,) = self.create_plan('RUNNING')

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
