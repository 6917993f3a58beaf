"""Calls of a command in this process."""

import io

import fixtures

from tests import base
from tests.unit.cli.capturing import call


class CallingTestCase(base.TestCase):
    """The base case of tests that call the `main` of a command."""

    def setUp(self):
        super().setUp()
        # Commands have no terminal, however the tests are run.
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.StringIO()))

    def write_ini(self, text):
        """Write an ini file into the home directory; return its path."""
        path = self.home / 'watcherlite.conf'
        path.write_text(text)
        return str(path)

    def call(self, main, *argv):
        """Return the exit code, standard output and standard error."""
        return call(main, argv)
