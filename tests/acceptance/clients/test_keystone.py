"""The unmodified keystonemiddleware, with the unmodified keystone."""

import datetime
import json
import re
import subprocess

import requests

from tests.acceptance.clients.commands import shared_clients
from tests.acceptance.clients.identity import (
    DOMAIN,
    PASSWORD,
    PROJECT,
    REGION,
    Keystone,
)
from tests.acceptance.clients.serving import ServedCase, Standalone
from tests.acceptance.daemons import SCRIPTS
from tests.bounded import TIMEOUT

SERVICE = 'watcherlite'
#: The role of each user, by name.
ROLES = {'operator': 'admin', 'reader': 'reader', 'observer': 'observer'}

DOCUMENT = {
    'actions': [
        {'name': 'one', 'action_type': 'nop', 'input_parameters': {'message': 'hello'}}
    ]
}


def reason(answer):
    """Return the text that clients display for an error."""
    return json.loads(answer.json()['error_message'])['faultstring']


class TestKeystone(ServedCase):
    """One keystone, a watcherlite process that uses it, and users with roles."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = shared_clients()
        cls.keystone = cls.use(Keystone())
        cls.keystone.add_user(SERVICE, 'service')
        for user, role in ROLES.items():
            cls.keystone.add_user(user, role)
        cls.keystone.add_system_role('reader', 'reader')
        cls.standalone = cls.use(Standalone(cls._settings))
        cls.keystone.add_endpoint('infra-optim', cls.standalone.url)

    @classmethod
    def _settings(cls, home, **options):
        return cls.keystone.settings(
            SERVICE,
            # Without a cache, a revoked token is rejected immediately.
            **{'token_cache_time': -1, 'http_request_max_retries': 0, **options},
        )

    def run_as(self, user, program, *argv):
        """Run a command with user name and password; return its result."""
        return self.clients.run(program, *self.keystone.credentials(user), *argv)

    def watcher(self, user, *argv):
        """Run `watcher`, which finds the endpoint in the catalog."""
        return self.run_as(user, 'watcher', *argv)

    def get(self, token=None, path='/v1/goals'):
        """Send a request with or without a token; return the response."""
        headers = {} if token is None else {'X-Auth-Token': token}
        return self.standalone.request('GET', path, headers=headers)

    def test_an_administrator_uses_the_catalog(self):
        made = self.watcher(
            *('operator', 'audit', 'create', '-g', 'dummy', '-s', 'dummy'),
            *('--name', 'by token', '-p', 'para1=1', '-f', 'json'),
        ).json()
        goals = self.run_as(
            *('operator', 'openstack', 'optimize', 'goal', 'list', '-f', 'json')
        ).json()

        self.assertEqual(('by token', 'ONESHOT'), (made['Name'], made['Audit Type']))
        self.assertIn('dummy', [goal['Name'] for goal in goals])
        self.assertEqual(200, self.get(self.keystone.token('operator')).status_code)

    def test_the_command_of_watcherlite_uses_the_catalog(self):
        # A script works as installed.
        done = subprocess.run(
            [str(SCRIPTS / 'watcherlite'), 'goal', 'list', '-f', 'json'],
            env={
                **self.clients.environment,
                'OS_AUTH_URL': self.keystone.url,
                'OS_USERNAME': 'operator',
                'OS_PASSWORD': PASSWORD,
                'OS_PROJECT_NAME': PROJECT,
                'OS_USER_DOMAIN_ID': DOMAIN['id'],
                'OS_PROJECT_DOMAIN_ID': DOMAIN['id'],
                'OS_REGION_NAME': REGION,
            },
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

        self.assertEqual((0, ''), (done.returncode, done.stderr))
        self.assertIn('dummy', [goal['Name'] for goal in json.loads(done.stdout)])

    def test_a_reader_of_the_system_lists_and_starts_nothing(self):
        def ask(method, path, token, **options):
            return self.standalone.request(
                method, path, headers={'X-Auth-Token': token}, **options
            )

        operator = self.keystone.token('operator')
        system = self.keystone.token('reader', project=None)
        plan = ask('POST', '/v1/action_plans', operator, json=DOCUMENT).json()['uuid']

        listed = ask('GET', '/v1/action_plans', system).json()['action_plans']
        refused = ask('POST', f'/v1/action_plans/{plan}/start', system, data='{')
        after = ask('GET', f'/v1/action_plans/{plan}', system).json()

        self.assertIn(plan, [row['uuid'] for row in listed])
        self.assertEqual(403, refused.status_code)
        self.assertEqual(
            "Policy doesn't allow action_plan:start to be performed.", reason(refused)
        )
        self.assertEqual('RECOMMENDED', after['state'])

    def test_a_reader_of_a_project_has_no_access_to_the_cloud(self):
        listed = self.watcher('reader', 'actionplan', 'list').refusal()
        status = self.get(self.keystone.token('reader'), '/v1/audits').status_code

        self.assertIn("Policy doesn't allow action_plan:get_all", listed)
        self.assertEqual(403, status)

    def test_a_user_without_a_relevant_role_is_refused(self):
        answer = self.get(self.keystone.token('observer'))

        self.assertEqual(403, answer.status_code)
        self.assertEqual(
            "Policy doesn't allow goal:get_all to be performed.", reason(answer)
        )

    def test_a_role_that_a_client_gives_itself_does_not_count(self):
        answer = self.standalone.request(
            'GET',
            '/v1/goals',
            headers={
                'X-Auth-Token': self.keystone.token('observer'),
                'X-Roles': 'admin',
                'X-Identity-Status': 'Confirmed',
            },
        )

        self.assertEqual(403, answer.status_code)

    def test_an_invalid_token_is_refused(self):
        revoked = self.keystone.token('operator')
        before = self.get(revoked)
        self.keystone.revoke(revoked)

        answers = [self.get(), self.get('invalid'), self.get(revoked)]

        self.assertEqual(200, before.status_code)
        for answer in answers:
            self.assertEqual(401, answer.status_code, answer.text)
            self.assertIn('authentication', reason(answer).lower())
            self.assertEqual(
                f'Keystone uri="{self.keystone.url}"',
                answer.headers['WWW-Authenticate'],
            )

    def test_a_token_is_valid_until_it_expires(self):
        now = datetime.datetime.now(datetime.UTC)
        hour = datetime.timedelta(hours=1)

        good, expired = (
            self.get(self.keystone.token_until('operator', expiry))
            for expiry in (now + hour, now - hour)
        )

        self.assertEqual(200, good.status_code, good.text)
        self.assertEqual(401, expired.status_code, expired.text)
        self.assertIn('authentication', reason(expired).lower())
        self.assertIn('WWW-Authenticate', expired.headers)

    def test_a_catalog_without_the_endpoint_is_not_a_server_error(self):
        token = self.keystone.token('operator')
        with self.keystone.without_internal_endpoint():
            internal = Standalone(self._settings)
            public = Standalone(lambda home: self._settings(home, interface='public'))
            answers = []
            for process in (internal, public):
                self.useFixture(process)
                answers.append(
                    process.request('GET', '/v1/goals', headers={'X-Auth-Token': token})
                )

        self.assertEqual([503, 200], [answer.status_code for answer in answers])
        self.assertIn('cannot be validated', reason(answers[0]))
        self.assertIn('Retry-After', answers[0].headers)
        self.assertIn('internal endpoint for identity', internal.daemon.text())

    def test_the_versions_are_public(self):
        self.assertEqual(200, self.get(path='/').status_code)

    def log_in(self, user, project=PROJECT, password=PASSWORD):
        """Submit the login form of the dashboard; return the session and the page."""
        session = requests.Session()
        self.addCleanup(session.close)
        place = f'{self.standalone.url}/dashboard'
        form = session.get(f'{place}/action_plans', timeout=TIMEOUT)
        fields = {
            'form_token': re.search('"form_token" value="(.*?)"', form.text)[1],
            'next': '/dashboard/action_plans',
            'user': user,
            'password': password,
            'user_domain': 'Default',
            'project': project,
            'project_domain': 'Default',
        }
        return session, session.post(f'{place}/login', fields, timeout=TIMEOUT)

    def test_the_dashboard_logs_in_for_a_project_or_for_the_system(self):
        for user, project in (('operator', PROJECT), ('reader', '')):
            with self.subTest(user):
                _, page = self.log_in(user, project)
                self.assertEqual(200, page.status_code)
                self.assertIn('<h1>Action plans</h1>', page.text)
                self.assertIn(f'<span>{user}</span>', page.text)
        for user, project, password in (
            ('operator', PROJECT, 'wrong'),
            ('operator', 'nothing', PASSWORD),
            ('operator', '', PASSWORD),
            ('unknown', PROJECT, PASSWORD),
        ):
            with self.subTest(f'{user} {project}'):
                _, page = self.log_in(user, project, password)
                self.assertEqual(403, page.status_code)
                self.assertIn('Keystone refused the login', page.text)
                self.assertNotIn(PASSWORD, page.text)

    def test_the_response_is_503_while_keystone_is_unreachable(self):
        token = self.keystone.token('operator')
        with self.keystone.made_unreachable():
            away = self.get(token)
            _, login = self.log_in('operator')
        back = self.get(token)

        self.assertEqual(503, away.status_code)
        self.assertIn('is not available', reason(away))
        self.assertEqual(503, login.status_code)
        self.assertIn('Keystone cannot check the login now', login.text)
        self.assertEqual(200, back.status_code)
