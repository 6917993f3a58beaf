"""Tests of tests.bench.load_generator."""

import socket
import threading

from tests import base
from tests.bench import load_generator


class TestConnection(base.TestCase):
    """The responses that a client of the load accepts."""

    def test_a_response_in_several_segments_is_joined(self) -> None:
        found = self.request_in_pieces(
            b'HTTP/1.1 200 OK\r\nContent-', b'Length: 6\r\n\r\nab', b'cd', b'ef'
        )

        self.assertEqual(b'abcdef', found)

    def test_an_invalid_response_ends_the_measurement(self) -> None:
        for answer, error in (
            (
                b'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
                'unexpected response to /v1/x: HTTP/1.1 404',
            ),
            (b'HTTP/1.1 200 OK\r\n', 'closed'),
        ):
            self.assertRaisesRegex(
                AssertionError, error, self.request_in_pieces, answer
            )

    def request_in_pieces(self, *pieces: bytes) -> bytes:
        """Return what the client returns for a response that arrives in pieces."""
        with socket.create_server(('127.0.0.1', 0)) as server:

            def serve() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connection.recv(65536)
                    for piece in pieces:
                        connection.sendall(piece)

            thread = threading.Thread(target=serve)
            thread.start()
            self.addCleanup(thread.join)
            client = load_generator.Connection(server.getsockname()[1])
            self.addCleanup(client.close)
            return client.get('/v1/x')
