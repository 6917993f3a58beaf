"""Events in the words of the API."""

from typing import Any

from tests import base
from tests.factories import NOW
from watcherlite.api.infra_optim.handlers import events as representations
from watcherlite.domain import events
from watcherlite.domain.events import Event, StoredEvent

UUID = '11111111-1111-4111-8111-111111111110'


def stored(subject: str, old: str | None, new: str, **values: Any) -> StoredEvent:
    """Return an event of a change of state."""
    event = Event(
        *(subject, events.STATE_CHANGED, 1, 2, old, new, 'why', 'ONGOING', None, NOW),
        **{'uuid': UUID, **values},
    )
    return StoredEvent(7, event, 'a-uuid', 'drain', 'nop')


class TestAnEvent(base.TestCase):
    def test_of_an_action(self) -> None:
        shown = representations.represent(stored('action', 'READY', 'RUNNING'))
        self.assertEqual(
            {
                'sequence': 7,
                'uuid': UUID,
                'occurred_at': '2026-03-29T01:30:15.123456+00:00',
                'subject': 'action',
                'kind': 'state_changed',
                'action_uuid': 'a-uuid',
                'action_name': 'drain',
                'action_type': 'nop',
                'old_state': 'PENDING',
                'new_state': 'ONGOING',
                'suspended': False,
                'message': 'why',
                'detail': None,
            },
            shown,
        )

    def test_an_action_that_waits_after_it_was_started_is_ongoing(self) -> None:
        shown = representations.represent(
            stored('action', 'RUNNING', 'WAITING', detail={'started': True})
        )
        self.assertEqual(
            ('ONGOING', 'ONGOING', None),
            (shown['old_state'], shown['new_state'], shown['detail']),
        )

    def test_suspended_action_is_ongoing_and_marked(self) -> None:
        shown = representations.represent(stored('action', 'RUNNING', 'SUSPENDED'))
        self.assertEqual(
            ('ONGOING', 'ONGOING', True),
            (shown['old_state'], shown['new_state'], shown['suspended']),
        )

    def test_the_states_of_a_plan_are_its_own(self) -> None:
        shown = representations.represent(
            stored('action_plan', 'ONGOING', 'CANCELLING')
        )
        self.assertEqual(
            ('ONGOING', 'CANCELLING'), (shown['old_state'], shown['new_state'])
        )

    def test_new_object_has_no_old_state(self) -> None:
        shown = representations.represent(stored('action', None, 'INIT'))
        self.assertEqual((None, 'PENDING'), (shown['old_state'], shown['new_state']))

    def test_credentials_in_its_detail_are_masked(self) -> None:
        shown = representations.represent(
            stored('action', 'RUNNING', 'FAILED', detail={'fault': {'password': 's3'}})
        )
        self.assertEqual({'fault': {'password': '***'}}, shown['detail'])

    def test_in_a_stream_it_is_one_line_with_its_sequence(self) -> None:
        chunk = representations.chunk(stored('action', None, 'INIT')).decode()
        self.assertRegex(chunk, r'\Aid: 7\ndata: \{"sequence": 7, .*\}\n\n\Z')
