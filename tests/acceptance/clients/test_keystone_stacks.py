"""Stacks for who has a token of keystone, with the client of Heat, both as on PyPI."""

import textwrap

from tests import base
from tests.acceptance.clients import environments, stack_templates
from tests.acceptance.clients.commands import Clients
from tests.acceptance.clients.identity import (
    DOMAIN,
    PASSWORD,
    PROJECT,
    REGION,
    Keystone,
)
from tests.acceptance.clients.serving import Standalone
from tests.acceptance.daemons import wait_until

SERVICE = 'watcherlite'
OTHER = 'other'
#: user -> role, project
USERS = {
    'maker': ('member', PROJECT),
    'looker': ('reader', PROJECT),
    'neighbour': ('member', OTHER),
}


class TestKeystoneStacks(base.TestCase):
    """One keystone with two projects, and one process of ours that asks it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = cls._use(Clients(environments.HEAT))
        cls.keystone = cls._use(Keystone())
        cls.keystone.add_project(OTHER)
        cls.keystone.add_user(SERVICE, 'service')
        for user, (role, project) in USERS.items():
            cls.keystone.add_user(user, role, project=project)
        cls.standalone = cls._use(Standalone(cls._settings))
        cls.keystone.add_endpoint(
            'orchestration', f'{cls.standalone.url}/orchestration/v1/%(tenant_id)s'
        )

    @classmethod
    def _use(cls, fixture):
        fixture.setUp()
        cls.addClassCleanup(fixture.cleanUp)
        return fixture

    @classmethod
    def _settings(cls, home):
        return {
            'api': {'auth_strategy': 'keystone'},
            'keystone_authtoken': {
                'www_authenticate_uri': cls.keystone.url,
                'auth_url': cls.keystone.url,
                'auth_type': 'password',
                'username': SERVICE,
                'password': PASSWORD,
                'project_name': PROJECT,
                'user_domain_id': DOMAIN['id'],
                'project_domain_id': DOMAIN['id'],
            },
        }

    def setUp(self):
        super().setUp()
        self.addOnException(
            lambda _: self.addDetail('standalone.log', self.standalone.log())
        )

    def stack(self, user, *argv):
        """Run `openstack stack`, which finds us in the catalogue."""
        return self.clients.run(
            'openstack',
            f'--os-auth-url={self.keystone.url}',
            f'--os-username={user}',
            f'--os-password={PASSWORD}',
            f'--os-project-name={USERS[user][1]}',
            f'--os-user-domain-id={DOMAIN["id"]}',
            f'--os-project-domain-id={DOMAIN["id"]}',
            f'--os-region-name={REGION}',
            *('stack', *argv),
        )

    def shown(self, user, *argv):
        """Return what a command shows."""
        return self.stack(user, *argv, '-f', 'json').json()

    def ask(self, user, project, path):
        """Ask for what is in a project without a client; return status and type."""
        token = self.keystone.token(user, project=USERS[user][1])
        answer = self.standalone.request(
            'GET',
            f'/orchestration/v1/{self.keystone.projects[project]}{path}',
            headers={'X-Auth-Token': token},
        )
        kind = None if answer.ok else answer.json()['error']['type']
        return answer.status_code, kind

    def test_a_stack_is_its_projects_and_a_reader_changes_nothing_of_it(self):
        path = self.home / 'story.yaml'
        path.write_text(textwrap.dedent(stack_templates.MORE))

        made = self.shown('maker', 'create', 'story', '-t', str(path))
        wait_until(
            lambda: (
                self.shown('looker', 'show', 'story')['stack_status']
                == 'CREATE_COMPLETE'
            ),
            lambda: 'CREATE_COMPLETE of story',
        )

        # In its project: shown to both, by name and by id
        for user in ('maker', 'looker'):
            for name in ('story', made['id']):
                shown = self.shown(user, 'show', name)
                self.assertEqual(
                    (made['id'], self.keystone.projects[PROJECT]),
                    (shown['id'], shown['parameters']['OS::project_id']),
                )
            self.assertEqual(
                ['story'], [row['Stack Name'] for row in self.shown(user, 'list')]
            )

        # From another one it is as if it were not there
        self.assertEqual([], self.shown('neighbour', 'list'))
        for name in ('story', made['id']):
            self.assertIn(
                f'Stack not found: {name}',
                self.stack('neighbour', 'show', name).refusal(),
            )
            self.assertIn(
                'Unable to delete 1 of the 1 stacks',
                self.stack('neighbour', 'delete', '-y', name).refusal(),
            )
        below = f'/stacks/story/{made["id"]}'
        self.assertEqual((200, None), self.ask('maker', PROJECT, below))
        self.assertEqual((404, 'EntityNotFound'), self.ask('neighbour', OTHER, below))
        self.assertEqual((403, 'Forbidden'), self.ask('neighbour', PROJECT, below))

        # Who may only look is refused each change, and nothing has changed
        events = self.shown('maker', 'event', 'list', 'story')
        for argv in (
            ('create', 'mine', '-t', str(path)),
            ('update', 'story', '--existing'),
            ('suspend', 'story'),
            ('resource', 'mark', 'unhealthy', 'story', 'change'),
        ):
            refused = self.stack('looker', *argv).refusal()
            self.assertIn("Policy doesn't allow", refused)
        self.assertIn(
            'Unable to delete 1 of the 1 stacks',
            self.stack('looker', 'delete', '-y', 'story').refusal(),
        )
        self.assertEqual(events, self.shown('maker', 'event', 'list', 'story'))
        self.assertEqual(
            ['story'], [row['Stack Name'] for row in self.shown('maker', 'list')]
        )

        # And its own project deletes it
        done = self.stack('maker', 'delete', '-y', '--wait', 'story')
        self.assertEqual(0, done.code, str(done))
        self.assertEqual([], self.shown('looker', 'list'))
