"""The handler context of a node."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain import placement
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters.node_record import HANDLER_DATA, PHYSICAL_NAME
from watcherlite.engine.stacks.resource_context import (
    HandlerAction,
    HandlerContext,
    unique_name,
)

#: In the metadata that a handler receives: the index of the node in its cluster.
INDEX = 'cluster_node_index'


def node_context(
    action: HandlerAction,
    node: Node,
    cluster: Cluster | None,
    properties: Mapping[str, Any],
) -> HandlerContext:
    """Return the handler context of a node.

    The cluster takes the place of the stack of a resource. The placement by policies is
    in the metadata, under the key `placement`; the region is that of the cloud as well.

    :param properties: the desired or last properties
    """
    around: Cluster | Node = node if cluster is None else cluster
    place = node.data.get(placement.PLACEMENT) or {}
    metadata = dict(node.metadata)
    if place:
        metadata[placement.PLACEMENT] = place
    if node.cluster_id is not None:
        metadata[INDEX] = node.index
    return HandlerContext(
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
        data=node.kept.get(HANDLER_DATA) or {},
        files={},
        action=action,
        # Health checks and scheduled actions have no authority of a user.
        credential=action.authority or around.uuid,
        region=place.get(placement.REGION),
    )


def physical_name(node: Node, cluster: Cluster | None) -> str:
    """Return the unique and permanent name of the resource of a node."""
    kept = node.kept.get(PHYSICAL_NAME)
    if kept is not None:
        return str(kept)
    around = 'node' if cluster is None else cluster.name
    return unique_name(around, node.name, node.uuid)


def binding_values(
    data: Mapping[str, Any] | None, name: str | None = None
) -> dict[str, Any]:
    """Return the values for `Node.kept` from the result of a handler.

    :param name: the physical name
    """
    found: dict[str, Any] = {} if name is None else {PHYSICAL_NAME: name}
    return found if data is None else {**found, HANDLER_DATA: dict(data)}
