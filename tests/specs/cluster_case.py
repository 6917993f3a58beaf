"""The base case of the tests of actions on clusters."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    Profile,
)
from watcherlite.engine.clusters import action_types
from watcherlite.plugins.base import Policy, PolicyContext


class ClusterActionCase(ClusterCase):
    """The base case of the tests of actions on clusters."""

    def create_single_thread_world(self, **keys: Any) -> ClusterWorld:
        """Return a world whose workers have one thread each."""
        return self.create_cluster_world(**{'max_parallel': 1, **keys})

    def start_creation(
        self,
        world: ClusterWorld,
        size: int,
        profile: Profile | None = None,
        **values: Any,
    ) -> tuple[Cluster, Action]:
        """Request the creation of a cluster; do not wait for the result."""
        given = {
            'status': 'INIT',
            'created_at': None,
            'next_index': 1,
            'config': {'node.name.format': 'n$I'},
            'desired_capacity': size,
            **values,
        }
        cluster = world.insert_cluster(profile or world.profile(), 0, **given)
        return cluster, world.request_action(action_types.CLUSTER_CREATE, cluster)

    def make(
        self,
        world: ClusterWorld,
        size: int = 3,
        profile: Profile | None = None,
        **values: Any,
    ) -> Cluster:
        """Return a cluster whose nodes n1, n2, ... have been created."""
        if not world.workers:
            world.worker()
        cluster, action = self.start_creation(world, size, profile, **values)
        self.assertEqual(
            'SUCCEEDED', world.wait_for_end(action).status, world.full_report()
        )
        return self.reload(world, cluster)

    def reload(self, world: ClusterWorld, cluster: Cluster) -> Cluster:
        """Return the current state of a cluster."""
        found: Cluster = world.reload(cluster)
        return found

    def names(self, world: ClusterWorld, cluster: Cluster) -> list[str]:
        """Return the names of the nodes of a cluster, by index."""
        return [node.name for node in world.nodes(cluster)]

    def statuses(self, world: ClusterWorld, cluster: Cluster) -> dict[str, str]:
        """Return the statuses of the nodes of a cluster, by name."""
        return {node.name: node.status for node in world.nodes(cluster)}

    def ids(self, world: ClusterWorld, cluster: Cluster) -> dict[str, str]:
        """Return the uuids of the nodes of a cluster, by name."""
        return {node.name: node.uuid for node in world.nodes(cluster)}

    def insert_policy(
        self, world: ClusterWorld, type_: str, name: str = '', **properties: Any
    ) -> PolicyObject:
        """Store a policy."""
        title, _, version = type_.rpartition('-')
        spec = {'type': title, 'version': version, 'properties': properties}
        policy = NewPolicyObject(
            events.new_uuid(),
            name or title,
            type_,
            spec,
            BY.owner,
            created_at=world.clock.now(),
        )
        with world.store.transaction() as tx:
            return tx.insert_object(policy)

    def attach(
        self, world: ClusterWorld, cluster: Cluster, policy: PolicyObject
    ) -> Action:
        """Attach a policy, and return the action at its end."""
        inputs = {'policy_id': policy.uuid, 'enabled': True}
        return world.run_action(action_types.CLUSTER_ATTACH_POLICY, cluster, inputs)

    def create_cluster_with_policy(
        self, kind: type[Policy], size: int = 3, **settings: Any
    ) -> tuple[ClusterWorld, Cluster]:
        """Return a world, and a cluster with an attached policy of this type."""
        world = self.create_cluster_world(policies={'ruling-1.0': kind}, **settings)
        cluster = self.make(world, size, world.profile(value='old'))
        action = self.attach(world, cluster, self.insert_policy(world, 'ruling-1.0'))
        self.assertEqual('SUCCEEDED', action.status)
        return world, cluster

    def bindings(self, world: ClusterWorld, cluster: Cluster) -> list[Bound]:
        """Return the bindings of a cluster."""
        key = cluster.id
        return list(world.store.bindings_of_clusters([key]).get(key, []))

    def changes_by_name(
        self, world: ClusterWorld, since: int = 0
    ) -> dict[str, list[tuple[str, str | None]]]:
        """Return the notified changes of each cluster and node, by name.

        Check that the changes of nodes lie between the first and the last change of the
        cluster.

        :param since: the number of changes to omit
        """
        found: dict[str, list[tuple[str, str | None]]] = {}
        facts = world.transitions()[since:]
        self.assertEqual({'c'}, {facts[0][0], facts[-1][0]}, facts)
        for name, event, status in facts:
            found.setdefault(name, []).append((event, status))
        return found

    def derived(self, world: ClusterWorld, action: Action) -> list[Action]:
        """Return the actions that an action has derived."""
        return world.store.derived_actions(action.id)

    def is_locked(self, world: ClusterWorld, cluster: Cluster) -> bool:
        """Return whether a new action would have to wait for the cluster."""
        with world.store.transaction() as tx:
            return bool(tx.unfinished_actions([cluster.uuid]))


class NotifyingStore:
    """A store that calls a function as soon as nodes have been stored.

    :ivar then: the function
    """

    def __init__(self, world: ClusterWorld) -> None:
        self._world = world
        self.then: Callable[[], Any] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """Begin a transaction, and call the function after one that stores nodes."""
        stored: list[Node] = []
        with self._world.store.transaction() as tx:
            kept = tx.insert_nodes

            def insert_nodes(nodes: Sequence[Node]) -> list[int]:
                stored.extend(nodes)
                return list(kept(nodes))

            tx.insert_nodes = insert_nodes
            yield tx
        if stored:
            self.then()


def create_deciding_policy(before: str, decision: Mapping[str, Any]) -> type[Policy]:
    """Return a policy that makes the same decision before each action of this type."""

    class Deciding(Policy):
        def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
            data.update(decision)

    return type('Deciding', (Deciding,), {'before': frozenset({before})})
