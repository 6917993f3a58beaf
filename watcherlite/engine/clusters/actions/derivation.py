"""The derived actions on nodes, and their results; pure functions."""

import dataclasses
import datetime
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.domain import capacity, events
from watcherlite.domain.actions import ENGINE, SUCCESS
from watcherlite.domain.clusters import Cluster, NewNode, Node
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.domain.placement import PLACEMENT
from watcherlite.engine.clusters import action_types
from watcherlite.engine.stacks.action_inputs import failure_reason
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as action_states

#: Maximum length of the reason of a failure; the nodes have the full reasons.
MAX_REASON_LENGTH = 2000


@dataclasses.dataclass(frozen=True, slots=True)
class NodeResult:
    """The result of an action on a node.

    :param reason: of a failure
    """

    action_type: str
    node: str
    status: str
    reason: str

    @property
    def has_succeeded(self) -> bool:
        return self.status == action_states.SUCCEEDED


def node_action(
    action_type: str,
    node: str,
    cluster: Cluster,
    inputs: Mapping[str, Any] | None = None,
    after: Sequence[str] = (),
    operation: str | None = None,
) -> DerivedAction:
    """Return a derived action on a node, which runs under the lock of the cluster.

    :param node: its uuid
    :param after: keys of the actions that it depends on
    :param operation: of NODE_OPERATION, for the name
    """
    return DerivedAction(
        f'{action_type}:{node}',
        action_type,
        dict(inputs or {}),
        name=action_types.action_name(action_type, node, operation),
        target=node,
        parents=tuple(after),
        needs=SUCCESS,
        within=cluster.uuid,
    )


def join_action(node: str, cluster: Cluster) -> DerivedAction:
    """Return the derived action that adds a node to a cluster.

    The lock of the cluster does not cover the node yet: the action locks it itself.
    """
    inputs = {'cluster_id': cluster.uuid}
    action = node_action(action_types.NODE_JOIN, node, cluster, inputs)
    return dataclasses.replace(action, lane=ENGINE)


def own_action(
    key: str,
    action_type: str,
    inputs: Mapping[str, Any],
    target: Cluster | Node,
    cluster: Cluster | None,
    operation: str | None = None,
) -> DerivedAction:
    """Return a derived action that locks its target itself, like a request.

    :param cluster: the target, or the cluster of the target
    :param operation: for the name, see `action_name`
    """
    within = cluster if isinstance(target, Node) else None
    return DerivedAction(
        key,
        action_type,
        dict(inputs),
        name=action_types.action_name(action_type, target.uuid, operation),
        target=target.uuid,
        timeout=cluster.timeout if cluster is not None else 0,
        lane=ENGINE,
        tenant=target.owner.tenant,
        within=within.uuid if within is not None else None,
    )


def new_nodes(
    cluster: Cluster,
    count: int,
    placements: Sequence[Mapping[str, Any]],
    handler: str,
    origin: str,
    now: datetime.datetime,
) -> list[NewNode]:
    """Return the rows of new nodes.

    :param placements: of the nodes, if a policy has decided them
    :param handler: name of the resource handler
    :param origin: uuid of the action that stores them
    """
    # Each run of a repeated action has other names.
    seed = f'{origin}:{cluster.next_index}'
    source = random.Random(seed)  # noqa: S311  # nosec B311  # no secret
    written = cluster.config.get(capacity.NAME_FORMAT)
    found = []
    for at in range(count):
        index = cluster.next_index + at
        placement = placements[at] if at < len(placements) else {}
        node = NewNode(
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


# results


def node_results(results: Iterable[DerivedResult]) -> list[NodeResult]:
    """Return the results of derived actions, in the order of derivation."""
    found = []
    for result in results:
        action_type, _, node = result.key.partition(':')
        reason = (
            '' if result.status == action_states.SUCCEEDED else failure_reason(result)
        )
        found.append(NodeResult(action_type, node, result.status, reason))
    return found


def succeeded_nodes(ended: Iterable[NodeResult], *action_types: str) -> list[str]:
    """Return the uuids of nodes on which an action of these types succeeded."""
    return [
        one.node
        for one in ended
        if one.has_succeeded and one.action_type in action_types
    ]


def outputs(ended: Sequence[NodeResult]) -> dict[str, Any]:
    """Return the outputs of the action: the nodes added and removed."""
    added = succeeded_nodes(ended, action_types.NODE_CREATE, action_types.NODE_JOIN)
    removed = succeeded_nodes(ended, action_types.NODE_DELETE, action_types.NODE_LEAVE)
    found = {'nodes_added': added, 'nodes_removed': removed}
    return {name: uuids for name, uuids in found.items() if uuids}


def failure(
    text: str, ended: Iterable[NodeResult], nodes: Mapping[str, Node]
) -> tuple[str, str] | None:
    """Return the status and the reason of a failure; None if all succeeded.

    Cancelled actions without failed ones make it CANCELLED.

    :param text: the beginning of the reason: 'Failed in creating nodes'
    :param nodes: by uuid, for their names
    """
    bad = [one for one in ended if not one.has_succeeded]
    failed = [one for one in bad if one.status == action_states.FAILED]
    if not bad:
        return None
    reasons = '; '.join(
        f'{nodes[one.node].name if one.node in nodes else one.node}: {one.reason}'
        for one in failed or bad
    )
    status = action_states.FAILED if failed else action_states.CANCELLED
    return status, f'{text}: {reasons}'[:MAX_REASON_LENGTH]
