"""The base of tests of `openstack` with the plugin of a client."""

import textwrap
from collections.abc import Callable

from tests.acceptance.clients import environments
from tests.acceptance.clients.commands import Clients
from tests.acceptance.clients.serving import ServedCase, Standalone

#: Seconds that a request may take.
PATIENCE = 30


class OpenStackCase(ServedCase):
    """Processes of ours, and `openstack` that talks to them.

    What a test needs it makes itself, under names that no other test uses.

    :cvar environment: that the client is installed in
    :ivar url: where the API is
    """

    environment: environments.Environment
    #: Starts our processes, and returns where their API is; from the class.
    serve: Callable[[], str]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = cls.use(Clients(cls.environment))
        cls.url = cls.serve()

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


class OnStandalone:
    """One process, and a file; mixed in before a case."""

    @classmethod
    def serve(cls):
        cls.standalone = cls.use(Standalone(lambda home: {}))
        return cls.standalone.url
