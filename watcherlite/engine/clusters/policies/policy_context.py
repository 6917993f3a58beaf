"""The context of policies, see `plugins.base.PolicyContext`."""

import dataclasses
import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite.db.api import Store, Transaction
from watcherlite.domain import clusters
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.node_record import PREVIOUS_STATUS
from watcherlite.engine.clusters.profile_types import ProfileTypes
from watcherlite.engine.clusters.projection import transitions
from watcherlite.engine.clusters.services import ClusterPlugins
from watcherlite.execution.policy_chain import OK
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, LoadBalancer
from watcherlite.states import cluster as states

T = TypeVar('T')
Row = TypeVar('Row', clusters.Cluster, clusters.Node)

#: Actions that make a node ACTIVE by default.
_MAKING = frozenset(
    {action_types.NODE_CREATE, action_types.NODE_RECOVER, action_types.NODE_UPDATE}
)


@dataclasses.dataclass(slots=True)
class ClusterSnapshot:
    """The cluster of an action with its nodes, shared by the policies.

    The nodes are read when they are first used.

    :ivar action: that policies are called for, and its type
    :ivar cluster: its row, with the changes of policies
    """

    store: Store
    plugins: ClusterPlugins
    action: ActionContext
    action_type: str
    cluster: clusters.Cluster
    _nodes: list[clusters.Node] | None = None

    @property
    def nodes(self) -> list[clusters.Node]:
        """Return the nodes of the cluster, by index."""
        if self._nodes is None:
            return self.refresh()
        return self._nodes

    def refresh(self) -> list[clusters.Node]:
        """Read the nodes again."""
        found = self.retry(lambda: self.store.nodes_of([self.cluster.id]))
        self._nodes = sorted(found, key=lambda node: (node.index, node.id))
        return self._nodes

    def retry(self, call: Callable[[], T]) -> T:
        """Call the store; retry while it is unavailable."""
        what = f'A policy of cluster {self.cluster.uuid}'
        return retry_while_unavailable(self.action, what, call)

    def write(self, call: Callable[[Transaction, clusters.Cluster], T]) -> T:
        """Call a function in a transaction that holds the lock of the cluster."""

        def write() -> tuple[clusters.Cluster, T]:
            with self.store.transaction() as tx:
                locked = tx.lock_clusters([self.cluster.uuid])
                row = locked.get(self.cluster.uuid, self.cluster)
                result = call(tx, row)
            return row, result

        row, result = self.retry(write)
        self.cluster = row
        return result


class BoundPolicyContext:
    """Implements `plugins.base.PolicyContext` for one policy.

    :param binding: not stored yet while the policy is being attached
    :param load_balancers: the names of drivers in the order of preference
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        binding: clusters.NewBinding,
        policy: clusters.PolicyObject,
        properties: Mapping[str, Any],
        load_balancers: Sequence[str] = (),
    ) -> None:
        self._snapshot = snapshot
        self._binding = binding
        self.name = policy.name
        self.policy_uuid = policy.uuid
        self.action_uuid = snapshot.action.uuid
        self.action_type = snapshot.action_type
        self.inputs = snapshot.action.inputs
        self.properties = properties
        self.result: str | None = None
        self.load_balancers = load_balancers
        # Scheduled actions have no authority of a user.
        self.credential = snapshot.action.authority or snapshot.cluster.uuid

    @property
    def cluster(self) -> clusters.Cluster:
        """Return the cluster."""
        return self._snapshot.cluster

    @property
    def nodes(self) -> Sequence[clusters.Node]:
        """Return its nodes by index."""
        return [self._projected(node) for node in self._snapshot.nodes]

    @property
    def node(self) -> clusters.Node | None:
        """Return the target node of the action; None for actions on the cluster."""
        if self.action_type in action_types.CLUSTER_TYPES:
            return None
        target = self._snapshot.action.target
        return next((node for node in self.nodes if node.uuid == target), None)

    @property
    def binding_data(self) -> Mapping[str, Any]:
        """Return the data of the binding."""
        return self._binding.data

    @property
    def last_op(self) -> datetime.datetime | None:
        """Return when the policy last took effect."""
        return self._binding.last_op

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC."""
        return self._snapshot.action.now()

    def profile(self, node: clusters.Node | None = None) -> Mapping[str, Any]:
        """Return the spec of the profile of a node, or of the cluster."""
        key = (self.cluster if node is None else node).profile_id
        return self._profiles([key])[key].spec

    def profiles(self) -> Mapping[int, clusters.Profile]:
        """Return the profiles of the cluster and its nodes, by id."""
        keys = {self.cluster.profile_id, *(node.profile_id for node in self.nodes)}
        return self._profiles(sorted(keys))

    def operations(self) -> Collection[str]:
        """Return the operations of the type of the cluster's profile."""
        key = self.cluster.profile_id
        types = ProfileTypes(self._snapshot.plugins)
        found = types.find(self._profiles([key])[key].type)
        return tuple(found.declared.operations)

    def supports(self, hook: str) -> bool:
        """Return whether the type of its nodes overrides a hook of ResourceHandler."""
        key = self.cluster.profile_id
        types = ProfileTypes(self._snapshot.plugins)
        return types.find(self._profiles([key])[key].type).declared.supports(hook)

    def refresh(self) -> Sequence[clusters.Node]:
        """Read the nodes again."""
        self._snapshot.refresh()
        return self.nodes

    def driver(self, name: str) -> LoadBalancer:
        """Return a load balancer's driver."""
        driver = self._snapshot.plugins.make_load_balancer(name)
        action = self._snapshot.action
        # Health checks and scheduled actions have no authority of a user.
        driver.credential = action.authority or self.cluster.uuid
        driver.properties = self.properties
        driver.fence = action.fence
        return driver

    def mark_applied(self) -> None:
        """Record now as the time when the policy last took effect."""
        self._save_binding(last_op=self.now())

    def save(
        self,
        binding_data: Mapping[str, Any] | None = None,
        cluster_data: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Store data of the binding, the cluster and its nodes."""
        if binding_data is not None:
            self._save_binding(data=dict(binding_data))
        if cluster_data:
            self._snapshot.write(
                lambda tx, row: tx.save_clusters([_with_data(row, cluster_data)])
            )
            self._snapshot.cluster = _with_data(self.cluster, cluster_data)
        if node_data:
            self._snapshot.write(lambda tx, row: _save_nodes(tx, node_data))
            self._snapshot.refresh()

    def _save_binding(self, **changes: Any) -> None:
        self._binding = self._binding.evolve(**changes)
        if isinstance(self._binding, clusters.Binding):
            key = self._binding.id
            self._snapshot.write(lambda tx, row: _change_binding(tx, row, key, changes))

    def _profiles(self, keys: Sequence[int]) -> Mapping[int, clusters.Profile]:
        store = self._snapshot.store
        return self._snapshot.retry(lambda: store.objects_by_id(clusters.Profile, keys))

    def _projected(self, node: clusters.Node) -> clusters.Node:
        """Return the target node as it will be after a successful action.

        Its row changes when the action ends, after all policies have run.
        """
        action = self._snapshot.action
        if self.result != OK or node.uuid != action.target:
            return node
        fields = (action.outputs or {}).get(action_types.NODE) or {}
        projected: clusters.Node = transitions.apply_fields(
            node, fields, transitions.NODE_FIELDS
        )
        if 'status' in fields or self.action_type not in _MAKING:
            return projected
        status = states.ACTIVE
        if PREVIOUS_STATUS in node.kept and fields.get(transitions.UNCHANGED):
            status = node.kept[PREVIOUS_STATUS][0]
        elif (
            self.action_type == action_types.NODE_UPDATE
            and node.status not in states.TRANSIENT
        ):
            # Only the row was updated.
            status = node.status
        return projected.evolve(status=status)


def _with_data(row: Row, changes: Mapping[str, Any]) -> Row:
    merged = {**row.data, **changes}
    data = {key: value for key, value in merged.items() if value is not None}
    return row.evolve(data=data)


def _change_binding(
    tx: Transaction, row: clusters.Cluster, key: int, changes: Mapping[str, Any]
) -> None:
    for known in tx.bindings_of(row.id):
        if known.binding.id == key:
            tx.save_bindings([known.binding.evolve(**changes)])


def _save_nodes(tx: Transaction, changes: Mapping[str, Mapping[str, Any]]) -> None:
    rows = tx.lock_nodes(sorted(changes))
    tx.save_nodes([_with_data(row, changes[uuid]) for uuid, row in rows.items()])
