"""The base case of the actions on nodes, and helpers that read nodes and actions."""

from typing import Any

from tests.cluster_worlds import ClusterCase, ClusterWorld
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Node
from watcherlite.engine.clusters import action_types


class NodeCase(ClusterCase):
    """A world with one node."""

    def create_pending_node(self, **profile: Any) -> tuple[ClusterWorld, Node]:
        """Return a world with a node that was never created."""
        world = self.create_cluster_world()
        return world, world.insert_node(world.profile(**profile), 'n')

    def create_active_node(self, **profile: Any) -> tuple[ClusterWorld, Node]:
        """Return a world with a node that was created."""
        world, node = self.create_pending_node(**profile)
        world.create_node(node)
        return world, node


def describe_action(action: Action) -> tuple[str, dict[str, object]]:
    """Return the status of an action and its public outputs."""
    return action.status, action_types.public_outputs(action.outputs)


def failure_of(action: Action) -> tuple[str, str | None]:
    """Return the status of an action and the full reason."""
    return action.status, (action.outputs or {}).get(action_types.REASON)


def operation_of(action: Action) -> tuple[str, str | None]:
    """Return the status of an action and the operation in its outputs."""
    return action.status, (action.outputs or {}).get('operation')


def status_of(node: Node) -> tuple[str, str]:
    """Return the status of a node, and the reason."""
    return node.status, node.status_reason
