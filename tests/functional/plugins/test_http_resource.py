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


class Things:
    """A service that stores objects, some of them asynchronously."""

    def __init__(self):
        self.things = {}
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
            self.things[name] = json.loads(received.body or b'{}')
            return self.show(exchange, name, 201)
        name = parts[1]
        if name not in self.things:
            return self.send_json(exchange, 404, {'error': 'no such thing'})
        if method == 'PUT':
            self.things[name] = json.loads(received.body)
        if method == 'DELETE':
            if not self.status.get(name):
                del self.things[name]
            return self.send_json(exchange, 202, {})
        if method == 'POST':
            return self.send_json(exchange, 202, {'did': parts[2]})
        waiting = self.status.get(name, [])
        if method == 'GET' and waiting:
            state = waiting.pop(0)
            if state is None:
                del self.things[name]
                return self.send_json(exchange, 404, {})
            return self.show(exchange, name, 200, state)
        return self.show(exchange, name)

    def show(self, exchange, name, status=200, state='ready'):
        thing = {'id': int(name), 'state': state, **self.things[name]}
        self.send_json(exchange, status, {'thing': thing})

    def send_json(self, exchange, status, content):
        exchange.answer(
            status, json.dumps(content).encode(), content_type='application/json'
        )


class HttpCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.things = Things()
        self.server = self.useFixture(Server(self.things))
        self.thing = ResourceRun(HttpResource, name='thing', timeout=1000)
        self.find = {'url': f'{self.server.url}/found', 'id_path': '0.id'}

    def call_properties(self, colour='red', **more):
        url = self.server.url
        return {
            'create': {'url': f'{url}/things', 'json': {'colour': colour}},
            'read': {'url': f'{url}/things/{{id}}'},
            'delete': {'url': f'{url}/things/{{id}}'},
            'id_path': 'thing.id',
            'outputs': {'colour': 'thing.colour'},
            **more,
        }

    def update_properties(self, colour):
        return self.call_properties(
            colour,
            update={
                'url': f'{self.server.url}/things/{{id}}',
                'json': {'colour': colour},
            },
        )

    def status(self, **more):
        return {
            'url': f'{self.server.url}/things/{{id}}',
            'path': 'thing.state',
            'done': ['ready'],
            'failed': ['broken'],
            **more,
        }

    def requests(self):
        return [(r.method, r.path) for r in self.server.received]


class TestLife(HttpCase):
    def test_a_resource_is_created_read_and_deleted(self):
        created = self.thing.create(self.call_properties())
        self.things.things['7']['colour'] = 'blue'
        checked = self.thing.check()
        deleted = self.thing.delete()

        self.assertEqual(
            ['COMPLETE'] * 3, [created.status, checked.status, deleted.status]
        )
        self.assertEqual('7', self.thing.physical_id)
        self.assertEqual({'id': '7', 'colour': 'blue'}, self.thing.attributes)
        self.assertEqual(
            [('POST', '/things'), ('GET', '/things/7'), ('DELETE', '/things/7')],
            self.requests(),
        )
        self.assertEqual({}, self.things.things)

    def test_a_missing_resource_fails_its_check_and_counts_as_deleted(self):
        self.thing.create(self.call_properties())
        self.things.things.clear()

        self.assertEqual(
            f'read: GET {self.server.url}/things/7 answered 404, not 200-299',
            self.thing.check().reason,
        )
        self.assertEqual('COMPLETE', self.thing.delete().status)

    def test_an_unexpected_response_fails_the_resource(self):
        for answers, more, reason in (
            (
                {('POST', '/things'): (409, {'error': 'full'})},
                {},
                f'create: POST {self.server.url}/things answered 409, not 200-299',
            ),
            (
                {},
                {'id_path': 'thing.uuid'},
                'thing: the response has no id at thing.uuid; set id_path to its path',
            ),
        ):
            self.things.answers = answers

            self.assertEqual(
                reason, self.thing.create(self.call_properties(**more)).reason
            )

    def test_an_id_is_a_single_segment_of_a_url(self):
        answer = {'thing': {'id': 'a/b?c'}}
        self.things.answers['POST', '/things'] = (201, answer)
        self.things.answers['GET', '/things/a%2Fb%3Fc'] = (200, answer)
        self.thing.create(self.call_properties())

        self.assertEqual('COMPLETE', self.thing.check().status)

    def test_a_resource_without_a_read_call_cannot_be_checked(self):
        wanted = self.call_properties()
        del wanted['read']
        self.thing.create(wanted)

        self.assertEqual('CHECK is not supported by thing', self.thing.check().reason)


class TestChanging(HttpCase):
    def test_a_change_is_a_call_or_a_replacement_or_neither(self):
        red, green = self.update_properties('red'), self.update_properties('green')
        elsewhere = {**red, 'create': {**red['create'], 'url': self.find['url']}}
        private = {**red, 'private_headers': {'X-Auth-Token': SECRET}}
        replaced = [('POST', '/things'), ('DELETE', '/things/7')]
        for before, after, change, name, colour, calls in (
            (red, green, 'update', '7', 'green', [('PUT', '/things/7')]),
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
            self.things.things.clear()
            self.things.next_id = 7
            thing = ResourceRun(HttpResource)
            thing.create(before)
            self.server.received.clear()

            updated = thing.update(after)

            self.assertEqual((change, 'COMPLETE'), (updated.change, updated.status))
            self.assertEqual({name: {'colour': colour}}, self.things.things)
            self.assertEqual({'id': name, 'colour': colour}, thing.attributes)
            self.assertEqual((name, calls), (thing.physical_id, self.requests()))


class TestWaiting(HttpCase):
    def test_the_creation_is_polled_until_the_status_matches_without_a_thread(self):
        self.things.status['7'] = ['building', 'building', 'ready']

        created = self.thing.create(
            self.call_properties(status=self.status(interval=5))
        )

        self.assertEqual(
            ('COMPLETE', 3, 15), (created.status, created.polls, created.seconds)
        )
        self.assertEqual({'id': '7', 'colour': 'red'}, self.thing.attributes)

    def test_a_failure_status_fails_the_creation(self):
        self.things.status['7'] = ['building', 'broken', 'broken']

        created = self.thing.create(self.call_properties(status=self.status()))
        checked = self.thing.check()

        broken = 'thing: the server reports the status broken'
        self.assertEqual([broken, broken], [created.reason, checked.reason])
        self.assertEqual(('7', 'FAILED'), (self.thing.physical_id, checked.status))

    def test_a_deletion_ends_only_when_the_resource_is_missing(self):
        self.thing.create(self.call_properties(status=self.status()))
        self.things.status['7'] = ['deleting', 'ready', None]

        deleted = self.thing.delete()

        self.assertEqual(('COMPLETE', 3), (deleted.status, deleted.polls))

    def test_other_calls_wait_for_their_conditions(self):
        url = f'{self.server.url}/things/{{id}}'
        self.thing.create(
            self.call_properties(
                status=self.status(),
                suspend={'url': f'{url}/stop', 'done': ['stopped']},
                resume={'url': f'{url}/start'},
                lock={'url': f'{url}/lock', 'method': 'PUT', 'json': {'locked': True}},
            )
        )
        self.things.status['7'] = ['stopping', 'stopped']

        suspended = self.thing.suspend()

        self.assertEqual(('COMPLETE', 2), (suspended.status, suspended.polls))
        self.assertEqual(0, self.thing.resume().polls)
        self.things.answers['PUT', '/things/7/lock'] = (423, {})
        self.assertEqual('FAILED', self.thing.lock().status)
        self.assertEqual('COMPLETE', self.thing.unlock().status)

    def test_a_resource_that_is_not_ready_in_time_fails(self):
        self.things.status['7'] = ['building'] * 1000

        created = self.thing.create(self.call_properties(status=self.status()))

        self.assertEqual(('FAILED', 'Timed out'), (created.status, created.reason))


class TestLostWorker(HttpCase):
    def test_a_resource_created_by_a_lost_worker_is_found(self):
        self.things.answers['GET', '/found'] = (200, [{'id': 'x'}])

        created = self.thing.create(self.call_properties(find=self.find), attempt=2)

        self.assertEqual(('COMPLETE', 'x'), (created.status, self.thing.physical_id))
        self.assertEqual([('GET', '/found')], self.requests())

    def test_a_missing_or_idempotent_creation_is_repeated(self):
        found, five = ('GET', '/found'), ('PUT', '/things/5')
        put = {'method': 'PUT', 'url': f'{self.server.url}/things/5'}
        for call, answer, more in (
            (found, (200, []), {'find': self.find}),
            (found, (404, {}), {'find': self.find}),
            (five, (200, {'thing': {'id': 5}}), {'create': put}),
            (five, (405, {}), {'key_is_honoured': True}),
        ):
            self.things.answers = {call: answer}
            created = ResourceRun(HttpResource).create(
                self.call_properties(**more), attempt=2
            )

            self.assertEqual('COMPLETE', created.status, more)

    def test_a_resource_of_a_failed_creation_is_found_and_deleted(self):
        self.things.answers['POST', '/things'] = (200, {})
        self.things.answers['GET', '/found'] = (200, [{'id': '7'}])
        created = self.thing.create(self.call_properties(find=self.find))
        self.assertEqual('FAILED', created.status)

        self.assertEqual('COMPLETE', self.thing.delete().status)

        self.assertEqual(
            [('POST', '/things'), ('GET', '/found'), ('DELETE', '/things/7')],
            self.requests(),
        )

    def test_nothing_is_created_twice_without_a_find_call(self):
        created = self.thing.create(self.call_properties(), attempt=2)

        self.assertIn('create: outcome unknown', created.reason)
        self.assertEqual([], self.server.received)

    def test_a_change_with_an_unknown_outcome_is_not_repeated(self):
        self.things.answers['POST', '/things/7'] = (200, {})
        for more, status in (
            ({'key_is_honoured': False}, 'FAILED'),
            ({'key_is_honoured': True}, 'COMPLETE'),
        ):
            self.things.next_id = 7
            thing = ResourceRun(HttpResource)
            wanted = {**self.update_properties('red'), **more}
            wanted['update']['method'] = 'POST'
            thing.create(wanted)
            changed = {**wanted, 'update': {**wanted['update'], 'json': {'a': 1}}}

            updated = thing.update(changed, attempt=2)

            self.assertEqual(('update', status), (updated.change, updated.status))


class TestHeaders(HttpCase):
    def test_every_call_has_an_idempotency_key_and_the_headers_of_the_template(self):
        self.thing.create(
            self.call_properties(
                headers={'X-Team': 'blue', 'x-two': '1'},
                key_header='X-Request-Key',
                create={
                    'url': f'{self.server.url}/things',
                    'json': {},
                    'headers': {'X-Two': '2'},
                },
            )
        )
        self.thing.check()

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
        self.things.answers['GET', '/things/7'] = (500, {'thing': {'colour': SECRET}})
        self.things.answers['POST', '/things'] = (
            201,
            {'thing': {'id': 7, 'colour': f'x {SECRET}', 'all': [SECRET]}},
        )
        thing = self.thing

        thing.create(
            self.call_properties(
                private_headers={'X-Auth-Token': SECRET},
                outputs={'colour': 'thing.colour', 'all': 'thing.all'},
            )
        )
        checked = thing.check()

        self.assertEqual(
            [SECRET, SECRET], [r.headers['x-auth-token'] for r in self.server.received]
        )
        self.assertEqual(
            {'id': '7', 'colour': 'x ***', 'all': ['***']}, thing.attributes
        )
        for text in (str(thing.attributes), checked.reason, log.output):
            self.assertNotIn(SECRET, text)

    def test_credentials_in_a_url_are_not_reported(self):
        self.things.answers['GET', f'/things/7?key={SECRET}'] = (500, {})
        url = self.server.url.replace('//', f'//me:{SECRET}@')
        self.thing.create(
            self.call_properties(read={'url': f'{url}/things/{{id}}?key={SECRET}'})
        )

        reason = self.thing.check().reason

        self.assertIn('/things/7?… answered 500', reason)
        self.assertNotIn(SECRET, reason)


class TestRefusals(HttpCase):
    def test_all_problems_are_reported_before_the_first_call(self):
        error = self.assertRaises(
            exceptions.Invalid,
            self.thing.create,
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
        self.thing.fit(
            {'create': {'url': None, 'headers': {'X-One': None}}}, known=False
        )

    def test_an_unreachable_server_is_reported_without_private_values(self):
        created = self.thing.create(
            {
                'create': {'url': f'http://127.0.0.1:1/x?key={SECRET}'},
                'private_headers': {'X-Auth-Token': SECRET},
            }
        )

        self.assertEqual(
            'POST http://127.0.0.1:1/x?…: Connection refused', created.reason
        )
