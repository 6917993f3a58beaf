"""Connections to a real cloud, and what happens when parts of it are gone."""

import functools

from tests import ports
from tests.cloud import case
from watcherlite import exceptions
from watcherlite.domain.outcomes import Done
from watcherlite.plugins import base as contract
from watcherlite.plugins.openstack import delays, errors
from watcherlite.testing.actions import run_action
from watcherlite.testing.clock import ManualClock


class ListServers(contract.CloudClient, contract.ActionType):
    """List the servers, and wait while nova is not available."""

    def execute(self, context):
        return delays.attempt(context, functools.partial(self._list, context))

    def poll(self, context, token):
        return delays.attempt(context, functools.partial(self._list, context), token)

    def _list(self, context, token):
        with errors.translated('compute', 'the servers'):
            servers = list(self.clouds.service_connection().compute.servers())
        return Done({'count': len(servers)})


def refusing_url():
    return f'http://127.0.0.1:{ports.reserve_port()}'


class TestConnections(case.CloudCase):
    def projects(self, clouds):
        connection = clouds.service_connection()
        return connection.session.auth.get_access(connection.session).project_name

    def test_a_cloud_of_clouds_yaml(self):
        self.assertEqual('service', self.projects(self.open_clouds()))

    def test_the_options_of_keystoneauth(self):
        clouds = self.open_clouds(
            cloud=None,
            client_config_file=None,
            auth=self.options(),
            region_name=self.variables['OS_REGION_NAME'],
        )

        self.assertEqual('service', self.projects(clouds))
        self.assertTrue(list(clouds.service_connection().compute.services()))

    def test_a_wrong_password_is_an_error_of_the_configuration(self):
        clouds = self.open_clouds(
            cloud=None, client_config_file=None, auth=self.options(password='wrong-1')
        )

        with (
            self.assertRaisesRegex(
                exceptions.Forbidden, r'keystone refuses the credentials \(HTTP 401\)'
            ) as caught,
            errors.translated('compute', 'the servers'),
        ):
            list(clouds.service_connection().compute.servers())
        self.assertNotIn('wrong-1', str(caught.exception))
        self.assertNotIn('wrong-1', self.log.output)

    def test_an_unknown_region_has_no_endpoint(self):
        clouds = self.open_clouds()

        with (
            self.assertRaisesRegex(exceptions.Invalid, 'no endpoint of the compute'),
            errors.translated('compute', 'the servers'),
        ):
            list(clouds.service_connection('missing').compute.servers())

    def test_a_request_without_the_required_role_is_forbidden(self):
        with (
            self.assertRaisesRegex(exceptions.Forbidden, r'HTTP 403'),
            errors.translated('compute', 'the hypervisors'),
        ):
            list(self.connect(case.DEMO).compute.hypervisors())

    def test_a_token_of_a_user_gives_a_connection_of_its_project(self):
        demo = self.connect(case.DEMO)
        made = demo.identity.create_application_credential(
            demo.current_user_id, self.unique_name('app')
        )
        self.addCleanup(
            demo.identity.delete_application_credential, demo.current_user_id, made.id
        )
        # Its token cannot be exchanged for another one.
        restricted = self.open_clouds(
            cloud=None,
            client_config_file=None,
            auth_type='v3applicationcredential',
            auth={
                'auth_url': self.options()['auth_url'],
                'application_credential_id': made.id,
                'application_credential_secret': made.secret,
            },
        ).service_connection()
        clouds = self.open_clouds()

        for session in (demo.session, restricted.session):
            token = session.get_token()
            connection = clouds.token_connection(token)
            self.assertEqual(demo.current_project_id, connection.current_project_id)
            self.assertEqual(token, connection.session.get_token())
            self.assertIsNotNone(connection.compute.find_flavor('m1.nano'))
        with (
            self.assertRaises(exceptions.Forbidden),
            errors.translated('identity', 'the token'),
        ):
            clouds.token_connection('not-a-token')

    def test_a_missing_server_is_not_found(self):
        with (
            self.assertRaisesRegex(exceptions.NotFound, '^server 6f70: the compute'),
            errors.translated('compute', 'server 6f70'),
        ):
            self.connect(case.DEMO).compute.get_server('6f70')


class TestFailures(case.CloudCase):
    def test_an_action_waits_for_nova_and_then_fails_with_its_name(self):
        path = self.changed_clouds(compute_endpoint_override=refusing_url())
        clock = ManualClock()
        began = clock.monotonic()

        result = run_action(
            ListServers,
            {},
            clouds=self.open_clouds(client_config_file=path, retries=0),
            clock=clock,
            timeout=120,
        )

        self.assertEqual('FAILED', result.status)
        self.assertIn('the compute service is not available', result.status_message)
        self.assertGreater(clock.monotonic() - began, 60)

    def test_an_action_waits_for_keystone(self):
        clouds = self.open_clouds(
            cloud=None,
            client_config_file=None,
            auth=self.options(auth_url=f'{refusing_url()}/v3'),
            retries=0,
        )

        result = run_action(ListServers, {}, clouds=clouds, timeout=60)

        self.assertEqual('FAILED', result.status)
        self.assertIn('service is not available', result.status_message)

    def test_a_token_that_was_revoked_is_replaced(self):
        clouds = self.open_clouds()
        session = clouds.service_connection().session
        first = run_action(ListServers, {}, clouds=clouds)
        # Unknown to nova, which would accept a token from its cache for minutes.
        session.invalidate()
        token = session.get_token()
        self.connect(case.ADMIN).identity.delete(
            '/auth/tokens', headers={'X-Subject-Token': token}
        )

        second = run_action(ListServers, {}, clouds=clouds)

        self.assertEqual(['SUCCEEDED'] * 2, [first.status, second.status])
        self.assertNotEqual(token, session.get_token())
        self.assertNotIn(token, self.log.output)
