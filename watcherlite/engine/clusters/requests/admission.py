"""Admission of requests on clusters and nodes.

The checks run under the row locks of the transaction that stores the request, so that
their results stay true until it commits.
"""

import datetime
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.clusters import TITLES, not_found
from watcherlite.domain.actions import LOOKED_AFTER, Action
from watcherlite.domain.clusters import Bound, Cluster, NewNode, Node
from watcherlite.engine.clusters import action_types
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

Target = TypeVar('Target', Cluster, Node)

#: Statuses in which only a forced deletion is allowed.
BUSY_STATUSES = frozenset(
    {states.CREATING, states.UPDATING, states.DELETING, states.RECOVERING}
)
#: Prefix of the types of scaling policies, which have a cooldown.
SCALING_POLICY = 'senlin.policy.scaling-'


def lock_cluster(tx: Transaction, uuid: str) -> Cluster:
    """Lock and return a cluster.

    :raises NotFound: it has been deleted meanwhile
    """
    row = tx.lock_clusters([uuid]).get(uuid)
    if row is None or row.deleted_at is not None:
        raise not_found(Cluster, uuid)
    return row


def lock_node(tx: Transaction, node: Node) -> tuple[Cluster | None, Node]:
    """Lock and return a node, after its cluster.

    :raises NotFound: it has been deleted meanwhile
    :raises OutOfDate: it has joined another cluster meanwhile
    """
    cluster = None
    if node.cluster_id is not None:
        cluster = tx.lock_clusters_by_id([node.cluster_id]).get(node.cluster_id)
    row = tx.lock_nodes([node.uuid]).get(node.uuid)
    if row is None or row.deleted_at is not None:
        raise not_found(Node, node.uuid)
    if row.cluster_id != node.cluster_id:
        raise exceptions.OutOfDate
    return cluster, row


def lock(tx: Transaction, target: Target) -> tuple[Cluster | None, Target]:
    """Lock and return a target, after the cluster that it is, or is in.

    :raises NotFound, OutOfDate: see `lock_cluster` and `lock_node`
    """
    if isinstance(target, Cluster):
        cluster = lock_cluster(tx, target.uuid)
        return cluster, cluster
    return lock_node(tx, target)


def conflicting_actions(
    tx: Transaction,
    targets: Iterable[str],
    within: Iterable[str],
    now: datetime.datetime,
) -> list[Action]:
    """Return the unfinished actions with which a request conflicts.

    Actions that are scheduled for later do not conflict. Nor do the checks of the
    health monitor: they change nothing, and the requested action waits for their end.
    """
    return [
        action
        for action in tx.unfinished_actions(targets, within)
        if not is_scheduled(action, now) and not is_automatic_check(action)
    ]


def is_scheduled(action: Action, now: datetime.datetime) -> bool:
    """Return whether an action, or its next run, is due later.

    An action that waits for a retry of a run keeps its target.
    """
    is_later = action.status == action_states.READY and action.not_before > now
    return is_later and (action.attempt == 0 or action.end_time is not None)


def is_automatic_check(action: Action) -> bool:
    """Return whether an action is a check of the health monitor."""
    is_check = action.action_type in (
        action_types.CLUSTER_CHECK,
        action_types.NODE_CHECK,
    )
    return is_check and bool(action.context.get(LOOKED_AFTER))


def check_idle(
    tx: Transaction,
    action_type: str,
    target: Cluster | NewNode,
    cluster: Cluster | None,
    now: datetime.datetime,
) -> None:
    """Raise ResourceIsLocked or ActionConflict if the target has other actions.

    :param cluster: that a node is in
    """
    if action_type in action_types.ALWAYS_ALLOWED:
        return
    if isinstance(target, Cluster):
        found = conflicting_actions(tx, [target.uuid], [target.uuid], now)
    else:
        around = [cluster.uuid] if cluster is not None else []
        found = conflicting_actions(tx, [target.uuid, *around], (), now)
    if not found:
        return
    if any(one.has_started or one.status in action_states.STARTED for one in found):
        title = TITLES[Cluster if isinstance(target, Cluster) else Node]
        raise exceptions.ResourceIsLocked(
            f'{action_type} for {title} {target.uuid} cannot be completed because it '
            f'is already locked: {_listed(found)}.'
        )
    raise exceptions.ActionConflict(
        f'The {action_type} action for target {target.uuid} conflicts with the '
        f'following action(s): {_listed(found)}.'
    )


def _listed(found: Sequence[Action]) -> str:
    names = [f'{action.action_type} {action.uuid}' for action in found[:5]]
    more = [f'and {len(found) - 5} more'] if len(found) > 5 else []
    return ', '.join([*names, *more])


def check_deletable(row: Cluster | Node, force: bool) -> None:
    """Raise ActionInProgress, or ResourceInUse for what others depend on."""
    title = TITLES[type(row)]
    if row.dependents:
        raise exceptions.ResourceInUse(
            f"The {title} '{row.uuid}' cannot be deleted: still depended by other "
            'clusters and/or nodes.'
        )
    if not force and row.status in BUSY_STATUSES:
        raise exceptions.ActionInProgress(
            f"The {title} '{row.uuid}' is in status {row.status}."
        )


def check_cooldown(
    bound: Iterable[Bound], action_type: str, cluster: str, now: datetime.datetime
) -> None:
    """Raise ActionCooldown during the cooldown of a scaling policy.

    :param cluster: its uuid
    """
    for one in bound:
        seconds = _cooldown(one, action_type)
        last = one.binding.last_op
        if not seconds or last is None:
            continue
        if now - last < datetime.timedelta(seconds=seconds):
            raise exceptions.ActionCooldown(
                f'The {action_type} action for cluster {cluster} cannot be '
                f'processed due to Policy {one.policy.uuid} cooldown still in progress.'
            )


def _cooldown(one: Bound, action_type: str) -> float:
    properties = one.policy.spec.get('properties') or {}
    of_scaling = one.policy.type.startswith(SCALING_POLICY)
    if not of_scaling or not one.binding.enabled:
        return 0
    if properties.get('event') != action_type:
        return 0
    seconds: Any = (properties.get('adjustment') or {}).get('cooldown') or 0
    return float(seconds)


# members


def count_nodes(tx: Transaction, cluster: Cluster) -> int:
    """Return the number of nodes of a cluster."""
    key = cluster.id
    return sum(tx.count_nodes([key]).get(key, {}).values())


def check_members(
    nodes: Collection[Node], cluster: Cluster, text: str = 'Nodes not members'
) -> None:
    """Raise BadRequest for nodes that are not in a cluster."""
    others = sorted(node.uuid for node in nodes if node.cluster_id != cluster.id)
    if others:
        raise exceptions.BadRequest(f'{text} of specified cluster: {others}.')


def check_orphans(
    nodes: Collection[Node], types: Collection[str], profiles: dict[int, Any]
) -> None:
    """Reject nodes that cannot join a cluster.

    :param types: the permitted profile types
    :param profiles: of the nodes, by their ids
    :raises NodeNotOrphan: they are in another one
    :raises BadRequest: they are not ACTIVE, or of another type
    """
    owned = sorted(node.uuid for node in nodes if node.cluster_id is not None)
    if owned:
        raise exceptions.NodeNotOrphan(f'Nodes {owned} already owned by some cluster.')
    bad = sorted(node.uuid for node in nodes if not node.active)
    if bad:
        raise exceptions.BadRequest(f'Nodes are not ACTIVE: {bad}.')
    other = sorted(n.uuid for n in nodes if profiles[n.profile_id].type not in types)
    if other:
        raise exceptions.BadRequest(
            f'Profile type of nodes {other} does not match that of the cluster.'
        )
