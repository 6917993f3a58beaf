"""The unmodified keystone of PyPI, started for a test class."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
from concurrent import futures

import fixtures
import requests

from tests.acceptance.clients import environments
from tests.acceptance.clients.serving import LOOPBACK
from tests.acceptance.daemons import Daemon
from tests.bounded import TIMEOUT
from tests.ports import reserve_port

SERVER = pathlib.Path(__file__).with_name('identity_server.py')
#: A line of the log of the server.
ANSWERS = 'keystone answers on'
REGION = 'RegionOne'
PASSWORD = 'test-password'
#: The domain and the project of all objects of a test.
DOMAIN = {'id': 'default'}
PROJECT = 'demo'

# Without a cache, keystone repeats most of its queries in every request.
_SETTINGS = """\
[cache]
backend = oslo_cache.dict
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
    """A keystone with an administrator, and a project that this user has created.

    `add_user` creates users with PASSWORD and roles in one project.

    :ivar url: its endpoint, including the version
    """

    def __init__(self):
        super().__init__()
        self.port = reserve_port()
        self.url = f'http://{LOOPBACK}:{self.port}/v3'

    def setUp(self):
        # Not in _setUp, which would wrap the exception that signals a skip.
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
        shutil.copytree(self._prepared(), self._home, dirs_exist_ok=True)
        self._users = {}
        self._start()
        self._admin = self.token('admin', project='admin')
        self._make('region', id=REGION)
        self._add_endpoints('identity', 'keystone', self.url, 'public', 'internal')
        #: name -> id
        self.projects = {}
        self.add_project(PROJECT)
        listed = self._ask('GET', '/roles').json()['roles']
        self._roles = {role['name']: role['id'] for role in listed}

    def _prepared(self):
        """Return a directory with keys and a database, prepared once per environment.

        The database has the schema and an administrator.
        """
        bootstrapped = environments.KEYSTONE.path() / 'bootstrapped'
        with bootstrapped.with_suffix('.lock').open('w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not bootstrapped.exists():
                self._prepare()
                unfinished = bootstrapped.with_suffix('.unfinished')
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                shutil.copy(self._home / 'keystone.sqlite', unfinished)
                shutil.copytree(self._home / 'fernet', unfinished / 'fernet')
                unfinished.rename(bootstrapped)
        return bootstrapped

    def _prepare(self):
        owner = (f'--keystone-user={os.getuid()}', f'--keystone-group={os.getgid()}')
        with futures.ThreadPoolExecutor() as pool:
            for started in [
                pool.submit(self._manage, 'db_sync'),
                pool.submit(self._manage, 'fernet_setup', *owner),
            ]:
                started.result()
        self._manage('bootstrap', f'--bootstrap-password={PASSWORD}')

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
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f'{argv}:\n{done.stdout}{done.stderr}')

    def _start(self):
        options = ('-I', '-W', 'ignore', str(SERVER), str(self.port))
        self._server = Daemon(
            [str(self._scripts / 'python'), *options],
            self._environment,
            self._home,
            self._home / 'keystone.log',
        )
        self.addCleanup(self._server.kill)
        self._server.wait_for_text(ANSWERS)

    def add_project(self, name):
        """Create another project."""
        created = self._make('project', name=name, domain_id=DOMAIN['id'])
        self.projects[name] = created

    def add_user(self, name, *roles, project=PROJECT):
        """Create a user with these roles in a project, and the roles if necessary."""
        user = self._make('user', name=name, password=PASSWORD, domain_id=DOMAIN['id'])
        self._users[name] = user
        for role in roles:
            if role not in self._roles:
                self._roles[role] = self._make('role', name=role)
            place = f'/projects/{self.projects[project]}/users/{user}'
            self._ask('PUT', f'{place}/roles/{self._roles[role]}')

    def add_endpoint(self, service_type, url):
        """Add a service to the catalog."""
        self._add_endpoints(service_type, 'watcherlite', url, 'public')

    def _add_endpoints(self, service_type, name, url, *interfaces):
        service = self._make('service', type=service_type, name=name)
        for interface in interfaces:
            self._make(
                'endpoint',
                service_id=service,
                interface=interface,
                url=url,
                region_id=REGION,
            )

    def settings(self, user, **options):
        """Return the settings of a process that validates tokens by this keystone.

        :param user: the user as whom the process authenticates
        :param options: of [keystone_authtoken]
        """
        return {
            'api': {'auth_strategy': 'keystone'},
            'keystone_authtoken': {
                'www_authenticate_uri': self.url,
                'auth_url': self.url,
                'auth_type': 'password',
                'username': user,
                'password': PASSWORD,
                'project_name': PROJECT,
                'user_domain_id': DOMAIN['id'],
                'project_domain_id': DOMAIN['id'],
                **options,
            },
        }

    def credentials(self, user, project=PROJECT):
        """Return the arguments for the credentials of `openstack`."""
        return (
            f'--os-auth-url={self.url}',
            f'--os-username={user}',
            f'--os-password={PASSWORD}',
            f'--os-project-name={project}',
            f'--os-user-domain-id={DOMAIN["id"]}',
            f'--os-project-domain-id={DOMAIN["id"]}',
            f'--os-region-name={REGION}',
        )

    def add_system_role(self, name, role):
        """Give a user a role in the whole system."""
        place = f'/system/users/{self._users[name]}/roles/{self._roles[role]}'
        self._ask('PUT', place)

    def token(self, name, project=PROJECT):
        """Return a new token of a user.

        :param project: None for a system-scoped token
        """
        scope = {'project': {'name': project, 'domain': DOMAIN}}
        user = {'name': name, 'domain': DOMAIN, 'password': PASSWORD}
        auth = {
            'identity': {'methods': ['password'], 'password': {'user': user}},
            'scope': {'system': {'all': True}} if project is None else scope,
        }
        answer = requests.post(
            f'{self.url}/auth/tokens', json={'auth': auth}, timeout=TIMEOUT
        )
        answer.raise_for_status()
        return answer.headers['X-Subject-Token']

    def token_until(self, name, expiry):
        """Return a token of a user, issued some time before `expiry`.

        :param expiry: a datetime; in the past for an expired token
        """
        query = {
            'user': self._users[name],
            'project': self.projects[PROJECT],
            'expiry': expiry.strftime('%Y-%m-%dT%H:%M:%S.%fZ'),
        }
        address = f'http://{LOOPBACK}:{self.port}/issued-token'
        answer = requests.get(address, query, timeout=TIMEOUT)
        answer.raise_for_status()
        return answer.text

    @contextlib.contextmanager
    def made_unreachable(self):
        """Refuse connections to the server in this context."""
        starts = self._server.text().count(ANSWERS)
        self._server.send(signal.SIGUSR1)
        self._server.wait_for_text('keystone is unreachable', starts)
        try:
            yield
        finally:
            self._server.send(signal.SIGUSR2)
            self._server.wait_for_text(ANSWERS, starts + 1)

    @contextlib.contextmanager
    def without_internal_endpoint(self):
        """Remove the internal endpoint of keystone from its catalog in this context."""
        listed = self._ask('GET', '/endpoints?interface=internal').json()['endpoints']
        (endpoint,) = (each for each in listed if each['url'] == self.url)
        place = f'/endpoints/{endpoint["id"]}'
        self._ask('DELETE', place)
        try:
            yield
        finally:
            kept = ('interface', 'region_id', 'service_id', 'url')
            self._make('endpoint', **{name: endpoint[name] for name in kept})

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
            timeout=TIMEOUT,
            **options,
        )
        answer.raise_for_status()
        return answer
