"""From an action on a cluster to the actions on its nodes, and back; all pure."""

import dataclasses
import datetime
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.domain import capacity, events
from watcherlite.domain.actions import ENGINE, SUCCESS
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.domain.placement import PLACEMENT
from watcherlite.engine.clusters import actions
from watcherlite.engine.stacks.progress import reason_of
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as action_states

#: Most characters of why an action failed; what is cut is at its nodes.
LONGEST_REASON = 2000


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How one action on a node ended.

    :param reason: why it did not succeed
    """

    action_type: str
    node: str
    status: str
    reason: str

    @property
    def well(self) -> bool:
        return self.status == action_states.SUCCEEDED


def key(action_type: str, node: str) -> str:
    """Return the key of the action of this type on the node with this uuid."""
    return f'{action_type}:{node}'


def on_node(
    action_type: str,
    node: str,
    cluster: Cluster,
    inputs: Mapping[str, Any] | None = None,
    after: Sequence[str] = (),
    timeout: int = 0,
    operation: str | None = None,
) -> DerivedAction:
    """Return an action on a node of a cluster, under the lock of the cluster's.

    :param node: its uuid
    :param after: keys of the actions that have to succeed before
    :param operation: what NODE_OPERATION does, for its name
    """
    given = dict(inputs or {})
    return DerivedAction(
        key(action_type, node),
        action_type,
        given,
        name=actions.action_name(action_type, node, operation),
        target=node,
        parents=tuple(after),
        needs=SUCCESS,
        timeout=timeout,
        within=cluster.uuid,
    )


def joining(node: str, cluster: Cluster, timeout: int = 0) -> DerivedAction:
    """Return the action that makes a node a member that is in no cluster yet.

    The lock of the cluster does not cover such a node: this one locks it itself.
    """
    action = on_node(
        *(actions.NODE_JOIN, node, cluster, {'cluster_id': cluster.uuid}),
        timeout=timeout,
    )
    return dataclasses.replace(action, lane=ENGINE)


def new_nodes(
    cluster: Cluster,
    count: int,
    placements: Sequence[Mapping[str, Any]],
    handler: str,
    origin: str,
    now: datetime.datetime,
) -> list[Node]:
    """Return the rows of nodes that are to be made.

    :param placements: where each of them is to be made, as far as that was decided
    :param handler: the resource handler that is to make them
    :param origin: uuid of the action that stores them
    """
    # Other names in each run of an action that is repeated.
    seed = f'{origin}:{cluster.next_index}'
    source = random.Random(seed)  # noqa: S311  (no secret)
    written = cluster.config.get(capacity.NAME_FORMAT)
    found = []
    for at in range(count):
        index = cluster.next_index + at
        placement = placements[at] if at < len(placements) else {}
        node = Node(
            uuid=events.new_uuid(),
            name=capacity.node_name(written, index, source),
            owner=cluster.owner,
            profile_id=cluster.profile_id,
            handler=handler,
            cluster_id=cluster.id,
            index=index,
            status_reason='Initializing',
            data={PLACEMENT: dict(placement)} if placement else {},
            origin=origin,
            init_at=now,
        )
        found.append(node)
    return found


# how it went


def ends(results: Iterable[DerivedResult]) -> list[Ended]:
    """Return how the actions on nodes ended, in the order of their derivation."""
    found = []
    for result in results:
        action_type, _, node = result.key.partition(':')
        reason = '' if result.status == action_states.SUCCEEDED else reason_of(result)
        found.append(Ended(action_type, node, result.status, reason))
    return found


def done(ended: Iterable[Ended], *action_types: str) -> list[str]:
    """Return the uuids of the nodes for which an action of these types succeeded."""
    return [one.node for one in ended if one.well and one.action_type in action_types]


def outputs(ended: Sequence[Ended]) -> dict[str, Any]:
    """Return which nodes have come and gone."""
    added = done(ended, actions.NODE_CREATE, actions.NODE_JOIN)
    removed = done(ended, actions.NODE_DELETE, actions.NODE_LEAVE)
    found = {'nodes_added': added, 'nodes_removed': removed}
    return {name: uuids for name, uuids in found.items() if uuids}


def trouble(
    text: str, ended: Iterable[Ended], nodes: Mapping[str, Node]
) -> tuple[str, str] | None:
    """Return the status that actions on nodes lead to, and why; None: all is well.

    What was only cancelled leads to CANCELLED: somebody wanted it so.

    :param text: what did not succeed: 'Failed in creating nodes'
    :param nodes: by uuid, for their names
    """
    bad = [one for one in ended if not one.well]
    failed = [one for one in bad if one.status == action_states.FAILED]
    if not bad:
        return None
    told = '; '.join(
        f'{nodes[one.node].name if one.node in nodes else one.node}: {one.reason}'
        for one in failed or bad
    )
    status = action_states.FAILED if failed else action_states.CANCELLED
    return status, f'{text}: {told}'[:LONGEST_REASON]
