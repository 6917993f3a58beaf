"""A node as the handler of a resource is handed it."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.stacks.resource_context import (
    Acting,
    HandlerContext,
    free_name,
)

# In what a node keeps; see also `progress`
#: Its physical name: that of the node may change, and so may that of its cluster.
NAME = 'name'
#: What only its handler reads.
DATA = 'data'


def node_context(
    action: Acting,
    node: Node,
    cluster: Cluster | None,
    properties: Mapping[str, Any],
) -> HandlerContext:
    """Return what a handler is handed for a node.

    A node in a cluster is to it what a resource is to its stack. Where policies have
    placed the node is in the metadata, by the key `placement`.

    :param properties: that it is to fit, or was last made with
    """
    around: Cluster | Node = node if cluster is None else cluster
    placement = node.data.get('placement')
    metadata = dict(node.metadata)
    if placement:
        metadata['placement'] = placement
    return HandlerContext(
        uuid=action.uuid,
        attempt=action.attempt,
        tenant=node.owner.tenant,
        stack_name=around.name,
        stack_uuid=around.uuid,
        resource_name=node.name,
        resource_uuid=node.uuid,
        physical_name=physical_name(node, cluster),
        physical_id=node.physical_id,
        properties=properties,
        before=node.properties,
        attributes=node.attributes,
        metadata=metadata,
        data=node.kept.get(DATA) or {},
        files={},
        action=action,
    )


def physical_name(node: Node, cluster: Cluster | None) -> str:
    """Return a name that is free, says what it belongs to, and stays."""
    kept = node.kept.get(NAME)
    if kept is not None:
        return str(kept)
    around = 'node' if cluster is None else cluster.name
    return free_name(around, node.name, node.uuid)


def kept(data: Mapping[str, Any] | None, name: str | None = None) -> dict[str, Any]:
    """Return what a node keeps of what its handler gave; see `Node.kept`.

    :param name: its physical name
    """
    found: dict[str, Any] = {} if name is None else {NAME: name}
    return found if data is None else {**found, DATA: dict(data)}
