"""The promises for clusters, on databases."""

import threading
from collections.abc import Callable, Sequence

from tests.bench.query_counters import COMMITS, STATEMENTS, Counters
from tests.cluster_worlds import BY, ClusterCase
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, define_tests
from tests.operated_worlds import OperatedWorld
from tests.specs.database_case import OnDatabase
from tests.specs.test_clusters_promises import NEVER, ClusterPromises
from watcherlite.domain.events import Event
from watcherlite.states import action as action_states

#: Seconds of real time after which an operation is taken to be stuck.
PATIENCE = 120


class DatabaseClusterPromises(OnDatabase, ClusterPromises):
    """On a database, which takes longer for each story."""

    disorders = 2


class Ends:
    """Hears of the ends of actions, without asking the database."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._ended: dict[int, str] = {}

    def hear(self, stored: Sequence[Event]) -> None:
        """Take events that are durable."""
        with self._condition:
            for event in stored:
                if event.new_status in action_states.FINAL and event.action_id:
                    self._ended[event.action_id] = event.new_status
            self._condition.notify_all()

    def of(self, action_id: int) -> str | None:
        """Wait for the end of an action, and return its status then."""
        with self._condition:
            self._condition.wait_for(lambda: action_id in self._ended, PATIENCE)
            return self._ended.get(action_id)


class CostTest(OnDatabase, ClusterCase, stores.SqliteDatabase):
    """The cost of a node does not grow with their number."""

    #: As for stacks: how many share a transaction is not always the same.
    growth = 2.5

    def costs(self, size: int) -> dict[str, tuple[float, float]]:
        """Return statements and commits a node, by operation."""
        world = OperatedWorld(self.make_store(), sweep_interval=NEVER, lease=NEVER)
        ends, counters = Ends(), Counters()
        world.worker().add_listener(ends.hear)
        profile, other = world.profile('p'), world.profile('q', value='new')
        world.a_cluster(profile, min_size=0, max_size=-1)
        do = world.operations
        more = {'adjustment_type': 'EXACT_CAPACITY', 'number': size}
        change = {'profile_id': other.uuid}
        asked: dict[str, Callable[[], str]] = {
            'resize': lambda: do.resize('c', BY, more).action,
            'check': lambda: do.check('c', BY).action,
            'update': lambda: do.update('c', BY, change).action,
            'scale in': lambda: do.scale('c', BY, 'CLUSTER_SCALE_IN', size).action,
        }
        found = {}
        with counters.counted():
            for name, ask in asked.items():
                counters.take()
                uuid = ask()
                action_id = world.store.get_action(uuid).id
                self.assertEqual('SUCCEEDED', ends.of(action_id), name)
                counts = counters.take()['counts']
                found[name] = (counts[STATEMENTS] / size, counts[COMMITS] / size)
        world.stop()
        return found

    def test_of_a_node_among_few_and_among_many(self) -> None:
        # Few share no transaction to speak of. Many share one when the machine is idle,
        # so that two sizes that may are not to be compared with each other.
        few, many = found = [self.costs(10), self.costs(150)]
        for name, (statements, commits) in many.items():
            most = [self.growth * cost for cost in few[name]]
            self.assertLessEqual(statements, most[0], (name, found))
            self.assertLessEqual(commits, most[1], (name, found))


define_tests(
    __name__,
    DatabaseClusterPromises,
    after=(ClusterCase,),
    on=(POSTGRESQL, MYSQL),
    name='ClusterPromises',
)
