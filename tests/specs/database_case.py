"""Mixins that run the tests of worlds on databases."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests import base, worlds
from tests.functional.db.stores import define_tests
from watcherlite.db.sqlalchemy.store import SqlStore

if TYPE_CHECKING:
    Base = base.TestCase
else:
    # The test cases provide the real base class.
    Base = object


class OnDatabase(Base):
    """Gives each world an empty store; the previous world has been stopped by then."""

    #: Provided by the database mixin.
    open_empty: Callable[..., SqlStore]
    _store: SqlStore | None = None

    def make_store(self) -> Any:
        self._close()
        self._store = self.open_empty()
        # Registered first, so executed last: no worker runs any more.
        self.addCleanup(self._close)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            worlds.stop_on(self._store)
            self._store = None


def define_database_tests(
    module: str, databases_by_test: Mapping[type, tuple[type, ...]]
) -> None:
    """Define a test case in a module for each of these, on each of its databases.

    Every test case runs on SQLite in memory in its own module, and the contract of the
    store runs on every database. Only those that depend on the locks, the waits or the
    concurrency of a server are repeated on one.
    """
    for tests, databases in databases_by_test.items():
        define_tests(module, tests, on=databases, before=(OnDatabase,))
