"""Validation of the inputs of `http_request`."""

import math

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import schemas
from watcherlite.plugins.action_types.http_request import HttpRequest

GET = {'method': 'GET', 'url': 'http://127.0.0.1/'}


class TestInputs(base.TestCase):
    def refusal(self, **changes):
        error = self.assertRaises(
            exceptions.InvalidInput,
            schemas.validate_inputs,
            HttpRequest,
            {**GET, **changes},
        )
        return str(error)

    def test_all_inputs_are_accepted(self):
        inputs = {
            'method': 'POST',
            'url': 'HTTPS://user:pass@[::1]:8443/path?q=1',
            'headers': {'X-Sample': 'a, b', 'Accept': ''},
            'json': {'a': [1, None]},
            'expected_statuses': [200, 404],
            'timeout': 0.5,
            'connect_timeout': 3,
            'retries': 0,
            'retry_statuses': [],
            'follow_redirects': True,
            'idempotent': True,
            'unless': {'url': 'http://h/', 'expected_statuses': [200]},
        }

        self.assertIsNone(schemas.validate_inputs(HttpRequest, inputs))

    def test_urls_of_other_kinds_are_refused(self):
        for url in ('ftp://h/', 'file:///etc/passwd', 'h', '', '//h/', 'httpx://h'):
            self.assertIn('a URL that starts with http://', self.refusal(url=url))

    def test_incomplete_urls_are_refused(self):
        blank = 'has spaces or control characters; write them as %20 and so on'
        for url, words in {
            'http:///path': 'http:///path has no host, or an invalid port',
            'http://h:0/': 'http://h:0/ has no host, or an invalid port',
            'http://h:99999/': 'is not a URL',
            'http://h:x/': 'is not a URL',
            'http://[::1/': 'is not a URL',
            'http://h/a b': blank,
            'http://h/\r\nX: y': blank,
        }.items():
            self.assertEqual(f'input_parameters.url: {words}', self.refusal(url=url))
        self.assertEqual(
            'input_parameters.unless.url: is not a URL',
            self.refusal(unless={'url': 'http://h:x/'}),
        )

    def test_header_injection_is_refused(self):
        cases = {
            'X-A\r\nX-B': "'X-A\\r\\nX-B': is not a valid header name",
            '': "'': is not a valid header name",
            'Content-Length': 'Content-Length: is set by http_request itself',
            'transfer-encoding': 'transfer-encoding: is set by http_request itself',
        }
        self.assertEqual(
            {n: f'input_parameters.headers.{words}' for n, words in cases.items()},
            {name: self.refusal(headers={name: 'x'}) for name in cases},
        )
        for value in ('a\r\nX-B: c', 'a\n', '\x00', ' a'):
            self.assertEqual(
                'input_parameters.headers.X-A: has characters that are not allowed '
                'in a header',
                self.refusal(headers={'X-A': value}),
            )

    def test_headers_are_ascii(self):
        for value in ('ä', '\u0100', '\ud800'):
            self.assertEqual(
                'input_parameters.headers.X-A: has characters outside ASCII, which '
                'servers decode differently; encode them, for example as in RFC 8187',
                self.refusal(headers={'X-A': value}),
            )

    def test_a_body_is_text_or_json_and_not_both(self):
        for body, words in (
            ({'body': 'x', 'json': {}}, 'body: only one of body and json can be sent'),
            ({'json': math.nan}, 'json: cannot be encoded as UTF-8 or JSON'),
            ({'body': '\ud800'}, 'body: cannot be encoded as UTF-8 or JSON'),
        ):
            self.assertEqual(f'input_parameters.{words}', self.refusal(**body))

    def test_all_problems_are_reported_together(self):
        self.assertEqual(
            'input_parameters.url: is not a URL; '
            'input_parameters.headers.Connection: is set by http_request itself',
            self.refusal(url='http://h:x/', headers={'Connection': 'close'}),
        )

    def test_the_method_or_the_author_declares_a_request_idempotent(self):
        kind = HttpRequest()
        methods = ('GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'POST', 'PATCH')

        self.assertEqual(
            ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'],
            [m for m in methods if kind.is_idempotent({'method': m})],
        )
        for method, known in (('POST', True), ('PUT', False)):
            inputs = {'method': method, 'idempotent': known}
            self.assertEqual(known, kind.is_idempotent(inputs))

    def test_unless_can_be_checked_after_the_loss_of_a_worker(self):
        kind = HttpRequest()

        self.assertEqual(
            (False, True),
            (kind.is_checkable(GET), kind.is_checkable({**GET, 'unless': {}})),
        )
        self.assertEqual(
            (False, True),
            (kind.has_pre_condition(GET), kind.has_pre_condition({'unless': {}})),
        )
