"""The clusters as strategies see them: read once for each question, never changed."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from watcherlite.db.api import Store
from watcherlite.db.clustering import NounQuery
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters.keeping_out import Locks
from watcherlite.states import cluster as states

#: Of how many clusters the nodes are read at once.
CHUNK = 100


@dataclasses.dataclass(frozen=True, slots=True)
class UnhealthyNode:
    """A node that a recovery of its cluster would repair or make anew."""

    uuid: str
    name: str
    status: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class SeenCluster:
    """A cluster with what is in it.

    :param nodes: how many there are
    :param unhealthy: those that are not ACTIVE, and are not being changed
    :param missing: how many nodes fewer there are than desired
    :param hindrance: why nothing can be done with it now; None: something can
    """

    uuid: str
    name: str
    tenant: str
    status: str
    nodes: int
    unhealthy: tuple[UnhealthyNode, ...]
    missing: int
    hindrance: str | None

    @property
    def healthy(self) -> bool:
        return not self.unhealthy and not self.missing


class ClusterModel:
    """The model `clusters` of `StrategyContext.model`.

    A scope has no rules for clusters: which are meant, a strategy asks for.
    """

    def __init__(self, store: Store, scope: Sequence[Any] = ()) -> None:
        self._store = store
        self._locks = Locks(store)
        self.scope = scope

    def clusters(
        self, names: Collection[str] = (), tenant: str | None = None
    ) -> list[SeenCluster]:
        """Return clusters by name.

        :param names: or uuids, of which one must fit; none: all do
        :param tenant: None: of all projects
        """
        return list(self._seen(set(names), tenant))

    def _seen(self, names: set[str], tenant: str | None) -> Iterator[SeenCluster]:
        query = NounQuery(tenant=tenant, sort=(('name', False),))
        found = [
            cluster
            for cluster in self._store.list_noun(Cluster, query)
            if not names or names & {cluster.name, cluster.uuid}
        ]
        for begin in range(0, len(found), CHUNK):
            some = found[begin : begin + CHUNK]
            nodes: dict[int | None, list[Node]] = {}
            for node in self._store.nodes_of([cluster.id or 0 for cluster in some]):
                nodes.setdefault(node.cluster_id, []).append(node)
            for cluster in some:
                yield self._one(cluster, nodes.get(cluster.id, []))

    def _one(self, cluster: Cluster, nodes: Sequence[Node]) -> SeenCluster:
        unhealthy = tuple(
            UnhealthyNode(node.uuid, node.name, node.status, node.status_reason)
            for node in nodes
            if not node.active and node.status not in states.TRANSIENT
        )
        return SeenCluster(
            cluster.uuid,
            cluster.name,
            cluster.owner.tenant,
            cluster.status,
            len(nodes),
            unhealthy,
            max(0, cluster.desired_capacity - len(nodes)),
            self._hindrance(cluster, nodes),
        )

    def _hindrance(self, cluster: Cluster, nodes: Sequence[Node]) -> str | None:
        if cluster.status == states.INIT or cluster.status in states.TRANSIENT:
            return f'Cluster {cluster.name} is {cluster.status}'
        for node in nodes:
            if node.status in states.TRANSIENT:
                return f'Node {node.name} is {node.status}'
        return self._locks.on_nodes(nodes)
