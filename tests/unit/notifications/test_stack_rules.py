"""The notifications of the changes of stacks and resources."""

from tests import base
from tests.unit.notifications import expectations
from watcherlite.domain import events
from watcherlite.notifications.rules import subjects
from watcherlite.states import stack as states


def of_stack(old, new, kind=events.STATE_CHANGED):
    return expectations.match(expectations.stack_event(1, old, new, kind=kind).event)


def of_resource(old, new, kind=events.STATE_CHANGED):
    return expectations.match(expectations.resource_event(1, old, new, kind=kind).event)


class TestStacks(base.TestCase):
    def test_each_action_has_a_start_and_an_end_or_an_error(self):
        for action in states.STACK_ACTIONS:
            begun, word = f'{action}_IN_PROGRESS', action.lower()
            self.assertEqual(
                [
                    f'UPDATE_COMPLETE -> {begun}: update, {word}.start',
                    f'{begun} -> {action}_COMPLETE: update, {word}.end',
                    f'{begun} -> {action}_FAILED: update, {word}.error',
                ],
                [
                    of_stack('UPDATE_COMPLETE', begun),
                    of_stack(begun, f'{action}_COMPLETE'),
                    of_stack(begun, f'{action}_FAILED'),
                ],
            )

    def test_a_change_that_is_not_from_one_action_to_the_next(self):
        for name, change, match in (
            ('a new one has not changed', (None, 'CREATE_IN_PROGRESS', events.CREATED),
             'create.start'),
            ('nor an adopted one', (None, 'ADOPT_IN_PROGRESS', events.CREATED),
             'adopt.start'),
            ('a nested stack on which nothing has been done begins', ('INIT_COMPLETE',
             'CREATE_IN_PROGRESS'), 'update, create.start'),
            ('an update that takes the place of another has no change',
             ('UPDATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS'), 'update.start'),
            ('an unlock ends although a lock of its own remains',
             ('UNLOCK_IN_PROGRESS', 'LOCK_COMPLETE'), 'update, unlock.end'),
            ('an abandoned stack has only the end of a deletion', ('CREATE_COMPLETE',
             'DELETE_COMPLETE'), 'update, delete.end'),
            ('a rollback follows the failure', ('UPDATE_IN_PROGRESS', 'UPDATE_FAILED'),
             'update, update.error'),
            ('it begins', ('UPDATE_FAILED', 'ROLLBACK_IN_PROGRESS'), 'update, '
             'rollback.start'),
            ('it ends', ('ROLLBACK_IN_PROGRESS', 'ROLLBACK_COMPLETE'), 'update, '
             'rollback.end'),
        ):  # fmt: skip
            expected = f'{change[0]} -> {change[1]}: {match}'
            self.assertEqual(expected, of_stack(*change), name)

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
                for action in [*actions, 'SIGNAL', 'HOOK']
                for step in ('start', 'end', 'error')
            }
            - {'signal.start'},
            set(subjects.SUBJECTS[events.RESOURCE].notifications),
        )
        for action in actions:
            begun, word = f'{action}_IN_PROGRESS', action.lower()
            self.assertEqual(
                [
                    f'INIT_COMPLETE -> {begun}: {word}.start',
                    f'{begun} -> {action}_COMPLETE: {word}.end',
                    f'{begun} -> {action}_FAILED: {word}.error',
                ],
                [
                    of_resource('INIT_COMPLETE', begun),
                    of_resource(begun, f'{action}_COMPLETE'),
                    of_resource(begun, f'{action}_FAILED'),
                ],
            )

    def test_a_mark_is_a_check_and_a_signal_keeps_the_state(self):
        for change, expected in (
            *(
                (change, f'{" -> ".join(change)}: {name}')
                for name, *change in (
                    ('check.error', 'CREATE_COMPLETE', 'CHECK_FAILED'),
                    ('check.end', 'CHECK_FAILED', 'CHECK_COMPLETE'),
                    ('check.error', 'INIT_COMPLETE', 'CHECK_FAILED'),
                    ('check.end', 'CHECK_FAILED', 'INIT_COMPLETE'),
                )
            ),
            (
                ('CREATE_COMPLETE', 'SIGNAL_COMPLETE', events.SIGNALLED),
                'CREATE_COMPLETE -> CREATE_COMPLETE: signal.end',
            ),
            (
                ('LOCK_COMPLETE', 'SIGNAL_FAILED', events.SIGNALLED),
                'LOCK_COMPLETE -> LOCK_COMPLETE: signal.error',
            ),
        ):
            self.assertEqual(expected, of_resource(*change))


class TestTables(base.TestCase):
    def test_every_change_has_an_existing_notification(self):
        for key in (events.STACK, events.RESOURCE):
            subject = subjects.SUBJECTS[key]
            always = {
                name
                for table in (subject.kinds, subject.steps)
                for names in table.values()
                for name in names
            }
            self.assertEqual(
                set(subject.notifications), {*subject.changes.values(), *always}
            )

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
