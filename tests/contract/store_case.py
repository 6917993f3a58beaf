"""Base class of the contract tests of the store."""

import concurrent.futures
import threading
import unittest
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tests.factories import NOW
from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.domain.actions import Action, ActionChange

Result = TypeVar('Result')

#: How often a transaction that lost against others is tried again.
TRIES = 100
#: Seconds after which threads that wait for each other count as stuck.
DEADLINE = 60

if TYPE_CHECKING:
    Base = unittest.TestCase
else:
    # Each store's own test case brings the real one.
    Base = object


class StoreCase(Base):
    """A test with a store of its own."""

    store: Store

    def make_store(self) -> Store:
        """Return a store with nothing in it."""
        raise NotImplementedError(f'{type(self).__name__} has to make its store')

    def setUp(self) -> None:
        super().setUp()
        self.store = self.make_store()
        self.addCleanup(self.store.close)

    def commit(self, call: Callable[[Transaction], Result]) -> Result:
        """Call with a transaction, and again as long as it loses against others."""
        for _ in range(TRIES):
            try:
                with self.store.transaction() as tx:
                    return call(tx)
            except exceptions.StoreConflict as error:
                last = error
        raise last

    def together(self, *calls: Callable[[], Result]) -> list[Result]:
        """Call all at the same time, each in a thread; return what they returned."""
        barrier = threading.Barrier(len(calls))

        def run(call: Callable[[], Result]) -> Result:
            barrier.wait(DEADLINE)
            return call()

        with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
            futures = [pool.submit(run, call) for call in calls]
            return [future.result(DEADLINE) for future in futures]

    # the shortest way to say what is said often

    def claim(self, worker: str, **values: Any) -> list[Action]:
        """Claim in a transaction of its own."""
        arguments: dict[str, Any] = {'limit': 100, 'now': NOW, **values}
        return self.commit(lambda tx: tx.claim(worker=worker, **arguments))

    def change(self, before: Action, **values: Any) -> Action | None:
        """Change an action; return it as it was to become, None if that lost."""
        after = before.evolve(**values)
        changes = [ActionChange(before, after)]
        changed = self.commit(lambda tx: tx.change_actions(changes))
        self.assertLessEqual(changed, {before.id})
        return after if changed else None

    def changed(self, before: Action, **values: Any) -> Action:
        """Change an action that is as expected."""
        after = self.change(before, **values)
        assert after is not None, f'action {before.id} was not as expected'
        return after

    def now_stored(self, *actions: Action) -> list[Action]:
        """Return actions as they are stored now."""
        ids = [action.id for action in actions if action.id is not None]
        found = self.store.actions_by_id(ids)
        return [found[key] for key in ids]

    def assert_stored(self, *expected: Action) -> None:
        """Check that actions are stored exactly so."""
        self.assertEqual(list(expected), self.now_stored(*expected))


def names(actions: list[Action]) -> list[str | None]:
    """Return the names of actions, in order."""
    return [action.name for action in actions]
