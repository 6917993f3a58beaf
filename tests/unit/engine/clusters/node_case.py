"""What tests read of actions on nodes, and of nodes."""

from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Node
from watcherlite.engine.clusters import action_types


def told(action: Action) -> tuple[str, dict[str, object]]:
    """Return how an action ended, and what users are shown of its outputs."""
    return action.status, action_types.public_outputs(action.outputs)


def why(action: Action) -> tuple[str, str | None]:
    """Return how an action ended, and why, uncut."""
    return action.status, (action.outputs or {}).get(action_types.REASON)


def told_operation(action: Action) -> tuple[str, str | None]:
    """Return how an action ended, and which operation it says that it did."""
    return action.status, (action.outputs or {}).get('operation')


def status_of(node: Node) -> tuple[str, str]:
    """Return the status of a node, and the reason."""
    return node.status, node.status_reason
