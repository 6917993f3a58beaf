"""Every error is one line with a correction, and an exit code."""

import socket

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import VERSIONS, ApiCommandCase, Reply, fault


class ErrorResponseTest(ApiCommandCase):
    """The API rejects a request."""

    def test_each_error_status_has_an_exit_code_and_a_message(self):
        for status, text, code, message in (
            (400, 'Invalid sort key: x', 2, None),
            (
                401,
                'Who are you?',
                2,
                'authentication at URL failed: Who are you? Set --os-cloud, or '
                '--os-auth-type http_basic with OS_USERNAME and OS_PASSWORD',
            ),
            (
                403,
                "Policy doesn't allow goal:get_all to be performed.",
                2,
                "forbidden: Policy doesn't allow goal:get_all to be performed.",
            ),
            (404, 'Goal x could not be found', 2, None),
            (
                406,
                'API microversion 1.1 or higher is required for start_time.',
                2,
                None,
            ),
            (409, 'State is ONGOING', 1, None),
            (413, 'Too much', 2, None),
            (500, 'An unexpected error.', 1, 'URL failed: An unexpected error.'),
        ):
            self.api.responses['GET /v1/goals/x'] = fault(status, text)

            self.assertEqual((code, message or text), self.fail('goal', 'show', 'x'))

    def test_retry_after_is_shown_and_get_requests_are_not_retried(self):
        for headers, when in (({'Retry-After': '7'}, 'in 7 s'), ({}, 'later')):
            self.api.responses['GET /v1/goals'] = fault(
                503, 'The database is away.', **headers
            )

            self.assertEqual(
                (3, f'URL is unavailable: The database is away. Retry {when}'),
                self.fail('goal', 'list'),
            )
        # Requests that only read have no key, and are not retried.
        self.assertEqual(
            [None, None], [headers['Idempotency-Key'] for headers in self.api.headers]
        )

    def test_post_requests_are_retried_with_their_idempotency_key(self):
        self.api.responses['POST /v1/webhooks/nightly'] = [
            fault(503, 'The database is away.'),
            fault(504, 'It may have taken effect.'),
            Reply(None, 202),
        ]
        for _ in range(2):
            self.succeed('audit', 'trigger', 'nightly')

        keys = [headers['Idempotency-Key'] for headers in self.api.headers]
        self.assertEqual((4, 1, 2), (len(keys), len(set(keys[:3])), len(set(keys))))

    def test_html_and_multiline_errors_become_one_line_of_text(self):
        html = '<html><h1>Not &amp; here</h1>\n<p>Sorry.</p></html>'
        for reply, text in (
            (Reply({'error_message': html}, 400), 'Not & here Sorry.'),
            (fault(400, 'one\ntwo\x1b[2J'), 'one two [2J'),
        ):
            self.api.responses['GET /v1/goals'] = reply

            self.assertEqual((2, text), self.fail('goal', 'list'))
        for body in (None, b'<html>', {'error': 'x'}, {'error_message': None}, [1]):
            self.api.responses['GET /v1/goals'] = Reply(body, 418)

            code, message = self.fail('goal', 'list')

            self.assertEqual(1, code)
            self.assertIn(message, ("URL failed: 418 I'm a Teapot", 'URL failed: None'))


class UnexpectedServerTest(ApiCommandCase):
    """A server that is not the API responds."""

    def test_responses_of_other_servers_are_reported(self):
        location = 'https://elsewhere.example/v1/goals'
        for reply, message in (
            (
                Reply(b'<html>', 404),
                '/v1/goals was not found; check that URL is the endpoint of the API',
            ),
            (
                Reply(b'<html>', headers={'Content-Type': 'text/html'}),
                'URL is not the API of watcherlite (the response is text/html, not '
                'JSON); check the endpoint',
            ),
            # Redirects are not followed with credentials.
            (
                Reply(None, 301, {'Location': location}),
                f'URL redirects to {location}; use that endpoint instead',
            ),
        ):
            self.api.responses['GET /v1/goals'] = reply
            self.api.requests.clear()

            self.assertEqual((2, message), self.fail('goal', 'list'))
            self.assertEqual(1, len(self.api.requests))
        for body in (None, {'versions': []}, Reply([]), {'goals': 1}):
            self.api.responses['GET /v1/goals'] = Reply(body, 200)
            if isinstance(body, Reply):
                self.api.responses['GET /v1/goals'] = body

            self.assertEqual(
                (
                    2,
                    'URL is not the API of watcherlite (the response has no goals); '
                    'check the endpoint',
                ),
                self.fail('goal', 'list'),
            )
        self.api.responses['GET /v1/goals/x'] = Reply([])
        self.api.responses['GET /v1/strategies/x/state'] = Reply({})
        for argv in (('goal', 'show', 'x'), ('strategy', 'state', 'x')):
            code, message = self.fail(*argv)
            self.assertEqual(2, code)
            self.assertTrue(message.startswith('URL is not the API of'), message)


class ConnectionErrorTest(ApiCommandCase):
    """No server responds."""

    def test_a_refused_connection_is_reported(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            url = f'http://127.0.0.1:{taken.getsockname()[1]}'

            self.assertEqual(
                (
                    3,
                    f'connection to {url} refused; start the API (for example '
                    'with `watcherlite standalone`), or set --endpoint',
                ),
                self.fail('goal', 'list', '--endpoint', url),
            )

    def test_a_response_timeout_is_reported(self):
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            silent.listen()
            url = f'http://127.0.0.1:{silent.getsockname()[1]}'

            self.assertEqual(
                (3, f'{url} did not respond in time; see --timeout'),
                self.fail('goal', 'list', '--endpoint', url, '--timeout', '0.05'),
            )

    def test_tls_errors_are_reported(self):
        url = self.api.url.replace('http:', 'https:')
        words = ('goal', 'list', '--endpoint', url)

        code, message = self.fail(*words)
        other, certificate = self.fail(*words, '--os-cacert', '/missing.pem')

        self.assertEqual((3, 3), (code, other))
        starts = (f'the certificate of {url} cannot ', f'{url} cannot be reached: ')
        self.assertTrue(message.startswith(starts), message)
        self.assertIn('/missing.pem', certificate)


class UsageErrorTest(ApiCommandCase):
    """The command line is invalid; no request is sent."""

    def test_usage_errors_are_reported_without_a_request(self):
        for argv, message in (
            (
                ('goal', 'list', '--endpoint', 'example.org'),
                "'example.org' is not a valid endpoint; example: http://127.0.0.1:9322",
            ),
            (
                ('goal', 'list', '--endpoint', 'http://x:99999'),
                "'http://x:99999' is not a valid endpoint; example: http://127.0.0.1:9322",
            ),
            (
                ('goal', 'list', '--endpoint', 'http://me:SECRET@x'),
                'an endpoint must not contain credentials; use --os-auth-type '
                'http_basic with OS_USERNAME and OS_PASSWORD',
            ),
            (
                ('--os-auth-type', 'http_basic', 'goal', 'list'),
                'http_basic requires OS_USERNAME and OS_PASSWORD',
            ),
            (
                ('--os-auth-type', 'admin_token', 'goal', 'list'),
                'admin_token requires OS_TOKEN',
            ),
            (
                ('goal', 'list', '--timeout', 'soon'),
                "--timeout is 'soon'; it must be a number of seconds above 0, and "
                '86400 at most',
            ),
            (
                ('goal', 'list', '--os-infra-optim-api-version', 'new'),
                "'new' is not a microversion; examples: 1.5, latest",
            ),
            (
                ('goal', 'list', '--limit', '-1'),
                "argument --limit: '-1' is not a number of rows; use 0 for all "
                '(see `watcherlite goal list --help`)',
            ),
            (('goal', 'show', ''), 'the name or UUID of an object must not be empty'),
            (('goal', 'show', '..'), 'the name or UUID of an object must not be empty'),
            (('goal',), '`goal` is ambiguous: goal list, goal show'),
        ):
            self.assertEqual((2, message), self.fail(*argv))
        self.assertEqual([], self.api.requests)

    def test_debug_logs_requests_without_credentials(self):
        self.api.responses['GET /v1/goals'] = api_objects.page('goals')

        code, _, err = self.call(
            *('--os-auth-type', 'http_basic', '--os-username', 'me'),
            *('--os-password', 'SECRET', 'goal', 'list', '--debug'),
        )

        self.assertEqual(0, code)
        self.assertIn('"GET /v1/goals HTTP/1.1" 200', err)
        self.assertNotIn('SECRET', err)


class MicroversionTest(ApiCommandCase):
    """The latest microversion that both sides know."""

    def setUp(self):
        super().setUp()
        self.api.responses['GET /v1/goals'] = api_objects.page('goals')

    def versions(self):
        return [headers['OpenStack-API-Version'] for headers in self.api.headers]

    def test_the_latest_version_is_requested_and_older_apis_are_supported(self):
        self.succeed('goal', 'list')
        self.succeed('goal', 'list', '--os-infra-optim-api-version', '1')

        self.assertEqual(['infra-optim 1.8'] * 2, self.versions())
        self.api.headers.clear()
        refused = fault(406, 'no')
        refused.headers = {**VERSIONS, 'OpenStack-API-Maximum-Version': '1.4'}
        self.api.responses['GET /v1/goals'] = [refused, api_objects.page('goals')]

        self.succeed('goal', 'list')

        self.assertEqual(['infra-optim 1.8', 'infra-optim 1.4'], self.versions())

    def test_a_requested_version_is_not_negotiated(self):
        self._set('OS_INFRA_OPTIM_API_VERSION', '1.2')
        self.succeed('goal', 'list')
        self.api.responses['GET /v1/goals'] = fault(406, 'no')

        self.assertEqual(
            (2, 'the API does not support microversion 1.9; it supports 1.0 to 1.8'),
            self.fail('goal', 'list', '--os-infra-optim-api-version', '1.9'),
        )
        self.assertEqual(['infra-optim 1.2', 'infra-optim 1.9'], self.versions())


class PagingTest(ApiCommandCase):
    """A list shows a limited number of rows, and how to get the rest."""

    def setUp(self):
        super().setUp()
        self.names = 'abcde'
        for begin in range(0, 6, 2):
            self.page(begin, f'limit=2&marker={begin}')
        self.page(0, '')
        for limit in (1, 3, 5, 9):
            self.page(0, f'limit={limit}')

    def page(self, begin, query):
        rows = [
            api_objects.copy_with(api_objects.GOAL, name=name)
            for name in self.names[begin:][:2]
        ]
        page = api_objects.page('goals', *rows)
        if begin + 2 < len(self.names):
            # The API knows neither its mount point nor the name by which it was
            # reached.
            page['next'] = (
                f'http://inner:9322/behind/v1/goals?limit=2&marker={begin + 2}'
            )
        for prefix in ('', '/infra-optim'):
            address = f'GET {prefix}/v1/goals?{query}'.removesuffix('?')
            self.api.responses[address] = page

    def list_goals(self, *argv):
        code, out, err = self.call('goal', 'list', '-f', 'value', '-c', 'Name', *argv)
        self.assertEqual(0, code, err)
        return ''.join(out.split()), err

    def test_one_page_is_printed_with_a_hint_unless_a_limit_is_given(self):
        more = 'watcherlite: only the first 2 rows are shown; --limit 0 shows all\n'
        self.assertEqual(('ab', more), self.list_goals())
        for limit, expected in (
            *(('0', 'abcde'), ('1', 'a'), ('3', 'abc')),
            *(('5', 'abcde'), ('9', 'abcde')),
        ):
            self.assertEqual((expected, ''), self.list_goals('--limit', limit))

    def test_the_path_prefix_of_the_endpoint_is_kept(self):
        for end in ('', '/', '/v1', '/v1/'):
            self.api.requests.clear()

            self.list_goals(
                '--limit', '0', '--endpoint', f'{self.api.url}/infra-optim{end}'
            )

            self.assertEqual(
                [
                    'GET /infra-optim/v1/goals',
                    'GET /infra-optim/v1/goals?limit=2&marker=2',
                    'GET /infra-optim/v1/goals?limit=2&marker=4',
                ],
                [request[0] for request in self.api.requests],
            )

    def test_a_next_page_outside_the_api_is_rejected(self):
        self.api.responses['GET /v1/goals'] = {'goals': [], 'next': 'http://x/other'}

        code, message = self.fail('goal', 'list', '--limit', '0')

        self.assertEqual(2, code)
        self.assertIn('(the URL of the next page is http://x/other)', message)
