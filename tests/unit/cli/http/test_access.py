"""The selection of the endpoint by options and environment."""

import argparse

from tests import base
from watcherlite.cli.http import access
from watcherlite.cmd import exits

URL = 'http://api.example:9322'


def found(environ=None, **options):
    made = access.find(options, environ or {})
    return made.endpoint, dict(made.headers())


class FindTest(base.TestCase):
    def test_the_api_of_this_machine_without_authentication(self):
        made = access.find({}, {})

        self.assertEqual(
            ('http://127.0.0.1:9322', {}, True, None, 'latest', 60.0, False),
            (
                *(made.endpoint, dict(made.headers()), made.verify, made.cert),
                *(made.version, made.timeout, made.renew()),
            ),
        )

    def test_an_option_counts_more_than_the_environment(self):
        self.assertEqual(
            (URL, {}), found({'OS_ENDPOINT': 'http://other'}, endpoint=URL)
        )

    def test_our_variable_counts_more_than_those_of_others(self):
        self.assertEqual(
            (URL, {}),
            found({'OS_ENDPOINT': 'http://other', 'WATCHERLITE_ENDPOINT': URL}),
        )

    def test_auth_type_none_ignores_other_credentials(self):
        environ = {
            'OS_AUTH_TYPE': 'none',
            'OS_CLOUD': 'x',
            'OS_ENDPOINT': URL,
            'OS_TOKEN': 'abc',
        }

        self.assertEqual((URL, {}), found(environ))

    def test_a_token_beside_an_endpoint_is_sent(self):
        self.assertEqual(
            (URL, {'X-Auth-Token': 'abc'}), found({'OS_TOKEN': 'abc'}, endpoint=URL)
        )

    def test_basic_needs_no_endpoint(self):
        self.assertEqual(
            ('http://127.0.0.1:9322', {'Authorization': 'Basic bWU6eA=='}),
            found({'OS_USERNAME': 'me', 'OS_PASSWORD': 'x'}, os_auth_type='HTTP_Basic'),
        )

    def test_certificates(self):
        for options, verify in (
            ({}, True),
            ({'os_cacert': '/ca.pem'}, '/ca.pem'),
            ({'os_cacert': '/ca.pem', 'insecure': True}, False),
        ):
            self.assertEqual(verify, access.find(options, {}).verify)

    def test_versions(self):
        for text, version in (
            ('1.5', '1.5'),
            ('1', 'latest'),
            ('Latest', 'latest'),
            ('1.latest', 'latest'),
        ):
            made = access.find({}, {'OS_INFRA_OPTIM_API_VERSION': text})

            self.assertEqual(version, made.version)

    def test_endpoint_ends_before_the_version(self):
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

    def test_invalid_endpoints(self):
        for text in ('', 'x', 'ftp://x', 'http://', 'http://x:y', 'http://x:0'):
            self.assertRaises(exits.UsageError, access.endpoint, text)

    def test_secrets_are_not_repeated(self):
        error = self.assertRaises(
            exits.UsageError, access.endpoint, 'http://me:SECRET@x'
        )

        self.assertNotIn('SECRET', str(error))


class OptionsTest(base.TestCase):
    def test_the_last_command_line_counts(self):
        parser = argparse.ArgumentParser()
        access.add_options(parser)
        first = parser.parse_args(['--endpoint', 'a', '--os-cloud', 'c', '--insecure'])
        second = parser.parse_args(['--os-endpoint', 'b'])

        self.assertEqual(
            {'endpoint': 'b', 'os_cloud': 'c', 'insecure': True},
            access.merged(first, second, None),
        )

    def test_names_of_options_are_there_once(self):
        names = list(access.value_options())

        self.assertEqual(len(names), len(set(names)))
        self.assertIn('--os-endpoint-override', names)


class StacksTest(base.TestCase):
    """The endpoint and the project of stacks."""

    def found(self, environ=None, **options):
        made = access.find(options, environ or {}, access.ORCHESTRATION)
        return made.endpoint, made.project

    def test_they_are_beside_all_else_of_an_api(self):
        stacks = f'{URL}/orchestration'
        for endpoint in (
            URL,
            f'{URL}/',
            f'{URL}/v1',
            f'{URL}/infra-optim',
            f'{URL}/infra-optim/v1/',
            stacks,
            f'{stacks}/v1',
        ):
            self.assertEqual((stacks, 'default'), self.found(endpoint=endpoint))
        self.assertEqual(
            ('http://127.0.0.1:9322/orchestration', 'default'), self.found()
        )

    def test_an_endpoint_with_a_project_is_one_of_stacks_as_it_is(self):
        for endpoint, place in (
            (f'{URL}/orchestration/v1/mine', f'{URL}/orchestration'),
            (f'{URL}/heat/v1/mine', f'{URL}/heat'),
            (f'{URL}/v1/mine', URL),
        ):
            self.assertEqual((place, 'mine'), self.found(endpoint=endpoint))

    def test_explicit_project_takes_precedence(self):
        endpoint = f'{URL}/orchestration/v1/mine'

        self.assertEqual(
            'yours', self.found(endpoint=endpoint, os_project_id='yours')[1]
        )
        self.assertEqual('yours', self.found({'OS_PROJECT_ID': 'yours'})[1])

    def test_other_endpoints_have_no_stacks(self):
        made = access.find({'endpoint': URL, 'os_project_id': 'mine'}, {})

        self.assertEqual(URL, made.endpoint)

    def test_an_option_that_means_something_else_behind_a_command_is_left_out(self):
        parser = argparse.ArgumentParser()
        access.add_options(parser, {'timeout'})

        parsed = parser.parse_args(['--project', 'mine'])

        self.assertEqual('mine', parsed.os_project_id)
        self.assertFalse(hasattr(parsed, 'timeout'))
