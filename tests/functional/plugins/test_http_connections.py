"""The connections of http_request: rejections, proxies, TLS and descriptors."""

import contextlib
import errno
import gc
import os
import socket

import fixtures

from tests import certificates
from tests.functional.plugins.http_case import HttpTestCase
from tests.ports import reserve_port

#: This number of connections fills any accept queue.
MANY = 16


class TestConnecting(HttpTestCase):
    def full(self):
        """Return the port of a server whose accept queue is full."""
        stack = self.enterContext(contextlib.ExitStack())
        server = stack.enter_context(socket.socket())
        server.bind(('127.0.0.1', 0))
        server.listen(0)
        for _ in range(MANY):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            self.assertEqual(
                errno.EINPROGRESS, waiting.connect_ex(server.getsockname())
            )
        return server.getsockname()[1]

    def test_a_slow_connection_times_out(self):
        url = f'http://127.0.0.1:{self.full()}/'

        result = self.run_get(url, connect_timeout=0.2, retries=0)

        self.assertEqual(
            f'Action failed in execute: GET {url}: no connection within 0.2 s',
            result.status_message,
        )


class TestProxies(HttpTestCase):
    def test_proxies_of_the_environment_are_used_only_if_configured(self):
        proxy = self.answering(200, b'from the proxy')
        self.useFixture(fixtures.EnvironmentVariable('http_proxy', proxy.url))
        url = f'http://127.0.0.1:{reserve_port()}/path'

        without = self.run_get(url, retries=0)
        through = self.run_get(url, options={'proxies_from_environment': True})

        self.assertEqual('FAILED', without.status)
        self.assertEqual('from the proxy', through.outputs['body'])
        self.assertEqual([url], [request.path for request in proxy.received])


class TestTls(HttpTestCase):
    def setUp(self):
        super().setUp()
        made = self.useFixture(certificates.Certificate('localhost'))
        self.certificate = str(made.path)
        self.tls = (self.certificate, str(made.key))

    def test_a_certificate_is_checked_as_the_options_say(self):
        server = self.serve(lambda exchange, _: exchange.answer(200), tls=self.tls)
        url = server.url.replace('127.0.0.1', 'localhost')
        for options, status, words in (
            ({}, 'FAILED', 'its certificate is not trusted: '),
            (
                {'ca_file': '/no/such/file'},
                'FAILED',
                'Action failed in execute: [watcherlite.action_types.http_request] '
                'ca_file = /no/such/file cannot be read',
            ),
            ({'ca_file': self.certificate}, 'SUCCEEDED', ''),
            ({'verify_tls': False}, 'SUCCEEDED', ''),
        ):
            before = len(server.received)

            result = self.run_get(url, options=options, retries=0)

            self.assertEqual(status, result.status, options)
            self.assertIn(words, result.status_message or '')
            self.assertEqual(before + (status == 'SUCCEEDED'), len(server.received))

    def test_a_server_without_tls_is_reported(self):
        server = self.answering()

        result = self.run_get(server.url.replace('http:', 'https:'), retries=0)

        self.assertIn('TLS failed: ', result.status_message)

    def test_a_redirect_from_https_to_http_is_refused(self):
        plain = self.answering()
        server = self.serve(
            lambda exchange, _: exchange.answer(302, location=f'{plain.url}/'),
            tls=self.tls,
        )

        result = self.run_get(
            server.url.replace('127.0.0.1', 'localhost'),
            options={'ca_file': self.certificate},
            follow_redirects=True,
            retries=0,
        )

        self.assertIn('away from HTTPS', result.status_message)
        self.assertEqual([], plain.received)

    def test_a_cancel_ends_a_tls_connection(self):
        result = self.interrupted(
            lambda exchange, request: exchange.hang(), tls=self.tls
        )

        self.assertEqual('CANCELLED', result.status)


class TestDescriptors(HttpTestCase):
    def test_no_connection_is_leaked(self):
        server = self.answering(503)
        self.run_get(server.url, retries=0)
        # Garbage of other tests may hold descriptors.
        gc.collect()
        before = len(os.listdir('/proc/self/fd'))

        for _ in range(10):
            self.run_get(server.url, retries=0)

        # A thread of the server may be closing one.
        self.assertLess(len(os.listdir('/proc/self/fd')), before + 5)
