"""The base case of tests that compare the cost per member for different sizes."""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence

from tests.bench.query_counters import COMMITS, STATEMENTS, Counters
from tests.bounded import TIMEOUT
from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from watcherlite.domain.events import Event

#: operation -> statements and commits per member
Costs = dict[str, tuple[float, float]]


class EndListener:
    """A listener that waits for the ends of operations without querying the database.

    :param key: returns the key of the operation that an event ends, or None
    """

    def __init__(self, key: Callable[[Event], Hashable | None]) -> None:
        self._key = key
        self._condition = threading.Condition()
        self._ended: set[Hashable] = set()

    def on_events(self, stored: Sequence[Event]) -> None:
        """Process stored events."""
        with self._condition:
            self._ended.update(
                key for event in stored if (key := self._key(event)) is not None
            )
            self._condition.notify_all()

    def wait_for(self, key: Hashable) -> bool:
        """Wait for the end of an operation; return whether it ended in time."""
        with self._condition:
            return self._condition.wait_for(lambda: key in self._ended, TIMEOUT)


class CostCase(OnDatabase, stores.SqliteDatabase):
    """Compares the cost per member of small and large operations.

    SQLite suffices, since all databases execute the same statements.
    """

    #: The number of members per transaction depends on the duration of a commit, which
    #: varies with the load of the machine. A cost that grows with the number of members
    #: would be five times as high.
    growth = 2.5

    def costs(self, operations: Mapping[str, Callable[[], bool]], size: int) -> Costs:
        """Return the costs of operations, executed in this order, per member.

        :param operations: name -> a function that runs the operation to its end and
            returns whether it succeeded
        """
        counters, found = Counters(), {}
        with counters.counted():
            for name, operate in operations.items():
                counters.take()
                self.assertTrue(operate(), name)
                counts = counters.take()['counts']
                found[name] = (counts[STATEMENTS] / size, counts[COMMITS] / size)
        return found

    def assert_steady(self, few: Costs, many: Costs) -> None:
        """Check that the cost per member does not grow with the number of members."""
        # A small operation hardly shares transactions. A large one shares them only on
        # an idle machine, so that two large operations are not comparable.
        for name, (statements, commits) in many.items():
            most = [self.growth * cost for cost in few[name]]
            self.assertLessEqual(statements, most[0], (name, few, many))
            self.assertLessEqual(commits, most[1], (name, few, many))
