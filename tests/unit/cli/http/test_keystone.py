"""The messages for exceptions of OpenStack libraries."""

import fixtures
from keystoneauth1 import exceptions as keystone_exceptions

from tests import base
from watcherlite import exceptions
from watcherlite.cli.http import access, keystone
from watcherlite.cmd import exits


class FakeCloud:
    """A cloud whose token is requested repeatedly.

    :param answers: the error that each request for a token raises, or None
    """

    def __init__(self, *answers):
        self.answers = list(answers)

    def get_one(self, **arguments):
        return self

    def get_session(self):
        return self

    def get_requests_verify_args(self):
        return True, None

    def get_interface(self, service_type):
        return 'public'

    def get_region_name(self, service_type):
        return 'here'

    def get_endpoint(self, **arguments):
        return 'http://api:9322'

    def invalidate(self):
        return True

    def get_auth_headers(self):
        error = self.answers.pop(0)
        if error is not None:
            raise error
        return {'X-Auth-Token': 'a token'}


class TestToken(base.TestCase):
    """A token is requested at the beginning, and whenever the last one has expired."""

    def find(self, *answers):
        region = FakeCloud(*answers)
        self.useFixture(
            fixtures.MonkeyPatch(
                'openstack.config.OpenStackConfig', lambda **arguments: region
            )
        )
        return keystone.find({'os_cloud': 'mine'})

    def test_an_outage_of_keystone_is_reported(self):
        away = keystone_exceptions.ConnectFailure('no route')

        at_once = self.assertRaises(exceptions.ApiUnavailable, self.find, away)
        found = self.find(None, None, away)
        self.assertEqual({'X-Auth-Token': 'a token'}, found.headers())
        later = self.assertRaises(exceptions.ApiUnavailable, found.headers)

        self.assertEqual('keystone cannot be used: no route', str(later))
        self.assertEqual(str(at_once), str(later))

    def test_a_changed_password_is_reported(self):
        found = self.find(None, keystone_exceptions.Unauthorized('not any more'))

        error = self.assertRaises(exits.UsageError, found.headers)

        self.assertEqual(
            'authentication at keystone failed: not any more (HTTP 401)', str(error)
        )


class TestOrchestrationEndpoint(base.TestCase):
    """Stacks have a service type of their own, and a project."""

    def test_the_endpoint_and_the_project_of_stacks_come_from_the_catalog(self):
        class Cloud(FakeCloud):
            def get_endpoint(self, service_type, **arguments):
                return f'http://api:9322/{service_type}/v1/from-the-catalogue'

            def get_project_id(self):
                return 'mine'

        self.useFixture(
            fixtures.MonkeyPatch(
                'openstack.config.OpenStackConfig', lambda **arguments: Cloud(None)
            )
        )

        made = access.find({'os_cloud': 'mine'}, {}, access.ORCHESTRATION)

        self.assertEqual(
            ('http://api:9322/orchestration', 'mine'), (made.endpoint, made.project)
        )
