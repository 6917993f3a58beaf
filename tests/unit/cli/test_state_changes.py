"""The events of a plan that are displayed to users."""

import datetime

from tests import base, factories
from watcherlite.cli.state_changes import Change, change_of, change_of_shown
from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent


def change_fields(event):
    found = change_of(StoredEvent(1, event, 'uuid-1', 'restart', 'command'))
    return found and (found.name, found.old, found.new, found.text)


class StoredEventChangeTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.action = factories.make_action(id=7, plan_id=3)
        self.plan = factories.make_plan(id=3)

    def make_event(self, old, new, **values):
        return factories.make_event(
            self.action, old_status=old, new_status=new, **values
        )

    def test_a_change_has_the_values_of_its_event_and_a_name_or_uuid(self):
        event = self.make_event('RUNNING', 'FAILED', message='it broke')

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
        self.assertEqual('uuid-1', change_of(StoredEvent(1, event, 'uuid-1')).name)

    def test_states_are_those_of_the_api(self):
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
            event = self.make_event(
                old, new, detail={'started': True} if started else None
            )
            expected = expected and ('restart', *expected, '')
            self.assertEqual(expected, change_fields(event), (old, new))

    def test_signals_messages_and_new_actions_are_changes_and_deletions_are_not(self):
        for kind, old, new, values, expected in (
            (
                *(events.SIGNALLED, 'RUNNING', 'RUNNING'),
                {'detail': {'signal': 'CANCEL'}},
                ('restart', None, 'ONGOING', 'CANCEL requested'),
            ),
            (
                *(events.MESSAGE_CHANGED, 'SKIPPED', 'SKIPPED'),
                {'message': 'why'},
                ('restart', None, 'SKIPPED', 'why'),
            ),
            (events.CREATED, None, 'INIT', {}, ('restart', None, 'PENDING', '')),
            (events.DELETED, 'FAILED', 'FAILED', {}, None),
        ):
            self.assertEqual(
                expected, change_fields(self.make_event(old, new, kind=kind, **values))
            )

    def test_only_state_changes_of_a_plan_are_changes(self):
        for kind, expected in (
            (events.STATE_CHANGED, ('action plan', 'ONGOING', 'FAILED', '')),
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
            self.assertEqual(expected, change_fields(event), kind)


class ApiEventChangeTest(base.TestCase):
    """The same for events of the API."""

    def make_event(self, **values):
        return {
            'sequence': 1,
            'occurred_at': '2030-01-01T00:00:00+00:00',
            'subject': 'action',
            'kind': 'state_changed',
            'action_uuid': 'uuid-1',
            'action_name': 'restart',
            'action_type': 'command',
            'old_state': 'PENDING',
            'new_state': 'ONGOING',
            'message': None,
            'detail': None,
            **values,
        }

    def test_a_change_has_the_values_of_its_event(self):
        self.assertEqual(
            Change(
                when=datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC),
                action_id='uuid-1',
                name='restart',
                action_type='command',
                old='PENDING',
                new='ONGOING',
                text='why',
            ),
            change_of_shown(self.make_event(message='why')),
        )

    def test_each_kind_of_event_has_its_text(self):
        plan = {'subject': 'action_plan', 'action_uuid': None, 'action_name': None}
        for values, expected in (
            ({'new_state': 'PENDING'}, None),
            (
                {'old_state': 'ONGOING', 'suspended': True},
                ('restart', None, 'ONGOING', 'suspended'),
            ),
            ({'kind': 'created', 'old_state': None}, ('restart', None, 'ONGOING', '')),
            (
                {'kind': 'message_changed', 'message': 'why'},
                ('restart', None, 'ONGOING', 'why'),
            ),
            (
                {'kind': 'signalled', 'detail': {'signal': 'CANCEL'}},
                ('restart', None, 'ONGOING', 'CANCEL requested'),
            ),
            ({'action_name': None}, ('uuid-1', 'PENDING', 'ONGOING', '')),
            (
                {**plan, 'message': 'a paragraph'},
                ('action plan', 'PENDING', 'ONGOING', ''),
            ),
            ({**plan, 'kind': 'created'}, None),
            ({**plan, 'kind': 'message_changed'}, None),
            ({'kind': 'deleted'}, None),
        ):
            found = change_of_shown(self.make_event(**values))

            self.assertEqual(
                expected, found and (found.name, found.old, found.new, found.text)
            )
