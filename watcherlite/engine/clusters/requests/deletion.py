"""Requests to delete clusters and nodes, which are allowed at any time."""

import datetime

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import admission
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    Target,
)
from watcherlite.engine.clusters.requests.values import Accepted
from watcherlite.execution.retries import retry_on


@retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
def delete(
    requests: ClusterOperationBase,
    kind: type[Target],
    name: str,
    request: ActionRequest,
    force: bool,
) -> Accepted[Target]:
    """Request the deletion of a cluster or node, unless there is such a request.

    :param force: whatever its status is, and cancel its actions; also those that an
        earlier deletion waits for, and those on the cluster of a node
    """
    found = requests.store.find_object(kind, name, request.by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        cluster, row = admission.lock(tx, found)
        if requests.is_scheduled(request, now):
            return _schedule(requests, tx, request, row, cluster, force, now)
        within: list[str] = [row.uuid] if isinstance(row, Cluster) else []
        others = tx.unfinished_actions([row.uuid], within)
        deletion = _find_deletion(others, request.action_type, row, now)
        if deletion is None or not force:
            admission.check_deletable(row, force)
        if deletion is None:
            deletion = requests.insert_action(tx, request, row, cluster, {}, now)
        if force and cluster is not None and isinstance(row, Node):
            others += _actions_ahead(tx, cluster, deletion, now)
    _cancel_others(requests, deletion, others, force)
    return Accepted(deletion.uuid, row)


def _schedule(
    requests: ClusterOperationBase,
    tx: Transaction,
    request: ActionRequest,
    row: Target,
    cluster: Cluster | None,
    force: bool,
    now: datetime.datetime,
) -> Accepted[Target]:
    """Request a deletion that is due later, which affects no present action."""
    if force:
        raise exceptions.BadRequest(
            'A scheduled deletion cannot be forced: force cancels the present actions.'
        )
    admission.check_deletable(row, True)
    return Accepted(
        requests.insert_action(tx, request, row, cluster, {}, now).uuid, row
    )


def _find_deletion(
    others: list[Action], action_type: str, row: Cluster | Node, now: datetime.datetime
) -> Action | None:
    """Return the requested deletion, unless it is scheduled for later."""
    for action in others:
        is_deletion = (action.action_type, action.target) == (action_type, row.uuid)
        if is_deletion and not admission.is_scheduled(action, now):
            return action
    return None


def _actions_ahead(
    tx: Transaction, cluster: Cluster, deletion: Action, now: datetime.datetime
) -> list[Action]:
    """Return the actions on a cluster for which the deletion of its node waits.

    The deletion of the cluster is not among them: it deletes the node as well.
    """
    return [
        action
        for action in admission.actions_under_way(tx, [cluster.uuid], (), now)
        if action.action_type != action_types.CLUSTER_DELETE and action.id < deletion.id
    ]


def _cancel_others(
    requests: ClusterOperationBase, deletion: Action, others: list[Action], force: bool
) -> None:
    """Cancel the other actions: all if forced, else the repeated and scheduled ones.

    The deletion would wait forever for a repeated one; a scheduled one would fail.
    """
    others = [action for action in others if action.uuid != deletion.uuid]
    later = [a for a in others if a.interval > 0 or a.not_before > requests.clock.now()]
    requests.cancel_all(action.uuid for action in (others if force else later))
    requests.announce(deletion)
