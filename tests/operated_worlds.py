"""A world in which users request operations; see `tests.cluster_worlds`."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests.cluster_worlds import BY, ClusterCase, ClusterWorld
from watcherlite.db.api import Store
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.clusters.actions import (
    cluster_actions,
    node_actions,
    plan_actions,
)
from watcherlite.engine.clusters.actions.health_monitor import CLUSTER_HEALTH
from watcherlite.engine.clusters.actions.lifecycle_hooks import LIFECYCLE_HOOK
from watcherlite.engine.clusters.lock_admission import PartLockAdmission
from watcherlite.engine.clusters.requests.clusters import ClusterOperations
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    ClusterRequest,
    NewClusterAction,
    NodeRequest,
)
from watcherlite.engine.stacks.action_inputs import HOOK
from watcherlite.execution.ports import ActionTypes
from watcherlite.execution.worker import Worker
from watcherlite.plugins.policies.deletion import Deletion
from watcherlite.plugins.policies.scaling import Scaling

#: The types for clusters and nodes: name -> class.
OWN: Mapping[str, Any] = {**node_actions.TYPES, **cluster_actions.TYPES}
POLICIES: Mapping[str, type] = {
    'senlin.policy.deletion-1.0': Deletion,
    'senlin.policy.scaling-1.0': Scaling,
}


class OperatedWorld(ClusterWorld):
    """A world with the operations of users.

    :ivar operations: the operations on clusters
    :ivar by: the user of the requests
    """

    def __init__(
        self,
        store: Store,
        types: Mapping[str, type] | None = None,
        policies: Mapping[str, type] | None = None,
        **keys: Any,
    ) -> None:
        super().__init__(
            store,
            types={**OWN, **(types or {})},
            policies={**POLICIES, **(policies or {})},
            **keys,
        )
        self.operations = ClusterOperations(self.cluster_parts, self.clock, self)
        self.by = BY

    def worker_types(self, store: Store) -> ActionTypes:
        known = super().worker_types(store)
        own: dict[str, Any] = {
            name: lambda name=name: known.make_action_type(name)
            for name in ('stack', 'resource', HOOK, CLUSTER_HEALTH, LIFECYCLE_HOOK)
        }
        own |= plan_actions.of_worker(OWN, self.parts(store))
        return EngineActionTypes(self.types, own)

    def worker(self, **keys: Any) -> Worker:
        return super().worker(**{'admission': PartLockAdmission(self.store), **keys})

    # Operations of users

    def cluster(
        self, size: int = 0, name: str = 'c', profile: Profile | None = None, **new: Any
    ) -> Cluster:
        """Create a cluster, and wait for the end."""
        made = profile or self.profile()
        desired = ClusterRequest(name, made.uuid, desired_capacity=size, **new)
        return self.row(self.operations.create(desired, self.by))

    def orphan(self, name: str = 'n', profile: Profile | None = None) -> Node:
        """Create a node without a cluster, and wait for the end."""
        made = profile or self.profile()
        new = NodeRequest(name, made.uuid)
        return self.row(self.operations.nodes.create(new, self.by))

    def policy(self, type_: str, name: str = 'po', **properties: Any) -> PolicyObject:
        """Store a policy of a type without its version."""
        spec = {'type': type_, 'version': '1.0', 'properties': properties}
        return self.operations.policies.create(name, spec, self.by)

    def attach(self, cluster: Cluster, policy: PolicyObject) -> Action:
        """Attach a policy, and wait for the end."""
        begun = self.operations.attach_policy(cluster.uuid, self.by, policy.uuid)
        return self.wait_for_end(begun.action)

    def user_action(self, action: str, target: Cluster | Node, **new: Any) -> Action:
        """Request an action as users define it; do not wait."""
        desired = NewClusterAction(action, target.uuid, **new)
        begun = self.operations.actions.create(desired, self.by)
        return self.store.get_action(begun.action)

    def start_by_hand(self, uuid: str) -> None:
        """Set an action to RUNNING without a worker that executes it."""
        action = self.store.get_action(uuid)
        running = action.evolve(status='RUNNING', start_time=self.clock.now())
        with self.store.transaction() as tx:
            tx.change_actions([ActionChange(action, running)])

    def row(self, begun: Accepted[Any]) -> Any:
        """Wait for the end of a request; return the current state of its row."""
        self.wait_for_end(begun.action)
        return self.reload(begun.row)

    def statuses_of(self, cluster: Cluster) -> list[str]:
        """Return the statuses of the nodes of a cluster, by index."""
        return [node.status for node in self.nodes(cluster)]


class OperatedCase(ClusterCase):
    """The base case of tests of user requests; one worker serves all lanes.

    :ivar world: an `OperatedWorld`
    """

    types: ClassVar[Mapping[str, type]] = {}

    def setUp(self) -> None:
        super().setUp()
        self.world = OperatedWorld(self.make_store(), types=self.types)
        self.addCleanup(self.world.stop)
        self.world.worker()
        self.operations, self.by = self.world.operations, self.world.by
