"""Calls of a command in this process."""

import io

import fixtures

from tests import base, schemas
from tests.unit.cli.capturing import call
from watcherlite import bootstrap, conf
from watcherlite.db.sqlalchemy.store import SqlStore


class CallingTestCase(base.TestCase):
    """The base case of tests that call the `main` of a command."""

    def setUp(self):
        super().setUp()
        # Commands have no terminal, however the tests are run.
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.StringIO()))

    @property
    def path(self):
        """Return the path of the default database."""
        return self.home / 'watcherlite' / 'watcherlite.sqlite'

    def store(self) -> SqlStore:
        """Return the store of the default database, which has the schema."""
        configuration = conf.new()
        conf.state_directory(configuration)
        schemas.copy_sqlite(self.path)
        store = bootstrap.open_store(configuration)
        self.addCleanup(store.close)
        return store

    def write_ini(self, text):
        """Write an ini file into the home directory; return its path."""
        path = self.home / 'watcherlite.conf'
        path.write_text(text)
        return str(path)

    def call(self, main, *argv):
        """Return the exit code, standard output and standard error."""
        return call(main, argv)
