"""The base case of the tests of the Watcher clients."""

from tests.acceptance.clients.commands import shared_clients
from tests.acceptance.clients.serving import ServedCase, Standalone
from tests.acceptance.daemons import wait_until

#: The default version of the clients.
NEWEST_KNOWN = '1.5'
#: The collections of the API, by the noun of the clients.
COLLECTIONS = {'audit': 'audits', 'actionplan': 'action_plans'}


class ClientCase(ServedCase):
    """A watcherlite process and a client that sends requests to it.

    Each test creates its own objects, with unique names.

    :cvar program: 'watcher' or 'openstack'
    """

    program = 'watcher'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = shared_clients()
        cls.standalone = cls.use(Standalone(cls.settings))

    @classmethod
    def settings(cls, home):
        """Return options of the watcherlite process, which runs in a directory.

        :returns: group -> {option: value}
        """
        return {}

    def access(self):
        """Return the arguments for the endpoint and the credentials."""
        if self.program == 'openstack':
            return ('--os-auth-type=none', f'--os-endpoint={self.standalone.url}')
        return (f'--os-endpoint-override={self.standalone.url}',)

    def command(self, *argv, version=NEWEST_KNOWN):
        """Run a command; return its result."""
        noun = ('optimize',) if self.program == 'openstack' else ()
        return self.clients.run(
            self.program,
            *self.access(),
            f'--os-infra-optim-api-version={version}',
            *noun,
            *argv,
        )

    def json(self, *argv, **options):
        """Run a command that must succeed; return its output."""
        return self.command(*argv, '-f', 'json', **options).json()

    def plain(self, *argv, **options):
        """Run a command that must succeed; return its output without uuids."""
        return self.command(*argv, '-f', 'json', **options).plain()

    def run_silently(self, *argv, **options):
        """Run a command that must succeed without output."""
        done = self.command(*argv, **options)
        self.assertEqual((0, '', ''), (done.code, done.out, done.err), str(done))

    def refusal(self, *argv, **options):
        """Run a command that must fail; return its error message."""
        return self.command(*argv, **options).refusal()

    def column(self, name, *argv, **options):
        """Return one column of a list."""
        return [row[name] for row in self.json(*argv, **options)]

    def call(self, method, path, **options):
        """Send a request without a client; return the response."""
        return self.standalone.request(method, path, **options)

    def wait_for_state(self, noun, identifier, *states):
        """Wait until an object is in one of these states."""

        def read():
            path = f'/v1/{COLLECTIONS[noun]}/{identifier}'
            return self.call('GET', path).json()

        wait_until(lambda: read()['state'] in states, lambda: f'{states}: {read()}')

    def show_in_state(self, noun, identifier, *states):
        """Return an object as soon as it is in one of these states."""
        self.wait_for_state(noun, identifier, *states)
        return self.json(noun, 'show', identifier)

    # Common preparations

    def audit(self, name, *argv, **options):
        """Create an audit, and wait until it has SUCCEEDED; return its uuid."""
        made = self.json('audit', 'create', '--name', name, *argv, **options)
        self.wait_for_state('audit', made['UUID'], 'SUCCEEDED')
        return made['UUID']

    def dummy_plan(self, name):
        """Run an audit of the strategy dummy without a client.

        :returns: the uuid of its plan
        """
        audit = {
            'name': name,
            'audit_type': 'ONESHOT',
            'goal': 'dummy',
            'strategy': 'dummy',
            'parameters': {'para1': 1},
        }
        uuid = self.call('POST', '/v1/audits', json=audit).json()['uuid']
        self.wait_for_state('audit', uuid, 'SUCCEEDED')
        listed = self.call('GET', f'/v1/action_plans?audit_uuid={uuid}').json()
        return listed['action_plans'][0]['uuid']
