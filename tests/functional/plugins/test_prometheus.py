"""Queries of Prometheus over HTTP."""

import base64
import json
import urllib.parse

from tests import base, ports
from tests.functional.plugins.http_server import Server
from watcherlite import exceptions
from watcherlite.plugins import options
from watcherlite.plugins.openstack.datasources import answers
from watcherlite.plugins.openstack.datasources.prometheus import Prometheus

ANSWER = {
    'status': 'success',
    'data': {'result': [{'metric': {'fqdn': 'c1'}, 'value': [0, '40']}]},
}


class TestPrometheus(base.TestCase):
    def serve(self, status=200, body=None, **headers):
        data = json.dumps(ANSWER).encode() if body is None else body
        self.server = self.useFixture(
            Server(lambda exchange, _: exchange.answer(status, data, **headers))
        )
        return self.server.url

    def read(self, url, **values):
        source = Prometheus(
            options.standalone_group(Prometheus, {'url': url, **values})
        )
        return source.read('host_cpu_usage', {'c1': 8}, 300)

    def test_a_query_is_posted_with_the_password(self):
        found = self.read(f'{self.serve()}/', username='me', password='secret-1')

        self.assertEqual({'c1': 40.0}, found)
        (request,) = self.server.received
        self.assertEqual(('POST', '/api/v1/query'), (request.method, request.path))
        query = urllib.parse.parse_qs(request.body.decode())['query'][0]
        self.assertIn('node_cpu_seconds_total', query)
        self.assertEqual(
            f'Basic {base64.b64encode(b"me:secret-1").decode()}',
            request.headers['authorization'],
        )

    def test_refused_credentials_are_an_error_of_the_configuration(self):
        with self.assertRaisesRegex(
            exceptions.ConfigurationError,
            r'HTTP 401; check the options of \[watcherlite\.datasources\.prometheus\]',
        ) as caught:
            self.read(self.serve(401), username='me', password='secret-1')
        self.assertNotIn('secret-1', f'{caught.exception} {self.log.output}')

    def test_a_service_that_does_not_respond_can_be_read_later(self):
        with self.assertRaisesRegex(
            exceptions.ServiceUnavailable, 'prometheus cannot be read: ConnectionError'
        ):
            self.read(f'http://127.0.0.1:{ports.reserve_port()}')

    def test_a_redirect_is_not_followed(self):
        url = self.serve(302, b'', location='http://elsewhere.invalid/')

        with self.assertRaisesRegex(exceptions.WatcherliteError, 'does not answer'):
            self.read(url)

    def test_an_answer_is_limited(self):
        self.patch(answers, 'LONGEST', 10)

        with self.assertRaisesRegex(exceptions.WatcherliteError, 'more than 10 bytes'):
            self.read(self.serve())
