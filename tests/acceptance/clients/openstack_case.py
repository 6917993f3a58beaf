"""The base case of the tests of `openstack` with the plugin of a client."""

import textwrap
from collections.abc import Callable

from tests.acceptance.clients import environments
from tests.acceptance.clients.commands import shared_clients
from tests.acceptance.clients.serving import ServedCase, Standalone


class OpenStackCase(ServedCase):
    """Processes of watcherlite, and `openstack`.

    Each test creates its own objects, with unique names.

    :cvar environment: the environment of the client
    :ivar url: the URL of the API
    """

    environment: environments.Environment
    #: Starts the processes, and returns the URL of the API; defined by the subclass.
    serve: Callable[[], str]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients = shared_clients(cls.environment)
        cls.url = cls.serve()

    def json(self, *argv, **options):
        """Run a command that must succeed; return its JSON output."""
        return self.command(*argv, '-f', 'json', **options).json()

    def refusal(self, *argv, **options):
        """Run a command that must fail; return its error message."""
        return self.command(*argv, **options).refusal()

    def check_output(self, *argv, **options):
        """Run a command that must succeed; return its output."""
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
    """One process with SQLite; a mixin that precedes a case."""

    @classmethod
    def serve(cls):
        cls.standalone = cls.use(Standalone(lambda home: {}))
        return cls.standalone.url
