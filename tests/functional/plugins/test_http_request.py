"""http_request with real servers, most of which misbehave."""

import base64
import itertools
import json
import re

from tests import bounded
from tests.functional.plugins.http_case import HttpTestCase
from tests.ports import reserve_port
from watcherlite import testing
from watcherlite.destinations import WITH_LOOPBACK
from watcherlite.plugins import options
from watcherlite.plugins.action_types.http_request import HttpRequest, ServerSilent
from watcherlite.testing.coroutines import call_hook

UUID = '00000000-0000-4000-8000-000000000001'


def hang(exchange, request):
    exchange.hang()


def send_repeatedly(exchange, request):
    exchange.start_response(200)
    exchange.send_repeatedly(b'x')


class TestSentRequests(HttpTestCase):
    def test_a_request_carries_its_key_and_its_fencing_token(self):
        # The file is not read.
        netrc = self.home / '.netrc'
        netrc.write_text('machine 127.0.0.1 login a password canary')
        netrc.chmod(0o600)
        server = self.answering()

        self.run_get(f'{server.url}/path?q=1', headers={'X-Sample': 'a, b'})

        (request,) = server.received
        self.assertEqual(
            ('GET', '/path?q=1', b''), (request.method, request.path, request.body)
        )
        self.assertEqual(
            {
                'host': f'127.0.0.1:{server.port}',
                'user-agent': 'watcherlite',
                'accept-encoding': 'identity',
                'idempotency-key': UUID,
                'x-fencing-token': '1',
                'x-sample': 'a, b',
            },
            dict(request.headers),
        )

    def test_headers_of_the_author_are_not_overwritten(self):
        server = self.answering()
        own = {'idempotency-key': 'mine', 'x-fencing-token': '', 'user-agent': 'u'}

        self.run_get(server.url, headers={n.title(): v for n, v in own.items()})

        headers = server.received[0].headers
        self.assertEqual(own, {name: headers[name] for name in own})

    def test_text_and_json_are_sent_as_bodies(self):
        server = self.answering()

        self.run_get(server.url, method='PUT', body='ä')
        self.run_get(server.url, method='POST', json={'ä': [1, None]})

        text, data = server.received
        self.assertEqual('ä'.encode(), text.body)
        self.assertEqual(
            ({'ä': [1, None]}, 'application/json'),
            (json.loads(data.body), data.headers['content-type']),
        )

    def test_credentials_of_a_url_are_sent_but_not_reported(self):
        server = self.answering(500)
        address = f'127.0.0.1:{server.port}'

        result = self.run_get(f'http://user:canary@{address}/p?token=canary')

        sent = server.received[0].headers['authorization']
        self.assertEqual(b'user:canary', base64.b64decode(sent.removeprefix('Basic ')))
        self.assertEqual(
            f'Action failed in execute: GET http://{address}/p?… answered 500, not '
            '200-299',
            result.status_message,
        )
        self.assertNotIn('canary', repr(result))
        self.assertNotIn('canary', self.log.output)


class TestAnswers(HttpTestCase):
    def test_the_answer_is_in_the_outputs(self):
        server = self.answering(
            201,
            b'{"a": 1}',
            content_type='application/json; charset=utf-8',
            set_cookie='canary',
            www_authenticate='canary',
            x_subject_token='canary',
            location='http://user:canary@h/p',
        )

        outputs = self.run_get(server.url).outputs

        self.assertIsInstance(outputs.pop('elapsed'), float)
        for name in ('date', 'server'):
            del outputs['headers'][name]
        self.assertEqual(
            {
                'status': 201,
                'headers': {
                    'content-length': '8',
                    'content-type': 'application/json; charset=utf-8',
                    'location': 'http://h/p',
                },
                'body': '{"a": 1}',
                'truncated': False,
                'json': {'a': 1},
                'tries': 1,
            },
            outputs,
        )

    def test_an_unexpected_status_fails_and_shows_the_answer(self):
        server = self.answering(404, b'not found')

        result = self.run_get(server.url, expected_statuses=[200, 201, 202, 204])

        self.assertEqual(
            (
                'FAILED',
                f'Action failed in execute: GET {server.url} answered 404, not '
                '200-202, 204',
                'not found',
            ),
            (result.status, result.status_message, result.outputs['body']),
        )

    def test_a_body_is_text_in_its_charset_or_json_that_can_be_stored(self):
        cases = [
            (b'\xe4', 'text/plain; charset=latin-1', {}, 'ä'),
            ('ä'.encode(), 'application/octet-stream', {}, 'ä'),
            (b'a\xff\x00b', 'text/plain; charset=utf-8', {}, 'a\ufffd\ufffdb'),
            (b'78', 'text/plain; charset=zlib', {}, '78'),
            (b'78', 'text/plain; charset="; x=', {}, '78'),
            # The body is not decompressed.
            (
                b'\x1f\x8b x',
                'application/gzip',
                {'content_encoding': 'gzip'},
                '\x1f\ufffd x',
            ),
            # These are declared as JSON but are not.
            *(
                (body, 'application/x+json', {}, body.decode())
                for body in (b'{', b'[NaN]', b'"\\u0000"', b'"\\ud800"', b'[' * 50_000)
            ),
        ]
        for body, content_type, headers, text in cases:
            server = self.answering(200, body, content_type=content_type, **headers)

            outputs = self.run_get(server.url).outputs

            self.assertEqual((text, False), (outputs['body'], 'json' in outputs))

    def test_a_head_request_has_no_body(self):
        server = self.serve(
            lambda exchange, _: exchange.start_response(content_length='1000')
        )

        result = self.run_get(server.url, method='HEAD')

        self.assertEqual(('SUCCEEDED', ''), (result.status, result.outputs['body']))

    def test_headers_are_kept_within_bounds(self):
        server = self.answering(200, **{f'x_{n}': 'v' * 5000 for n in range(90)})

        headers = self.run_get(server.url).outputs['headers']

        self.assertEqual(1024, max(len(value) for value in headers.values()))


class TestBounds(HttpTestCase):
    """Limits on the size and the duration of responses."""

    def test_a_long_body_is_cut_and_the_rest_is_not_read(self):
        as_json = {'content_type': 'application/json'}
        for headers, data, limits, body in (
            ({}, b'x' * 65536, {}, 'x' * 65536),
            (as_json, b'1' * 65536, {'max_response_size': 1000}, '1' * 1000),
            (
                {'transfer_encoding': 'chunked'},
                b'4\r\nabcd\r\n',
                {'max_response_size': 6},
                'abcdab',
            ),
        ):

            def endless(exchange, request, headers=headers, data=data):
                exchange.start_response(200, **headers)
                exchange.send_repeatedly(data, 0)

            server = self.serve(endless)

            outputs = self.run_get(server.url, options=limits).outputs

            self.assertEqual(
                (body, True, False),
                (outputs['body'], outputs['truncated'], 'json' in outputs),
                headers,
            )

    def test_an_answer_that_is_slow_or_broken_fails_the_action(self):
        def send_headers_slowly(exchange, request):
            exchange.write(b'HTTP/1.1 200 OK\r\nX-Slow: ')
            exchange.send_repeatedly(b'x')

        slow = '{}: no complete response within 0.3 s'
        broken = '{}: the connection was closed before the response was complete'
        incomplete = b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'
        for behaviour, limits, reason in (
            *(
                (slowly, {'timeout': 0.3}, slow)
                for slowly in (send_repeatedly, send_headers_slowly, hang)
            ),
            # The deadline of the action is earlier.
            (hang, {'deadline': 0.3}, slow),
            *(
                (lambda exchange, _, data=data: exchange.write(data), {}, broken)
                for data in (b'', incomplete)
            ),
            (
                lambda exchange, _: exchange.write(b'rubbish\r\n\r\n'),
                {},
                '{}: its response is not valid HTTP',
            ),
        ):
            server = self.serve(behaviour)

            result = bounded.call(self.run_get, server.url, retries=0, **limits)

            self.assertEqual(
                f'Action failed in execute: {reason.format(f"GET {server.url}")}',
                result.status_message,
            )


class TestRetries(HttpTestCase):
    def statuses(self, *statuses):
        left = list(statuses)
        return self.serve(lambda exchange, _: exchange.answer(left.pop(0)))

    def test_a_busy_gateway_is_retried(self):
        server = self.statuses(503, 502, 504, 200)
        context = testing.FakeContext()

        result = self.run_get(server.url, context=context)

        self.assertEqual(('SUCCEEDED', 4), (result.status, result.outputs['tries']))
        tries = re.findall('GET .*: status (.*) after .* s\n', context.logged['log'])
        self.assertEqual(['503', '502', '504', '200'], tries)
        self.assertEqual(
            {UUID}, {r.headers['idempotency-key'] for r in server.received}
        )
        # 0.1, 0.2 and 0.4 s, each with up to 0.1 s more.
        self.assertLess(0.69, context.clock.monotonic())
        self.assertLess(context.clock.monotonic(), 1.01)

    def test_the_last_answer_counts(self):
        for inputs, status, expected, tries in (
            ({'retries': 2}, 503, 'FAILED', 3),
            # An expected status is not retried.
            ({'expected_statuses': [503]}, 503, 'SUCCEEDED', 1),
            ({'expected_statuses': [200, 404]}, 404, 'SUCCEEDED', 1),
        ):
            result = self.run_get(self.answering(status).url, **inputs)

            outputs = result.outputs
            self.assertEqual(
                (expected, status, tries),
                (result.status, outputs['status'], outputs['tries']),
            )

    def test_a_request_with_an_unknown_outcome_is_not_repeated(self):
        def close_connection(exchange, request):
            """Close the connection without a response."""

        for inputs, requests, breaks in (
            ({'method': 'POST'}, 1, False),
            ({'method': 'POST', 'idempotent': True}, 3, False),
            ({'method': 'POST', 'retry_statuses': [503]}, 3, False),
            ({'method': 'PUT'}, 3, False),
            ({'method': 'PUT', 'idempotent': False}, 1, False),
            ({'method': 'POST'}, 1, True),
            ({'method': 'GET'}, 3, True),
        ):
            server = self.serve(close_connection) if breaks else self.answering(503)

            result = self.run_get(server.url, retries=2, **inputs)

            self.assertEqual(
                ('FAILED', requests), (result.status, len(server.received)), inputs
            )

    def test_a_refused_connection_is_retried(self):
        url = f'http://127.0.0.1:{reserve_port()}/'
        context = testing.FakeContext()

        result = self.run_get(url, method='POST', retries=2, context=context)

        self.assertEqual(
            f'Action failed in execute: POST {url}: Connection refused',
            result.status_message,
        )
        self.assertLess(0.29, context.clock.monotonic())

    def test_a_signal_ends_the_wait_for_the_next_try(self):
        server = self.answering(503)
        context = testing.FakeContext(signals=[testing.after_seconds(0.2, 'CANCEL')])

        result = self.run_get(server.url, retries=50, context=context)

        self.assertEqual(('CANCELLED', 2), (result.status, len(server.received)))


class TestRedirects(HttpTestCase):
    def test_redirects_are_not_followed_by_default(self):
        server = self.answering(302, location='/there')

        result = self.run_get(server.url)

        self.assertEqual(
            ('FAILED', 302, '/there', 1),
            (
                result.status,
                result.outputs['status'],
                result.outputs['headers']['location'],
                len(server.received),
            ),
        )

    def test_redirects_are_followed_on_request_and_a_post_may_become_a_get(self):
        for status, inputs, last in (
            (307, {'method': 'PUT', 'body': 'x'}, ('PUT', b'x')),
            (303, {'method': 'POST', 'json': {}}, ('GET', b'')),
        ):

            def redirect_once(exchange, request, status=status):
                if request.path == '/':
                    exchange.answer(status, location='/there?q=1')
                else:
                    exchange.answer(200, request.body)

            server = self.serve(redirect_once)

            result = self.run_get(f'{server.url}/', follow_redirects=True, **inputs)

            self.assertEqual(last[1].decode(), result.outputs['body'])
            first, second = server.received
            self.assertEqual(
                ('/', '/there?q=1', *last, False),
                (
                    first.path,
                    second.path,
                    second.method,
                    second.body,
                    'content-type' in second.headers,
                ),
            )

    def test_credentials_are_not_carried_to_another_server(self):
        headers = {'Authorization': 'canary', 'X-Auth-Token': 'canary', 'X-A': 'b'}
        # The second URL names another host, depending on the parser; it is refused.
        for ending, status in (('/', 'SUCCEEDED'), ('\\@127.0.0.1:{port}/', 'FAILED')):
            with self.subTest(ending=ending):
                other, server = self.answering(), self.answering()
                location = other.url + ending.format(port=server.port)
                server.behaviour = lambda exchange, _, location=location: (
                    exchange.answer(302, location=location)
                )

                result = self.run_get(
                    server.url.replace('//', '//user:canary@'),
                    headers=headers,
                    follow_redirects=True,
                )

                self.assertEqual(status, result.status, result.status_message)
                self.assertEqual(status == 'SUCCEEDED', len(other.received) == 1)
                for received in other.received:
                    self.assertNotIn('canary', repr(received))
                    self.assertEqual(
                        {'host', 'accept-encoding', 'user-agent'}, set(received.headers)
                    )
                self.assertEqual(1, len(server.received))

    def test_forbidden_redirects_fail_the_action(self):
        other = self.answering()
        elsewhere = f'{other.url}/'
        for location, requests, reason in (
            ('/', 6, 'more than 5 redirects'),
            (
                *(elsewhere, 1),
                f'redirected to {elsewhere}, another server, to which the body is not '
                'sent',
            ),
            *(
                (location, 1, f'redirected to {location}, which is not HTTP')
                for location in ('file:///etc/passwd', 'ftp://h/')
            ),
            ('javascript:1', 1, 'redirected to javascript://1, which is not HTTP'),
        ):
            server = self.answering(307, location=location)

            result = self.run_get(
                server.url, method='PUT', body='canary', follow_redirects=True
            )

            self.assertEqual(
                (f'Action failed in execute: PUT {server.url}: {reason}', requests),
                (result.status_message, len(server.received)),
            )
        self.assertEqual([], other.received)

    def test_the_body_of_a_redirect_is_not_read(self):
        def endless(exchange, request):
            if request.path == '/':
                exchange.start_response(302, location='/there')
                exchange.send_repeatedly(b'x' * 65536, 0)
            else:
                exchange.answer(200)

        server = self.serve(endless)

        result = self.run_get(f'{server.url}/', follow_redirects=True)

        self.assertEqual('SUCCEEDED', result.status)


class TestSignals(HttpTestCase):
    def test_a_signal_ends_the_wait_for_an_answer(self):
        cancelled = 'Action was cancelled while it ran.'
        timed_out = 'Action failed in execute: it ran longer than its timeout'
        for behaviour, signal, expected in (
            (hang, 'CANCEL', ('CANCELLED', cancelled)),
            (send_repeatedly, 'CANCEL', ('CANCELLED', cancelled)),
            # The worker lost its lease.
            (hang, 'TIMEOUT', ('FAILED', timed_out)),
        ):
            result = self.interrupted(behaviour, signal)

            self.assertEqual(expected, (result.status, result.status_message))

    def test_a_suspended_action_continues_where_it_stopped(self):
        server = self.answering(200, b'x' * 50_000)
        signals = [
            testing.at_checkpoint(2, 'SUSPEND'),
            testing.at_checkpoint(3, 'RESUME'),
        ]

        result = self.run_get(server.url, context=testing.FakeContext(signals=signals))

        self.assertEqual(50_000, len(result.outputs['body']))
        states = ['READY', 'RUNNING', 'SUSPENDED', 'RUNNING', 'SUCCEEDED']
        self.assertEqual(
            [('action', *change) for change in itertools.pairwise(states)],
            result.history,
        )


class TestUnless(HttpTestCase):
    def test_the_action_is_skipped_when_it_holds_and_executed_when_it_does_not(self):
        for answer, unless, skipped in (
            (200, {}, True),
            (404, {'expected_statuses': [404]}, True),
            (404, {}, False),
            # No response
            (None, {}, False),
        ):

            def both(exchange, request, answer=answer):
                if request.path == '/do':
                    exchange.answer(200)
                elif answer is not None:
                    exchange.answer(answer)

            server = self.serve(both)
            state = f'{server.url}/state'

            result = self.run_get(
                f'{server.url}/do', method='POST', unless={'url': state, **unless}
            )

            requests = [('GET', '/state'), ('POST', '/do')]
            message = (
                f'Action was skipped automatically: {state} already answers {answer}'
            )
            self.assertEqual(
                ('SKIPPED', message, requests[:1])
                if skipped
                else ('SUCCEEDED', None, requests),
                (
                    result.status,
                    result.status_message,
                    [(request.method, request.path) for request in server.received],
                ),
            )

    def test_the_check_url_detects_the_effect_after_a_worker_loss(self):
        kind = HttpRequest(options.standalone_group(HttpRequest))
        kind.read_destinations = lambda: WITH_LOOPBACK

        def is_applied(context):
            return call_hook(context, kind, 'is_applied')

        contexts = [
            testing.FakeContext({'method': 'POST', 'url': url, 'unless': {'url': url}})
            for url in (
                *(self.answering(status).url for status in (200, 404)),
                f'http://127.0.0.1:{reserve_port()}/',
            )
        ]

        self.assertEqual([True, False], [*map(is_applied, contexts[:2])])
        # An operation that a silent server may have executed is not repeated.
        error = self.assertRaises(ServerSilent, is_applied, contexts[2])
        self.assertRegex(
            str(error),
            r'^http://127\.0\.0\.1:\d+/ does not respond: Connection refused$',
        )
