"""Results of deployments in swift and zaqar, by endpoints that imitate both."""

import datetime
import json

from tests import base
from tests.functional.plugins.http_server import Server
from watcherlite import exceptions
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings
from watcherlite.plugins.openstack.signal_sources import SignalSources

TOKEN = 't0k3n'
RESULTS = {'deploy_status_code': 0, 'result': 'yes'}
WRITTEN = datetime.datetime(2026, 3, 29, 1, 30, 15, tzinfo=datetime.UTC)
SWIFT = (
    {'name': 'deploy_signal_transport', 'value': 'TEMP_URL_SIGNAL'},
    {
        'name': 'deploy_signal_id',
        'value': 'http://elsewhere/v1/AUTH_p/box%20one/object?temp_url_sig=s&a=b',
    },
)
ZAQAR = (
    {'name': 'deploy_signal_transport', 'value': 'ZAQAR_SIGNAL'},
    {'name': 'deploy_queue_id', 'value': 'a queue'},
)


class TestSources(base.TestCase):
    def setUp(self):
        super().setUp()
        self.answers = {}
        self.server = self.useFixture(Server(self.answer))
        self.services = ('object-store', 'messaging')
        clouds = Clouds(
            OpenStackSettings(auth={'auth_url': f'{self.server.url}/v3'}, retries=0)
        )
        self.addCleanup(clouds.close)
        self.sources = SignalSources(clouds)

    def answer(self, exchange, request):
        path = request.path.partition('?')[0]
        if request.headers.get('x-auth-token') != TOKEN:
            exchange.answer(401)
        elif path == '/v3/auth/catalog':
            catalog = [
                {
                    'type': name,
                    'endpoints': [
                        {
                            'interface': 'public',
                            'region_id': 'RegionOne',
                            'region': 'RegionOne',
                            'url': f'{self.server.url}/{name}',
                        }
                    ],
                }
                for name in self.services
            ]
            exchange.answer(200, json.dumps({'catalog': catalog}).encode())
        elif path in self.answers:
            status, body = self.answers[path]
            exchange.answer(
                status,
                body,
                last_modified=WRITTEN.strftime('%a, %d %b %Y %H:%M:%S GMT'),
            )
        else:
            exchange.answer(404)

    def read(self, inputs=SWIFT, since=None, token=TOKEN):
        return self.sources.read(token, inputs, since)

    def paths(self):
        return [request.path for request in self.server.received]

    def test_the_object_of_the_project_is_read_and_not_its_url(self):
        place = '/object-store/box%20one/object'
        self.assertIsNone(self.read())

        self.answers[place] = (200, b'')
        self.assertIsNone(self.read())
        self.answers[place] = (200, json.dumps(RESULTS).encode())
        self.assertEqual(RESULTS, self.read())
        self.answers[place] = (200, b'no JSON')
        self.assertIsNone(self.read())

        self.assertEqual(['/v3/auth/catalog', place] * 4, self.paths())

    def test_an_object_of_an_earlier_deployment_has_no_results(self):
        self.answers['/object-store/box%20one/object'] = (
            200,
            json.dumps(RESULTS).encode(),
        )
        second = datetime.timedelta(seconds=1)

        self.assertEqual(
            [RESULTS, RESULTS, None],
            [
                self.read(since=since)
                for since in (WRITTEN - second, WRITTEN + second / 2, WRITTEN + second)
            ],
        )

    def test_the_first_message_of_a_queue_has_the_results(self):
        place = '/messaging/v2/queues/a%20queue/messages'
        self.assertIsNone(self.read(ZAQAR))
        self.answers[place] = (200, b'{"messages": []}')
        self.assertIsNone(self.read(ZAQAR))
        found = {'messages': [{'body': RESULTS}, {'body': {'result': 'no'}}]}
        self.answers[place] = (200, json.dumps(found).encode())

        self.assertEqual(RESULTS, self.read(ZAQAR))

    def test_nothing_is_requested_for_other_transports_or_without_a_token(self):
        other = ({'name': 'deploy_signal_transport', 'value': 'CFN_SIGNAL'},)

        self.assertIsNone(self.read(other))
        self.assertIsNone(self.read((*SWIFT[:1],)))
        self.assertIsNone(self.read(token=None))
        self.assertEqual([], self.paths())

    def test_a_cloud_without_the_service_and_its_failures_are_reported(self):
        self.answers['/object-store/box%20one/object'] = (503, b'')
        self.assertRaises(exceptions.ServiceUnavailable, self.read)

        self.services = ()
        error = self.assertRaises(exceptions.WatcherliteError, self.read)
        self.assertIn('no endpoint of the object store service', str(error))
        self.assertNotIn(TOKEN, str(error))

    def test_results_are_limited(self):
        body = json.dumps({'result': 'x' * 3_000_000}).encode()
        self.answers['/object-store/box%20one/object'] = (200, body)

        self.assertRaises(exceptions.Invalid, self.read)
