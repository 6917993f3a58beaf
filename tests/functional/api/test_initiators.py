"""The initiators of changes, in their events."""

import base64
from typing import Any

from falcon import testing

from tests import base
from tests.functional.api import stacks
from tests.functional.api.fixtures import ProjectFixture

DOCUMENT = {
    'actions': [
        {'name': 'one', 'action_type': 'nop', 'input_parameters': {'message': ''}}
    ]
}
SKIP = [
    {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'},
    {'op': 'replace', 'path': '/status_message', 'value': 'not now'},
]


class TestInitiators(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = ProjectFixture.of(self)
        application = self.site.application
        self.client = testing.TestClient(
            lambda environ, start_response: application(environ, start_response)
        )

    def ask(self, method: str, path: str, body: Any = None) -> testing.Result:
        """Return the response to a request of the administrator."""
        credentials = base64.b64encode(b'boss:secret').decode()
        headers = {
            'Authorization': f'Basic {credentials}',
            'OpenStack-API-Version': 'infra-optim 1.7',
        }
        return self.client.simulate_request(
            method, path, json=body, headers=headers, host='localhost'
        )

    def test_event_has_initiator_if_caused_by_request(self) -> None:
        made = self.ask('POST', '/v1/action_plans', DOCUMENT)
        plan = made.json['uuid']
        action = self.ask('GET', f'/v1/actions?action_plan_uuid={plan}').json
        requests = [
            made,
            self.ask('PATCH', f'/v1/actions/{action["actions"][0]["uuid"]}', SKIP),
            self.ask('POST', f'/v1/action_plans/{plan}/start', {}),
        ]

        events = self.ask('GET', f'/v1/action_plans/{plan}/events').json['events']

        sent = [answer.headers['X-OpenStack-Request-ID'] for answer in requests]
        self.assertEqual(
            [
                ('action_plan', 'created', sent[0]),
                # That of its plan.
                ('action', 'created', None),
                ('action', 'state_changed', sent[1]),
                ('action_plan', 'message_changed', sent[1]),
                ('action_plan', 'state_changed', sent[2]),
            ],
            [
                (
                    event['subject'],
                    event['kind'],
                    (event['detail'] or {})
                    .get('initiator', {'request_id': None})
                    .get('request_id'),
                )
                for event in events
            ],
        )
        self.assertEqual(
            {
                'user_id': 'boss',
                'user_name': 'boss',
                'roles': ['admin'],
                'request_id': sent[2],
            },
            events[-1]['detail']['initiator'],
        )
        # The service itself has no initiator.
        plan = self.ask('POST', '/v1/action_plans', DOCUMENT).json['uuid']
        self.site.runtime.plans.start(plan)
        events = self.ask('GET', f'/v1/action_plans/{plan}/events').json['events']
        self.assertIsNone(events[-1]['detail'])

    def test_event_of_stack_has_initiator(self) -> None:
        stack = stacks.store(self.site.runtime, 1, 'web', 'CREATE_COMPLETE')
        place = f'/orchestration/v1/acme/stacks/web/{stack.uuid}'
        mark = {'mark_unhealthy': True, 'resource_status_reason': 'disk'}

        marked = self.ask('PATCH', f'{place}/resources/web', mark)
        (event,) = self.ask('GET', f'{place}/events').json['events']

        self.assertEqual(
            ('boss', marked.headers['X-OpenStack-Request-ID']),
            (event['initiator']['user_name'], event['initiator']['request_id']),
        )
