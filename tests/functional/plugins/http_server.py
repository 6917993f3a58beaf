"""A real local HTTP server with prescribed behaviour."""

import dataclasses
import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Mapping

import fixtures

from tests import bounded


@dataclasses.dataclass(frozen=True)
class Received:
    """A request as it arrived; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """The response of a test to one request."""

    def __init__(self, handler, stopping):
        self._handler = handler
        self._stopping = stopping

    def answer(self, status=200, body=b'', **headers):
        """Send a complete response; header names are written with underscores."""
        self.start_response(status, **{'content_length': str(len(body)), **headers})
        self.write(body)

    def start_response(self, status=200, **headers):
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name.replace('_', '-'), value)
        self._handler.end_headers()

    def write(self, data):
        """Send bytes; return False if the client has disconnected."""
        try:
            self._handler.wfile.write(data)
        except OSError:
            return False
        return True

    def send_repeatedly(self, data, seconds=0.02):
        """Send the same bytes repeatedly until the client disconnects."""
        while self.write(data) and not self._stopping.wait(seconds):
            continue

    def is_connected(self):
        """Return whether the client still waits for the response."""
        connection = self._handler.connection
        try:
            return bool(connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def hang(self):
        """Send no response until the server stops."""
        self._stopping.wait()


Behaviour = Callable[[Exchange, Received], None]


class Server(fixtures.Fixture):
    """A server on 127.0.0.1.

    :ivar behaviour: called with (exchange, request) for each request
    :ivar received: all requests, in order
    """

    def __init__(self, behaviour: Behaviour, tls: tuple[str, str] | None = None):
        super().__init__()
        self.behaviour = behaviour
        self.received: list[Received] = []
        self._arrived = threading.Condition()
        self._stopping = threading.Event()
        self._tls = tls

    def _setUp(self):
        fixture = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(self):
                length = int(self.headers.get('Content-Length', 0))
                request = Received(
                    self.command,
                    self.path,
                    {name.lower(): value for name, value in self.headers.items()},
                    self.rfile.read(length),
                )
                with fixture._arrived:
                    fixture.received.append(request)
                    fixture._arrived.notify_all()
                fixture.behaviour(Exchange(self, fixture._stopping), request)

            do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = handle_any

            def log_message(self, *args):
                """Log nothing, since tests compare requests."""

        class HttpServer(http.server.ThreadingHTTPServer):
            # All connections of a worker at once.
            request_queue_size = 128

        self._server = HttpServer(('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        # Some tests disconnect halfway.
        self._server.handle_error = lambda request, address: None
        if self._tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._tls)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True
            )
        self.port = self._server.server_port
        scheme = 'https' if self._tls is not None else 'http'
        self.url = f'{scheme}://127.0.0.1:{self.port}'
        thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        thread.start()
        self.addCleanup(thread.join, bounded.TIMEOUT)
        self.addCleanup(self._server.server_close)
        self.addCleanup(self._server.shutdown)
        self.addCleanup(self._stopping.set)

    def wait_until_received(self, count=1):
        """Wait for this number of requests."""
        with self._arrived:
            if not self._arrived.wait_for(
                lambda: len(self.received) >= count, bounded.TIMEOUT
            ):
                raise AssertionError(f'{len(self.received)} requests, not {count}')
