"""A world of clusters with policies and a load balancer that record their calls."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.cluster_worlds import BY, ClusterCase, ClusterWorld
from watcherlite.domain import events
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import (
    Bound,
    Cluster,
    NewPolicyObject,
    Node,
    PolicyObject,
)
from watcherlite.domain.outcomes import Retry
from watcherlite.engine.clusters import action_types
from watcherlite.plugins.base import LoadBalancer, Policy, PolicyContext
from watcherlite.plugins.policies.affinity import Affinity
from watcherlite.plugins.policies.batch import Batch
from watcherlite.plugins.policies.deletion import Deletion
from watcherlite.plugins.policies.load_balance import LoadBalance
from watcherlite.plugins.policies.scaling import Scaling
from watcherlite.plugins.policies.spreading import RegionPlacement, ZonePlacement

AFFINITY = 'senlin.policy.affinity-1.0'
BATCH = 'senlin.policy.batch-1.0'
DELETION = 'senlin.policy.deletion-1.0'
LOAD_BALANCE = 'senlin.policy.loadbalance-1.1'
REGIONS = 'senlin.policy.region_placement-1.0'
SCALING = 'senlin.policy.scaling-1.0'
ZONES = 'senlin.policy.zone_placement-1.0'
PICKY = 'others.policy.picky-1.0'


class OtherProfilePolicy(Policy):
    """A policy for a profile type that no cluster has."""

    profile_types = ('os.nova.server-1.0',)


KINDS: Mapping[str, type[Policy]] = {
    AFFINITY: Affinity,
    BATCH: Batch,
    DELETION: Deletion,
    LOAD_BALANCE: LoadBalance,
    PICKY: OtherProfilePolicy,
    REGIONS: RegionPlacement,
    SCALING: Scaling,
    ZONES: ZonePlacement,
}
#: The policy type, the stored data at the call, and the data after it.
Step = tuple[str, Mapping[str, Any], Mapping[str, Any]]


class ExternalResources:
    """Records the calls of the policies of a world and of its load balancer.

    :ivar steps: the calls before actions, in order
    :ivar after: the calls after actions: policy type and result of the action
    :ivar members: the names of the members at each update
    """

    def __init__(self) -> None:
        self.world: ClusterWorld | None = None
        self.steps: list[Step] = []
        self.after: list[tuple[str, str | None]] = []
        self.members: list[list[str]] = []
        self.removed = 0
        #: The numbers of calls that find the load balancer being changed.
        self.busy = self.busy_removals = 0
        #: Whether the deletion of the load balancer fails.
        self.broken = False
        #: Called once, at the next update of members.
        self.meanwhile: Callable[[], None] | None = None
        self.lock = threading.Lock()

    def stored(self, uuid: str) -> Mapping[str, Any]:
        """Return the stored data of an action."""
        assert self.world is not None
        return self.world.store.get_action(uuid).data

    def create_recording_policy(self, name: str, kind: type[Policy]) -> type[Policy]:
        """Return a policy type that records its calls."""
        external = self

        class Watched(kind):  # type: ignore[misc, valid-type]
            def pre_op(
                self, context: PolicyContext, data: dict[str, Any]
            ) -> Retry | None:
                before = external.stored(context.action_uuid)
                delayed = super().pre_op(context, data)
                external.steps.append((name, before, dict(data)))
                return delayed

            def post_op(
                self, context: PolicyContext, data: dict[str, Any]
            ) -> Retry | None:
                delayed = super().post_op(context, data)
                external.after.append((name, context.result))
                return delayed

        return type(kind.__name__, (Watched,), {})

    def balancer(self) -> type[LoadBalancer]:
        """Return a driver that records its calls."""
        external = self

        class RecordingBalancer(LoadBalancer):
            def apply(
                self,
                name: str,
                properties: Mapping[str, Any],
                members: Sequence[Mapping[str, Any]],
            ) -> Mapping[str, Any] | Retry:
                with external.lock:
                    external.busy -= 1
                    if external.busy >= 0:
                        return Retry('it is being changed')
                    external.members.append([member['name'] for member in members])
                    call, external.meanwhile = external.meanwhile, None
                if call is not None:
                    call()
                return {'vip_address': '127.0.0.1'}

            def remove(self, name: str) -> Retry | None:
                if external.broken:
                    raise OSError('a secret')
                with external.lock:
                    external.busy_removals -= 1
                    if external.busy_removals >= 0:
                        return Retry('it is being changed')
                external.removed += 1
                return None

        return RecordingBalancer


class ClusterPolicyCase(ClusterCase):
    """The base case of the tests of policies."""

    def setUp(self) -> None:
        super().setUp()
        self.external = ExternalResources()
        self.world = self.create_cluster_world(
            policies={
                name: self.external.create_recording_policy(name, kind)
                for name, kind in KINDS.items()
            },
            load_balancers={'recording': self.external.balancer()},
        )
        self.external.world = self.world
        self.profile = self.world.profile()

    def insert_cluster(self, *placements: Mapping[str, str], size: int = 0) -> Cluster:
        """Return a cluster of nodes, the last of which is the oldest."""
        count = len(placements) or size
        cluster = self.world.insert_cluster(self.profile, 0, next_index=count + 1)
        for index in range(count, 0, -1):
            data: dict[str, Any] = {}
            if placements:
                data = {'placement': dict(placements[index - 1])}
            node = self.world.insert_node(
                *(self.profile, f'n{index}', cluster, index),
                metadata={'address': '127.0.0.1', 'port': 8000 + index},
                data=data,
            )
            self.world.create_node(node)
        return cluster

    def insert_policy(self, type_: str, **properties: Any) -> PolicyObject:
        """Store a policy."""
        name, _, version = type_.rpartition('-')
        spec = {'type': name, 'version': version, 'properties': properties}
        row = NewPolicyObject(events.new_uuid(), name, type_, spec, BY.owner)
        with self.world.store.transaction() as tx:
            return tx.insert_object(row)

    def attach(self, cluster: Cluster, type_: str, **properties: Any) -> PolicyObject:
        """Attach a new policy to a cluster."""
        policy = self.insert_policy(type_, **properties)
        ended = self.attach_policy(cluster, policy)
        self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        return policy

    def attach_policy(
        self, cluster: Cluster, policy: PolicyObject, **inputs: Any
    ) -> Action:
        """Request the attachment of a policy, and wait for its end."""
        given = {'policy_id': policy.uuid, **inputs}
        return self.world.run_action(action_types.CLUSTER_ATTACH_POLICY, cluster, given)

    def bindings(self, cluster: Cluster) -> list[Bound]:
        """Return the bindings of a cluster."""
        key = cluster.id
        return self.world.store.bindings_of_clusters([key]).get(key, [])

    def names(self, cluster: Cluster) -> list[str]:
        """Return the names of the nodes of a cluster."""
        return [node.name for node in self.world.nodes(cluster)]

    def uuids(self, cluster: Cluster, *names: str) -> list[str]:
        """Return the uuids of nodes, given by name."""
        known: dict[str, Node] = {n.name: n for n in self.world.nodes(cluster)}
        return [known[name].uuid for name in names]
