"""The unmodified python-watcherclient of PyPI, with one watcherlite process.

Every command of `watcher` without authentication, and of `openstack optimize` with
names and passwords; separate tests cover the other authentication of each.
"""

import ast
import inspect
import itertools

from tests.acceptance.clients import audit_tests, catalog_tests, version_tests
from tests.acceptance.clients.client_case import ClientCase

USER, READER, PASSWORD = 'operator', 'reader', 'secret'
#: PASSWORD as a hash of `htpasswd -B`, with the minimum number of rounds.
HASH = '$2b$04$pWkHJJynrVuVawVweqer6.T1kp71wlYeow1EoljXrzW7iedWnoK6i'
NAMES = """
import importlib.metadata
for point in importlib.metadata.entry_points(group='watcherclient.v1'):
    print(point.name)
"""
#: A program that uses the Python interface without a version.
PROGRAM = """
import json, sys
from watcherclient import client
watcher = client.get_client('1', os_endpoint_override=sys.argv[1])
audit = watcher.audit.create(
    audit_type='ONESHOT', goal='dummy', strategy='dummy', name='created by a program')
print(json.dumps({
    'audit': audit.to_dict(),
    'goals': [goal.name for goal in watcher.goal.list(limit=0)],
    'same': watcher.audit.get('created by a program').uuid == audit.uuid,
}))
"""


def list_commands() -> set[str]:
    """Return the commands that the tests run, named as in the client: noun_verb."""
    return {
        f'{first.value}_{second.value}'
        for module in (audit_tests, catalog_tests, version_tests)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        for words in [getattr(node, 'elts', getattr(node, 'args', None))]
        if isinstance(words, list)
        for first, second in itertools.pairwise(words[:2])
        if isinstance(first, ast.Constant) and isinstance(second, ast.Constant)
    }


class ClientTests(
    catalog_tests.CatalogTests,
    catalog_tests.TemplateTests,
    audit_tests.AuditTests,
    audit_tests.PlanTests,
    version_tests.PageTests,
    version_tests.VersionTests,
):
    """All tests of the clients of Watcher; a mixin that precedes `ClientCase`."""


class TestWatcher(ClientTests, ClientCase):
    """`watcher`, without authentication."""

    def test_both_programs_work_without_a_password_and_with_a_token(self):
        endpoint = f'--os-endpoint={self.standalone.url}'
        command = ('optimize', 'goal', 'list')
        # A script works as installed.
        script, run = self.clients.run_script, self.clients.run
        for call, *argv in (
            (script, 'watcher', *self.access(), *command[1:]),
            (run, 'watcher', *self.access(), '--os-auth-token=any', *command[1:]),
            (script, 'openstack', '--os-auth-type=none', endpoint, *command),
            (
                *(run, 'openstack', '--os-auth-type=admin_token', '--os-token=any'),
                *(endpoint, *command),
            ),
        ):
            done = call(*argv)

            self.assertIn('| dummy ', done.out, str(done))

    def test_every_command_of_the_client_is_tested(self):
        done = self.clients.run('python', '-c', NAMES)

        self.assertEqual(set(), set(done.out.split()) - list_commands())

    def test_a_program_that_names_no_version_gets_the_oldest(self):
        done = self.clients.run('python', '-c', PROGRAM, self.standalone.url)
        shown = done.json()

        self.assertTrue(shown['same'])
        self.assertIn('dummy', shown['goals'])
        self.assertIn('parameters', shown['audit'])
        self.assertFalse(
            {'force', 'start_time', 'status_message'} & set(shown['audit'])
        )

    def test_the_endpoint_may_have_a_version_or_the_usual_prefix(self):
        for suffix in ('/v1', '/infra-optim', '/infra-optim/v1'):
            endpoint = f'--os-endpoint-override={self.standalone.url}{suffix}'

            done = self.clients.run(
                'watcher', endpoint, 'strategy', 'list', '--limit', '1'
            )

            self.assertEqual(0, done.code, str(done))


class TestWithPassword(ClientTests, ClientCase):
    """With names and passwords, one of which has limited rights.

    `openstack optimize` has the plugin http_basic; `watcher` takes both from the URL.
    """

    program = 'openstack'

    @classmethod
    def settings(cls, home):
        passwords = home / 'htpasswd'
        passwords.write_text(f'{USER}:{HASH}\n{READER}:{HASH}\n')
        return {
            'api': {
                'auth_strategy': 'http_basic',
                'http_basic_auth_user_file': passwords,
                'http_basic_user_roles': f'{USER}:admin,{READER}:reader',
            }
        }

    def call(self, method, path, **options):
        return super().call(method, path, auth=(USER, PASSWORD), **options)

    def access(self, user=USER, password=PASSWORD):
        if self.program == 'openstack':
            return (
                '--os-auth-type=http_basic',
                f'--os-username={user}',
                f'--os-password={password}',
                f'--os-endpoint={self.standalone.url}',
            )
        place = self.standalone.url.replace('//', f'//{user}:{password}@')
        return (f'--os-endpoint-override={place}',)

    def run_as(self, program, user, password, *argv):
        """Run a command of a program as another user; return its result."""
        self.program = program
        noun = ('optimize',) if self.program == 'openstack' else ()
        return self.clients.run(
            self.program, *self.access(user, password), *noun, *argv
        )

    def test_a_wrong_password_is_not_authenticated(self):
        without = self.standalone.request('GET', '/v1/goals')

        for program in ('watcher', 'openstack'):
            for given in ((USER, 'wrong'), ('unknown', PASSWORD)):
                error = self.run_as(program, *given, 'goal', 'list').refusal()
                self.assertIn('401', error, program)
        self.assertEqual(401, without.status_code)
        self.assertIn('Basic realm=', without.headers['WWW-Authenticate'])

    def test_a_reader_reads_and_changes_nothing(self):
        plan = self.dummy_plan('to be read')

        for program in ('watcher', 'openstack'):
            words = (program, READER, PASSWORD, 'actionplan')
            read = self.run_as(*words, 'show', plan)
            self.assertEqual(0, read.code, str(read))
            error = self.run_as(*words, 'start', plan).refusal()
            self.assertIn(
                "Policy doesn't allow action_plan:start to be performed", error
            )
            self.assertIn('(HTTP 403)', error)
        after = self.json('actionplan', 'show', plan)
        self.assertEqual('RECOMMENDED', after['State'])

    def test_name_and_password_may_be_environment_variables(self):
        place = self.standalone.url.replace('//', f'//{USER}:{PASSWORD}@')
        done = self.clients.run('watcher', 'goal', 'list', OS_ENDPOINT_OVERRIDE=place)
        self.assertIn('| dummy ', done.out, str(done))
        done = self.clients.run(
            *('openstack', f'--os-endpoint={self.standalone.url}'),
            *('optimize', 'goal', 'list'),
            OS_AUTH_TYPE='http_basic',
            OS_USERNAME=USER,
            OS_PASSWORD=PASSWORD,
        )

        self.assertIn('| dummy ', done.out, str(done))
