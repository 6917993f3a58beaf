"""What tests of the client of Heat have in common: the client, and who answers it."""

import textwrap
from collections.abc import Callable

import requests

from tests import base
from tests.acceptance.clients import environments
from tests.acceptance.clients.commands import Clients
from tests.acceptance.daemons import wait_until

#: Seconds that a request may take.
PATIENCE = 30
PROJECT = 'mine'


class HeatCase(base.TestCase):
    """Processes of ours, and `openstack stack` that talks to them.

    What a test needs it makes itself, under names that no other test uses.

    :ivar url: where the API is
    """

    #: Starts our processes, and returns where their API is; from the class.
    serve: Callable[[], str]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = Clients(environments.HEAT)
        cls.clients.setUp()
        cls.addClassCleanup(cls.clients.cleanUp)
        cls.url = cls.serve()

    def endpoint(self, project=PROJECT):
        """Return where the stacks of a project are."""
        return f'{self.url}/orchestration/v1/{project}'

    def command(self, *argv, project=PROJECT):
        """Run a command; return what became of it."""
        return self.clients.run(
            *('openstack', '--os-auth-type=none'),
            f'--os-endpoint={self.endpoint(project)}',
            *argv,
        )

    def json(self, *argv, **options):
        """Run a command that succeeds; return what it shows."""
        return self.command(*argv, '-f', 'json', **options).json()

    def refusal(self, *argv, **options):
        """Run a command that fails; return the text that it says why with."""
        return self.command(*argv, **options).refusal()

    def done(self, *argv, **options):
        """Run a command that succeeds; return the text that it shows."""
        found = self.command(*argv, **options)
        self.assertEqual(0, found.code, str(found))
        return found.out

    def file(self, name, text):
        """Write a file; return its path."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return str(path)

    def ask(self, method, path, **options):
        """Ask without a client; return the JSON of the answer."""
        answer = requests.request(
            method, self.endpoint() + path, timeout=PATIENCE, **options
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def wait_for(self, name, status):
        """Wait until a stack has a status."""

        def now():
            return self.ask('GET', f'/stacks/{name}')['stack']['stack_status']

        wait_until(
            lambda: now() == status, lambda: f'{status} of {name}, which is {now()}'
        )

    def wait_until_gone(self, *names):
        """Wait until there are no stacks of these names."""

        def left():
            shown = self.ask('GET', '/stacks')['stacks']
            return {stack['stack_name'] for stack in shown} & set(names)

        wait_until(lambda: not left(), lambda: f'the end of {left()}')

    def create(self, name, template, *argv):
        """Have a stack created, and wait until it is COMPLETE."""
        path = self.file(f'{name}.yaml', template)
        self.done('stack', 'create', name, '-t', path, *argv)
        self.wait_for(name, 'CREATE_COMPLETE')
        return path

    def resources(self, name):
        """Return the status and the physical id of each resource, by its name."""
        return {
            row['resource_name']: (row['resource_status'], row['physical_resource_id'])
            for row in self.json('stack', 'resource', 'list', name)
        }
