"""Creations of all three APIs, each sent twice with one Idempotency-Key."""

from typing import Any

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.requests import ReceivedResponse, ask

TEMPLATE = {'heat_template_version': '2018-08-31', 'resources': {}}
SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
PROFILE = {'profile': {'name': 'p', 'spec': SPEC}}
SCALING = {
    'type': 'senlin.policy.scaling',
    'version': '1.0',
    'properties': {'event': 'CLUSTER_SCALE_IN'},
}
CLUSTERS = {'openstack-api-version': 'clustering 1.15'}


class TestIdempotency(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        fixtures.ApiFixture.of(self)
        self.application = fixtures.application()

    def post(
        self, url: str, body: Any, key: str | None, **headers: str
    ) -> ReceivedResponse:
        if key is not None:
            headers['Idempotency-Key'] = key
        headers = {'Host': 'localhost', **headers}
        return ask(self.application, 'POST', url, body, **headers)

    def count(self, url: str, member: str) -> int:
        answer = ask(self.application, 'GET', url, Host='localhost', **CLUSTERS)
        return len(answer.body[member])

    def test_repeated_creation_or_action_request_takes_effect_once(self) -> None:
        clustering, acme = '/clustering/v1', '/orchestration/v1/acme'
        action = {
            'name': 'a',
            'action_type': 'nop',
            'input_parameters': {'message': 'x'},
        }
        plan = {'name': 'p', 'actions': [action]}
        hook = {
            'name': 'hook',
            'type': 'webhook',
            'cluster_id': 'web',
            'action': 'CLUSTER_CHECK',
        }
        config = self.post(f'{acme}/software_configs', {'name': 'b'}, None)
        deployment = {
            'server_id': 's',
            'config_id': config.body['software_config']['id'],
        }
        for url, body, member in (
            ('/v1/action_plans', plan, 'action_plans'),
            ('/v1/audits', {'goal': 'dummy', 'audit_type': 'ONESHOT'}, 'audits'),
            ('/v1/audit_templates', {'name': 't', 'goal': 'dummy'}, 'audit_templates'),
            (
                '/orchestration/v1/acme/stacks',
                {'stack_name': 's', 'template': TEMPLATE},
                'stacks',
            ),
            (f'{acme}/software_configs', {'name': 'c'}, ''),
            (f'{acme}/software_deployments', deployment, ''),
            (f'{clustering}/profiles', PROFILE, ''),
            (f'{clustering}/policies', {'policy': {'name': 'o', 'spec': SCALING}}, ''),
            (
                f'{clustering}/clusters',
                {'cluster': {'name': 'web', 'profile_id': 'p'}},
                '',
            ),
            (f'{clustering}/nodes', {'node': {'name': 'n', 'profile_id': 'p'}}, ''),
            (f'{clustering}/receivers', {'receiver': hook}, ''),
        ):
            with self.subTest(url=url):
                member = member or url.rpartition('/')[2]
                before = self.count(url, member)
                headers = CLUSTERS if clustering in url else {}
                first = self.post(url, body, url, **headers)
                second = self.post(url, body, url, **headers)

                self.assertLess(first.status, 300, first.data)
                self.assertEqual(
                    (first.status, 'true', first.headers.get('Location'), before + 1),
                    (
                        second.status,
                        second.headers.get('Idempotency-Replayed'),
                        second.headers.get('Location'),
                        self.count(url, member),
                    ),
                )
        url = f'{clustering}/clusters/web/actions?wait=true'

        responses = [
            self.post(url, {'scale_out': {'count': 1}}, 'k', **CLUSTERS)
            for _ in range(2)
        ]
        other = self.post(url, {'scale_out': {'count': 2}}, 'k', **CLUSTERS)

        self.assertEqual([202, 202, 422], [a.status for a in (*responses, other)])
        self.assertEqual(responses[0].body, responses[1].body)
        self.assertEqual('HTTPUnprocessableEntity', other.body['error']['type'])
