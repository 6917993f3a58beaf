"""Resources in another cloud, with a credential of their user there."""

from tests import base
from tests.functional.plugins.fake_cloud import FakeCloud, connect
from watcherlite import exceptions
from watcherlite.plugins.openstack.resources import dns
from watcherlite.testing.resources import ResourceRun

SECRET = '9a0b4c1e-0000-4000-8000-000000000001'
PAYLOAD = f'/key-manager/v1/secrets/{SECRET}/payload'
ZONE = '11111111-2222-3333-4444-555555555555'
ZONES = '/dns/v2/zones'
NO_CREDENTIAL = 'The credential of another cloud cannot be read'


class TestRemote(base.TestCase):
    """A home with the secret, and another cloud that it leads to."""

    def setUp(self):
        super().setUp()
        self.home, self.other = FakeCloud(), FakeCloud()
        connect(self, self.other)
        self.auth_url = f'{self.other.url}/identity/v3'
        self.credential = {
            'auth_type': 'v3applicationcredential',
            'auth': {
                'auth_url': self.auth_url,
                'application_credential_id': 'a',
                'application_credential_secret': 'hunter2',
            },
        }
        self.keep(self.credential)
        self.clouds = self.open()

    def open(self, *urls):
        """Return the connections of a process.

        :param urls: of the clouds that are allowed; none: the other one
        """
        return connect(self, self.home, remote_auth_urls=urls or (f'{self.auth_url}/',))

    def keep(self, payload):
        """Store a payload as the secret."""
        self.home.answers['GET', PAYLOAD] = (200, payload, {})

    def zone(self, clouds=None):
        """Return a zone of a stack that is in the other cloud."""
        return ResourceRun(
            dns.Zone, clouds=clouds or self.clouds, cloud_secret=SECRET, stack_name='s'
        )

    def create(self):
        record = {'id': ZONE, 'name': 'a.', 'status': 'ACTIVE'}
        self.other.answers['POST', ZONES] = (202, record, {})
        self.other.answers['GET', f'{ZONES}/{ZONE}'] = (200, record, {})
        self.other.answers['DELETE', f'{ZONES}/{ZONE}'] = (202, record, {})
        run = self.zone()
        settled = run.create({'name': 'a.', 'email': 'x@a'})
        self.assertEqual('COMPLETE', settled.status, settled.reason)
        return run

    def test_a_resource_is_created_and_deleted_there_and_the_secret_is_read_once(self):
        run = self.create()

        self.assertEqual('COMPLETE', run.delete().status)

        self.assertEqual([('GET', PAYLOAD, None)], self.home.requests)
        sent = [f'{method} {path}' for method, path, _ in self.other.requests]
        self.assertEqual((f'POST {ZONES}'), sent[0])
        self.assertIn(f'DELETE {ZONES}/{ZONE}', sent)
        self.assertNotIn('hunter2', self.log.output)

    def test_connections_are_reused_per_user_and_secret(self):
        reading = self.clouds.remote_connection
        self.home.answers['GET', PAYLOAD.replace(SECRET, 'other')] = (
            200,
            self.credential,
            {},
        )

        first = reading(None, SECRET)

        self.assertIs(first, reading(None, SECRET))
        self.assertIsNot(first, reading(None, SECRET, 'two'))
        self.assertIsNot(first, reading(None, 'other'))
        self.assertEqual(2, len(self.home.requests))

    def test_a_missing_secret_is_not_taken_for_a_missing_object(self):
        for lose in (
            lambda: self.home.answers.pop(('GET', PAYLOAD)),
            self.home.catalog.clear,
        ):
            self.keep(self.credential)
            run = self.create()
            lose()
            # As after a restart.
            run._clouds = self.open()

            settled = run.delete()

            self.assertEqual('FAILED', settled.status)
            self.assertIn(NO_CREDENTIAL, settled.reason)
            self.assertIn(('GET', f'{ZONES}/{ZONE}'), self.other.answers)

    def test_an_outage_of_barbican_delays_a_resource(self):
        self.home.answers['GET', PAYLOAD] = (503, {}, {})

        settled = ResourceRun(
            dns.Zone, clouds=self.clouds, cloud_secret=SECRET, timeout=60
        ).create({'name': 'a.', 'email': 'x@a'})

        self.assertIn('the key-manager service is not available', settled.reason)
        self.assertGreater(settled.seconds, 20)

    def test_a_cloud_that_is_not_allowed_gets_no_request(self):
        seen = len(self.other.requests)
        clouds = self.open('https://keystone.example.org/v3')

        settled = self.zone(clouds).create({'name': 'a.', 'email': 'x@a'})

        self.assertEqual('FAILED', settled.status)
        self.assertIn('is not one of [openstack] remote_auth_urls', settled.reason)
        self.assertEqual(seen, len(self.other.requests))

    def test_unusable_payloads_are_rejected_without_their_content(self):
        for payload, text in (
            ('hunter2', 'is not a JSON object with auth_type and auth'),
            ({'auth': 'hunter2'}, 'auth_type is not one of v3applicationcredential'),
            (
                {**self.credential, 'auth_type': 'v3oidcpassword'},
                'auth_type is not one of',
            ),
            (
                {**self.credential, 'auth': {'auth_url': ['hunter2']}},
                'auth is not an object of texts',
            ),
            ({**self.credential, 'auth': {}}, 'is not one of [openstack]'),
            ({'a': 'x' * 20_000}, 'is not a JSON object'),
        ):
            self.keep(payload)

            error = self.assertRaises(
                exceptions.Forbidden, self.clouds.remote_connection, None, SECRET
            )

            self.assertIn(text, str(error))
            self.assertNotIn('hunter2', str(error))
