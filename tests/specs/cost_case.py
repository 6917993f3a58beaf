"""The base case of tests that what is done to one of many costs no more."""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence

from tests.bench.query_counters import COMMITS, STATEMENTS, Counters
from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from watcherlite.domain.events import Event

#: Seconds of real time after which an operation is taken to be stuck.
PATIENCE = 120
#: operation -> statements and commits for each member
Costs = dict[str, tuple[float, float]]


class EndListener:
    """Waits for the ends of operations, without asking the database.

    :param key: returns by what an end is known, None if an event is none
    """

    def __init__(self, key: Callable[[Event], Hashable | None]) -> None:
        self._key = key
        self._condition = threading.Condition()
        self._ended: set[Hashable] = set()

    def hear(self, stored: Sequence[Event]) -> None:
        """Take events that are durable."""
        with self._condition:
            self._ended.update(
                key for event in stored if (key := self._key(event)) is not None
            )
            self._condition.notify_all()

    def wait_for(self, key: Hashable) -> bool:
        """Wait for an end; return whether it came."""
        with self._condition:
            return self._condition.wait_for(lambda: key in self._ended, PATIENCE)


class CostCase(OnDatabase, stores.SqliteDatabase):
    """Compares the costs of each of few and of each of many.

    On SQLite: the same statements are executed everywhere.
    """

    #: How many share a transaction depends on how long a commit takes, which on a
    #: busy machine is not always the same. Growth with the number would be tenfold.
    growth = 2.5

    def costs(self, operations: Mapping[str, Callable[[], bool]], size: int) -> Costs:
        """Return the costs of operations, in this order, for each of their members.

        :param operations: name -> begins it, waits and returns whether it succeeded
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
        """Check that one costs no more among many of them."""
        # Few share no transaction to speak of. Many share one when the machine is idle,
        # so that two sizes that may are not to be compared with each other.
        for name, (statements, commits) in many.items():
            most = [self.growth * cost for cost in few[name]]
            self.assertLessEqual(statements, most[0], (name, few, many))
            self.assertLessEqual(commits, most[1], (name, few, many))
