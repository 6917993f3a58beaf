"""The selection of the endpoint by options and environment."""

import argparse

from tests import base
from watcherlite.cli.http import access
from watcherlite.cmd import exits

URL = 'http://api.example:9322'


class FindAccessTest(base.TestCase):
    def test_the_default_is_the_local_api_without_authentication(self):
        made = access.find({}, {})

        self.assertEqual(
            ('http://127.0.0.1:9322', {}, True, None, 'latest', 60.0, False),
            (
                *(made.endpoint, dict(made.headers()), made.verify, made.cert),
                *(made.version, made.timeout, made.renew()),
            ),
        )

    def test_options_precede_environment_variables(self):
        other = {'OS_ENDPOINT': 'http://other'}
        none = {'OS_AUTH_TYPE': 'none', 'OS_CLOUD': 'x', 'OS_TOKEN': 'abc'}
        basic = {'OS_USERNAME': 'me', 'OS_PASSWORD': 'x'}
        for environ, options, endpoint, headers in (
            (other, {'endpoint': URL}, URL, {}),
            ({**other, 'WATCHERLITE_ENDPOINT': URL}, {}, URL, {}),
            ({**none, 'OS_ENDPOINT': URL}, {}, URL, {}),
            ({'OS_TOKEN': 'abc'}, {'endpoint': URL}, URL, {'X-Auth-Token': 'abc'}),
            (
                basic,
                {'os_auth_type': 'HTTP_Basic'},
                'http://127.0.0.1:9322',
                {'Authorization': 'Basic bWU6eA=='},
            ),
        ):
            found = access.find(options, environ)
            self.assertEqual(
                (endpoint, headers), (found.endpoint, dict(found.headers()))
            )

    def test_certificates_and_versions_come_from_options_and_environment(self):
        for options, verify in (
            ({}, True),
            ({'os_cacert': '/ca.pem'}, '/ca.pem'),
            ({'os_cacert': '/ca.pem', 'insecure': True}, False),
        ):
            self.assertEqual(verify, access.find(options, {}).verify)
        for text, version in (
            ('1.5', '1.5'),
            ('1', 'latest'),
            ('Latest', 'latest'),
            ('1.latest', 'latest'),
        ):
            made = access.find({}, {'OS_INFRA_OPTIM_API_VERSION': text})

            self.assertEqual(version, made.version)

    def test_the_version_is_removed_from_the_endpoint(self):
        for text, expected in (
            (URL, URL),
            (f'{URL}/', URL),
            (f' {URL}/v1/ ', URL),
            (f'{URL}/infra-optim', f'{URL}/infra-optim'),
            (f'{URL}/infra-optim/v1', f'{URL}/infra-optim'),
            ('https://[::1]:9322/v1', 'https://[::1]:9322'),
            (f'{URL}?a=b', URL),
        ):
            self.assertEqual(expected, access.endpoint(text))

    def test_invalid_endpoints_are_rejected_without_showing_credentials(self):
        for text in (
            *('', 'x', 'ftp://x', 'http://', 'http://x:y', 'http://x:0'),
            'http://me:SECRET@x',
        ):
            error = self.assertRaises(exits.UsageError, access.endpoint, text)
            self.assertNotIn('SECRET', str(error))


class ConnectionOptionsTest(base.TestCase):
    def test_options_after_the_command_precede_options_before_it(self):
        parser = argparse.ArgumentParser()
        access.add_options(parser)
        first = parser.parse_args(['--endpoint', 'a', '--os-cloud', 'c', '--insecure'])
        second = parser.parse_args(['--os-endpoint', 'b'])

        self.assertEqual(
            {'endpoint': 'b', 'os_cloud': 'c', 'insecure': True},
            access.merge_options(first, second, None),
        )

    def test_names_of_options_are_unique(self):
        names = list(access.value_options())

        self.assertEqual(len(names), len(set(names)))
        self.assertIn('--os-endpoint-override', names)


class OrchestrationAccessTest(base.TestCase):
    """The endpoint and the project of stacks."""

    def test_the_endpoint_of_stacks_is_derived_from_any_endpoint_of_the_api(self):
        stacks, local = f'{URL}/orchestration', 'http://127.0.0.1:9322/orchestration'
        mine = f'{stacks}/v1/mine'
        paths = ('', '/', '/v1', '/infra-optim', '/infra-optim/v1/')
        paths += ('/orchestration', '/orchestration/v1')
        for environ, options, expected in (
            *(({}, {'endpoint': URL + path}, (stacks, 'default')) for path in paths),
            ({}, {}, (local, 'default')),
            ({}, {'endpoint': mine}, (stacks, 'mine')),
            ({}, {'endpoint': f'{URL}/heat/v1/mine'}, (f'{URL}/heat', 'mine')),
            ({}, {'endpoint': f'{URL}/v1/mine'}, (URL, 'mine')),
            ({}, {'endpoint': mine, 'os_project_id': 'yours'}, (stacks, 'yours')),
            ({'OS_PROJECT_ID': 'yours'}, {}, (local, 'yours')),
        ):
            made = access.find(options, environ, access.ORCHESTRATION)
            self.assertEqual(expected, (made.endpoint, made.project))

    def test_a_project_does_not_change_other_endpoints(self):
        made = access.find({'endpoint': URL, 'os_project_id': 'mine'}, {})

        self.assertEqual(URL, made.endpoint)

    def test_options_redefined_by_a_command_are_omitted(self):
        parser = argparse.ArgumentParser()
        access.add_options(parser, {'timeout'})

        parsed = parser.parse_args(['--project', 'mine'])

        self.assertEqual('mine', parsed.os_project_id)
        self.assertFalse(hasattr(parsed, 'timeout'))
