"""The kept connections of requests."""

import http.server
import threading

from tests import base, bounded
from watcherlite import testing
from watcherlite.destinations import WITH_LOOPBACK
from watcherlite.plugins import http_client
from watcherlite.plugins.http_messages import (
    ExchangeFailed,
    HttpRequestMessage,
    Settings,
)
from watcherlite.testing.coroutines import FakeCoroutineContext, run_coroutine


class KeepAliveServer:
    """A server that keeps connections, and closes them on request.

    :ivar connections: the number of connections
    :ivar requests: the methods of the requests, each with its connection
    """

    def __init__(self, case):
        self.connections = 0
        self.requests = []
        #: the numbers of the requests that are read and not answered
        self.dropped = set()
        fixture = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def setup(self):
                super().setup()
                fixture.connections += 1
                self.number = fixture.connections

            def handle_any(self):
                self.rfile.read(int(self.headers.get('Content-Length', 0)))
                fixture.requests.append((self.command, self.number))
                if len(fixture.requests) in fixture.dropped:
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header('Content-Length', '2')
                self.end_headers()
                self.wfile.write(b'ok')

            do_GET = do_POST = handle_any

            def log_message(self, *args):
                """Log nothing."""

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        server.daemon_threads = True
        self.url = f'http://127.0.0.1:{server.server_port}/'
        thread = threading.Thread(
            target=server.serve_forever, args=(0.02,), daemon=True
        )
        thread.start()
        case.addCleanup(thread.join, bounded.TIMEOUT)
        case.addCleanup(server.server_close)
        case.addCleanup(server.shutdown)


class TestKeptConnections(base.TestCase):
    def setUp(self):
        super().setUp()
        self.server = KeepAliveServer(self)

    def exchange(self, *methods):
        """Send requests one after another in one event loop; return the results."""
        context = testing.FakeContext()

        async def run():
            found = []
            settings = Settings(5, 100, WITH_LOOPBACK)
            for method in methods:
                request = HttpRequestMessage(method, self.server.url)
                try:
                    answer = await http_client.exchange(
                        FakeCoroutineContext(context), request, settings, 30
                    )
                    found.append(answer.body.text())
                except ExchangeFailed as error:
                    found.append(error.sent)
            return found

        return run_coroutine(context, run())

    def test_idempotent_requests_share_a_connection(self):
        self.assertEqual(['ok'] * 3, self.exchange('GET', 'GET', 'GET'))
        self.assertEqual([('GET', 1)] * 3, self.server.requests)

    def test_other_requests_have_connections_of_their_own(self):
        self.assertEqual(['ok'] * 4, self.exchange('GET', 'POST', 'POST', 'GET'))
        self.assertEqual(
            [('GET', 1), ('POST', 2), ('POST', 3), ('GET', 1)], self.server.requests
        )

    def test_a_lost_kept_connection_is_replaced(self):
        self.server.dropped = {2}
        self.assertEqual(['ok', 'ok'], self.exchange('GET', 'GET'))
        self.assertEqual([('GET', 1), ('GET', 1), ('GET', 2)], self.server.requests)

    def test_a_lost_new_connection_is_a_failure(self):
        for method in ('GET', 'POST'):
            self.server.requests.clear()
            self.server.dropped = {1}
            self.assertEqual([True], self.exchange(method))
            self.assertEqual(1, len(self.server.requests))
