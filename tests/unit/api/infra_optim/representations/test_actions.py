"""Actions as clients of Watcher read them."""

from typing import Any

from tests import base, factories
from tests.unit.api.infra_optim import fakes
from tests.worlds import kind
from watcherlite.api.infra_optim.handlers import actions as representations
from watcherlite.api.operation import Version
from watcherlite.db.query import ListedAction
from watcherlite.plugins.loader import Plugins
from watcherlite.states import action as states

UUID = '11111111-1111-4111-8111-111111111111'
PLAN = '22222222-2222-4222-8222-222222222222'
PARENT = '33333333-3333-4333-8333-333333333333'


def represented(
    detail: bool = True, version: Version = (1, 5), **values: Any
) -> dict[str, Any]:
    """Return how an action is shown."""
    types = Plugins.of(action_types={'nop': kind(description='It does nothing.')})
    request = fakes.request(fakes.services(plugins=types), version=version)
    action = factories.make_action(**{'uuid': UUID, **values})
    return representations.represent(request, ListedAction(action, PLAN), detail)


class TestAnAction(base.TestCase):
    def test_in_a_list(self) -> None:
        self.assertEqual(
            {
                'uuid': UUID,
                'action_plan_uuid': PLAN,
                'state': 'PENDING',
                'action_type': 'nop',
                'parents': [PARENT],
                'links': [
                    {'href': f'{fakes.HOST}/v1/actions/{UUID}', 'rel': 'self'},
                    {'href': f'{fakes.HOST}/actions/{UUID}', 'rel': 'bookmark'},
                ],
            },
            represented(detail=False, parents=(PARENT,)),
        )

    def test_in_detail_it_has_all_of_a_list_and_more(self) -> None:
        listed, shown = represented(detail=False), represented()
        self.assertEqual(listed, {name: shown[name] for name in listed})
        self.assertEqual(
            {
                'description': 'It does nothing.',
                'input_parameters': {},
                'name': None,
                'target': None,
                'suspended': False,
                'start_time': None,
                'end_time': None,
                'created_at': '2026-03-29T01:30:15.123456+00:00',
                'updated_at': None,
                'deleted_at': None,
                'status_message': None,
            },
            {name: shown[name] for name in shown if name not in listed},
        )

    def test_its_message_is_shown_from_version_1_5_on(self) -> None:
        values = {'status': states.SKIPPED, 'status_message': 'why'}
        self.assertNotIn('status_message', represented(version=(1, 4), **values))
        self.assertEqual('why', represented(version=(1, 5), **values)['status_message'])

    def test_every_status_has_a_state_of_the_vocabulary(self) -> None:
        self.assertEqual(
            {
                states.INIT: 'PENDING',
                states.WAITING: 'PENDING',
                states.READY: 'PENDING',
                states.RUNNING: 'ONGOING',
                states.SUSPENDED: 'ONGOING',
                states.SUCCEEDED: 'SUCCEEDED',
                states.FAILED: 'FAILED',
                states.CANCELLED: 'CANCELLED',
                states.SKIPPED: 'SKIPPED',
            },
            {status: represented(status=status)['state'] for status in states.STATES},
        )

    def test_what_is_deleted_is_in_the_state_deleted(self) -> None:
        shown = represented(status=states.SUCCEEDED, deleted_at=factories.NOW)
        self.assertEqual('DELETED', shown['state'])

    def test_a_suspended_one_says_so(self) -> None:
        shown = represented(status=states.SUSPENDED, start_time=factories.NOW)
        self.assertEqual(
            ('ONGOING', True, '2026-03-29T01:30:15.123456'),
            (shown['state'], shown['suspended'], shown['start_time']),
        )

    def test_credentials_among_its_inputs_are_masked(self) -> None:
        shown = represented(inputs={'url': 'http://u:s3@h/', 'auth': {'token': 's3'}})
        self.assertEqual(
            {'url': 'http://u:***@h/', 'auth': {'token': '***'}},
            shown['input_parameters'],
        )

    def test_a_type_that_is_not_installed_has_no_description(self) -> None:
        self.assertEqual('', represented(action_type='gone')['description'])
