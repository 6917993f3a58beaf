"""The record of the engine about a node: the keys of `Node.kept`."""

from watcherlite.domain.clusters import Node

#: The physical name, which outlives renames of the node and its cluster.
PHYSICAL_NAME = 'name'
#: The data of the handler.
HANDLER_DATA = 'data'
#: The resource is to be adopted by the first check, see `ResourceHandler.adopt`.
ADOPTED = 'adopted'
#: The creation has started: the resource may exist.
CREATION_STARTED = 'begun'
#: The status and reason before the current action.
PREVIOUS_STATUS = 'was'
#: The status and reason before the mark of a user.
BEFORE_MARK = 'before_mark'
#: An update to another profile was incomplete: the resource may fit neither profile.
INCOMPLETE_UPDATE = 'partial_update'


def may_exist(node: Node) -> bool:
    """Return whether a node may have a resource."""
    return node.physical_id is not None or bool(node.kept.get(CREATION_STARTED))
