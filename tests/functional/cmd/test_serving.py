import contextlib
import json
import socket
import threading
from http import client

from tests import base
from watcherlite import conf, exceptions
from watcherlite.api.settings import is_loopback
from watcherlite.cmd.serving import UNREAD, Api, HttpServer


class TestListening(base.TestCase):
    """The socket that the processes of an API share."""

    def listen(self, **options):
        configuration = conf.new([], [])
        for name, value in {'port': 0, **options}.items():
            configuration.set_override(name, value, 'api')
        listening = Api().listen(configuration)
        self.addCleanup(listening.close)
        return listening

    def test_it_listens_where_the_options_say(self):
        self.assertEqual('127.0.0.1', self.listen().getsockname()[0])
        self.assertEqual('127.0.0.1', self.listen(host='localhost').getsockname()[0])

    def test_an_answer_does_not_wait_for_an_acknowledgement(self):
        option = self.listen().getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

        self.assertNotEqual(0, option)

    def test_an_address_that_is_not_of_this_machine_is_told(self):
        error = self.assertRaises(
            exceptions.ConfigurationError,
            self.listen,
            host='192.0.2.1',
            noauth_on_any_address=True,
        )

        self.assertIn('[api] host 192.0.2.1, port 0 cannot be listened on', str(error))

    def test_addresses_that_only_this_machine_reaches(self):
        hosts = ('127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost', 'LOCALHOST')
        others = ('0.0.0.0', '::', '192.0.2.1', 'example.org', '')

        self.assertEqual(set(), {host for host in hosts if not is_loopback(host)})
        self.assertEqual(set(), {host for host in others if is_loopback(host)})


class TestRequests(base.TestCase):
    """What the server makes of requests, careless and malicious ones included."""

    def setUp(self):
        super().setUp()
        listening = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listening.close)
        self.address = listening.getsockname()
        self.asked = []
        server = HttpServer(listening, self.answer, 1)
        server.prepare()
        thread = threading.Thread(target=server.serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.stop)

    def answer(self, environ, start_response):
        """Tell the path; read the body only for who asks for that by it."""
        path = environ['PATH_INFO']
        self.asked.append(path)
        if path == '/read':
            environ['wsgi.input'].read()
        body = json.dumps([path, environ['QUERY_STRING']]).encode()
        start_response('200 OK', [('Content-Length', str(len(body)))])
        return [body]

    def send(self, *parts):
        """Send bytes and return all that comes back until the connection ends."""
        with socket.create_connection(self.address, timeout=60) as connection:
            # The server may be through with us before we are with it.
            with contextlib.suppress(OSError):
                for part in parts:
                    connection.sendall(part)
                connection.shutdown(socket.SHUT_WR)
            answer = b''
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(65536):
                    answer += chunk
        return answer

    def path_of(self, path):
        """Return (status, what the application was asked) for a path."""
        connection = client.HTTPConnection(*self.address, timeout=60)
        self.addCleanup(connection.close)
        connection.putrequest('GET', path)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def test_slashes_before_a_path_do_not_make_a_host_of_it(self):
        self.assertEqual(
            {
                path: (200, [expected, ''])
                for path, expected in (
                    ('//v1/goals', '/v1/goals'),
                    ('///v1//goals', '/v1//goals'),
                    ('//', '/'),
                    ('/v1//goals', '/v1//goals'),
                )
            },
            {
                path: self.path_of(path)
                for path in ('//v1/goals', '///v1//goals', '//', '/v1//goals')
            },
        )
        self.assertEqual(
            (200, ['/v1/x', 'next=//v1//y']), self.path_of('//v1/x?next=//v1//y')
        )

    def test_what_is_left_of_chunks_is_not_the_next_request(self):
        hidden = b'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'

        answer = self.send(
            b'POST /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
            hidden,
        )

        self.assertEqual(['/refused'], self.asked)
        self.assertEqual(1, answer.count(b'HTTP/1.1 '))
        self.assertIn(b'Connection: close', answer)

    def test_chunks_that_were_read_keep_the_connection(self):
        request = (
            b'POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
            b'2\r\n{}\r\n0\r\n\r\n'
        )

        answer = self.send(request, request)

        self.assertEqual(2, answer.count(b'HTTP/1.1 200 OK'))
        self.assertNotIn(b'Connection: close', answer)

    def test_a_long_body_that_nobody_wants_is_not_read(self):
        length = 1 << 40

        answer = self.send(
            b'POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % length
        )

        self.assertIn(b'HTTP/1.1 200 OK', answer)
        self.assertIn(b'Connection: close', answer)

    def test_a_short_body_that_nobody_wants_keeps_the_connection(self):
        request = (
            b'POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % UNREAD
        ) + b'x' * UNREAD

        answer = self.send(request, request)

        self.assertEqual(2, answer.count(b'HTTP/1.1 200 OK'))
        self.assertNotIn(b'Connection: close', answer)
