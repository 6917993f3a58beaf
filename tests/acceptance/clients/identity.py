"""OpenStack's identity service, as it is on PyPI, for as long as a test class needs."""

import os
import pathlib
import subprocess
from concurrent import futures

import fixtures
import requests

from tests.acceptance.clients import environments
from tests.acceptance.clients.serving import LOOPBACK, PATIENCE, free_port
from tests.acceptance.daemons import Daemon

SERVER = pathlib.Path(__file__).with_name('identity_server.py')
REGION = 'here'
PASSWORD = 'of everybody'
#: The domain and the project that everything of a test is in.
DOMAIN = {'id': 'default'}
PROJECT = 'demo'

_SETTINGS = """\
[database]
connection = sqlite:///{home}/keystone.sqlite
[fernet_tokens]
key_repository = {home}/fernet
[fernet_receipts]
key_repository = {home}/fernet
[identity]
password_hash_rounds = 4
"""


class Keystone(fixtures.Fixture):
    """A keystone with an administrator, who has made a project.

    Users are made with `add_user`, and have PASSWORD and the project PROJECT.

    :ivar url: where it answers, version included
    """

    def __init__(self):
        super().__init__()
        self.port = free_port()
        self.url = f'http://{LOOPBACK}:{self.port}/v3'

    def setUp(self):
        # Not in _setUp, which would wrap the exception that means a skip.
        self._scripts = environments.KEYSTONE.scripts()
        super().setUp()

    def _setUp(self):
        self._home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self._home / 'keystone.conf').write_text(_SETTINGS.format(home=self._home))
        self._environment = {
            'PATH': os.environ['PATH'],
            'HOME': str(self._home),
            'OS_KEYSTONE_CONFIG_DIR': str(self._home),
        }
        owner = (f'--keystone-user={os.getuid()}', f'--keystone-group={os.getgid()}')
        with futures.ThreadPoolExecutor() as pool:
            for started in [
                pool.submit(self._manage, 'db_sync'),
                pool.submit(self._manage, 'fernet_setup', *owner),
            ]:
                started.result()
        self._manage(
            'bootstrap',
            f'--bootstrap-password={PASSWORD}',
            f'--bootstrap-region-id={REGION}',
            f'--bootstrap-public-url={self.url}',
            f'--bootstrap-internal-url={self.url}',
        )
        self._starts = 0
        self.start()
        self._admin = self.token('admin', project='admin')
        self._project = self._make('project', name=PROJECT, domain_id=DOMAIN['id'])
        listed = self._ask('GET', '/roles').json()['roles']
        self._roles = {role['name']: role['id'] for role in listed}

    def _manage(self, *argv):
        done = subprocess.run(
            [
                str(self._scripts / 'keystone-manage'),
                f'--config-dir={self._home}',
                *argv,
            ],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f'keystone-manage {argv}:\n{done.stdout}{done.stderr}')

    def start(self):
        """Start to answer."""
        self._starts += 1
        self._server = Daemon(
            [
                str(self._scripts / 'python'),
                '-I',
                '-W',
                'ignore',
                str(SERVER),
                str(self.port),
            ],
            self._environment,
            self._home,
            self._home / f'keystone-{self._starts}.log',
        )
        self.addCleanup(self._server.kill)
        self._server.wait_for_text('keystone answers on')

    def stop(self):
        """Go away without a word."""
        self._server.kill()

    def add_user(self, name, *roles):
        """Make a user with these roles in PROJECT; roles are made if need be."""
        user = self._make('user', name=name, password=PASSWORD, domain_id=DOMAIN['id'])
        for role in roles:
            if role not in self._roles:
                self._roles[role] = self._make('role', name=role)
            self._ask(
                'PUT',
                f'/projects/{self._project}/users/{user}/roles/{self._roles[role]}',
            )

    def add_endpoint(self, service_type, url):
        """Put a service into the catalogue."""
        service = self._make('service', type=service_type, name='watcherlite')
        self._make(
            'endpoint',
            service_id=service,
            interface='public',
            url=url,
            region_id=REGION,
        )

    def token(self, name, project=PROJECT):
        """Return a new token of a user."""
        user = {'name': name, 'domain': DOMAIN, 'password': PASSWORD}
        auth = {
            'identity': {'methods': ['password'], 'password': {'user': user}},
            'scope': {'project': {'name': project, 'domain': DOMAIN}},
        }
        answer = requests.post(
            f'{self.url}/auth/tokens', json={'auth': auth}, timeout=PATIENCE
        )
        answer.raise_for_status()
        return answer.headers['X-Subject-Token']

    def revoke(self, token):
        """Make a token invalid."""
        self._ask('DELETE', '/auth/tokens', headers={'X-Subject-Token': token})

    def _make(self, kind, **attributes):
        answer = self._ask('POST', f'/{kind}s', json={kind: attributes})
        return answer.json()[kind]['id']

    def _ask(self, method, path, headers=None, **options):
        answer = requests.request(
            method,
            self.url + path,
            headers={'X-Auth-Token': self._admin, **(headers or {})},
            timeout=PATIENCE,
            **options,
        )
        answer.raise_for_status()
        return answer
