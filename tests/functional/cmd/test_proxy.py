"""The proxy of the documentation, which terminates TLS for the API."""

import pathlib
import re
import socket
import subprocess
import textwrap
import threading

import fixtures
import requests
from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from tests import base, services
from tests.acceptance.daemons import wait_until
from tests.certificates import Certificate
from tests.ports import reserve_port
from watcherlite.cmd.http_server import HttpServer

PAGE = pathlib.Path(__file__).parents[3] / 'doc' / 'source' / 'rest_api.rst'


def documented():
    """Return the configuration of haproxy in the documentation."""
    text = PAGE.read_text()
    (block,) = re.findall(r'   :name: haproxy\n\n((?:   .*\n|\n)+)', text)
    return textwrap.dedent(block)


class TestProxy(base.TestCase):
    def setUp(self):
        super().setUp()
        program = services.program(services.HAPROXY)
        certificate = self.useFixture(Certificate('localhost'))
        self.trusted = str(certificate.path)
        listening = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listening.close)
        conf = cfg.ConfigOpts()
        conf([])
        conf.register_opts(http_proxy_to_wsgi.OPTS, group='oslo_middleware')
        conf.set_override('enable_proxy_headers_parsing', True, 'oslo_middleware')
        application = http_proxy_to_wsgi.HTTPProxyToWSGI(self.answer, conf)
        server = HttpServer(listening, application, 2)
        server.prepare()
        thread = threading.Thread(target=server.serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.stop, 0)
        self.port = reserve_port()
        api = f'127.0.0.1:{listening.getsockname()[1]}'
        settings = documented().replace('bind :9322', f'bind 127.0.0.1:{self.port}')
        settings = re.sub(r'10\.0\.0\.1\d:9322', api, settings)
        settings = settings.replace(
            '/etc/haproxy/watcherlite.pem', str(certificate.both)
        )
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (home / 'haproxy.cfg').write_text(settings)
        with open(home / 'log', 'w') as log:
            process = subprocess.Popen(
                [program, '-db', '-f', str(home / 'haproxy.cfg')],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        wait_until(self.answers, lambda: (home / 'log').read_text())

    def answer(self, environ, start_response):
        """Return the scheme, the client and the host that the application sees."""
        body = ' '.join(
            (
                environ['wsgi.url_scheme'],
                environ.get('HTTP_X_FORWARDED_FOR', '-'),
                environ['HTTP_HOST'].partition(':')[0],
            )
        ).encode()
        start_response('200 OK', [('Content-Length', str(len(body)))])
        return [body]

    def answers(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), 5).close()
        except OSError:
            return False
        return True

    def test_proxy_terminates_tls_and_forwards_the_client(self):
        forged = {'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Host': 'evil.example'}
        url = f'https://localhost:{self.port}/v1'

        answer = requests.get(url, headers=forged, verify=self.trusted, timeout=60)

        self.assertEqual(
            (200, 'https 127.0.0.1 localhost'), (answer.status_code, answer.text)
        )

    def test_it_has_to_be_trusted_and_answers_nothing_in_clear(self):
        self.assertRaises(
            requests.exceptions.SSLError,
            requests.get,
            f'https://localhost:{self.port}/v1',
            timeout=60,
        )
        self.assertRaises(
            requests.exceptions.ConnectionError,
            requests.get,
            f'http://localhost:{self.port}/v1',
            timeout=60,
        )
