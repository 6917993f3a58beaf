"""The base of tests of `openstack` with the plugin of a client."""

import textwrap
from collections.abc import Callable

from tests import base
from tests.acceptance.clients import environments
from tests.acceptance.clients.commands import Clients
from tests.acceptance.clients.serving import Standalone

#: Seconds that a request may take.
PATIENCE = 30


class OpenStackCase(base.TestCase):
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
        cls.clients = Clients(cls.environment)
        cls.clients.setUp()
        cls.addClassCleanup(cls.clients.cleanUp)
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


class OnStandalone(base.TestCase):
    """One process, and a file; mixed in before a case."""

    @classmethod
    def serve(cls):
        cls.standalone = Standalone(lambda home: {})
        cls.standalone.setUp()
        cls.addClassCleanup(cls.standalone.cleanUp)
        return cls.standalone.url

    def setUp(self):
        super().setUp()
        self.addOnException(
            lambda _: self.addDetail('standalone.log', self.standalone.log())
        )
