"""Http::Resource with a real server."""

import json
import logging

import fixtures

from tests import base
from tests.functional.plugins.http_server import Server
from watcherlite import exceptions
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.testing import ResourceRun

SECRET = 'correct-horse-battery'


class ObjectService:
    """A service that stores objects, some of them asynchronously."""

    def __init__(self):
        self.samples = {}
        self.next_id = 7
        self.status = {}
        self.answers = {}

    def __call__(self, exchange, received):
        key = (received.method, received.path)
        if key in self.answers:
            return self.send_json(exchange, *self.answers[key])
        method, parts = received.method, received.path.strip('/').split('/')
        if method == 'POST' and len(parts) == 1:
            name, self.next_id = str(self.next_id), self.next_id + 1
            self.samples[name] = json.loads(received.body or b'{}')
            return self.show(exchange, name, 201)
        name = parts[1]
        if name not in self.samples:
            return self.send_json(exchange, 404, {'error': 'not found'})
        if method == 'PUT':
            self.samples[name] = json.loads(received.body)
        if method == 'DELETE':
            if not self.status.get(name):
                del self.samples[name]
            return self.send_json(exchange, 202, {})
        if method == 'POST':
            return self.send_json(exchange, 202, {'did': parts[2]})
        waiting = self.status.get(name, [])
        if method == 'GET' and waiting:
            state = waiting.pop(0)
            if state is None:
                del self.samples[name]
                return self.send_json(exchange, 404, {})
            return self.show(exchange, name, 200, state)
        return self.show(exchange, name)

    def show(self, exchange, name, status=200, state='ready'):
        sample = {'id': int(name), 'state': state, **self.samples[name]}
        self.send_json(exchange, status, {'sample': sample})

    def send_json(self, exchange, status, content):
        exchange.answer(
            status, json.dumps(content).encode(), content_type='application/json'
        )


class HttpCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.samples = ObjectService()
        self.server = self.useFixture(Server(self.samples))
        self.sample = ResourceRun(HttpResource, name='sample', timeout=1000)
        self.find = {'url': f'{self.server.url}/found', 'id_path': '0.id'}

    def call_properties(self, colour='red', **more):
        url = self.server.url
        return {
            'create': {'url': f'{url}/samples', 'json': {'colour': colour}},
            'read': {'url': f'{url}/samples/{{id}}'},
            'delete': {'url': f'{url}/samples/{{id}}'},
            'id_path': 'sample.id',
            'outputs': {'colour': 'sample.colour'},
            **more,
        }

    def update_properties(self, colour):
        return self.call_properties(
            colour,
            update={
                'url': f'{self.server.url}/samples/{{id}}',
                'json': {'colour': colour},
            },
        )

    def status(self, **more):
        return {
            'url': f'{self.server.url}/samples/{{id}}',
            'path': 'sample.state',
            'done': ['ready'],
            'failed': ['broken'],
            **more,
        }

    def requests(self):
        return [(r.method, r.path) for r in self.server.received]


class TestLife(HttpCase):
    def test_a_resource_is_created_read_and_deleted(self):
        created = self.sample.create(self.call_properties())
        self.samples.samples['7']['colour'] = 'blue'
        checked = self.sample.check()
        deleted = self.sample.delete()

        self.assertEqual(
            ['COMPLETE'] * 3, [created.status, checked.status, deleted.status]
        )
        self.assertEqual('7', self.sample.physical_id)
        self.assertEqual({'id': '7', 'colour': 'blue'}, self.sample.attributes)
        self.assertEqual(
            [('POST', '/samples'), ('GET', '/samples/7'), ('DELETE', '/samples/7')],
            self.requests(),
        )
        self.assertEqual({}, self.samples.samples)

    def test_a_missing_resource_fails_its_check_and_counts_as_deleted(self):
        self.sample.create(self.call_properties())
        self.samples.samples.clear()

        self.assertEqual(
            f'read: GET {self.server.url}/samples/7 answered 404, not 200-299',
            self.sample.check().reason,
        )
        self.assertEqual('COMPLETE', self.sample.delete().status)

    def test_an_unexpected_response_fails_the_resource(self):
        for answers, more, reason in (
            (
                {('POST', '/samples'): (409, {'error': 'full'})},
                {},
                f'create: POST {self.server.url}/samples answered 409, not 200-299',
            ),
            (
                {},
                {'id_path': 'sample.uuid'},
                'sample: the response has no id at sample.uuid; '
                'set id_path to its path',
            ),
        ):
            self.samples.answers = answers

            self.assertEqual(
                reason, self.sample.create(self.call_properties(**more)).reason
            )

    def test_an_id_is_a_single_segment_of_a_url(self):
        answer = {'sample': {'id': 'a/b?c'}}
        self.samples.answers['POST', '/samples'] = (201, answer)
        self.samples.answers['GET', '/samples/a%2Fb%3Fc'] = (200, answer)
        self.sample.create(self.call_properties())

        self.assertEqual('COMPLETE', self.sample.check().status)

    def test_a_resource_without_a_read_call_cannot_be_checked(self):
        desired = self.call_properties()
        del desired['read']
        self.sample.create(desired)

        self.assertEqual('CHECK is not supported by sample', self.sample.check().reason)


class TestChanging(HttpCase):
    def test_a_change_is_a_call_or_a_replacement_or_neither(self):
        red, green = self.update_properties('red'), self.update_properties('green')
        elsewhere = {**red, 'create': {**red['create'], 'url': self.find['url']}}
        private = {**red, 'private_headers': {'X-Auth-Token': SECRET}}
        replaced = [('POST', '/samples'), ('DELETE', '/samples/7')]
        for before, after, change, name, colour, calls in (
            (red, green, 'update', '7', 'green', [('PUT', '/samples/7')]),
            (
                self.call_properties(),
                self.call_properties('green'),
                'replace',
                '8',
                'green',
                replaced,
            ),
            (red, elsewhere, 'replace', '8', 'red', [('POST', '/found'), replaced[1]]),
            # The server need not know the object.
            (red, private, 'update', '7', 'red', []),
        ):
            self.samples.samples.clear()
            self.samples.next_id = 7
            sample = ResourceRun(HttpResource)
            sample.create(before)
            self.server.received.clear()

            updated = sample.update(after)

            self.assertEqual((change, 'COMPLETE'), (updated.change, updated.status))
            self.assertEqual({name: {'colour': colour}}, self.samples.samples)
            self.assertEqual({'id': name, 'colour': colour}, sample.attributes)
            self.assertEqual((name, calls), (sample.physical_id, self.requests()))


class TestWaiting(HttpCase):
    def test_the_creation_is_polled_until_the_status_matches_without_a_thread(self):
        self.samples.status['7'] = ['building', 'building', 'ready']

        created = self.sample.create(
            self.call_properties(status=self.status(interval=5))
        )

        self.assertEqual(
            ('COMPLETE', 3, 15), (created.status, created.polls, created.seconds)
        )
        self.assertEqual({'id': '7', 'colour': 'red'}, self.sample.attributes)

    def test_a_failure_status_fails_the_creation(self):
        self.samples.status['7'] = ['building', 'broken', 'broken']

        created = self.sample.create(self.call_properties(status=self.status()))
        checked = self.sample.check()

        broken = 'sample: the server reports the status broken'
        self.assertEqual([broken, broken], [created.reason, checked.reason])
        self.assertEqual(('7', 'FAILED'), (self.sample.physical_id, checked.status))

    def test_a_deletion_ends_only_when_the_resource_is_missing(self):
        self.sample.create(self.call_properties(status=self.status()))
        self.samples.status['7'] = ['deleting', 'ready', None]

        deleted = self.sample.delete()

        self.assertEqual(('COMPLETE', 3), (deleted.status, deleted.polls))

    def test_other_calls_wait_for_their_conditions(self):
        url = f'{self.server.url}/samples/{{id}}'
        self.sample.create(
            self.call_properties(
                status=self.status(),
                suspend={'url': f'{url}/stop', 'done': ['stopped']},
                resume={'url': f'{url}/start'},
                lock={'url': f'{url}/lock', 'method': 'PUT', 'json': {'locked': True}},
            )
        )
        self.samples.status['7'] = ['stopping', 'stopped']

        suspended = self.sample.suspend()

        self.assertEqual(('COMPLETE', 2), (suspended.status, suspended.polls))
        self.assertEqual(0, self.sample.resume().polls)
        self.samples.answers['PUT', '/samples/7/lock'] = (423, {})
        self.assertEqual('FAILED', self.sample.lock().status)
        self.assertEqual('COMPLETE', self.sample.unlock().status)

    def test_a_resource_that_is_not_ready_in_time_fails(self):
        self.samples.status['7'] = ['building'] * 1000

        created = self.sample.create(
            self.call_properties(status=self.status(interval=300))
        )

        self.assertEqual(('FAILED', 'Timed out'), (created.status, created.reason))


class TestLostWorker(HttpCase):
    def test_a_resource_created_by_a_lost_worker_is_found(self):
        self.samples.answers['GET', '/found'] = (200, [{'id': 'x'}])

        created = self.sample.create(self.call_properties(find=self.find), attempt=2)

        self.assertEqual(('COMPLETE', 'x'), (created.status, self.sample.physical_id))
        self.assertEqual([('GET', '/found')], self.requests())

    def test_a_missing_or_idempotent_creation_is_repeated(self):
        found, five = ('GET', '/found'), ('PUT', '/samples/5')
        put = {'method': 'PUT', 'url': f'{self.server.url}/samples/5'}
        for call, answer, more in (
            (found, (200, []), {'find': self.find}),
            (found, (404, {}), {'find': self.find}),
            (five, (200, {'sample': {'id': 5}}), {'create': put}),
            (five, (405, {}), {'key_is_honoured': True}),
        ):
            self.samples.answers = {call: answer}
            created = ResourceRun(HttpResource).create(
                self.call_properties(**more), attempt=2
            )

            self.assertEqual('COMPLETE', created.status, more)

    def test_a_resource_of_a_failed_creation_is_found_and_deleted(self):
        self.samples.answers['POST', '/samples'] = (200, {})
        self.samples.answers['GET', '/found'] = (200, [{'id': '7'}])
        created = self.sample.create(self.call_properties(find=self.find))
        self.assertEqual('FAILED', created.status)

        self.assertEqual('COMPLETE', self.sample.delete().status)

        self.assertEqual(
            [('POST', '/samples'), ('GET', '/found'), ('DELETE', '/samples/7')],
            self.requests(),
        )

    def test_nothing_is_created_twice_without_a_find_call(self):
        created = self.sample.create(self.call_properties(), attempt=2)

        self.assertIn('create: outcome unknown', created.reason)
        self.assertEqual([], self.server.received)

    def test_a_change_with_an_unknown_outcome_is_not_repeated(self):
        self.samples.answers['POST', '/samples/7'] = (200, {})
        for more, status in (
            ({'key_is_honoured': False}, 'FAILED'),
            ({'key_is_honoured': True}, 'COMPLETE'),
        ):
            self.samples.next_id = 7
            sample = ResourceRun(HttpResource)
            desired = {**self.update_properties('red'), **more}
            desired['update']['method'] = 'POST'
            sample.create(desired)
            changed = {**desired, 'update': {**desired['update'], 'json': {'a': 1}}}

            updated = sample.update(changed, attempt=2)

            self.assertEqual(('update', status), (updated.change, updated.status))


class TestHeaders(HttpCase):
    def test_every_call_has_an_idempotency_key_and_the_headers_of_the_template(self):
        self.sample.create(
            self.call_properties(
                headers={'X-Team': 'blue', 'x-two': '1'},
                key_header='X-Request-Key',
                create={
                    'url': f'{self.server.url}/samples',
                    'json': {},
                    'headers': {'X-Two': '2'},
                },
            )
        )
        self.sample.check()

        first, second = (r.headers for r in self.server.received)
        self.assertEqual(
            ('blue', '2', 'application/json', '1'),
            (
                first['x-team'],
                first['x-two'],
                first['content-type'],
                first['x-fencing-token'],
            ),
        )
        self.assertRegex(first['x-request-key'], '^[0-9a-f-]{36}$')
        self.assertNotEqual(first['x-request-key'], second['x-request-key'])

    def test_private_values_are_sent_only_to_the_server(self):
        log = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.samples.answers['GET', '/samples/7'] = (
            500,
            {'sample': {'colour': SECRET}},
        )
        self.samples.answers['POST', '/samples'] = (
            201,
            {'sample': {'id': 7, 'colour': f'x {SECRET}', 'all': [SECRET]}},
        )
        sample = self.sample

        sample.create(
            self.call_properties(
                private_headers={'X-Auth-Token': SECRET},
                outputs={'colour': 'sample.colour', 'all': 'sample.all'},
            )
        )
        checked = sample.check()

        self.assertEqual(
            [SECRET, SECRET], [r.headers['x-auth-token'] for r in self.server.received]
        )
        self.assertEqual(
            {'id': '7', 'colour': 'x ***', 'all': ['***']}, sample.attributes
        )
        for text in (str(sample.attributes), checked.reason, log.output):
            self.assertNotIn(SECRET, text)

    def test_credentials_in_a_url_are_not_reported(self):
        self.samples.answers['GET', f'/samples/7?key={SECRET}'] = (500, {})
        url = self.server.url.replace('//', f'//me:{SECRET}@')
        self.sample.create(
            self.call_properties(read={'url': f'{url}/samples/{{id}}?key={SECRET}'})
        )

        reason = self.sample.check().reason

        self.assertIn('/samples/7?… answered 500', reason)
        self.assertNotIn(SECRET, reason)


class TestRefusals(HttpCase):
    def test_all_problems_are_reported_before_the_first_call(self):
        error = self.assertRaises(
            exceptions.Invalid,
            self.sample.create,
            {
                'create': {
                    'url': 'http://host/{id}',
                    'body': 'x',
                    'json': {},
                    'headers': {'Content-Length': '5'},
                },
                'suspend': {'url': 'http:///x', 'done': ['x']},
                'private_headers': {'a b': SECRET, 'X-Name': 'ä'},
            },
        )

        self.assertEqual(
            [
                "properties.private_headers.'a b': is not a valid header name",
                'properties.private_headers.X-Name: has characters outside ASCII, '
                'which servers decode differently; encode them, for example as in RFC '
                '8187',
                'properties.create.headers.Content-Length: is set by Http::Resource '
                'itself',
                'properties.create.body: only one of body and json can be sent',
                'properties.suspend.url: http:///x has no host, or an invalid port',
                'properties.suspend.done: needs the property status, which defines '
                'the request',
                'properties.create.url: {id} is not available before the creation',
            ],
            error.problems,
        )
        self.assertNotIn(SECRET, str(error))

    def test_unknown_values_are_not_refused(self):
        self.sample.fit(
            {'create': {'url': None, 'headers': {'X-One': None}}}, known=False
        )

    def test_an_unreachable_server_is_reported_without_private_values(self):
        created = self.sample.create(
            {
                'create': {'url': f'http://127.0.0.1:1/x?key={SECRET}'},
                'private_headers': {'X-Auth-Token': SECRET},
            }
        )

        self.assertEqual(
            'POST http://127.0.0.1:1/x?…: Connection refused', created.reason
        )
