"""The commands find the API and authenticate by options and environment."""

import base64
import subprocess
import sys

from tests.bounded import TIMEOUT
from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import Api, ApiCommandCase, Reply, fault

TOKEN = 'X-Auth-Token'


class AccessTestCase(ApiCommandCase):
    def setUp(self):
        super().setUp()
        self.api.responses['GET /v1/goals'] = api_objects.page('goals')

    def last_header(self, name):
        return self.api.headers[-1][name]


class EndpointAndCredentialsTest(AccessTestCase):
    """Without authentication, and with credentials that need no keystone."""

    def test_a_configured_endpoint_overrides_netrc_proxies_and_clouds(self):
        (self.home / '.netrc').write_text(
            'machine 127.0.0.1 login me password SECRET\n'
        )
        for name in ('http_proxy', 'OS_AUTH_URL'):
            self._set(name, 'http://127.0.0.1:1')
        for cloud in (None, 'missing'):
            self._set('OS_CLOUD', cloud)

            self.succeed('goal', 'list')

            self.assertIsNone(self.last_header('Authorization'))
            self.assertIsNone(self.last_header(TOKEN))

    def test_options_are_accepted_before_and_after_the_command(self):
        self._set('WATCHERLITE_ENDPOINT', 'http://127.0.0.1:1')
        for argv in (
            ('--endpoint', self.api.url, 'goal', 'list'),
            ('goal', 'list', '--endpoint', self.api.url),
            ('--os-endpoint-override', self.api.url, 'goal', 'list'),
            (
                *('--endpoint', 'http://127.0.0.1:1'),
                *('goal', 'list', '--os-endpoint', self.api.url),
            ),
        ):
            self.succeed(*argv)

    def test_environment_variables_set_the_endpoint(self):
        for name in ('OS_ENDPOINT', 'OS_ENDPOINT_OVERRIDE', 'WATCHERLITE_ENDPOINT'):
            self._set('WATCHERLITE_ENDPOINT', None)
            self._set(name, self.api.url)

            self.succeed('goal', 'list')

            self._set(name, None)

    def test_requests_carry_a_given_token_or_basic_credentials(self):
        self.succeed('goal', 'list', '--os-auth-token', 'abc')

        self.assertEqual('abc', self.last_header(TOKEN))
        self._set('OS_AUTH_TYPE', 'http_basic')
        self._set('OS_USERNAME', 'me')
        self._set('OS_PASSWORD', 'pässword')

        self.succeed('goal', 'list')

        kind, _, value = self.last_header('Authorization').partition(' ')
        self.assertEqual(
            ('Basic', 'me:pässword'), (kind, base64.b64decode(value).decode())
        )


class KeystoneTest(AccessTestCase):
    """Through the service catalog."""

    def setUp(self):
        super().setUp()
        self._set('WATCHERLITE_ENDPOINT', None)
        self._set('XDG_CONFIG_HOME', str(self.home))
        self.keystone = self.useFixture(Api())
        url = self.keystone.url
        version = {
            'id': 'v3.14',
            'status': 'stable',
            'links': [{'rel': 'self', 'href': f'{url}/v3/'}],
        }
        self.keystone.responses['GET /v3'] = {'version': version}
        self.keystone.responses['GET /v3/'] = {'version': version}
        self.keystone.responses['POST /v3/auth/tokens'] = [
            self.token_response('first'),
            self.token_response('second'),
        ]
        self.clouds = self.home / 'clouds.yaml'
        self.clouds.write_text(f"""
            clouds:
              here:
                auth:
                  auth_url: {url}/v3
                  username: me
                  password: SECRET
                  project_name: mine
                  user_domain_name: Default
                  project_domain_name: Default
                region_name: RegionOne
            """)
        self._set('OS_CLIENT_CONFIG_FILE', str(self.clouds))

    def token_response(self, name):
        endpoint = {
            'id': name,
            'interface': 'public',
            'region': 'RegionOne',
            'region_id': 'RegionOne',
            'url': f'{self.api.url}/infra-optim',
        }
        service = {
            'type': 'infra-optim',
            'id': name,
            'name': 'watcher',
            'endpoints': [endpoint],
        }
        self.api.responses['GET /infra-optim/v1/goals'] = api_objects.page('goals')
        return Reply(
            {
                'token': {
                    'methods': ['password'],
                    'user': {'id': 'u', 'name': 'me', 'domain': {'id': 'default'}},
                    'project': {'id': 'p', 'name': 'mine', 'domain': {'id': 'default'}},
                    'catalog': [service],
                    'expires_at': '2130-01-01T00:00:00.000000Z',
                    'issued_at': '2030-01-01T00:00:00.000000Z',
                }
            },
            201,
            {'X-Subject-Token': name},
        )

    def test_a_cloud_provides_the_endpoint_and_a_token(self):
        self.succeed('--os-cloud', 'here', 'goal', 'list')
        self._set('OS_CLOUD', 'here')
        self.succeed('goal', 'list')

        tokens = [headers[TOKEN] for headers in self.api.headers]
        self.assertEqual(['first', 'second'], tokens)
        self.assertEqual([('GET /infra-optim/v1/goals',)] * 2, self.api.requests)

    def test_keystone_credentials_come_from_options_or_environment(self):
        self.clouds.unlink()
        values = {
            'auth-url': f'{self.keystone.url}/v3',
            'username': 'me',
            'password': 'SECRET',
            'project-name': 'mine',
            'user-domain-name': 'Default',
            'project-domain-name': 'Default',
        }

        self.succeed('goal', 'list', *(f'--os-{n}={v}' for n, v in values.items()))
        self._set('OS_CLIENT_CONFIG_FILE', None)
        for name, value in values.items():
            self._set(f'OS_{name.upper().replace("-", "_")}', value)
        self.succeed('goal', 'list')

        tokens = [headers[TOKEN] for headers in self.api.headers]
        bodies = [request[1] for request in self.keystone.requests if len(request) > 1]
        self.assertEqual(['first', 'second'], tokens)
        self.assertEqual(
            ['me', 'me'],
            [one['auth']['identity']['password']['user']['name'] for one in bodies],
        )

    def test_an_explicit_endpoint_overrides_the_service_catalog(self):
        self.succeed('goal', 'list', '--os-cloud', 'here', '--endpoint', self.api.url)

        self.assertEqual([('GET /v1/goals',)], self.api.requests)
        self.assertEqual('first', self.last_header(TOKEN))

    def test_an_expired_token_is_renewed_once(self):
        self.api.responses['GET /infra-optim/v1/goals'] = [
            fault(401, 'expired'),
            api_objects.page('goals'),
        ]

        self.succeed('goal', 'list', '--os-cloud', 'here')

        self.assertEqual(
            ['first', 'second'], [headers[TOKEN] for headers in self.api.headers]
        )

    def test_keystone_and_catalog_errors_are_reported(self):
        wrong = {'error': {'code': 401, 'message': 'Wrong.', 'title': 'Unauthorized'}}
        other = self.token_response('first')
        other.body['token']['catalog'][0]['type'] = 'compute'
        clouds = self.clouds.read_text()
        away = clouds.replace(self.keystone.url, 'http://127.0.0.1:1')
        for cloud, answer, text, expected, pattern in (
            (
                *('here', Reply(wrong, 401), clouds, 2),
                r'authentication at keystone failed: Wrong\.',
            ),
            ('there', other, clouds, 2, 'the cloud cannot be used: .*there'),
            (
                *('here', other, clouds, 2),
                'the service catalog has no endpoint of type infra-optim; add one, '
                'or set --os-endpoint-override$',
            ),
            ('here', other, away, 3, 'keystone cannot be used: '),
        ):
            self.keystone.responses['POST /v3/auth/tokens'] = answer
            self.clouds.write_text(text)

            code, message = self.fail('goal', 'list', '--os-cloud', cloud)

            self.assertEqual(expected, code)
            self.assertRegex(message, rf'\A{pattern}')
            self.assertNotIn('SECRET', message)

    def test_missing_openstacksdk_is_reported(self):
        hidden = (
            'import sys; sys.modules["openstack"] = None; '
            'from watcherlite.cli import main; sys.exit(main.main(sys.argv[1:]))'
        )
        found = subprocess.run(
            [sys.executable, '-c', hidden, 'goal', 'list', '--os-cloud', 'here'],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

        self.assertEqual(
            (
                2,
                '',
                'watcherlite: keystone requires openstacksdk; install it with: pip '
                'install "watcherlite[openstack]". Without keystone, set '
                '--endpoint\n',
            ),
            (found.returncode, found.stdout, found.stderr),
        )
