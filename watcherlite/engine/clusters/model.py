"""The read-only cluster model of strategies."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from watcherlite.db.api import Store
from watcherlite.db.query import Query
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.engine.clusters.lock_admission import NodeLocks
from watcherlite.states import cluster as states

#: Clusters whose nodes are read in one statement.
PAGE_SIZE = 100


@dataclasses.dataclass(frozen=True, slots=True)
class UnhealthyNode:
    """A node that a recovery of its cluster would recover."""

    uuid: str
    name: str
    status: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterView:
    """A cluster with its nodes.

    :param nodes: the number of nodes
    :param unhealthy: nodes that are neither ACTIVE nor in a transition
    :param missing: the number of nodes below the desired capacity
    :param blocking_reason: why no action is possible now; None if it is
    """

    uuid: str
    name: str
    tenant: str
    status: str
    nodes: int
    unhealthy: tuple[UnhealthyNode, ...]
    missing: int
    blocking_reason: str | None

    @property
    def healthy(self) -> bool:
        return not self.unhealthy and not self.missing


class ClusterModel:
    """The model `clusters` of `StrategyContext.model`.

    A scope has no rules for clusters; strategies select them by name.

    :param creator: of the audit; limits the clusters
    """

    def __init__(
        self, store: Store, scope: Sequence[Any] = (), creator: Creator = LOCAL
    ) -> None:
        self._store = store
        self._creator = creator
        self._locks = NodeLocks(store)
        self.scope = scope

    def clusters(
        self, names: Collection[str] = (), tenant: str | None = None
    ) -> list[ClusterView]:
        """Return clusters by name.

        :param names: names or uuids; empty: all clusters
        :param tenant: None: all projects of the creator
        """
        return list(self._views(set(names), self._creator.lookup_project(tenant)))

    def _views(self, names: set[str], tenant: str | None) -> Iterator[ClusterView]:
        query = Query(sort=(('name', False),), tenant=tenant)
        found = [
            cluster
            for cluster in self._store.list_objects(Cluster, query)
            if not names or names & {cluster.name, cluster.uuid}
        ]
        for begin in range(0, len(found), PAGE_SIZE):
            some = found[begin : begin + PAGE_SIZE]
            nodes: dict[int | None, list[Node]] = {}
            for node in self._store.nodes_of([cluster.id for cluster in some]):
                nodes.setdefault(node.cluster_id, []).append(node)
            for cluster in some:
                yield self._one(cluster, nodes.get(cluster.id, []))

    def _one(self, cluster: Cluster, nodes: Sequence[Node]) -> ClusterView:
        unhealthy = tuple(
            UnhealthyNode(node.uuid, node.name, node.status, node.status_reason)
            for node in nodes
            if not node.active and node.status not in states.TRANSIENT
        )
        return ClusterView(
            cluster.uuid,
            cluster.name,
            cluster.owner.tenant,
            cluster.status,
            len(nodes),
            unhealthy,
            max(0, cluster.desired_capacity - len(nodes)),
            self._blocking_reason(cluster, nodes),
        )

    def _blocking_reason(self, cluster: Cluster, nodes: Sequence[Node]) -> str | None:
        if cluster.status == states.INIT or cluster.status in states.TRANSIENT:
            return f'Cluster {cluster.name} is {cluster.status}'
        for node in nodes:
            if node.status in states.TRANSIENT:
                return f'Node {node.name} is {node.status}'
        return self._locks.on_nodes(nodes)
