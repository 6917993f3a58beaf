"""The notifications of the changes of stacks and resources."""

import itertools

from tests import base
from tests.unit.notifications import expectations as stories
from watcherlite.domain import events
from watcherlite.notifications.rules import subjects
from watcherlite.states import stack as states


def told(make, kind, old, new, **values):
    """Return what is told, as 'old -> new' and the names; None when nothing is."""
    found = subjects.match(make(1, old, new, kind=kind, **values).event)
    if found is None:
        return None
    names = [notification.name for notification in found.notifications]
    return f'{found.old_state} -> {found.state}', *names


def of_stack(old, new, kind=events.STATE_CHANGED):
    return told(stories.stack_event, kind, old, new)


def of_resource(old, new, kind=events.STATE_CHANGED):
    return told(stories.resource_event, kind, old, new)


def life(of_one, *path):
    """Return what is told of one change after the other."""
    return [of_one(old, new) for old, new in itertools.pairwise(path)]


class TestStacks(base.TestCase):
    def test_each_action_has_a_start_and_an_end_or_an_error(self):
        for action in states.STACK_ACTIONS:
            begun, word = f'{action}_IN_PROGRESS', action.lower()
            self.assertEqual(
                [
                    (f'UPDATE_COMPLETE -> {begun}', 'update', f'{word}.start'),
                    (f'{begun} -> {action}_COMPLETE', 'update', f'{word}.end'),
                    (f'{begun} -> {action}_FAILED', 'update', f'{word}.error'),
                ],
                [
                    of_stack('UPDATE_COMPLETE', begun),
                    of_stack(begun, f'{action}_COMPLETE'),
                    of_stack(begun, f'{action}_FAILED'),
                ],
            )

    def test_a_new_one_begins_to_be_made_and_has_not_changed(self):
        self.assertEqual(
            [
                ('None -> CREATE_IN_PROGRESS', 'create.start'),
                ('None -> ADOPT_IN_PROGRESS', 'adopt.start'),
            ],
            [
                of_stack(None, 'CREATE_IN_PROGRESS', events.CREATED),
                of_stack(None, 'ADOPT_IN_PROGRESS', events.CREATED),
            ],
        )

    def test_one_within_another_begins_where_nothing_has_been_done(self):
        self.assertEqual(
            ('INIT_COMPLETE -> CREATE_IN_PROGRESS', 'update', 'create.start'),
            of_stack('INIT_COMPLETE', 'CREATE_IN_PROGRESS'),
        )

    def test_an_update_that_takes_the_place_of_another_begins_without_a_change(self):
        self.assertEqual(
            ('UPDATE_IN_PROGRESS -> UPDATE_IN_PROGRESS', 'update.start'),
            of_stack('UPDATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS'),
        )

    def test_a_rollback_follows_the_failure(self):
        self.assertEqual(
            [
                ('UPDATE_IN_PROGRESS -> UPDATE_FAILED', 'update', 'update.error'),
                ('UPDATE_FAILED -> ROLLBACK_IN_PROGRESS', 'update', 'rollback.start'),
                ('ROLLBACK_IN_PROGRESS -> ROLLBACK_COMPLETE', 'update', 'rollback.end'),
            ],
            life(
                of_stack,
                'UPDATE_IN_PROGRESS',
                'UPDATE_FAILED',
                'ROLLBACK_IN_PROGRESS',
                'ROLLBACK_COMPLETE',
            ),
        )

    def test_an_unlock_ends_although_a_lock_of_its_own_remains(self):
        self.assertEqual(
            ('UNLOCK_IN_PROGRESS -> LOCK_COMPLETE', 'update', 'unlock.end'),
            of_stack('UNLOCK_IN_PROGRESS', 'LOCK_COMPLETE'),
        )

    def test_abandoned_stack_has_only_the_end_of_a_deletion(self):
        self.assertEqual(
            ('CREATE_COMPLETE -> DELETE_COMPLETE', 'update', 'delete.end'),
            of_stack('CREATE_COMPLETE', 'DELETE_COMPLETE'),
        )

    def test_unknown_states_and_kinds_are_rejected_by_name(self):
        for old, new, kind, text in (
            ('CREATE_COMPLETE', 'SUCCEEDED', events.STATE_CHANGED, 'can be SUCCEEDED'),
            ('CREATE_COMPLETE', 'CREATE_COMPLETE', events.DELETED, 'is deleted'),
            (None, 'CREATE_IN_PROGRESS', events.STATE_CHANGED, 'can be None'),
        ):
            error = self.assertRaises(ValueError, of_stack, old, new, kind)
            self.assertIn(f'no stack {text}', str(error))


class TestResources(base.TestCase):
    def test_only_steps_of_its_actions_are_notified(self):
        actions = [a for a in states.RESOURCE_ACTIONS if a != states.INIT]

        self.assertEqual(
            {
                f'{action.lower()}.{step}'
                for action in [*actions, 'SIGNAL']
                for step in ('start', 'end', 'error')
            }
            - {'signal.start'},
            set(subjects.SUBJECTS[events.RESOURCE].notifications),
        )
        for action in actions:
            begun, word = f'{action}_IN_PROGRESS', action.lower()
            self.assertEqual(
                [
                    (f'INIT_COMPLETE -> {begun}', f'{word}.start'),
                    (f'{begun} -> {action}_COMPLETE', f'{word}.end'),
                    (f'{begun} -> {action}_FAILED', f'{word}.error'),
                ],
                [
                    of_resource('INIT_COMPLETE', begun),
                    of_resource(begun, f'{action}_COMPLETE'),
                    of_resource(begun, f'{action}_FAILED'),
                ],
            )

    def test_mark_is_notified_as_a_check(self):
        self.assertEqual(
            [
                ('CREATE_COMPLETE -> CHECK_FAILED', 'check.error'),
                ('CHECK_FAILED -> CHECK_COMPLETE', 'check.end'),
                ('INIT_COMPLETE -> CHECK_FAILED', 'check.error'),
                ('CHECK_FAILED -> INIT_COMPLETE', 'check.end'),
            ],
            [
                of_resource('CREATE_COMPLETE', 'CHECK_FAILED'),
                of_resource('CHECK_FAILED', 'CHECK_COMPLETE'),
                of_resource('INIT_COMPLETE', 'CHECK_FAILED'),
                of_resource('CHECK_FAILED', 'INIT_COMPLETE'),
            ],
        )

    def test_a_signal_leaves_the_state_as_it_is(self):
        self.assertEqual(
            [
                ('CREATE_COMPLETE -> CREATE_COMPLETE', 'signal.end'),
                ('LOCK_COMPLETE -> LOCK_COMPLETE', 'signal.error'),
            ],
            [
                of_resource('CREATE_COMPLETE', 'SIGNAL_COMPLETE', events.SIGNALLED),
                of_resource('LOCK_COMPLETE', 'SIGNAL_FAILED', events.SIGNALLED),
            ],
        )


class TestTables(base.TestCase):
    def test_every_change_has_an_existing_notification(self):
        for key in (events.STACK, events.RESOURCE):
            subject = subjects.SUBJECTS[key]
            self.assertEqual(
                set(subject.notifications),
                {*subject.changes.values(), *_names(subject)},
            )

    def test_only_failures_have_priority_error(self):
        for key in (events.STACK, events.RESOURCE):
            for name, row in subjects.SUBJECTS[key].notifications.items():
                expected = 'ERROR' if name.endswith('.error') else 'INFO'
                self.assertEqual(expected, row.priority, name)

    def test_publisher_ids_of_orchestration_and_infra_optim(self):
        self.assertEqual(
            {
                'action': 'infra-optim',
                'action_plan': 'infra-optim',
                'audit': 'infra-optim',
                'stack': 'orchestration',
                'resource': 'orchestration',
                'cluster': 'clustering',
                'node': 'clustering',
            },
            {key: subject.publisher for key, subject in subjects.SUBJECTS.items()},
        )


def _names(subject):
    """Return what is told whatever the states are."""
    return {name for names in subject.kinds.values() for name in names}
