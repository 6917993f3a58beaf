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
)
from watcherlite.engine.clusters.requests.values import Accepted, Row
from watcherlite.execution.retries import retry_on


@retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
def delete_cluster(
    requests: ClusterOperationBase, name: str, request: ActionRequest, force: bool
) -> Accepted[Cluster]:
    """Request the deletion of a cluster, unless it is requested already.

    :param force: whatever its status is; what goes on with it is cancelled, also
        when its deletion has been asked for already and waits for that
    """
    found = requests.store.find_object(Cluster, name, request.by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        row = admission.lock_cluster(tx, found.uuid)
        if requests.is_scheduled(request, now):
            return _scheduled(requests, tx, request, row, row, force, now)
        others = tx.unfinished_actions([row.uuid], [row.uuid])
        deletion = _find_deletion(others, action_types.CLUSTER_DELETE, row, now)
        if deletion is None or not force:
            admission.check_deletable(row, force)
        if deletion is None:
            deletion = requests.insert_action(tx, request, row, row, {}, now)
    _cancel_others(requests, deletion, others, force)
    return Accepted(deletion.uuid, row)


@retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
def delete_node(
    requests: ClusterOperationBase, name: str, request: ActionRequest, force: bool
) -> Accepted[Node]:
    """Request the deletion of a node; likewise.

    :param force: also what is done with its cluster before the deletion's turn comes
    """
    found = requests.store.find_object(Node, name, request.by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        cluster, row = admission.lock_node(tx, found)
        if requests.is_scheduled(request, now):
            return _scheduled(requests, tx, request, row, cluster, force, now)
        others = tx.unfinished_actions([row.uuid])
        deletion = _find_deletion(others, action_types.NODE_DELETE, row, now)
        if deletion is None or not force:
            admission.check_deletable(row, force)
        if deletion is None:
            deletion = requests.insert_action(tx, request, row, cluster, {}, now)
        if force and cluster is not None:
            others += _actions_ahead(tx, cluster, deletion, now)
    _cancel_others(requests, deletion, others, force)
    return Accepted(deletion.uuid, row)


def _scheduled(
    requests: ClusterOperationBase,
    tx: Transaction,
    request: ActionRequest,
    row: Row,
    cluster: Cluster | None,
    force: bool,
    now: datetime.datetime,
) -> Accepted[Row]:
    """Ask for a deletion that is due later, and leave alone what goes on now."""
    if force:
        raise exceptions.BadRequest(
            'A deletion that is scheduled cannot be forced: force cancels what goes on '
            'now.'
        )
    admission.check_deletable(row, True)
    return Accepted(
        requests.insert_action(tx, request, row, cluster, {}, now).uuid, row
    )


def _find_deletion(
    others: list[Action], action_type: str, row: Cluster | Node, now: datetime.datetime
) -> Action | None:
    """Return the deletion that has been asked for, unless it is scheduled for later."""
    for action in others:
        is_meant = (action.action_type, action.target) == (action_type, row.uuid)
        if is_meant and not admission.is_scheduled(action, now):
            return action
    return None


def _actions_ahead(
    tx: Transaction, cluster: Cluster, deletion: Action, now: datetime.datetime
) -> list[Action]:
    """Return the actions on a cluster that the deletion of a node of it waits for.

    The deletion of the cluster is none of them: it deletes the node as well.
    """
    return [
        action
        for action in admission.actions_under_way(tx, [cluster.uuid], (), now)
        if action.action_type != action_types.CLUSTER_DELETE
        and action.id < (deletion.id)
    ]


def _cancel_others(
    requests: ClusterOperationBase, deletion: Action, others: list[Action], force: bool
) -> None:
    """Cancel the actions that a deletion would wait for for ever; forced: all others.

    What is repeated, or due later only, has nothing to do any more.
    """
    others = [action for action in others if action.uuid != deletion.uuid]
    later = [a for a in others if a.interval > 0 or a.not_before > requests.clock.now()]
    requests.cancel_all(action.uuid for action in (others if force else later))
    requests.announce(deletion)
