"""Sessions against a local HTTP server."""

from keystoneauth1 import exceptions as keystone
from keystoneauth1 import noauth

from tests import base, ports
from tests.functional.plugins.http_server import Server
from watcherlite.plugins.openstack.session import Session, open_http
from watcherlite.plugins.openstack.settings import OpenStackSettings


class TestRepetitions(base.TestCase):
    def setUp(self):
        super().setUp()
        self.statuses = []
        self.slept = []
        self.server = self.useFixture(Server(self.answer))
        self.session = self.open()

    def answer(self, exchange, request):
        status = self.statuses.pop(0) if self.statuses else 200
        exchange.answer(status, b'', set_cookie='user=1')

    def open(self):
        http_session = open_http()
        self.addCleanup(http_session.close)
        return Session(
            OpenStackSettings(retries=2),
            self.slept.append,
            session=http_session,
            auth=noauth.NoAuth(),
        )

    def test_reading_is_repeated_while_the_service_is_not_available(self):
        self.statuses = [503, 502]

        response = self.session.get(self.server.url)

        self.assertEqual(200, response.status_code)
        self.assertEqual(3, len(self.server.received))
        self.assertEqual(2, len(self.slept))
        for seconds in self.slept:
            self.assertGreaterEqual(seconds, 0.2)
            self.assertLessEqual(seconds, 2.0)

    def test_the_last_response_is_that_of_the_caller(self):
        self.statuses = [503] * 9

        response = self.session.get(self.server.url, raise_exc=False)

        self.assertEqual(503, response.status_code)
        self.assertEqual(3, len(self.server.received))
        self.assertRaises(
            keystone.ServiceUnavailable, self.session.get, self.server.url
        )

    def test_requests_with_effects_are_sent_once(self):
        for method in ('POST', 'PUT', 'DELETE'):
            self.statuses = [503]
            self.server.received.clear()

            response = self.session.request(self.server.url, method, raise_exc=False)

            self.assertEqual(503, response.status_code, method)
            self.assertEqual(1, len(self.server.received), method)

    def test_a_request_for_a_token_is_repeated(self):
        self.statuses = [503]

        self.session.post(self.server.url, authenticated=False)

        self.assertEqual(2, len(self.server.received))

    def test_other_refusals_are_not_repeated(self):
        self.statuses = [404]

        self.assertRaises(keystone.NotFound, self.session.get, self.server.url)
        self.assertEqual(1, len(self.server.received))

    def test_a_port_that_refuses_is_tried_again_for_reading_only(self):
        url = f'http://127.0.0.1:{ports.reserve_port()}'

        self.assertRaises(keystone.ConnectFailure, self.session.get, url)
        self.assertEqual(2, len(self.slept))
        self.assertRaises(keystone.ConnectFailure, self.session.post, url)
        self.assertEqual(2, len(self.slept))

    def test_cookies_are_not_kept(self):
        for _ in range(2):
            self.session.get(self.server.url)

        self.assertNotIn('cookie', self.server.received[1].headers)
