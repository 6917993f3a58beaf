"""The redaction of URLs and headers."""

from tests import base
from watcherlite.plugins import redaction


class TestUrls(base.TestCase):
    def test_credentials_and_queries_are_left_out(self):
        cases = {
            'http://h/p': 'http://h/p',
            'https://user:canary@h:8443/p?token=canary#canary': 'https://h:8443/p?…',
            'http://canary@[::1]:80/': 'http://[::1]:80/',
            'http://h:port/': 'a URL that is not valid',
            'http://[::1/': 'a URL that is not valid',
            'http://a:canary@b@c/': 'http://c/',
        }

        self.assertEqual(cases, {url: redaction.redact_url(url) for url in cases})

    def test_a_location_loses_its_credentials_only(self):
        cases = {
            'http://u:canary@h/p?q=1': 'http://h/p?q=1',
            '//u@h/p': '//h/p',
            '/p@q': '/p@q',
            'http://h/a@b': 'http://h/a@b',
        }

        self.assertEqual(cases, {url: redaction.without_userinfo(url) for url in cases})


class TestHeaders(base.TestCase):
    def test_headers_with_credentials_are_recognized(self):
        secret = [
            *('Authorization', 'Proxy-Authorization', 'WWW-Authenticate'),
            *('Cookie', 'SET-COOKIE', 'Set-Cookie2'),
            *('X-Auth-Token', 'X-Subject-Token', 'X-Api-Key'),
        ]
        plain = ['Content-Type', 'Idempotency-Key', 'Location', 'X-Fencing-Token-Id']

        self.assertEqual(
            secret,
            [name for name in [*secret, *plain] if redaction.secret_header(name)],
        )
