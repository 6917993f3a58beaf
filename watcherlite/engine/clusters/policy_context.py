"""What a policy is handed: see `plugins.base.PolicyContext`."""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from watcherlite.db.api import Store, Transaction
from watcherlite.domain.clusters import Binding, Bound, Cluster, Node, Profile
from watcherlite.engine.clusters import actions, progress
from watcherlite.engine.clusters.parts import Plugins
from watcherlite.engine.clusters.profile_types import ProfileTypes
from watcherlite.engine.patience import patiently
from watcherlite.execution.policy_chain import OK
from watcherlite.plugins.base import ActionContext, LoadBalancer
from watcherlite.states import cluster as states

T = TypeVar('T')

#: Actions after which a node is ACTIVE if they say nothing else.
_MAKING = frozenset({actions.NODE_CREATE, actions.NODE_RECOVER, actions.NODE_UPDATE})


class Asked(Protocol):
    """What is known of the action that policies are asked about."""

    @property
    def uuid(self) -> str: ...

    @property
    def action_type(self) -> str: ...

    @property
    def inputs(self) -> Mapping[str, Any]: ...

    @property
    def target(self) -> str | None: ...


class Surroundings:
    """The cluster that an action is about, and its nodes, for all of its policies.

    They are read when they are first needed.

    :ivar cluster: as it is, with what policies have stored meanwhile
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        action: ActionContext,
        asked: Asked,
        cluster: Cluster,
    ) -> None:
        self.store = store
        self.plugins = plugins
        self.action = action
        self.asked = asked
        self.cluster = cluster
        self._nodes: list[Node] | None = None

    @property
    def nodes(self) -> list[Node]:
        """Return the nodes of the cluster, by index."""
        if self._nodes is None:
            return self.refresh()
        return self._nodes

    def refresh(self) -> list[Node]:
        """Read the nodes anew."""
        found = self.ask(lambda: self.store.nodes_of([self.cluster.id or 0]))
        self._nodes = sorted(found, key=lambda node: (node.index, node.id or 0))
        return self._nodes

    def ask(self, call: Callable[[], T]) -> T:
        """Ask the store, and again while it is away."""
        what = f'A policy of cluster {self.cluster.uuid}'
        return patiently(self.action, what, call)

    def write(self, call: Callable[[Transaction, Cluster], T]) -> T:
        """Change something of the cluster in a transaction that has locked it."""

        def written() -> tuple[Cluster, T]:
            with self.store.transaction() as tx:
                locked = tx.lock_clusters([self.cluster.uuid])
                row = locked.get(self.cluster.uuid, self.cluster)
                result = call(tx, row)
            return row, result

        row, result = self.ask(written)
        self.cluster = row
        return result


class PolicyContext:
    """Implements `plugins.base.PolicyContext` for one policy.

    :param bound: with a binding that has no id while the policy is being attached
    """

    def __init__(
        self, around: Surroundings, bound: Bound, properties: Mapping[str, Any]
    ) -> None:
        self._around = around
        self._binding: Binding = bound.binding
        self.name = bound.policy.name
        self.policy_uuid = bound.policy.uuid
        self.action_uuid = around.asked.uuid
        self.action_type = around.asked.action_type
        self.inputs = around.asked.inputs
        self.properties = properties
        self.result: str | None = None

    @property
    def cluster(self) -> Cluster:
        """Return the cluster as it is."""
        return self._around.cluster

    @property
    def nodes(self) -> Sequence[Node]:
        """Return its nodes by index."""
        return [self._as_left(node) for node in self._around.nodes]

    @property
    def node(self) -> Node | None:
        """Return the node that the action is about; None: it is about the cluster."""
        if self.action_type in actions.CLUSTER_TYPES:
            return None
        target = self._around.asked.target
        return next((node for node in self.nodes if node.uuid == target), None)

    @property
    def kept(self) -> Mapping[str, Any]:
        """Return the data of the binding."""
        return self._binding.data

    @property
    def last_op(self) -> datetime.datetime | None:
        """Return when it was last heeded."""
        return self._binding.last_op

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC."""
        return self._around.action.now()

    def profile(self, node: Node | None = None) -> Mapping[str, Any]:
        """Return the spec of the profile of a node, or of the cluster."""
        key = (self.cluster if node is None else node).profile_id
        return self._profiles([key])[key].spec

    def profiles(self) -> Mapping[int, Profile]:
        """Return the profiles of the cluster and its nodes, by id."""
        keys = {self.cluster.profile_id, *(node.profile_id for node in self.nodes)}
        return self._profiles(sorted(keys))

    def operations(self) -> Collection[str]:
        """Return the operations of the type of the cluster's profile."""
        key = self.cluster.profile_id
        types = ProfileTypes(self._around.plugins)
        found = types.find(self._profiles([key])[key].type)
        return tuple(found.declared.operations)

    def refresh(self) -> Sequence[Node]:
        """Read the nodes anew."""
        self._around.refresh()
        return self.nodes

    def driver(self, name: str) -> LoadBalancer:
        """Return a load balancer's driver."""
        return self._around.plugins.make_load_balancer(name)

    def heed(self) -> None:
        """Note now as when it was last heeded."""
        self._save_binding(last_op=self.now())

    def keep(
        self,
        kept: Mapping[str, Any] | None = None,
        cluster_data: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Store what it keeps."""
        if kept is not None:
            self._save_binding(data=dict(kept))
        if cluster_data:
            self._around.write(lambda tx, row: _save_cluster(tx, row, cluster_data))
            merged = _merged(self.cluster.data, cluster_data)
            self._around.cluster = self.cluster.evolve(data=merged)
        if node_data:
            self._around.write(lambda tx, row: _save_nodes(tx, node_data))
            self._around.refresh()

    def _save_binding(self, **changes: Any) -> None:
        self._binding = self._binding.evolve(**changes)
        if self._binding.id is not None:
            self._around.write(
                lambda tx, row: _change_binding(tx, row, self._binding, changes)
            )

    def _profiles(self, keys: Sequence[int]) -> Mapping[int, Profile]:
        store = self._around.store
        return self._around.ask(lambda: store.nouns_by_id(Profile, keys))

    def _as_left(self, node: Node) -> Node:
        """Return the node of an action that went well as the action leaves it.

        Its row changes when the action ends, which is after all policies were told.
        """
        asked = self._around.asked
        if self.result != OK or node.uuid != asked.target:
            return node
        said = (self._around.action.outputs or {}).get(actions.NODE) or {}
        left: Node = progress.taken_over(node, said, progress.NODE_FIELDS)
        if 'status' in said or self.action_type not in _MAKING:
            return left
        status = states.ACTIVE
        if progress.WAS in node.kept and said.get(progress.AS_BEFORE):
            status = node.kept[progress.WAS][0]
        elif self.action_type == actions.NODE_UPDATE and not _transient(node):
            # Nothing was done but to its row.
            status = node.status
        return left.evolve(status=status)


def _transient(node: Node) -> bool:
    return node.status in states.TRANSIENT


def _merged(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**data, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def _change_binding(
    tx: Transaction, row: Cluster, binding: Binding, changes: Mapping[str, Any]
) -> None:
    for known in tx.bindings_of(row.id or 0):
        if known.binding.id == binding.id:
            tx.save_bindings([known.binding.evolve(**changes)])


def _save_cluster(tx: Transaction, row: Cluster, changes: Mapping[str, Any]) -> None:
    tx.save_clusters([row.evolve(data=_merged(row.data, changes))])


def _save_nodes(tx: Transaction, changes: Mapping[str, Mapping[str, Any]]) -> None:
    rows = tx.lock_nodes(sorted(changes))
    tx.save_nodes(
        [
            row.evolve(data=_merged(row.data, changes[uuid]))
            for uuid, row in rows.items()
        ]
    )
