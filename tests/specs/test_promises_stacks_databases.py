"""The promises of the design for stacks, on PostgreSQL; and what they cost.

The cost is that of SQLite: the same statements are executed everywhere.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from tests.bench.query_counters import COMMITS, STATEMENTS, Counters
from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from tests.specs.test_promises_stacks import StackPromises
from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res, template
from watcherlite.domain.events import STACK, Event
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.states import stack as states

#: Seconds of real time after which an operation is taken to be stuck.
PATIENCE = 120


class PostgresqlStackPromisesTest(
    OnDatabase, StackPromises, StackWorldCase, stores.PostgresqlDatabase
):
    """On PostgreSQL."""

    every = 31


class Ends:
    """Hears of the ends of operations on stacks, without asking the database."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._states: list[str] = []

    def hear(self, stored: Sequence[Event]) -> None:
        """Take events that are durable."""
        with self._condition:
            self._states += [
                event.new_status or '' for event in stored if event.subject == STACK
            ]
            self._condition.notify_all()

    def wait_for(self, state: str) -> bool:
        """Wait until an operation ends so."""
        with self._condition:
            return self._condition.wait_for(lambda: state in self._states, PATIENCE)


def flat(size: int, value: str) -> dict[str, Any]:
    """Return resources that need nothing of each other."""
    return {f'r{at}': res(value=value) for at in range(size)}


def chain(size: int, value: str) -> dict[str, Any]:
    """Return resources each of which needs the one before."""
    found = flat(size, value)
    for at in range(1, size):
        found[f'r{at}']['depends_on'] = [f'r{at - 1}']
    return found


def fan(size: int, value: str) -> dict[str, Any]:
    """Return resources all of which the last one needs, and reads."""
    found = flat(size, value)
    read = [{'get_attr': [name, 'output']} for name in found]
    found['last'] = res(value={'list_join': [',', read]})
    return found


class CostTest(OnDatabase, StackWorldCase, stores.SqliteDatabase):
    """The cost of a resource does not grow with their number."""

    #: How many share a transaction depends on how long a commit takes, which on a
    #: busy machine is not always the same. Growth with the number would be tenfold.
    growth = 2.5

    def costs(self, shape: Any, size: int) -> dict[str, tuple[float, float]]:
        """Return statements and commits a resource, by operation."""
        world = self.a_stack_world(sweep_interval=3600.0, lease=600.0)
        ends, counters = Ends(), Counters()
        worker = world.worker()
        worker.add_listener(ends.hear)
        found = {}
        with counters.counted():
            stack: Stack | None = None
            for operation in (states.CREATE, states.UPDATE, states.DELETE):
                counters.take()
                stack = self.begin(world, stack, operation, shape, size)
                end = f'{operation}_COMPLETE'
                self.assertTrue(ends.wait_for(end), operation)
                counts: Mapping[str, int] = counters.take()['counts']
                found[operation] = (counts[STATEMENTS] / size, counts[COMMITS] / size)
        world.stop()
        return found

    def begin(
        self,
        world: StackWorld,
        stack: Stack | None,
        operation: str,
        shape: Any,
        size: int,
    ) -> Stack:
        """Begin an operation."""
        if stack is None:
            return world.begin(shape(size, 'v'))
        if operation == states.DELETE:
            return world.stacks.delete(stack.uuid, TENANT)
        new = StackRequest(stack.name, template(shape(size, 'w')))
        return world.stacks.update(stack.uuid, TENANT, new)

    def assert_steady(self, shape: Any, size: int) -> None:
        """Check that a resource costs no more among many of them."""
        # Few share no transaction to speak of. Many share one when the machine is idle,
        # so that two sizes that may are not to be compared with each other.
        few, many = found = [self.costs(shape, 10), self.costs(shape, size)]
        for operation, (statements, commits) in many.items():
            most = [self.growth * cost for cost in few[operation]]
            self.assertLessEqual(statements, most[0], (operation, found))
            self.assertLessEqual(commits, most[1], (operation, found))

    def test_of_those_that_need_nothing_of_each_other(self) -> None:
        self.assert_steady(flat, 200)

    def test_of_those_that_need_the_one_before(self) -> None:
        self.assert_steady(chain, 100)

    def test_of_those_that_one_needs(self) -> None:
        self.assert_steady(fan, 100)
