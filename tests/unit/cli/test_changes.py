"""What of the events of a plan is shown to people."""

from tests import base, factories
from watcherlite.cli.changes import Change, change_of
from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent


def shown(event):
    found = change_of(StoredEvent(1, event, 'uuid-1', 'restart', 'command'))
    return found and (found.name, found.old, found.new, found.text)


class ChangeTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.action = factories.make_action(id=7, plan_id=3)
        self.plan = factories.make_plan(id=3)

    def event(self, old, new, **values):
        return factories.make_event(
            self.action, old_status=old, new_status=new, **values
        )

    def test_a_change_has_all_that_there_is_to_show(self):
        event = self.event('RUNNING', 'FAILED', message='it broke')

        self.assertEqual(
            Change(
                when=event.occurred_at,
                action_id=7,
                name='restart',
                action_type='command',
                old='ONGOING',
                new='FAILED',
                text='it broke',
            ),
            change_of(StoredEvent(1, event, 'uuid-1', 'restart', 'command')),
        )

    def test_an_action_without_a_name_is_shown_by_its_uuid(self):
        found = change_of(StoredEvent(1, self.event('INIT', 'SKIPPED'), 'uuid-1'))

        self.assertEqual('uuid-1', found.name)

    def test_states_are_shown_in_the_words_of_the_api(self):
        for old, new, started, expected in (
            ('INIT', 'READY', False, None),
            ('WAITING', 'READY', False, None),
            ('READY', 'RUNNING', False, ('PENDING', 'ONGOING')),
            ('RUNNING', 'SUSPENDED', False, None),
            ('RUNNING', 'WAITING', True, None),
            ('WAITING', 'SUCCEEDED', True, ('ONGOING', 'SUCCEEDED')),
            ('RUNNING', 'READY', False, ('ONGOING', 'PENDING')),
            ('INIT', 'SKIPPED', False, ('PENDING', 'SKIPPED')),
            ('READY', 'CANCELLED', False, ('PENDING', 'CANCELLED')),
        ):
            event = self.event(old, new, detail={'started': True} if started else None)
            expected = expected and ('restart', *expected, '')
            self.assertEqual(expected, shown(event), (old, new))

    def test_a_signal_is_shown_as_what_was_asked(self):
        event = self.event(
            'RUNNING', 'RUNNING', kind=events.SIGNALLED, detail={'signal': 'CANCEL'}
        )

        self.assertEqual(('restart', None, 'ONGOING', 'CANCEL requested'), shown(event))

    def test_a_new_message_is_shown_without_a_change_of_state(self):
        event = self.event(
            'SKIPPED', 'SKIPPED', kind=events.MESSAGE_CHANGED, message='why'
        )

        self.assertEqual(('restart', None, 'SKIPPED', 'why'), shown(event))

    def test_a_new_action_is_there_and_changes_nothing(self):
        event = self.event(None, 'INIT', kind=events.CREATED)

        self.assertEqual(('restart', None, 'PENDING', ''), shown(event))

    def test_of_the_plan_only_its_states_are_shown(self):
        for kind, expected in (
            (events.STATE_CHANGED, ('the action plan', 'ONGOING', 'FAILED', '')),
            (events.MESSAGE_CHANGED, None),
            (events.CREATED, None),
            (events.DELETED, None),
        ):
            event = factories.make_event(
                self.plan,
                kind=kind,
                old_status='ONGOING',
                new_status='FAILED',
                message='why',
            )
            self.assertEqual(expected, shown(event), kind)

    def test_that_an_action_was_deleted_is_not_shown(self):
        self.assertIsNone(shown(self.event('FAILED', 'FAILED', kind=events.DELETED)))
