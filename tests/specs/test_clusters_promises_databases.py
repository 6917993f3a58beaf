"""The guarantees for clusters, on databases."""

from collections.abc import Callable

from tests.cluster_worlds import BY, ClusterCase
from tests.functional.db.stores import MYSQL, POSTGRESQL, define_tests
from tests.operated_worlds import OperatedWorld
from tests.specs.cost_case import CostCase, Costs, EndListener
from tests.specs.database_case import OnDatabase
from tests.specs.test_clusters_promises import NEVER, ClusterPromises
from watcherlite.domain.events import Event
from watcherlite.states import action as action_states


class DatabaseClusterPromises(OnDatabase, ClusterPromises):
    """Fewer runs, since each takes longer on a database."""

    disorders = 2


def ended_action(event: Event) -> int | None:
    """Return the id of an action that has succeeded."""
    return event.action_id if event.new_status == action_states.SUCCEEDED else None


class CostTest(CostCase, ClusterCase):
    """The cost per node does not grow with the number of nodes."""

    def costs_of(self, size: int) -> Costs:
        """Return the costs per node of a cluster."""
        world = OperatedWorld(self.make_store(), sweep_interval=NEVER, lease=NEVER)
        ends = EndListener(ended_action)
        world.worker().add_listener(ends.on_events)
        profile, other = world.profile('p'), world.profile('q', value='new')
        world.insert_cluster(profile, min_size=0, max_size=-1)
        do = world.operations
        more = {'adjustment_type': 'EXACT_CAPACITY', 'number': size}
        change = {'profile_id': other.uuid}

        def succeeds(ask: Callable[[], str]) -> Callable[[], bool]:
            return lambda: ends.wait_for(world.store.get_action(ask()).id)

        operations = {
            'resize': succeeds(lambda: do.resize('c', BY, more).action),
            'check': succeeds(lambda: do.check('c', BY).action),
            'update': succeeds(lambda: do.update('c', BY, change).action),
            'scale in': succeeds(
                lambda: do.scale('c', BY, 'CLUSTER_SCALE_IN', size).action
            ),
        }
        found = self.costs(operations, size)
        world.stop()
        return found

    def test_the_cost_of_a_node_in_small_and_large_clusters(self) -> None:
        self.assert_steady(self.costs_of(10), self.costs_of(60))


define_tests(
    __name__,
    DatabaseClusterPromises,
    after=(ClusterCase,),
    on=(POSTGRESQL, MYSQL),
    name='ClusterPromises',
)
