"""Stories of worlds on databases; mixed in before a story and a kind of database."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests import base, worlds
from tests.functional.db.stores import define_tests
from watcherlite.db.sqlalchemy.store import SqlStore

if TYPE_CHECKING:
    Base = base.TestCase
else:
    # Each story brings the real one.
    Base = object


class OnDatabase(Base):
    """Gives each world a store with nothing in it; the world before it is over."""

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
            worlds.stop_on(self._store)
            self._store.close()
            self._store = None


def define_stories(module: str, stories: Mapping[type, tuple[type, ...]]) -> None:
    """Define a test case in a module for each story and each of its databases.

    Every story runs on SQLite in memory in its own module, and the contract of the
    store runs on every database. Only stories that depend on the locks, the waits or
    the concurrency of a server are repeated on one.
    """
    for story, databases in stories.items():
        define_tests(module, story, on=databases, before=(OnDatabase,))
