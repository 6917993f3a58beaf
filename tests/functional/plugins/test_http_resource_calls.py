"""The requests of Http::Resource, and its handling of responses."""

from tests.functional.plugins.http_server import Server
from tests.functional.plugins.test_http_resource import HttpCase
from watcherlite import exceptions
from watcherlite.clock import SystemClock
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.testing import ResourceRun


class CallCase(HttpCase):
    def url(self, what=''):
        return f'{self.server.url}/samples/{{id}}{what}'

    def requests_since(self, count):
        return self.requests()[count:]


class TestSending(CallCase):
    def test_a_body_is_sent_unchanged_and_json_has_its_content_type(self):
        self.samples.answers['POST', '/samples/7/lock'] = (200, {})
        self.samples.answers['POST', '/samples/7/unlock'] = (200, {})
        self.sample.create(
            self.call_properties(
                lock={'url': self.url('/lock'), 'body': 'now and here'},
                unlock={'url': self.url('/unlock'), 'json': {'when': 'now'}},
            )
        )

        self.sample.lock()
        self.sample.unlock()

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
        self.sample.create(
            self.call_properties(lock={'url': self.url('/lock'), 'method': 'PUT'})
        )
        self.samples.answers['PUT', '/samples/7/lock'] = (200, {})
        for attempt in (1, 3):
            self.sample.lock(attempt=attempt)

        self.assertEqual(
            ['1', '1', '3'],
            [request.headers['x-fencing-token'] for request in self.server.received],
        )

    def test_no_call_takes_longer_than_its_operation_may(self):
        silent = self.useFixture(Server(lambda exchange, received: exchange.hang()))
        sample = ResourceRun(HttpResource, clock=SystemClock(), timeout=0.3)
        call = {'url': f'{silent.url}/samples', 'timeout': 3600}

        created = sample.create({**self.call_properties(), 'create': call})

        self.assertEqual(('FAILED', 'Timed out'), (created.status, created.reason))


class TestAnswers(CallCase):
    def test_attributes_are_read_once_after_the_creation(self):
        self.samples.status['7'] = ['building', 'ready']
        read = {'sample': {'id': 7, 'colour': 'red', 'address': '192.0.2.7'}}
        self.samples.answers['GET', '/read/7'] = (200, read)

        self.sample.create(
            self.call_properties(
                status=self.status(),
                read={'url': f'{self.server.url}/read/{{id}}'},
                outputs={'address': 'sample.address'},
            )
        )

        self.assertEqual({'id': '7', 'address': '192.0.2.7'}, self.sample.attributes)
        self.assertEqual(
            [
                ('POST', '/samples'),
                ('GET', '/samples/7'),
                ('GET', '/samples/7'),
                ('GET', '/read/7'),
            ],
            self.requests(),
        )

    def test_attributes_missing_from_a_response_are_unchanged(self):
        self.sample.create(self.update_properties('red'))
        self.samples.answers['PUT', '/samples/7'] = (200, {'sample': {'size': 5}})

        updated = self.sample.update(self.update_properties('green'))

        self.assertEqual('COMPLETE', updated.status)
        self.assertEqual({'id': '7', 'colour': 'red'}, self.sample.attributes)

    def test_a_resource_without_a_read_call_is_checked_by_its_status(self):
        desired = self.call_properties(status=self.status())
        del desired['read']
        self.sample.create(desired)
        self.samples.status['7'] = ['building', 'broken', None]

        checked = [self.sample.check() for _ in range(3)]

        self.assertEqual(
            [
                ('COMPLETE', ''),
                ('FAILED', 'sample: the server reports the status broken'),
                ('FAILED', 'sample no longer exists'),
            ],
            [(each.status, each.reason) for each in checked],
        )


class TestDeleting(CallCase):
    def test_a_resource_without_a_delete_call_is_left_in_place(self):
        desired = self.call_properties()
        del desired['delete']
        self.sample.create(desired)

        self.assertEqual('COMPLETE', self.sample.delete().status)
        self.assertEqual([('POST', '/samples')], self.requests())
        self.assertEqual(['7'], list(self.samples.samples))

    def test_a_resource_that_was_never_created_needs_no_delete_call(self):
        self.samples.answers['POST', '/samples'] = (507, {})
        self.sample.create(self.call_properties())

        self.assertEqual('COMPLETE', self.sample.delete().status)
        self.assertEqual([('POST', '/samples')], self.requests())

    def test_a_deletion_may_be_repeated_with_any_method(self):
        self.sample.create(
            self.call_properties(delete={'url': self.url('/end'), 'method': 'POST'})
        )
        self.samples.answers['POST', '/samples/7/end'] = (410, {})

        self.assertEqual('COMPLETE', self.sample.delete(attempt=2).status)


class TestOtherCalls(CallCase):
    def test_each_operation_has_its_own_call(self):
        verbs = ('suspend', 'resume', 'lock', 'unlock')
        calls = {verb: {'url': self.url(f'/{verb}')} for verb in verbs}
        for verb in verbs:
            self.samples.answers['POST', f'/samples/7/{verb}'] = (202, {})
        self.sample.create(self.call_properties())
        plain = [getattr(self.sample, verb)() for verb in verbs]
        count = len(self.server.received)
        self.sample.update(self.call_properties(**calls))
        self.assertEqual([], self.requests_since(count))

        results = [getattr(self.sample, verb)() for verb in verbs]

        self.assertEqual(['COMPLETE'] * 8, [each.status for each in plain + results])
        self.assertEqual(
            [('POST', f'/samples/7/{verb}') for verb in verbs],
            self.requests_since(count),
        )

    def test_a_missing_resource_counts_as_unlocked_and_cannot_be_locked(self):
        self.sample.create(
            self.call_properties(
                status=self.status(),
                lock={'url': self.url('/lock')},
                unlock={'url': self.url('/unlock'), 'done': ['unlocked']},
            )
        )
        self.samples.samples.clear()
        count = len(self.server.received)

        locked, unlocked = self.sample.lock(), self.sample.unlock()

        self.assertEqual(
            ('FAILED', 'COMPLETE', 0), (locked.status, unlocked.status, unlocked.polls)
        )
        self.assertEqual(
            [('POST', '/samples/7/lock'), ('POST', '/samples/7/unlock')],
            self.requests_since(count),
        )

    def test_a_call_with_an_unknown_outcome_is_not_repeated(self):
        for key_is_honoured, status in ((False, 'FAILED'), (True, 'COMPLETE')):
            for verb in ('suspend', 'resume', 'lock', 'unlock', 'reboot'):
                self.samples.next_id = 7
                self.samples.answers['POST', f'/samples/7/{verb}'] = (200, {})
                sample = ResourceRun(HttpResource)
                call = {verb: {'url': self.url(f'/{verb}')}}
                sample.create(
                    self.call_properties(key_is_honoured=key_is_honoured, **call)
                )
                count = len(self.server.received)

                if verb == 'reboot':
                    result = sample.operate(verb, attempt=2)
                else:
                    result = getattr(sample, verb)(attempt=2)

                self.assertEqual(status, result.status, verb)
                self.assertEqual(
                    [('POST', f'/samples/7/{verb}')] * key_is_honoured,
                    self.requests_since(count),
                )
                if not key_is_honoured:
                    self.assertIn(f'{verb}: outcome unknown', result.reason)


class TestOperations(CallCase):
    def test_each_operation_is_the_call_of_the_profile_or_fails(self):
        calls = {
            'reboot': {'url': self.url('/reboot')},
            'rebuild': {'url': self.url('/rebuild')},
            'operations': {'scan': {'url': self.url('/scan')}},
        }
        for properties, operation, parameters, name in (
            (calls, 'reboot', None, 'reboot'),
            (calls, 'rebuild', None, 'rebuild'),
            (calls, 'call', {'name': 'scan'}, 'scan'),
            ({}, 'reboot', None, 'reboot'),
            ({}, 'call', {'name': 'scan'}, 'scan'),
        ):
            self.sample.create(self.call_properties(**properties))
            count = len(self.server.received)

            done = self.sample.operate(operation, parameters)

            path = f'/samples/{self.sample.physical_id}/{name}'
            self.assertEqual(
                ('COMPLETE', '', [('POST', path)])
                if properties
                else ('FAILED', f'sample has no call for {name}', []),
                (done.status, done.reason, self.requests_since(count)),
            )

    def test_an_operation_waits_until_the_server_reports_its_end(self):
        self.samples.status['7'] = []
        reboot = {'url': self.url('/reboot'), 'done': ['ready']}
        self.sample.create(self.call_properties(status=self.status(), reboot=reboot))
        self.samples.status['7'] = ['rebooting', 'rebooting', 'ready']

        done = self.sample.operate('reboot')

        self.assertEqual(('COMPLETE', 3), (done.status, done.polls))

    def test_problems_of_operations_have_their_places(self):
        error = self.assertRaises(
            exceptions.Invalid,
            self.sample.fit,
            self.call_properties(
                operations={
                    'scan': {
                        'url': self.url(),
                        'body': 'x',
                        'json': {},
                        'done': ['ready'],
                    }
                }
            ),
        )

        self.assertIn('properties.operations.scan.body', str(error))
        self.assertIn('properties.operations.scan.done', str(error))
