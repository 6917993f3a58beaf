"""Stories of worlds on databases; mixed in before a story and a kind of database."""

import pathlib
import shutil
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from tests import base
from tests.functional.db import stores
from watcherlite.db.sqlalchemy import migration
from watcherlite.db.sqlalchemy.engine import DatabaseSettings
from watcherlite.db.sqlalchemy.store import SqlStore, open_store

if TYPE_CHECKING:
    Base = base.TestCase
else:
    # Each story brings the real one.
    Base = object


class OnDatabase(Base):
    """Gives each world a store with nothing in it; the one before it is closed."""

    #: From the kind of database.
    open_empty: Callable[..., SqlStore]
    _store: SqlStore | None = None

    def make_store(self) -> Any:
        self._close()
        self._store = self.open_empty()
        # Of all cleanups this one is last: no worker is left then.
        self.addCleanup(self._close)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


class SqliteDatabase(stores.SqliteDatabase):
    """SQLite, in a file of its own for each store; the schema is made once a class."""

    schema: ClassVar[pathlib.Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.schema = pathlib.Path(folder) / 'schema.sqlite'
        migration.upgrade(f'sqlite:///{cls.schema}')

    def open_empty(self) -> SqlStore:
        """Return a store on a file that was not there."""
        path = self.home / f'{len(list(self.home.glob("*.sqlite")))}.sqlite'
        shutil.copyfile(self.schema, path)
        return open_store(DatabaseSettings(f'sqlite:///{path}', **stores.SETTINGS))
