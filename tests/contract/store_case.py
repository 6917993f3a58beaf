"""Base class of the contract tests of the store."""

import concurrent.futures
import dataclasses
import threading
import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tests.bounded import TIMEOUT
from tests.factories import NOW, at, make_action, store_actions
from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import events
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.states.action import RUNNING

Result = TypeVar('Result')

#: The number of attempts of a transaction after conflicts.
TRIES = 100

if TYPE_CHECKING:
    Base = unittest.TestCase
else:
    # The test case of each store provides the real base class.
    Base = object


class StoreCase(Base):
    """The base case, with an empty store for each test."""

    store: Store

    def make_store(self) -> Store:
        """Return an empty store."""
        raise NotImplementedError(f'{type(self).__name__} has to make its store')

    def setUp(self) -> None:
        super().setUp()
        self.store = self.make_store()

    def commit(self, call: Callable[[Transaction], Result]) -> Result:
        """Call a function in a transaction; retry after conflicts."""
        for _ in range(TRIES):
            try:
                with self.store.transaction() as tx:
                    return call(tx)
            except exceptions.StoreConflict as error:
                last = error
        raise last

    def is_committed(self, call: Callable[[Transaction], object]) -> bool:
        """Commit a transaction; return False if it conflicts with existing rows."""
        try:
            self.commit(call)
        except exceptions.Conflict:
            return False
        return True

    def commit_often(self, call: Callable[[Transaction], object]) -> None:
        """Commit a transaction twenty times, in four concurrent threads."""

        def repeat() -> None:
            for _ in range(5):
                self.commit(call)

        self.run_concurrently(*[repeat] * 4)

    def run_concurrently(self, *calls: Callable[[], Result]) -> list[Result]:
        """Call functions concurrently, each in a thread; return their results."""
        barrier = threading.Barrier(len(calls))

        def run(call: Callable[[], Result]) -> Result:
            barrier.wait(TIMEOUT)
            return call()

        with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
            futures = [pool.submit(run, call) for call in calls]
            return [future.result(TIMEOUT) for future in futures]

    # Short forms of common calls

    def claim(self, worker: str, **values: Any) -> list[Action]:
        """Claim actions in a transaction of its own."""
        arguments: dict[str, Any] = {'limit': 100, 'now': NOW, **values}
        return self.commit(lambda tx: tx.claim(worker=worker, **arguments))

    def change(self, before: Action, **values: Any) -> Action | None:
        """Change an action; return its new state, or None after a conflict."""
        after = before.evolve(**values)
        changes = [ActionChange(before, after)]
        changed = self.commit(lambda tx: tx.change_actions(changes))
        self.assertLessEqual(changed, {before.id})
        return after if changed else None

    def stored_action(self, **values: Any) -> Action:
        """Store an action."""
        return store_actions(self.store, make_action(**values))[0]

    def running_actions(self, count: int) -> list[Action]:
        """Store running actions, which may own locks."""
        return store_actions(
            self.store, *(make_action(status=RUNNING) for _ in range(count))
        )

    def unlock(self, *actions: Action) -> list[Action]:
        """Release the exclusive locks of actions in a transaction of its own."""
        ids = [action.id for action in actions]
        return self.commit(lambda tx: tx.release_locks(ids))

    def changed(self, before: Action, **values: Any) -> Action:
        """Change an action that must have the expected state."""
        after = self.change(before, **values)
        assert after is not None, f'action {before.id} was not as expected'
        return after

    def now_stored(self, *actions: Action) -> list[Action]:
        """Return the stored states of actions."""
        ids = [action.id for action in actions if action.id is not None]
        found = self.store.actions_by_id(ids)
        return [found[key] for key in ids]

    def publish(self) -> None:
        """Mark all events as published."""
        sequences = [stored.sequence for stored in self.store.pending_events(100)]
        self.store.mark_published(sequences, NOW)

    def assert_rows_purged(
        self, purge: Callable[..., Mapping[str, int]], **expected: int
    ) -> None:
        """Check a dry run, the purge, and that a second purge deletes nothing."""
        later = at(10**9)
        self.assertEqual(
            [expected, expected, dict.fromkeys(expected, 0)],
            [
                dict(purge(later, 100, dry_run=True)),
                *(dict(purge(later, 100)) for _ in range(2)),
            ],
        )

    def assert_pages(
        self,
        expected: Sequence[Result],
        pages: Callable[[Any], list[Result]],
        query: Any,
        uuid: Callable[[Result], str],
    ) -> None:
        """Check the first page of a list, and the one after each of its rows.

        Two statements suffice, whatever the limit: compiling one takes longer than
        executing it.
        """
        for begin, after in enumerate([None, *map(uuid, expected)]):
            end = None if query.limit is None else begin + query.limit
            asked = dataclasses.replace(query, after=after)
            self.assertEqual(expected[begin:end], pages(asked), asked)

    def assert_stored(self, *expected: Action) -> None:
        """Check that actions have exactly these stored states."""
        self.assertEqual(list(expected), self.now_stored(*expected))


def make_bare_event(**values: Any) -> Event:
    """Return an event of a change of state with only the given values."""
    nothing = dict.fromkeys(field.name for field in dataclasses.fields(Event))
    given = {'kind': events.STATE_CHANGED, 'occurred_at': NOW, **values}
    return Event(**{**nothing, 'uuid': events.new_uuid(), **given})


def in_order(
    rows: Sequence[Result],
    keys: Sequence[tuple[str, bool]],
    value: Callable[[Result, str], Any],
) -> list[Result]:
    """Return rows in the order of sort keys, as a stable sort.

    Rows without a value come last in both directions.
    """
    found = list(rows)
    for key, descending in reversed(keys):
        absent = [row for row in found if value(row, key) is None]
        present = [row for row in found if value(row, key) is not None]
        present.sort(key=lambda row: value(row, key), reverse=descending)
        found = [*present, *absent]
    return found


def names(actions: list[Action]) -> list[str | None]:
    """Return the names of actions, in order."""
    return [action.name for action in actions]
