import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import Mapping
from http import client
from typing import Any
from unittest import mock

from waitress import wasyncore

from tests import base, bounded
from tests.acceptance.daemons import wait_until
from tests.bounded import TIMEOUT
from watcherlite.cmd import http_server
from watcherlite.cmd.http_server import FRAMING, HttpServer

CHUNKED = b'POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
LONGEST = 64 * 1024
LARGE = 8 * 1024 * 1024


class ServerCase(base.TestCase):
    """A server with one thread, and an application that returns its requests."""

    limits: Mapping[str, Any] = {}

    def setUp(self):
        super().setUp()
        listening = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listening.close)
        self.address = listening.getsockname()
        self.asked = []
        self.read = []
        self.server = HttpServer(
            listening, self.answer, 1, max_body_size=LONGEST, **self.limits
        )
        self.server.prepare()
        thread = threading.Thread(target=self.server.serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.stop, 0)

    def answer(self, environ, start_response):
        """Return the path; read the body only if the path is `/read`."""
        path = environ['PATH_INFO']
        self.asked.append(path)
        if path == '/read':
            length = int(environ.get('CONTENT_LENGTH') or 0)
            if length > LONGEST:
                start_response('413 Content Too Large', [('Content-Length', '0')])
                return [b'']
            self.read.append(len(environ['wsgi.input'].read()))
        if path in ('/204', '/304'):
            start_response(f'{path[1:]} No body', [])
            return [b'']
        body = json.dumps([path, environ['QUERY_STRING']]).encode()
        if path == '/large':
            body = b'x' * LARGE
        start_response('200 OK', [('Content-Length', str(len(body)))])
        return [body]

    def connect(self, *parts):
        """Return a connection on which these parts have been sent."""
        connection = socket.create_connection(self.address, timeout=TIMEOUT)
        self.addCleanup(connection.close)
        # The server may close the connection before everything is sent.
        with contextlib.suppress(OSError):
            for part in parts:
                connection.sendall(part)
        return connection

    def send(self, *parts):
        """Send bytes; return the response until the connection ends."""
        connection = self.connect(*parts)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        return self.rest_of(connection)

    def rest_of(self, connection):
        """Return the received bytes until the connection ends."""
        answer = b''
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                answer += chunk
        return answer

    def path_of(self, path):
        """Return the status and the path that the application received."""
        connection = client.HTTPConnection(*self.address, timeout=TIMEOUT)
        self.addCleanup(connection.close)
        connection.putrequest('GET', path)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


class TestRequests(ServerCase):
    """Malformed and malicious requests."""

    def test_leading_slashes_of_a_path_are_not_a_host(self):
        paths = {
            '//v1/goals': '/v1/goals',
            '///v1//goals': '/v1//goals',
            '//': '/',
            '/v1//goals': '/v1//goals',
            '/v1/a%2fb%20c': '/v1/a%2Fb c',
        }
        self.assertEqual(
            {path: (200, [expected, '']) for path, expected in paths.items()},
            {path: self.path_of(path) for path in paths},
        )
        self.assertEqual(
            (200, ['/v1/x', 'next=//v1//y']), self.path_of('//v1/x?next=//v1//y')
        )

    def test_responses_without_a_body_keep_the_connection(self):
        connection = client.HTTPConnection(*self.address, timeout=bounded.TIMEOUT)
        self.addCleanup(connection.close)
        connection.connect()
        # It does not connect again.
        connection.auto_open = 0
        for path in ('/204', '/304', '/204'):
            connection.request('GET', path)
            answer = connection.getresponse()
            self.assertEqual((path, b''), (f'/{answer.status}', answer.read()))
            self.assertIsNone(answer.getheader('Connection'))

        connection.request('GET', '/304', headers={'Connection': 'close'})
        self.assertEqual('close', connection.getresponse().getheader('Connection'))

    def test_data_after_invalid_chunks_is_no_request(self):
        answer = self.send(CHUNKED, b'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n')

        self.assertEqual([], self.asked)
        self.assertEqual(1, answer.count(b'HTTP/1.1 '))
        self.assertIn(b'HTTP/1.1 400 ', answer)

    def test_chunks_that_were_read_keep_the_connection(self):
        request = CHUNKED + b'2\r\n{}\r\n0\r\n\r\n'

        answer = self.send(request, request)

        self.assertEqual([2, 2], self.read)
        self.assertEqual(2, answer.count(b'HTTP/1.1 200 OK'))
        self.assertNotIn(b'Connection: close', answer)

    def test_long_unused_body_is_not_read(self):
        length = 1 << 40

        answer = self.send(
            b'POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % length
        )

        self.assertIn(b'HTTP/1.1 200 OK', answer)
        self.assertIn(b'Connection: close', answer)

    def test_short_unused_body_keeps_the_connection(self):
        request = (
            b'POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % LONGEST
        ) + b'x' * LONGEST

        answer = self.send(request, request)

        self.assertEqual(2, answer.count(b'HTTP/1.1 200 OK'))
        self.assertNotIn(b'Connection: close', answer)

    def test_oversized_request_is_rejected_early(self):
        endless = b'x' * 2 * (LONGEST + FRAMING)
        head = b'GET / HTTP/1.1\r\nHost: x\r\n'
        attempts = {
            'a line of headers': head + b'A: ' + endless,
            'many headers': head + b'A: b\r\n' * 20000,
            'a path': b'GET /' + endless,
            'a chunk': CHUNKED + b'fffffff\r\n' + endless,
            'a size of a chunk': CHUNKED + b'f' * 20 + b'\r\n',
            'the line of a size': CHUNKED + b'0' * len(endless),
            'an extension of a chunk': CHUNKED + b'1;' + endless,
            'a number': head + b'Content-Length: ' + b'9' * 5000 + b'\r\n\r\n',
        }

        found = {
            name: self.send(attempt)[:12].decode() for name, attempt in attempts.items()
        }

        self.assertEqual(
            {
                'a line of headers': 'HTTP/1.0 431',
                'many headers': 'HTTP/1.0 431',
                'a path': 'HTTP/1.0 431',
                'a chunk': 'HTTP/1.1 413',
                'a size of a chunk': 'HTTP/1.1 413',
                'the line of a size': 'HTTP/1.1 413',
                'an extension of a chunk': 'HTTP/1.1 413',
                'a number': 'HTTP/1.1 400',
            },
            found,
        )
        self.assertEqual([], self.read)


class TestManyClients(ServerCase):
    """Clients that send and receive slowly, with one thread."""

    limits: Mapping[str, Any] = {'max_connections': 16}

    def test_incomplete_requests_hold_no_thread_and_are_replaced_by_others(self):
        incomplete = [
            self.connect(start)
            for start in (
                b'',
                b'GET /',
                b'GET / HTTP/1.1\r\nHost: x\r\nA: b',
                b'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12345',
                CHUNKED + b'9\r\n12345',
            )
            for _ in range(4)
        ]

        self.assertEqual((200, ['/v1', '']), self.path_of('/v1'))

        self.assertEqual(['/v1'], self.asked)
        for connection in incomplete[:4]:
            # The oldest connections are closed.
            self.assertEqual(b'', self.rest_of(connection))

    def test_unread_response_occupies_no_thread(self):
        self.connect(b'GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
        wait_until(lambda: self.asked == ['/large'], lambda: 'the request')

        self.assertEqual((200, ['/v1', '']), self.path_of('/v1'))

    def test_received_requests_are_answered_at_stop(self):
        taking = self.connect(b'GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
        waiting = self.connect(b'GET / HTTP/1.1\r\n')
        wait_until(lambda: self.asked == ['/large'], lambda: 'the request')
        found = []
        stopping = threading.Thread(target=lambda: found.append(self.server.stop(60)))
        stopping.start()

        answer = self.rest_of(taking)
        stopping.join()

        self.assertEqual([True], found)
        self.assertEqual(LARGE, len(answer.partition(b'\r\n\r\n')[2]))
        self.assertEqual(b'', self.rest_of(waiting))


class TestReusedDescriptors(ServerCase):
    """A new connection that gets the descriptor of one that was just closed."""

    limits: Mapping[str, Any] = {'max_connections': 2}

    def setUp(self):
        # The deadlines are checked in each poll.
        self.patch(http_server, 'INTERVAL', 0)
        super().setUp()

    @contextlib.contextmanager
    def between_polls(self):
        """Let the server wait before its next poll meanwhile."""
        reached, resume, loop = threading.Event(), threading.Event(), wasyncore.loop

        def held(*arguments):
            reached.set()
            resume.wait()
            loop(*arguments)

        self.addCleanup(resume.set)
        with mock.patch.object(wasyncore, 'loop', held):
            self.assertTrue(reached.wait(bounded.TIMEOUT))
            yield
        resume.set()

    def idle(self):
        """Return an idle connection."""
        connection = client.HTTPConnection(*self.address, timeout=bounded.TIMEOUT)
        self.addCleanup(connection.close)
        connection.request('GET', '/first')
        connection.getresponse().read()
        return connection

    def connect_another(self):
        """Return a new connection; the server accepts it in its next poll.

        It gets the descriptor of an idle one if that is closed before: all others up to
        the highest one are in use.
        """
        connection = self.connect(b'GET /second HTTP/1.1\r\nHost: x\r\n\r\n')
        highest = max(int(name) for name in os.listdir('/proc/self/fd'))
        while (filler := os.dup(connection.fileno())) <= highest:
            self.addCleanup(os.close, filler)
        os.close(filler)
        return connection

    def test_a_new_connection_survives_the_end_of_an_idle_one(self):
        self.idle()

        with self.between_polls():
            self.patch(http_server, 'IDLE', -1)
            connection = self.connect_another()

        self.assertIn(b' 200 OK', self.rest_of(connection))

    def test_a_new_connection_survives_the_one_that_it_replaces(self):
        first, _ = self.idle(), self.idle()

        with self.between_polls():
            # A reset, of which the server learns in the same poll.
            first.sock.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)
            )
            first.close()
            connection = self.connect_another()

        self.assertIn(b' 200 OK', connection.recv(65536))


class TestDeadlines(ServerCase):
    """Clients that never complete a request."""

    limits: Mapping[str, Any] = {'timeout': 0.01}

    def test_incomplete_request_is_closed(self):
        incomplete = [
            self.connect(start)
            for start in (
                b'',
                b'GET / HTTP/1.1\r\nHost: x\r\nA: b',
                b'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12345',
            )
        ]

        answers = [self.rest_of(connection) for connection in incomplete]

        self.assertEqual([b'', b'408', b'408'], [answer[9:12] for answer in answers])

    def test_unread_response_is_closed(self):
        connection = self.connect(b'GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
        wait_until(lambda: self.asked == ['/large'], lambda: 'the request')
        wait_until(
            lambda: not self.server.connections, lambda: 'the end of the connections'
        )

        self.assertLess(len(self.rest_of(connection)), LARGE)
