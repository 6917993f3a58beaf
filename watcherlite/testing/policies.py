"""The context of a policy without a store, for the tests of policies."""

import datetime
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain.clusters import Cluster, Node, Owner, Profile
from watcherlite.plugins import specs
from watcherlite.plugins.base import LoadBalancer, Policy
from watcherlite.states import cluster as states
from watcherlite.testing.clock import ManualClock

#: The project of all objects.
TENANT = 'a-project'
#: uuids that are easy to recognize
ACTION = '00000000-0000-4000-8000-00000000000a'
CLUSTER = '00000000-0000-4000-8000-00000000000c'
POLICY = '00000000-0000-4000-8000-00000000000f'


def make_cluster(**values: Any) -> Cluster:
    """Return an ACTIVE cluster."""
    given: dict[str, Any] = {
        'uuid': CLUSTER,
        'name': 'c',
        'owner': Owner(TENANT),
        'profile_id': 1,
        'id': 1,
        'status': states.ACTIVE,
    }
    return Cluster(**{**given, **values})


def make_node(index: int, created_at: datetime.datetime | None, **values: Any) -> Node:
    """Return an ACTIVE node of that cluster; its uuid ends in its index."""
    given: dict[str, Any] = {
        'uuid': str(uuid.UUID(int=index)),
        'name': f'n{index}',
        'owner': Owner(TENANT),
        'profile_id': 1,
        'handler': 'Sample',
        'cluster_id': 1,
        'index': index,
        'id': index,
        'status': states.ACTIVE,
        'created_at': created_at,
    }
    return Node(**{**given, **values})


class FakePolicyContext:
    """Implements `plugins.base.PolicyContext` in memory.

    :param action_type: for which the policy is evaluated
    :param node: uuid of the target node; None: the target is the cluster
    :param profiles: of the cluster and its nodes
    :param drivers: name -> load balancer driver
    :param operations: that nodes support
    :param hooks: of ResourceHandler that the type of the nodes overrides
    :param credential: the authority of the user
    :ivar binding_data, last_op, cluster, nodes, node: as changed by the policy
    """

    def __init__(
        self,
        action_type: str,
        properties: Mapping[str, Any] | None = None,
        *,
        inputs: Mapping[str, Any] | None = None,
        cluster: Cluster | None = None,
        nodes: Sequence[Node] = (),
        node: str | None = None,
        binding_data: Mapping[str, Any] | None = None,
        last_op: datetime.datetime | None = None,
        profiles: Sequence[Profile] = (),
        drivers: Mapping[str, LoadBalancer] | None = None,
        operations: Collection[str] = (),
        hooks: Collection[str] = (),
        clock: Clock | None = None,
        credential: str | None = None,
    ) -> None:
        self.name = 'a policy'
        self.policy_uuid = POLICY
        self.action_uuid = ACTION
        self.action_type = action_type
        self.inputs = inputs or {}
        self.properties: Mapping[str, Any] = properties or {}
        self.cluster = cluster or make_cluster()
        self.nodes: Sequence[Node] = list(nodes)
        self.binding_data: Mapping[str, Any] = binding_data or {}
        self.last_op = last_op
        self.result: str | None = None
        self.load_balancers: Sequence[str] = tuple(drivers or {})
        self.credential = credential
        self.node = self._named(node)
        self._known = {profile.id: profile for profile in profiles}
        self._drivers = drivers or {}
        self._operations = operations
        self._hooks = hooks
        self._clock = clock or ManualClock()

    def now(self) -> datetime.datetime:
        return self._clock.now()

    def profile(self, node: Node | None = None) -> Mapping[str, Any]:
        return self._known[(self.cluster if node is None else node).profile_id].spec

    def profiles(self) -> Mapping[int, Profile]:
        return self._known

    def operations(self) -> Collection[str]:
        return self._operations

    def supports(self, hook: str) -> bool:
        return hook in self._hooks

    def refresh(self) -> Sequence[Node]:
        return self.nodes

    def driver(self, name: str) -> LoadBalancer:
        if name not in self._drivers:
            raise exceptions.PluginNotFound(f'There is no load balancer {name}.')
        driver = self._drivers[name]
        driver.credential = self.cluster.uuid
        driver.properties = self.properties
        return driver

    def mark_applied(self) -> None:
        self.last_op = self.now()

    def save(
        self,
        binding_data: Mapping[str, Any] | None = None,
        cluster_data: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Store the data."""
        if binding_data is not None:
            self.binding_data = dict(binding_data)
        merged = _merged(self.cluster.data, cluster_data or {})
        self.cluster = self.cluster.evolve(data=merged)
        data_of_nodes = node_data or {}
        self.nodes = [
            node.evolve(data=_merged(node.data, data_of_nodes.get(node.uuid, {})))
            for node in self.nodes
        ]
        if self.node is not None:
            self.node = self._named(self.node.uuid)

    def _named(self, uuid: str | None) -> Node | None:
        return next((node for node in self.nodes if node.uuid == uuid), None)


def fitted(policy: Policy, **properties: Any) -> dict[str, Any]:
    """Return validated properties of a policy; raises InvalidSpec."""
    return specs.fit(policy, properties)


def _merged(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**data, **changes}
    return {key: value for key, value in merged.items() if value is not None}
