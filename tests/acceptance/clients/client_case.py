"""The base case of the tests of clients: clients and an API."""

from tests.acceptance.clients.commands import Clients
from tests.acceptance.clients.serving import ServedCase, Standalone
from tests.acceptance.daemons import wait_until

#: What the clients ask for when they are not told otherwise.
NEWEST_KNOWN = '1.5'


class ClientCase(ServedCase):
    """One process of ours, and one program that talks to it.

    What a test needs it makes itself, under names that no other test uses.

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
        """Return options of our process, which runs in a directory.

        :returns: group -> {option: value}
        """
        return {}

    def access(self):
        """Return the arguments that say where to ask, and as whom."""
        if self.program == 'openstack':
            return ('--os-auth-type=none', f'--os-endpoint={self.standalone.url}')
        return (f'--os-endpoint-override={self.standalone.url}',)

    def command(self, *argv, version=NEWEST_KNOWN):
        """Run a command; return what became of it."""
        noun = ('optimize',) if self.program == 'openstack' else ()
        return self.clients.run(
            self.program,
            *self.access(),
            f'--os-infra-optim-api-version={version}',
            *noun,
            *argv,
        )

    def json(self, *argv, **options):
        """Run a command that succeeds; return what it shows."""
        return self.command(*argv, '-f', 'json', **options).json()

    def plain(self, *argv, **options):
        """Run a command that succeeds; return what it shows, less uuids and times."""
        return self.command(*argv, '-f', 'json', **options).plain()

    def silent(self, *argv, **options):
        """Run a command that succeeds and shows nothing."""
        done = self.command(*argv, **options)
        self.assertEqual((0, '', ''), (done.code, done.out, done.err), str(done))

    def refusal(self, *argv, **options):
        """Run a command that fails; return the text that it says why with."""
        return self.command(*argv, **options).refusal()

    def column(self, name, *argv, **options):
        """Return one column of a list."""
        return [row[name] for row in self.json(*argv, **options)]

    def wait_for_state(self, noun, identifier, *states):
        """Wait until something is in one of these states; return it."""
        return wait_until(
            lambda: (
                shown
                if (shown := self.json(noun, 'show', identifier))['State'] in states
                else None
            ),
            lambda: f'{states}: {self.json(noun, "show", identifier)}',
        )

    # what many stories begin with

    def audit(self, name, *argv, **options):
        """Have an audit made and wait until it SUCCEEDED; return its uuid."""
        made = self.json('audit', 'create', '--name', name, *argv, **options)
        self.wait_for_state('audit', made['UUID'], 'SUCCEEDED')
        return made['UUID']

    def dummy_plan(self, name, seconds=1):
        """Have the strategy dummy propose a plan; return the uuid of the plan."""
        uuid = self.audit(name, '-g', 'dummy', '-s', 'dummy', '-p', f'para1={seconds}')
        return self.column('UUID', 'actionplan', 'list', '--audit', uuid)[0]
