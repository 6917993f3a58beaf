"""Calling a command in this process."""

import contextlib
import io

import fixtures

from tests import base


class CallingTestCase(base.TestCase):
    """A test that calls the `main` of a command."""

    def setUp(self):
        super().setUp()
        # Nobody sits there, whoever runs the tests.
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.StringIO()))

    def write_ini(self, text):
        """Write an ini file into the home; return its path."""
        path = self.home / 'watcherlite.conf'
        path.write_text(text)
        return str(path)

    def call(self, main, *argv):
        """Return the exit code, standard output and standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(argv)
            except SystemExit as leaving:
                code = leaving.code
        return code, out.getvalue(), err.getvalue()
