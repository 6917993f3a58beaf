"""Marks of users on unhealthy nodes."""

from typing import Any

from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.documents import json_values
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.node_record import BEFORE_MARK
from watcherlite.engine.clusters.projection import events
from watcherlite.engine.clusters.requests import admission
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
)
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.execution.retries import retry_on
from watcherlite.states import cluster as states

DEFAULT_REASON = 'state changed by node_mark_unhealthy api'
LONGEST_REASON = 255
#: The type of the action that records a mark; it has ended when it is stored.
ACTION = action_types.NODE_UPDATE
NAME = 'node_mark_unhealthy_{}'


@retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
def mark(
    requests: ClusterOperationBase,
    name: str,
    by: RequestContext,
    unhealthy: bool,
    reason: Any,
) -> Node:
    """Mark a node or remove its mark, and evaluate the status of its cluster.

    :raises ResourceIsLocked, ActionConflict: an action changes it or its cluster
    """
    text = _reason(reason)
    found = requests.store.find_object(Node, name, by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        cluster, row = admission.lock_node(tx, found)
        admission.check_idle(tx, ACTION, row, cluster, now)
        after = add_mark(row, text) if unhealthy else remove_mark(row, text)
        if after is row:
            return row
        after = after.evolve(updated_at=now)
        tx.save_nodes([after])
        if cluster is not None and cluster.created_at is not None:
            key = cluster.id
            active = tx.count_nodes([key]).get(key, {}).get(states.ACTIVE, 0)
            tx.save_clusters([_evaluated(cluster, active).evolve(updated_at=now)])
        inputs = {'mark_unhealthy': unhealthy, 'status_reason': text}
        request = ActionRequest(
            ACTION, by, name=action_types.unique_name(NAME.format(row.uuid[:8]))
        )
        action = requests.insert_action(
            tx, request, row, cluster, inputs, now, done=True
        )
        around = cluster.uuid if cluster is not None else None
        tx.add_events([events.node_event(row, after, action, events.END, now, around)])
    requests.announce()
    return after


def add_mark(row: Node, reason: str) -> Node:
    """Return a node as unhealthy."""
    kept = dict(row.kept)
    if action_types.unhealthy_mark(row) is None:
        kept[BEFORE_MARK] = [row.status, row.status_reason]
    return row.evolve(
        status=states.ERROR,
        status_reason=reason,
        data={**row.data, action_types.UNHEALTHY_MARK: reason},
        kept=kept,
    )


def remove_mark(row: Node, reason: str) -> Node:
    """Return a node as it was before its mark; one without a mark as it is.

    A node that was in ERROR before stays so.
    """
    if action_types.unhealthy_mark(row) is None:
        return row
    kept = dict(row.kept)
    status, why = kept.pop(BEFORE_MARK, (states.ACTIVE, ''))
    if row.status != states.ERROR:
        status, why = row.status, row.status_reason
    elif status == states.ACTIVE:
        why = reason
    data = {
        key: value
        for key, value in row.data.items()
        if key != action_types.UNHEALTHY_MARK
    }
    return row.evolve(status=status, status_reason=why, data=data, kept=kept)


def _reason(value: Any) -> str:
    if value is None:
        return DEFAULT_REASON
    wrong = not isinstance(value, str) or not 1 <= len(value) <= LONGEST_REASON
    if wrong or json_values.text_problem(value):
        raise exceptions.BadRequest(
            'The value for status_reason must be text of 1 to '
            f'{LONGEST_REASON} characters.'
        )
    return str(value)


def _evaluated(cluster: Cluster, active: int) -> Cluster:
    status, text = states.evaluated(
        active, cluster.desired_capacity, cluster.min_size, cluster.max_size
    )
    return cluster.evolve(status=status, status_reason=f'{ACTION}: {text}')
