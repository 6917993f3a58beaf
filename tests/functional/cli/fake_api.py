"""An API with prescribed responses that records its requests."""

import dataclasses
import http.server
import json
import threading
from typing import Any

import fixtures

from tests import base
from tests.unit.cli.capturing import call
from watcherlite.cli import main

VERSIONS = {
    'OpenStack-API-Minimum-Version': '1.0',
    'OpenStack-API-Maximum-Version': '1.8',
}


@dataclasses.dataclass
class Reply:
    """A response.

    :param body: a JSON value; bytes are sent as they are; a stream is a list of bytes,
        or of functions that return bytes, after which the connection breaks off
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = dataclasses.field(default_factory=dict)


def fault(status, text, **headers):
    """Return an error response of the infra-optim API."""
    inner = {'faultcode': 'Client', 'faultstring': text, 'debuginfo': None}
    return Reply({'error_message': json.dumps(inner)}, status, headers)


def error_reply(status, kind, text):
    """Return an error response of the APIs of stacks and of clusters."""
    error = {'code': status, 'type': kind, 'message': text, 'traceback': None}
    body = {'code': status, 'title': 'x', 'explanation': 'y', 'error': error}
    return Reply(body, status)


def stream(*pieces):
    return Reply(list(pieces), headers={'Content-Type': 'text/event-stream'})


class Api(fixtures.Fixture):
    """A server on a port of its own.

    :ivar responses: 'GET /v1/goals?limit=2' -> Reply, a JSON value, or a list of these,
        the last of which is repeated
    :ivar requests: the requests: method, path, and the body if there was one
    :ivar headers: the headers of each request
    """

    def _setUp(self) -> None:
        self.responses: dict[str, Any] = {}
        self.requests: list[tuple[Any, ...]] = []
        self.headers: list[Any] = []
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            # Send headers and body in one packet: the peer delays the acknowledgement
            # of a first one.
            wbufsize = -1

            def do_GET(self):
                api._answer(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

            def log_message(self, *args):
                """Do not log requests."""

        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self._server.server_close)
        self.addCleanup(self._server.shutdown)
        self.url = f'http://127.0.0.1:{self._server.server_address[1]}'

    def _answer(self, request):
        length = int(request.headers.get('Content-Length') or 0)
        body = request.rfile.read(length)
        line = f'{request.command} {request.path}'
        self.requests.append((line, json.loads(body)) if body else (line,))
        self.headers.append(request.headers)
        found = self.responses.get(line, fault(404, 'Not found.'))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        reply = found if isinstance(found, Reply) else Reply(found)
        self._send(request, reply)

    def _send(self, request, reply):
        headers = {'Content-Type': 'application/json', **VERSIONS, **reply.headers}
        request.send_response(reply.status)
        streams = reply.headers.get('Content-Type', '').startswith('text/event-stream')
        content = b''
        if streams:
            headers['Transfer-Encoding'] = 'chunked'
        else:
            content = reply.body
            if not isinstance(content, bytes):
                content = b'' if content is None else json.dumps(content).encode()
            headers['Content-Length'] = str(len(content))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(content)
        for piece in [*reply.body, b''] if streams else ():
            request.wfile.flush()
            found = piece() if callable(piece) else piece
            request.wfile.write(b'%x\r\n%s\r\n' % (len(found), found))


class ApiCommandCase(base.TestCase):
    """The base case of tests of commands that use an API.

    :ivar api: the fake API
    """

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(Api())
        self._set('WATCHERLITE_ENDPOINT', self.api.url)
        self._set('CLIFF_MAX_TERM_WIDTH', None)
        self._set('CLIFF_FIT_WIDTH', None)

    def call(self, *argv):
        """Return the exit code, standard output and standard error."""
        return call(main.main, argv)

    def succeed(self, *argv):
        """Return the output of a command that must succeed without error output."""
        code, out, err = self.call(*argv)
        self.assertEqual((0, ''), (code, err), argv)
        return out

    def fail(self, *argv):
        """Return exit code and message of a command that must fail."""
        code, out, err = self.call(*argv)
        self.assertEqual('', out, argv)
        self.assertTrue(err.startswith('watcherlite: '), err)
        self.assertEqual(1, err.count('\n'), err)
        return code, err.removeprefix('watcherlite: ').rstrip('\n').replace(
            self.api.url, 'URL'
        )

    def rows(self, *argv):
        """Return the JSON output of a command."""
        return json.loads(self.succeed(*argv, '-f', 'json'))

    def file(self, text, name='file.yaml'):
        """Write a file; return its path."""
        path = self.home / name
        path.write_text(text)
        return str(path)
