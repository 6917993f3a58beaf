"""Connections to OpenStack; nothing is sent before they are used."""

import fixtures
from keystoneauth1 import exceptions as keystone_exceptions
from keystoneauth1.identity import v3

from tests import base
from watcherlite import exceptions
from watcherlite.db.credentials import (
    APPLICATION_CREDENTIAL,
    TRUST,
    Credential,
    reference_to,
)
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader
from watcherlite.plugins.openstack import connections
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings

AUTH = {
    'auth_url': 'http://127.0.0.1:9/v3',
    'username': 'watcherlite',
    'password': 'hunter2',
    'user_domain_id': 'default',
    'project_name': 'service',
    'project_domain_id': 'default',
}
YAML = """
clouds:
  here:
    auth: {auth_url: 'http://127.0.0.1:9/v3', username: w, password: p,
           project_name: service, user_domain_id: default, project_domain_id: default}
    interface: internal
    regions: [one, two]
"""


def trust(uuid='c1', external_id='trust1'):
    return Credential(uuid, TRUST, 'u', 'p', ('member',), external_id)


class CloudsCase(base.TestCase):
    def clouds(self, read_credential=None, **values):
        values = {'auth': AUTH, 'region_name': 'RegionOne', **values}
        clouds = Clouds(OpenStackSettings(**values), read_credential)
        self.addCleanup(clouds.close)
        return clouds


class TestConnections(CloudsCase):
    def test_connections_are_reused_per_user_and_region(self):
        read = []
        clouds = self.clouds(lambda uuid: read.append(uuid) or trust(uuid))

        service = clouds.service_connection()
        mine = clouds.connection_for('c1')
        elsewhere = clouds.connection_for('c1', 'two')
        others = clouds.connection_for('c2')

        self.assertIs(service, clouds.service_connection())
        self.assertIs(mine, clouds.connection_for('c1'))
        self.assertIs(elsewhere, clouds.connection_for('c1', 'two'))
        self.assertEqual(4, len({service, mine, elsewhere, others}))
        self.assertEqual('RegionOne', mine.config.region_name)
        self.assertEqual('two', elsewhere.config.region_name)
        # One token for both regions, and one pool of HTTP connections for all.
        self.assertIs(mine.session.auth, elsewhere.session.auth)
        self.assertIs(service.session.session, others.session.session)
        self.assertEqual(['c1', 'c1', 'c2'], read)

    def test_the_least_recently_used_connections_are_discarded(self):
        clouds = self.clouds(trust, max_connections=2)

        first, second = (clouds.connection_for(uuid) for uuid in ('c1', 'c2'))
        clouds.connection_for('c1')
        clouds.connection_for('c3')

        self.assertIs(first, clouds.connection_for('c1'))
        self.assertIsNot(second, clouds.connection_for('c2'))

    def test_regions_of_a_user_are_bounded_as_well(self):
        clouds = self.clouds(max_connections=3)

        for number in range(9):
            clouds.service_connection(f'r{number}')

        ((_, regions),) = clouds._users.values()
        self.assertLessEqual(len(regions), 3)

    def test_objects_are_shared_by_their_key_and_bounded(self):
        clouds = self.clouds(max_connections=2)
        made = []

        def make(name):
            return clouds.keep(name, lambda: made.append(name) or object())

        first = make('a')

        self.assertIs(first, make('a'))
        make('b')
        make('c')
        self.assertEqual(['a', 'b', 'c'], made)
        self.assertIsNot(first, make('a'))

    def test_the_newest_credential_of_the_owner_is_read(self):
        read = []
        clouds = self.clouds(lambda owner: read.append(owner) or trust())

        old = clouds.connection_for(reference_to('stack', 'c1'))
        new = clouds.connection_for(reference_to('stack', 'c2'))
        clouds.connection_for(reference_to('stack', 'c2'), 'elsewhere')
        clouds.connection_for('stack')

        self.assertIsNot(old, new)
        self.assertEqual({'stack'}, set(read))


class TestRenewal(CloudsCase):
    """A trust that is gone is replaced by the newest one of its owner."""

    def setUp(self):
        super().setUp()
        self.newest = trust(external_id='old')
        self.tried = []
        clouds = self.clouds(lambda owner: self.newest)
        self.plugin = clouds.connection_for('stack').session.auth
        self.useFixture(
            fixtures.MockPatchObject(v3.Password, 'get_auth_ref', self.authenticate)
        )

    def authenticate(self, session):
        self.tried.append(self.plugin.trust_id)
        if self.plugin.trust_id == 'old':
            raise keystone_exceptions.NotFound('gone')
        return 'token'

    def test_a_renewed_trust_is_used_by_existing_connections(self):
        self.newest = trust(external_id='new')

        self.assertEqual('token', self.plugin.get_auth_ref(None))
        self.assertEqual(['old', 'new'], self.tried)

    def test_without_a_newer_credential_the_error_of_keystone_is_raised(self):
        self.assertRaises(keystone_exceptions.NotFound, self.plugin.get_auth_ref, None)
        self.assertEqual(['old'], self.tried)


class TestAuthority(CloudsCase):
    def test_a_trust_is_used_by_the_service_user_without_its_project(self):
        plugin = self.clouds().connection_for(trust()).session.auth

        self.assertEqual('trust1', plugin.trust_id)
        (method,) = plugin.auth_methods
        self.assertEqual('watcherlite', method.username)
        self.assertIsNone(plugin.project_name)
        self.assertIsNone(plugin.project_domain_id)

    def test_an_application_credential_is_used_with_its_secret(self):
        credential = Credential(
            'c', APPLICATION_CREDENTIAL, 'u', 'p', (), 'app1', 'topsecret'
        )

        plugin = self.clouds().connection_for(credential).session.auth

        (method,) = plugin.auth_methods
        self.assertEqual('app1', method.application_credential_id)
        self.assertEqual('topsecret', method.application_credential_secret)
        self.assertNotIn('topsecret', repr(credential))

    def test_a_service_with_an_application_credential_cannot_use_trusts(self):
        clouds = self.clouds(
            auth_type='v3applicationcredential',
            auth={
                'auth_url': AUTH['auth_url'],
                'application_credential_id': 'a',
                'application_credential_secret': 's',
            },
        )

        clouds.service_connection()
        error = self.assertRaises(
            exceptions.ConfigurationError, clouds.connection_for, trust()
        )

        self.assertIn('cannot use the trusts of users', str(error))

    def test_the_authority_of_the_service_needs_the_option(self):
        error = self.assertRaises(
            exceptions.Forbidden, self.clouds().connection_for, None
        )
        lost = self.assertRaises(
            exceptions.Forbidden,
            self.clouds(lambda owner: None).connection_for,
            'stack',
        )
        allowed = self.clouds(allow_service_authority=True)

        for refusal in (error, lost):
            self.assertEqual(connections.NO_CREDENTIAL, str(refusal))
        self.assertIs(allowed.service_connection(), allowed.connection_for(None))


class TestClouds(CloudsCase):
    def setUp(self):
        super().setUp()
        self.path = self.home / 'clouds.yaml'
        self.path.write_text(YAML)

    def here(self, **values):
        return self.clouds(
            **{
                'cloud': 'here',
                'client_config_file': str(self.path),
                'auth': {},
                'region_name': None,
                **values,
            }
        )

    def test_a_cloud_has_its_own_region_and_interface_unless_others_are_set(self):
        first = self.here().service_connection()
        second = self.here(region_name='two', interface='public').service_connection()

        for connection, region, interface in (
            (first, 'one', 'internal'),
            (second, 'two', 'public'),
        ):
            self.assertEqual(region, connection.config.region_name)
            self.assertEqual(interface, connection.config.get_interface())

    def test_environment_variables_do_not_change_a_cloud(self):
        for name in ('OS_PASSWORD', 'OS_CLOUD', 'OS_CLIENT_CONFIG_FILE'):
            self.useFixture(fixtures.EnvironmentVariable(name, 'other'))

        connection = self.here().service_connection()

        self.assertEqual('p', connection.session.auth._password)

    def test_an_unknown_region_is_an_invalid_request(self):
        clouds = self.here()

        error = self.assertRaises(
            exceptions.Invalid, clouds.service_connection, 'missing'
        )

        self.assertEqual('The cloud here has no region missing', str(error))

    def test_a_cloud_with_one_region_may_have_others_in_its_catalog(self):
        self.path.write_text(YAML.replace('regions: [one, two]', 'region_name: one'))
        clouds = self.here()

        names = [
            clouds.service_connection(region).config.region_name
            for region in (None, 'two')
        ]

        self.assertEqual(['one', 'two'], names)

    def test_an_unknown_cloud_is_an_error_of_the_configuration(self):
        error = self.assertRaises(
            exceptions.ConfigurationError, self.here(cloud='gone').service_connection
        )

        self.assertIn('Cloud gone was not found', str(error))

    def test_the_user_of_a_cloud_uses_trusts(self):
        plugin = self.here().connection_for(trust()).session.auth

        self.assertEqual('trust1', plugin.trust_id)
        self.assertIsNone(plugin.project_name)


class TestMissing(base.TestCase):
    def test_without_a_cloud_the_first_use_names_the_options(self):
        clouds = Clouds(OpenStackSettings())

        error = self.assertRaises(
            exceptions.ConfigurationError, clouds.service_connection
        )

        self.assertFalse(clouds.is_configured)
        self.assertEqual(connections.NOT_CONFIGURED, str(error))


class Migrate(contract.CloudClient, contract.ActionType):
    """Use a cloud."""


class TestLoader(base.TestCase):
    def test_the_loader_passes_the_clouds_to_plugins_that_use_them(self):
        clouds = Clouds(OpenStackSettings(auth=AUTH))
        plugins = loader.Plugins.of(action_types={'migrate': Migrate}, clouds=clouds)

        self.assertIs(clouds, plugins.make_action_type('migrate').clouds)

    def test_plugins_get_an_error_without_a_configured_cloud(self):
        plugins = loader.Plugins.of(action_types={'migrate': Migrate})

        self.assertFalse(plugins.make_action_type('migrate').clouds.is_configured)
