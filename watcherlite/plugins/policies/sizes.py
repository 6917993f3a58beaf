"""The number of nodes that an action creates or removes, for policies."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain import capacity, placement
from watcherlite.plugins.base import PolicyContext

SCALE_IN = 'CLUSTER_SCALE_IN'
SCALE_OUT = 'CLUSTER_SCALE_OUT'
RESIZE = 'CLUSTER_RESIZE'
UPDATE = 'CLUSTER_UPDATE'
ADD_NODES = 'CLUSTER_ADD_NODES'
DEL_NODES = 'CLUSTER_DEL_NODES'
REPLACE_NODES = 'CLUSTER_REPLACE_NODES'
CHECK = 'CLUSTER_CHECK'
RECOVER = 'CLUSTER_RECOVER'
NODE_CREATE = 'NODE_CREATE'
NODE_DELETE = 'NODE_DELETE'
NODE_UPDATE = 'NODE_UPDATE'
NODE_CHECK = 'NODE_CHECK'
NODE_RECOVER = 'NODE_RECOVER'

# In the data of an action
CREATION = 'creation'
DELETION = 'deletion'


def change(context: PolicyContext, data: Mapping[str, Any]) -> int:
    """Return the number of nodes to add (positive) or remove (negative).

    A decision in the data, by another policy or an earlier call, takes precedence over
    the request.

    :raises Invalid: the requested size is not allowed for the cluster
    """
    for key, sign in ((CREATION, 1), (DELETION, -1)):
        decided = (data.get(key) or {}).get('count')
        if decided is not None:
            return sign * int(decided)
    inputs, current = context.inputs, len(context.nodes)
    match context.action_type:
        case 'CLUSTER_SCALE_OUT':
            return _requested_count(inputs)
        case 'CLUSTER_SCALE_IN':
            return -min(_requested_count(inputs), current)
        case 'CLUSTER_RESIZE':
            desired = capacity.Adjustment.of(inputs)
            resized = capacity.resized(context.cluster, current, desired)
            return resized.desired_capacity - current
        case 'NODE_CREATE':
            return 1
        case 'NODE_DELETE':
            return -1
        case 'CLUSTER_DEL_NODES':
            return -len(inputs.get('candidates') or ())
    return 0


def victims(
    context: PolicyContext, count: int, decided: Mapping[str, Any], **order: Any
) -> list[str]:
    """Return the nodes to remove if the request names none.

    :param decided: by other policies: the numbers per region and zone
    :param order: arguments of `capacity.victims`
    """
    nodes = context.nodes
    ordered = capacity.victims(nodes, len(nodes), seed=context.action_uuid, **order)
    chosen = placement.victims(
        ordered, count, decided.get('regions'), decided.get('zones')
    )
    return [node.uuid for node in chosen]


def _requested_count(inputs: Mapping[str, Any]) -> int:
    count = inputs.get('count')
    return 1 if count is None else int(count)
