"""The base case of the tests of the Watcher clients."""

from tests.acceptance.clients.commands import Clients
from tests.acceptance.clients.serving import ServedCase, Standalone
from tests.acceptance.daemons import wait_until

#: The default version of the clients.
NEWEST_KNOWN = '1.5'


class ClientCase(ServedCase):
    """A watcherlite process and a client that sends requests to it.

    Each test creates its own objects, with unique names.

    :cvar program: 'watcher' or 'openstack'
    """

    program = 'watcher'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = cls.use(Clients())
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

    def wait_for_state(self, noun, identifier, *states):
        """Wait until an object is in one of these states; return it."""
        return wait_until(
            lambda: (
                shown
                if (shown := self.json(noun, 'show', identifier))['State'] in states
                else None
            ),
            lambda: f'{states}: {self.json(noun, "show", identifier)}',
        )

    # Common preparations

    def audit(self, name, *argv, **options):
        """Create an audit, and wait until it has SUCCEEDED; return its uuid."""
        made = self.json('audit', 'create', '--name', name, *argv, **options)
        self.wait_for_state('audit', made['UUID'], 'SUCCEEDED')
        return made['UUID']

    def dummy_plan(self, name, seconds=1):
        """Run an audit of the strategy dummy; return the uuid of its plan."""
        uuid = self.audit(name, '-g', 'dummy', '-s', 'dummy', '-p', f'para1={seconds}')
        return self.column('UUID', 'actionplan', 'list', '--audit', uuid)[0]
