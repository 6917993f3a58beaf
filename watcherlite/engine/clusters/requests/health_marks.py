"""Marks of users on unhealthy nodes."""

from typing import Any

from watcherlite import exceptions
from watcherlite.domain import json_values
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
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
#: What it is among actions: one that has ended as soon as it is stored.
ACTION = action_types.NODE_UPDATE
NAME = 'node_mark_unhealthy_{}'
#: In what a node keeps: its status and reason before the mark.
BEFORE = 'before_mark'


@retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
def mark(
    requests: ClusterOperationBase,
    name: str,
    by: RequestContext,
    unhealthy: bool,
    reason: Any,
) -> Node:
    """Mark a node or remove its mark, and evaluate the status of its cluster.

    :raises ResourceIsLocked, ActionConflict: it, or its cluster, is changed
    """
    text = _reason(reason)
    found = requests.store.find_object(Node, name, by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        cluster, row = admission.lock_node(tx, found)
        admission.check_idle(tx, ACTION, row, cluster, now)
        after = marked(row, text) if unhealthy else unmarked(row, text)
        if after is row:
            return row
        after = after.evolve(updated_at=now)
        tx.save_nodes([after])
        if cluster is not None and cluster.created_at is not None:
            key = cluster.id or 0
            active = tx.count_nodes([key]).get(key, {}).get(states.ACTIVE, 0)
            tx.save_clusters([_judged(cluster, active).evolve(updated_at=now)])
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


def marked(row: Node, reason: str) -> Node:
    """Return a node as unhealthy."""
    kept = dict(row.kept)
    if action_types.unhealthy_mark(row) is None:
        kept[BEFORE] = [row.status, row.status_reason]
    return row.evolve(
        status=states.ERROR,
        status_reason=reason,
        data={**row.data, action_types.UNHEALTHY_MARK: reason},
        kept=kept,
    )


def unmarked(row: Node, reason: str) -> Node:
    """Return a node as it was before its mark; one without a mark as it is.

    What was unwell before is not healed by that.
    """
    if action_types.unhealthy_mark(row) is None:
        return row
    kept = dict(row.kept)
    status, why = kept.pop(BEFORE, (states.ACTIVE, ''))
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


def _judged(cluster: Cluster, active: int) -> Cluster:
    status, text = states.evaluated(
        active, cluster.desired_capacity, cluster.min_size, cluster.max_size
    )
    return cluster.evolve(status=status, status_reason=f'{ACTION}: {text}')
