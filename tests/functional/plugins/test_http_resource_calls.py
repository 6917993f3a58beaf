"""The requests of Http::Resource, and its handling of responses."""

from tests.functional.plugins.http_server import Server
from tests.functional.plugins.test_http_resource import HttpCase
from watcherlite import exceptions
from watcherlite.clock import SystemClock
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.testing import ResourceRun


class CallCase(HttpCase):
    def url(self, what=''):
        return f'{self.server.url}/things/{{id}}{what}'

    def requests_since(self, count):
        return self.requests()[count:]


class TestSending(CallCase):
    def test_a_body_is_sent_unchanged_and_json_has_its_content_type(self):
        self.things.answers['POST', '/things/7/lock'] = (200, {})
        self.things.answers['POST', '/things/7/unlock'] = (200, {})
        self.thing.create(
            self.call_properties(
                lock={'url': self.url('/lock'), 'body': 'now and here'},
                unlock={'url': self.url('/unlock'), 'json': {'when': 'now'}},
            )
        )

        self.thing.lock()
        self.thing.unlock()

        locked, unlocked = self.server.received[-2:]
        self.assertEqual(
            (b'now and here', None, b'{"when": "now"}', 'application/json'),
            (
                locked.body,
                locked.headers.get('content-type'),
                unlocked.body,
                unlocked.headers['content-type'],
            ),
        )

    def test_the_attempt_is_the_fencing_token_of_each_call(self):
        self.thing.create(
            self.call_properties(lock={'url': self.url('/lock'), 'method': 'PUT'})
        )
        self.things.answers['PUT', '/things/7/lock'] = (200, {})
        for attempt in (1, 3):
            self.thing.lock(attempt=attempt)

        self.assertEqual(
            ['1', '1', '3'],
            [request.headers['x-fencing-token'] for request in self.server.received],
        )

    def test_no_call_takes_longer_than_its_operation_may(self):
        silent = self.useFixture(Server(lambda exchange, received: exchange.hang()))
        thing = ResourceRun(HttpResource, clock=SystemClock(), timeout=0.3)
        call = {'url': f'{silent.url}/things', 'timeout': 3600}

        created = thing.create({**self.call_properties(), 'create': call})

        self.assertEqual(('FAILED', 'Timed out'), (created.status, created.reason))


class TestAnswers(CallCase):
    def test_attributes_are_read_once_after_the_creation(self):
        self.things.status['7'] = ['building', 'ready']
        read = {'thing': {'id': 7, 'colour': 'red', 'address': '192.0.2.7'}}
        self.things.answers['GET', '/read/7'] = (200, read)

        self.thing.create(
            self.call_properties(
                status=self.status(),
                read={'url': f'{self.server.url}/read/{{id}}'},
                outputs={'address': 'thing.address'},
            )
        )

        self.assertEqual({'id': '7', 'address': '192.0.2.7'}, self.thing.attributes)
        self.assertEqual(
            [
                ('POST', '/things'),
                ('GET', '/things/7'),
                ('GET', '/things/7'),
                ('GET', '/read/7'),
            ],
            self.requests(),
        )

    def test_attributes_missing_from_a_response_are_unchanged(self):
        self.thing.create(self.update_properties('red'))
        self.things.answers['PUT', '/things/7'] = (200, {'thing': {'size': 5}})

        updated = self.thing.update(self.update_properties('green'))

        self.assertEqual('COMPLETE', updated.status)
        self.assertEqual({'id': '7', 'colour': 'red'}, self.thing.attributes)

    def test_a_resource_without_a_read_call_is_checked_by_its_status(self):
        wanted = self.call_properties(status=self.status())
        del wanted['read']
        self.thing.create(wanted)
        self.things.status['7'] = ['building', 'broken', None]

        checked = [self.thing.check() for _ in range(3)]

        self.assertEqual(
            [
                ('COMPLETE', ''),
                ('FAILED', 'thing: the server reports the status broken'),
                ('FAILED', 'thing no longer exists'),
            ],
            [(each.status, each.reason) for each in checked],
        )


class TestDeleting(CallCase):
    def test_a_resource_without_a_delete_call_is_left_in_place(self):
        wanted = self.call_properties()
        del wanted['delete']
        self.thing.create(wanted)

        self.assertEqual('COMPLETE', self.thing.delete().status)
        self.assertEqual([('POST', '/things')], self.requests())
        self.assertEqual(['7'], list(self.things.things))

    def test_a_resource_that_was_never_created_needs_no_delete_call(self):
        self.things.answers['POST', '/things'] = (507, {})
        self.thing.create(self.call_properties())

        self.assertEqual('COMPLETE', self.thing.delete().status)
        self.assertEqual([('POST', '/things')], self.requests())

    def test_a_deletion_may_be_repeated_with_any_method(self):
        self.thing.create(
            self.call_properties(delete={'url': self.url('/end'), 'method': 'POST'})
        )
        self.things.answers['POST', '/things/7/end'] = (410, {})

        self.assertEqual('COMPLETE', self.thing.delete(attempt=2).status)


class TestOtherCalls(CallCase):
    def test_each_operation_has_its_own_call(self):
        verbs = ('suspend', 'resume', 'lock', 'unlock')
        calls = {verb: {'url': self.url(f'/{verb}')} for verb in verbs}
        for verb in verbs:
            self.things.answers['POST', f'/things/7/{verb}'] = (202, {})
        self.thing.create(self.call_properties())
        plain = [getattr(self.thing, verb)() for verb in verbs]
        count = len(self.server.received)
        self.thing.update(self.call_properties(**calls))
        self.assertEqual([], self.requests_since(count))

        results = [getattr(self.thing, verb)() for verb in verbs]

        self.assertEqual(['COMPLETE'] * 8, [each.status for each in plain + results])
        self.assertEqual(
            [('POST', f'/things/7/{verb}') for verb in verbs],
            self.requests_since(count),
        )

    def test_a_missing_resource_counts_as_unlocked_and_cannot_be_locked(self):
        self.thing.create(
            self.call_properties(
                status=self.status(),
                lock={'url': self.url('/lock')},
                unlock={'url': self.url('/unlock'), 'done': ['unlocked']},
            )
        )
        self.things.things.clear()
        count = len(self.server.received)

        locked, unlocked = self.thing.lock(), self.thing.unlock()

        self.assertEqual(
            ('FAILED', 'COMPLETE', 0), (locked.status, unlocked.status, unlocked.polls)
        )
        self.assertEqual(
            [('POST', '/things/7/lock'), ('POST', '/things/7/unlock')],
            self.requests_since(count),
        )

    def test_a_call_with_an_unknown_outcome_is_not_repeated(self):
        for key_is_honoured, status in ((False, 'FAILED'), (True, 'COMPLETE')):
            for verb in ('suspend', 'resume', 'lock', 'unlock', 'reboot'):
                self.things.next_id = 7
                self.things.answers['POST', f'/things/7/{verb}'] = (200, {})
                thing = ResourceRun(HttpResource)
                call = {verb: {'url': self.url(f'/{verb}')}}
                thing.create(
                    self.call_properties(key_is_honoured=key_is_honoured, **call)
                )
                count = len(self.server.received)

                if verb == 'reboot':
                    result = thing.operate(verb, attempt=2)
                else:
                    result = getattr(thing, verb)(attempt=2)

                self.assertEqual(status, result.status, verb)
                self.assertEqual(
                    [('POST', f'/things/7/{verb}')] * key_is_honoured,
                    self.requests_since(count),
                )
                if not key_is_honoured:
                    self.assertIn(f'{verb}: outcome unknown', result.reason)


class TestOperations(CallCase):
    def test_each_operation_is_the_call_of_the_profile_or_fails(self):
        calls = {
            'reboot': {'url': self.url('/reboot')},
            'rebuild': {'url': self.url('/rebuild')},
            'operations': {'sing': {'url': self.url('/sing')}},
        }
        for properties, operation, parameters, name in (
            (calls, 'reboot', None, 'reboot'),
            (calls, 'rebuild', None, 'rebuild'),
            (calls, 'call', {'name': 'sing'}, 'sing'),
            ({}, 'reboot', None, 'reboot'),
            ({}, 'call', {'name': 'sing'}, 'sing'),
        ):
            self.thing.create(self.call_properties(**properties))
            count = len(self.server.received)

            done = self.thing.operate(operation, parameters)

            path = f'/things/{self.thing.physical_id}/{name}'
            self.assertEqual(
                ('COMPLETE', '', [('POST', path)])
                if properties
                else ('FAILED', f'thing has no call for {name}', []),
                (done.status, done.reason, self.requests_since(count)),
            )

    def test_an_operation_waits_until_the_server_reports_its_end(self):
        self.things.status['7'] = []
        reboot = {'url': self.url('/reboot'), 'done': ['ready']}
        self.thing.create(self.call_properties(status=self.status(), reboot=reboot))
        self.things.status['7'] = ['rebooting', 'rebooting', 'ready']

        done = self.thing.operate('reboot')

        self.assertEqual(('COMPLETE', 3), (done.status, done.polls))

    def test_problems_of_operations_have_their_places(self):
        error = self.assertRaises(
            exceptions.Invalid,
            self.thing.fit,
            self.call_properties(
                operations={
                    'sing': {
                        'url': self.url(),
                        'body': 'x',
                        'json': {},
                        'done': ['ready'],
                    }
                }
            ),
        )

        self.assertIn('properties.operations.sing.body', str(error))
        self.assertIn('properties.operations.sing.done', str(error))
