"""Helpers that read nodes and the actions on them."""

from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Node
from watcherlite.engine.clusters import action_types


def told(action: Action) -> tuple[str, dict[str, object]]:
    """Return the status of an action and its public outputs."""
    return action.status, action_types.public_outputs(action.outputs)


def why(action: Action) -> tuple[str, str | None]:
    """Return the status of an action and the full reason."""
    return action.status, (action.outputs or {}).get(action_types.REASON)


def told_operation(action: Action) -> tuple[str, str | None]:
    """Return the status of an action and the operation in its outputs."""
    return action.status, (action.outputs or {}).get('operation')


def status_of(node: Node) -> tuple[str, str]:
    """Return the status of a node, and the reason."""
    return node.status, node.status_reason
