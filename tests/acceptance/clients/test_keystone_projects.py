"""Stacks and clusters of keystone projects, with the unmodified clients."""

import textwrap
from urllib import parse

from tests import base
from tests.acceptance.clients import environments, senlin_case, stack_templates
from tests.acceptance.clients.commands import shared_clients
from tests.acceptance.clients.identity import PROJECT, Keystone
from tests.acceptance.clients.serving import Standalone
from tests.acceptance.daemons import wait_until

SERVICE = 'watcherlite'
OTHER = 'other'
#: user -> role, project
USERS = {
    'member': ('member', PROJECT),
    'reader': ('reader', PROJECT),
    'other-member': ('member', OTHER),
    'other-manager': ('manager', OTHER),
}


class TestKeystoneProjects(base.TestCase):
    """One keystone with two projects, and a watcherlite process that uses it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = {
            'stack': shared_clients(environments.HEAT),
            'cluster': shared_clients(environments.SENLIN),
        }
        cls.keystone = cls._use(Keystone())
        cls.keystone.add_project(OTHER)
        cls.keystone.add_user(SERVICE, 'service')
        for user, (role, project) in USERS.items():
            cls.keystone.add_user(user, role, project=project)
        cls.standalone = cls._use(Standalone(cls._settings))
        cls.keystone.add_endpoint(
            'orchestration', f'{cls.standalone.url}/orchestration/v1/%(tenant_id)s'
        )
        cls.keystone.add_endpoint('clustering', f'{cls.standalone.url}/clustering')

    @classmethod
    def _use(cls, fixture):
        fixture.setUp()
        cls.addClassCleanup(fixture.cleanUp)
        return fixture

    @classmethod
    def _settings(cls, home):
        # By default managers of projects have no access to plans.
        rules = home / 'rules.yaml'
        rules.write_text('"system_manager_api": "rule:manager_api"\n')
        return {**cls.keystone.settings(SERVICE), 'oslo_policy': {'policy_file': rules}}

    def setUp(self):
        super().setUp()
        self.addOnException(
            lambda _: self.addDetail('standalone.log', self.standalone.log())
        )

    def command(self, user, noun, *argv):
        """Run `openstack stack` or `cluster`, with the endpoint of the catalog."""
        credentials = self.keystone.credentials(user, USERS[user][1])
        return self.clients[noun].run('openstack', *credentials, noun, *argv)

    def stack(self, user, *argv):
        """Run `openstack stack`."""
        return self.command(user, 'stack', *argv)

    def cluster(self, user, *argv):
        """Run `openstack cluster`."""
        return self.command(user, 'cluster', *argv)

    def show_stack(self, user, *argv):
        """Return the output of `openstack stack`."""
        return self.stack(user, *argv, '-f', 'json').json()

    def show_cluster(self, user, *argv):
        """Return the output of `openstack cluster`."""
        return self.cluster(user, *argv, '-f', 'json').json()

    def request(self, user, method, path, **options):
        """Send a request without a client; return the response."""
        token = self.keystone.token(user, project=USERS[user][1])
        headers = {'X-Auth-Token': token, 'OpenStack-API-Version': 'clustering 1.15'}
        return self.standalone.request(method, path, headers=headers, **options)

    def send(self, user, method, path, **options):
        """Send a request without a client; return the status and the error type."""
        answer = self.request(user, method, path, **options)
        kind = None if answer.ok else answer.json()['error']['type']
        return answer.status_code, kind

    def webhook(self, receiver):
        """Renew the token of a webhook, and return its path with the token."""
        body = {'receiver': {'renew_token': True}}
        answer = self.request(
            'member', 'PATCH', f'/clustering/v1/receivers/{receiver}', json=body
        )
        url = parse.urlsplit(answer.json()['receiver']['channel']['alarm_url'])
        return f'{url.path}?{url.query}'

    def create_stack(self, name):
        """Create a stack; return the path of its template, and the response."""
        path = self.home / f'{name}.yaml'
        path.write_text(textwrap.dedent(stack_templates.MORE))
        created = self.show_stack('member', 'create', name, '-t', str(path))
        mount = f'/orchestration/v1/{self.keystone.projects[PROJECT]}'
        self.wait_for(
            f'{mount}/stacks/{name}', 'stack', 'stack_status', 'CREATE_COMPLETE'
        )
        return path, created

    def wait_for(self, path, kind, key, status):
        """Wait until an object of the API has a status."""
        headers = {'X-Auth-Token': self.keystone.token('reader')}

        def read():
            answer = self.standalone.request('GET', path, headers=headers)
            return answer.json()[kind][key]

        wait_until(lambda: read() == status, lambda: f'{status}, not {read()}')

    def test_a_stack_belongs_to_its_project_and_a_reader_cannot_change_it(self):
        path, created = self.create_stack('web')

        # Users of its project see it, by name and by id.
        for user in ('member', 'reader'):
            for name in ('web', created['id']):
                shown = self.show_stack(user, 'show', name)
                self.assertEqual(
                    (created['id'], self.keystone.projects[PROJECT]),
                    (shown['id'], shown['parameters']['OS::project_id']),
                )
            self.assertEqual(
                ['web'], [row['Stack Name'] for row in self.show_stack(user, 'list')]
            )

        # Users of other projects do not find it.
        self.assertEqual([], self.show_stack('other-member', 'list'))
        for name in ('web', created['id']):
            self.assertIn(
                f'Stack not found: {name}',
                self.stack('other-member', 'show', name).refusal(),
            )
            self.assertIn(
                'Unable to delete 1 of the 1 stacks',
                self.stack('other-member', 'delete', '-y', name).refusal(),
            )
        for user, project, expected in (
            ('member', PROJECT, (200, None)),
            ('other-member', OTHER, (404, 'EntityNotFound')),
            ('other-member', PROJECT, (403, 'Forbidden')),
        ):
            mount = f'/orchestration/v1/{self.keystone.projects[project]}'
            below = f'stacks/web/{created["id"]}'
            self.assertEqual(expected, self.send(user, 'GET', f'{mount}/{below}'))

        # A reader cannot change anything.
        events = self.show_stack('member', 'event', 'list', 'web')
        for argv in (
            ('create', 'new', '-t', str(path)),
            ('update', 'web', '--existing'),
            ('suspend', 'web'),
            ('resource', 'mark', 'unhealthy', 'web', 'change'),
        ):
            refused = self.stack('reader', *argv).refusal()
            self.assertIn("Policy doesn't allow", refused)
        self.assertIn(
            'Unable to delete 1 of the 1 stacks',
            self.stack('reader', 'delete', '-y', 'web').refusal(),
        )
        self.assertEqual(events, self.show_stack('member', 'event', 'list', 'web'))
        self.assertEqual(
            ['web'], [row['Stack Name'] for row in self.show_stack('member', 'list')]
        )

        # A member of its project can delete it.
        done = self.stack('member', 'delete', '-y', '--wait', 'web')
        self.assertEqual(0, done.code, str(done))
        self.assertEqual([], self.show_stack('reader', 'list'))

    def test_a_plan_cannot_act_on_another_project(self):
        stack = self.create_stack('locked')[1]['id']
        before = self.show_stack('member', 'event', 'list', 'locked')
        token = self.keystone.token('other-manager', project=OTHER)

        def create_plan(name):
            """Request a plan that locks a stack, and one whose target is the stack."""
            steps = (
                {'action_type': 'stack_lock', 'input_parameters': {'stack': name}},
                {
                    'action_type': 'sleep',
                    'input_parameters': {'duration': 60},
                    'target': f'stack:{name}',
                },
            )
            found = []
            for step in steps:
                answer = self.standalone.request(
                    'POST',
                    '/v1/action_plans',
                    json={'actions': [{'name': 'a', **step}]},
                    headers={'X-Auth-Token': token},
                )
                found.append((answer.status_code, answer.text.replace(name, 'UUID')))
            return found

        foreign = create_plan(stack)

        self.assertEqual([400, 400], [status for status, _ in foreign])
        self.assertIn('The Stack (UUID) could not be found', foreign[0][1])
        self.assertEqual(foreign, create_plan('00000000-0000-4000-8000-000000000000'))
        self.assertEqual(before, self.show_stack('member', 'event', 'list', 'locked'))
        done = self.stack('member', 'delete', '-y', '--wait', 'locked')
        self.assertEqual(0, done.code, str(done))

    def test_a_cluster_belongs_to_its_project_and_a_reader_cannot_change_it(self):
        path = self.home / 'profile.yaml'
        path.write_text(textwrap.dedent(senlin_case.PROFILE))
        profile = ('profile', 'create', '--spec-file', str(path), 'server')

        self.show_cluster('member', *profile)
        created = self.show_cluster('member', 'create', '--profile', 'server', 'web')
        hook = self.show_cluster(
            *('member', 'receiver', 'create', '--cluster', 'web'),
            *('--action', 'CLUSTER_SCALE_OUT', 'hook'),
        )
        self.wait_for('/clustering/v1/clusters/web', 'cluster', 'status', 'ACTIVE')

        # Users of its project see it, by name, by id and by a prefix of the id.
        for user in ('member', 'reader'):
            for name in ('web', created['id'], created['id'][:8]):
                shown = self.show_cluster(user, 'show', name)
                self.assertEqual(
                    (created['id'], self.keystone.projects[PROJECT]),
                    (shown['id'], shown['project_id']),
                )
            rows = self.show_cluster(user, 'list')
            self.assertEqual(['web'], [row['name'] for row in rows])

        # Users of other projects find neither the cluster nor its related objects.
        (action,) = self.show_cluster('member', 'action', 'list', '--full-id')
        for noun in ((), ('profile',), ('action',), ('event',)):
            self.assertEqual([], self.show_cluster('other-member', *noun, 'list'))
        for name in ('web', created['id'], created['id'][:8]):
            refused = self.cluster('other-member', 'show', name).refusal()
            self.assertIn(name, refused)
        mount = '/clustering/v1'
        cancel = {'action': {'status': 'CANCELLED'}}
        for method, below, options in (
            ('GET', f'clusters/{created["id"]}', {}),
            ('DELETE', f'clusters/{created["id"]}?force=true', {}),
            ('POST', f'clusters/{created["id"]}/actions', {'json': {'check': {}}}),
            ('PATCH', f'actions/{action["id"]}', {'json': cancel}),
        ):
            self.assertEqual(
                (404, 'ResourceNotFound'),
                self.send('other-member', method, f'{mount}/{below}', **options),
            )
        self.assertEqual(
            (403, 'Forbidden'),
            self.send('other-member', 'GET', f'{mount}/clusters?global_project=true'),
        )

        # A reader cannot change anything, and does not see receivers.
        for argv in (('create', '--profile', 'server', 'new'), ('receiver', 'list')):
            refused = self.cluster('reader', *argv).refusal()
            self.assertIn("Policy doesn't allow", refused)
        for method, below, options in (
            (
                'PATCH',
                f'clusters/{created["id"]}',
                {'json': {'cluster': {'name': 'x'}}},
            ),
            ('POST', f'clusters/{created["id"]}/actions', {'json': {'check': {}}}),
            ('PATCH', f'actions/{action["id"]}', {'json': cancel}),
            ('DELETE', f'clusters/{created["id"]}', {}),
        ):
            self.assertEqual(
                (403, 'Forbidden'),
                self.send('reader', method, f'{mount}/{below}', **options),
            )
        rows = self.show_cluster('member', 'action', 'list')
        self.assertEqual(['CLUSTER_CREATE'], [row['action'] for row in rows])

        # The webhook needs only the token of its URL, and acts as the creator of the
        # receiver.
        unauthenticated = self.standalone.request(
            'POST', f'{mount}/webhooks/{hook["id"]}/trigger?V=2'
        )
        self.assertEqual(404, unauthenticated.status_code)
        triggered = self.standalone.request('POST', self.webhook(hook['id'])).json()[
            'action'
        ]
        found = self.show_cluster('reader', 'action', 'show', triggered)
        self.assertEqual(
            (self.keystone.projects[PROJECT], created['user_id'], 'CLUSTER_SCALE_OUT'),
            (found['project_id'], found['user_id'], found['action']),
        )
