"""The proxy of the documentation, which terminates TLS for the API."""

import socket
import threading

import requests
from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from tests import base
from tests.bounded import TIMEOUT
from tests.haproxy import Haproxy, documented
from watcherlite.cmd.http_server import HttpServer


class TestProxy(base.TestCase):
    def setUp(self):
        super().setUp()
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
        proxy = self.useFixture(
            Haproxy(
                documented('rest_api.rst', 'haproxy'),
                ':9322',
                listening.getsockname()[1],
            )
        )
        self.port, self.trusted = proxy.port, proxy.trusted

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

    def test_proxy_terminates_tls_and_forwards_the_client(self):
        forged = {'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Host': 'evil.example'}
        url = f'https://localhost:{self.port}/v1'

        answer = requests.get(url, headers=forged, verify=self.trusted, timeout=TIMEOUT)

        self.assertEqual(
            (200, 'https 127.0.0.1 localhost'), (answer.status_code, answer.text)
        )

    def test_the_certificate_must_be_trusted_and_plain_http_is_refused(self):
        self.assertRaises(
            requests.exceptions.SSLError,
            requests.get,
            f'https://localhost:{self.port}/v1',
            timeout=TIMEOUT,
        )
        self.assertRaises(
            requests.exceptions.ConnectionError,
            requests.get,
            f'http://localhost:{self.port}/v1',
            timeout=TIMEOUT,
        )
