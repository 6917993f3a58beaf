"""The initiators of changes, in their events."""

import base64
from typing import Any
from urllib import parse

from falcon import testing

from tests import base
from tests.acceptance.daemons import wait_until
from tests.functional.api import stacks
from tests.functional.api.fixtures import LANES, ApiFixture, ProjectFixture
from watcherlite.api import authentication
from watcherlite.api.operation import Caller

DOCUMENT = {
    'actions': [
        {'name': 'one', 'action_type': 'nop', 'input_parameters': {'message': ''}}
    ]
}
SKIP = [
    {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'},
    {'op': 'replace', 'path': '/status_message', 'value': 'not now'},
]


class InitiatorCase(base.TestCase):
    fixture = ProjectFixture

    def setUp(self) -> None:
        super().setUp()
        self.site = self.fixture.of(self)
        application = self.site.application
        self.client = testing.TestClient(
            lambda environ, start_response: application(environ, start_response)
        )

    def ask(
        self, method: str, path: str, body: Any = None, user: str = 'boss'
    ) -> testing.Result:
        """Return the response to a request of a user, by default the administrator."""
        credentials = base64.b64encode(f'{user}:secret'.encode()).decode()
        headers = {
            'Authorization': f'Basic {credentials}',
            'OpenStack-API-Version': 'infra-optim 1.7',
        }
        return self.client.simulate_request(
            method, path, json=body, headers=headers, host='localhost'
        )


class TestInitiators(InitiatorCase):
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

    def test_initiator_has_the_project_of_its_user(self) -> None:
        caller = Caller(
            user_id='u1', user_name='eve', project_id='p1', roles=frozenset({'admin'})
        )
        self.patch(authentication, 'SYNTHETIC', caller)
        application = ApiFixture.of(self).application
        client = testing.TestClient(
            lambda environ, start_response: application(environ, start_response)
        )
        made = client.simulate_post('/v1/action_plans', json=DOCUMENT, host='localhost')
        path = f'/v1/action_plans/{made.json["uuid"]}/events'

        (event, _) = client.simulate_get(path, host='localhost').json['events']

        self.assertEqual(
            {
                'user_id': 'u1',
                'user_name': 'eve',
                'project_id': 'p1',
                'roles': ['admin'],
                'request_id': made.headers['X-OpenStack-Request-ID'],
            },
            event['detail']['initiator'],
        )

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


class WorkingFixture(ProjectFixture):
    """Actions are executed."""

    lanes = LANES


class TestInitiatorsOfClusters(InitiatorCase):
    fixture = WorkingFixture

    def finish(self, answer: testing.Result) -> str:
        """Wait until the action of a response has succeeded; return the request id."""
        self.assertEqual(202, answer.status_code, answer.text)
        place = parse.urlsplit(answer.headers['Location']).path

        def read() -> Any:
            return self.ask('GET', place).json['action']

        wait_until(lambda: read()['status'] == 'SUCCEEDED', read)
        return answer.headers['X-OpenStack-Request-ID']

    def test_event_names_the_user_of_its_request_and_not_the_owner(self) -> None:
        spec = {'type': 'os.heat.test_resource', 'version': '1.0', 'properties': {}}
        profile = {'name': 'sample', 'spec': spec}
        self.ask('POST', '/clustering/v1/profiles', {'profile': profile})
        cluster = {'name': 'web', 'profile_id': 'sample', 'desired_capacity': 0}
        made = self.ask('POST', '/clustering/v1/clusters', {'cluster': cluster})
        first = self.finish(made)
        place = f'/clustering/v1/clusters/{made.json["cluster"]["id"]}'
        resize = {'resize': {'adjustment_type': 'EXACT_CAPACITY', 'number': 1}}
        second = self.finish(self.ask('POST', f'{place}/actions', resize, 'member'))

        events = self.ask('GET', '/clustering/v1/events?otype=CLUSTER').json['events']

        self.assertEqual(
            [
                ('CLUSTER_CREATE', 'boss', first, ['admin']),
                ('CLUSTER_CREATE', 'boss', first, ['admin']),
                ('CLUSTER_RESIZE', 'member', second, ['member']),
                ('CLUSTER_RESIZE', 'member', second, ['member']),
            ],
            [
                (
                    event['action'],
                    event['user'],
                    event['meta_data']['initiator']['request_id'],
                    event['meta_data']['initiator']['roles'],
                )
                for event in events
            ],
        )
