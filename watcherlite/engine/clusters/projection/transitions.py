"""The states of nodes and clusters while actions on them are executed.

The functions are pure: they take a row and a change of an action, and return the row as
it is then.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.actions import COMPLETE, Action, ActionChange
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.node_record import (
    CREATION_STARTED,
    INCOMPLETE_UPDATE,
    PREVIOUS_STATUS,
)
from watcherlite.engine.clusters.projection import events
from watcherlite.engine.clusters.requests.admission import is_automatic_check
from watcherlite.engine.stacks.action_inputs import failure_reason
from watcherlite.execution import results
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

#: Fields of a node that the outputs of its actions (`action_types.NODE`) may set.
#: `data` and `kept` are merged; a value of None removes its key.
NODE_FIELDS = (
    'physical_id',
    'attributes',
    'properties',
    'kept',
    'data',
    'handler',
    'profile_id',
    'name',
    'role',
    'metadata',
    'tainted',
    'status',
    'status_reason',
)
#: The same for a cluster (`action_types.CLUSTER`).
CLUSTER_FIELDS = (
    'name',
    'metadata',
    'timeout',
    'config',
    'profile_id',
    'data',
    'dependents',
    'desired_capacity',
    'min_size',
    'max_size',
)
_MERGED = ('data', 'kept')

#: Step in the token of an action: the node is in the grace period of a policy.
PAUSE = 'pause'
#: Key of the output `action_types.NODE`: the node keeps its previous status.
UNCHANGED = 'as_before'
#: Key of the data of a node: the action that has added it to the size of its cluster,
#: or removed it.
COUNTED = 'counted'


def is_start(change: ActionChange) -> bool:
    """Return whether a change is the start of an action, or of a run of it."""
    before, after = change.before, change.after
    if (before.status, after.status) != (action_states.READY, action_states.RUNNING):
        return False
    return not was_started(before)


def was_started(before: Action) -> bool:
    """Return whether an action, or its current run, has started and not ended."""
    return before.start_time is not None and before.end_time is None


def is_end(change: ActionChange) -> bool:
    """Return whether a change is the end of an action, or of a run of it."""
    return change.after.finished or results.ends_repeated_run(
        change.before, change.after
    )


def is_success(change: ActionChange) -> bool:
    """Return whether a change is a successful end."""
    if change.after.finished:
        return change.after.status == action_states.SUCCEEDED
    # The next run is READY; the result of the last one is in the message.
    return is_end(change) and change.after.status_message is None


def phase_of(change: ActionChange) -> str | None:
    """Return the event phase of a change, if it has one."""
    if is_start(change):
        return events.START
    if not is_end(change):
        return None
    skipped = change.after.status == action_states.SKIPPED
    return events.END if is_success(change) or skipped else events.ERROR


def is_recorded(
    change: ActionChange, before: Cluster | Node, after: Cluster | Node
) -> bool:
    """Return whether the start or end of an action is stored as an event.

    Automatic checks are stored only if they fail or find a change.
    """
    if not is_automatic_check(change.after) or phase_of(change) == events.ERROR:
        return True
    return before.status != after.status


def is_request_within(action: Action) -> bool:
    """Return whether an action is a request on a node of a cluster."""
    return action.cause == action_states.RPC_REQUEST and action.within is not None


def changes_cluster(change: ActionChange) -> bool:
    """Return whether a change affects a cluster, alone or with a node."""
    if definition_of(change.after).on_cluster:
        return True
    return is_request_within(change.after) and is_end(change)


def definition_of(action: Action) -> action_types.ActionDefinition:
    return action_types.DEFINITIONS[action.action_type]


def cluster_of(action: Action) -> str | None:
    """Return the uuid of the cluster that an action may change."""
    if definition_of(action).on_cluster:
        return action.target
    if action.action_type == action_types.NODE_JOIN:
        # Without a cluster the action fails, which is recorded as well.
        uuid = action.inputs.get('cluster_id')
        return uuid if isinstance(uuid, str) else None
    return action.within if is_request_within(action) else None


def apply_fields(row: Any, outputs: Mapping[str, Any], fields: Sequence[str]) -> Any:
    """Return a cluster or node with the values of its action."""
    changes: dict[str, Any] = {}
    for name in fields:
        if name not in outputs:
            continue
        value = outputs[name]
        if name in _MERGED:
            merged = {**getattr(row, name), **value}
            value = {key: v for key, v in merged.items() if v is not None}
        changes[name] = value
    return row.evolve(**changes) if changes else row


# nodes


def project_node(row: Node, change: ActionChange, now: datetime.datetime) -> Node:
    """Return a node after a change of an action on it."""
    before, action = change.before, change.after
    if is_start(change):
        return row if is_automatic_check(action) else _started(row, action)
    if action.status == action_states.RUNNING:
        if action.token is None or action.token == before.token:
            return row
        return apply_fields(row, action.token.get(action_types.NODE) or {}, NODE_FIELDS)
    if not is_end(change):
        return row
    fields = (action.outputs or {}).get(action_types.NODE) or {}
    if is_success(change):
        after = _succeeded(row, action, fields, now)
    elif was_started(before):
        if _has_not_acted(before):
            fields = {**fields, UNCHANGED: True}
        after = _failed(apply_fields(row, fields, NODE_FIELDS), action, fields, now)
    elif action.action_type == action_types.NODE_CREATE:
        after = fail_creation(row, action)
    else:
        return row
    kept = {key: value for key, value in after.kept.items() if key != PREVIOUS_STATUS}
    data = {key: value for key, value in after.data.items() if key != COUNTED}
    return after.evolve(kept=kept, data=data)


def _has_not_acted(action: Action) -> bool:
    """Return whether a started action has not touched its node yet."""
    # It waits for a lifecycle hook, or the hook has just ended.
    is_notified = (
        action.phase == COMPLETE and action.status in action_states.NOT_STARTED
    )
    return is_notified or (action.token or {}).get('step') == PAUSE


def _running_status(action: Action) -> str | None:
    """Return the status of a node while an action runs; None: unchanged."""
    if action.action_type == action_types.NODE_UPDATE:
        # Names, roles and similar fields change only the row.
        return states.UPDATING if action.inputs.get('new_profile_id') else None
    return definition_of(action).status


def _started(row: Node, action: Action) -> Node:
    kept = dict(row.kept)
    if action.action_type == action_types.NODE_CREATE:
        kept[CREATION_STARTED] = True
    status = _running_status(action)
    if status is None:
        return row.evolve(last=action.uuid, kept=kept)
    if row.status not in states.TRANSIENT:
        kept[PREVIOUS_STATUS] = [row.status, row.status_reason]
    return row.evolve(
        status=status,
        status_reason=f'{definition_of(action).text} in progress',
        last=action.uuid,
        kept=kept,
    )


def _succeeded(
    row: Node, action: Action, fields: Mapping[str, Any], now: datetime.datetime
) -> Node:
    kind = action.action_type
    after = apply_fields(row, fields, NODE_FIELDS)
    if 'properties' in fields:
        # It was created or updated to its profile.
        kept = {
            key: value for key, value in after.kept.items() if key != INCOMPLETE_UPDATE
        }
        after = after.evolve(kept=kept)
    if kind == action_types.NODE_DELETE:
        return after.evolve(
            status_reason='Deletion succeeded', updated_at=now, deleted_at=now
        )
    if kind == action_types.NODE_CREATE:
        after = after.evolve(created_at=after.created_at or now)
    elif kind != action_types.NODE_CHECK or after.status != row.status:
        # A check is no change.
        after = after.evolve(updated_at=now)
    if kind == action_types.NODE_LEAVE:
        return after.evolve(cluster_id=None, index=-1)
    if fields.get(UNCHANGED):
        return _with_previous_status(after)
    if 'status' in fields or _running_status(action) is None:
        return after
    if kind in (action_types.NODE_CREATE, action_types.NODE_RECOVER):
        data = {
            key: v
            for key, v in after.data.items()
            if key != action_types.UNHEALTHY_MARK
        }
        after = after.evolve(data=data)
    mark = action_types.unhealthy_mark(after)
    if mark is not None:
        return after.evolve(status=states.ERROR, status_reason=mark)
    text = f'{definition_of(action).text} succeeded'
    return after.evolve(status=states.ACTIVE, status_reason=text)


def fail_creation(row: Node, action: Action) -> Node:
    """Return a node whose creation has failed, with the reason."""
    text = action.status_message or 'cancelled'
    return row.evolve(status=states.ERROR, status_reason=f'Not made: {text}')


def _with_previous_status(row: Node) -> Node:
    status, reason = row.kept.get(PREVIOUS_STATUS) or (row.status, row.status_reason)
    return row.evolve(status=status, status_reason=reason)


def _failed(
    row: Node, action: Action, fields: Mapping[str, Any], now: datetime.datetime
) -> Node:
    if _running_status(action) is None:
        return row
    if fields.get(UNCHANGED):
        return _with_previous_status(row)
    if action.status == action_states.CANCELLED:
        ending = action.status_message or 'cancelled'
        why = f'{definition_of(action).text} aborted: {ending}'
    else:
        why = failure_reason(action)
    kept = dict(row.kept)
    if action.action_type == action_types.NODE_UPDATE:
        kept[INCOMPLETE_UPDATE] = True
    return row.evolve(status=states.ERROR, status_reason=why, kept=kept, updated_at=now)


# clusters


def project_cluster(
    row: Cluster, change: ActionChange, active: int, now: datetime.datetime
) -> Cluster:
    """Return a cluster after a change of an action on it or on one of its nodes.

    :param active: the number of its ACTIVE nodes
    """
    action = change.after
    kind = definition_of(action)
    if is_start(change):
        if kind.status is None or is_automatic_check(action):
            return row
        text = f'{action.action_type}: {kind.text} in progress.'
        return row.evolve(status=kind.status, status_reason=text)
    if not is_end(change):
        return row
    well = is_success(change)
    if not was_started(change.before):
        if action.action_type != action_types.CLUSTER_CREATE or well:
            return row
        return row.evolve(
            status=states.ERROR, status_reason=f'Not made: {action.status_message}'
        )
    after = row
    if kind.on_cluster:
        fields = (action.outputs or {}).get(action_types.CLUSTER) or {}
        after = apply_fields(row, fields, CLUSTER_FIELDS)
        if action.action_type == action_types.CLUSTER_CREATE:
            after = after.evolve(created_at=now if well else after.created_at)
        else:
            after = after.evolve(updated_at=now)
        if action.action_type == action_types.CLUSTER_DELETE and well:
            return after.evolve(status_reason='Deletion succeeded', deleted_at=now)
        if kind.status is None:
            return after
    else:
        after = _after_node_deletion(row, action, well)
    evaluated = _with_evaluated_status(after, action, active, well)
    if is_automatic_check(action) and evaluated.status == row.status:
        return row
    return evaluated


def _after_node_deletion(row: Cluster, action: Action, well: bool) -> Cluster:
    """Return a cluster after the deletion of one of its nodes by a request."""
    deletion = action.data.get('deletion')
    decided = deletion if isinstance(deletion, Mapping) else {}
    reduces = decided.get('reduce_desired_capacity', True)
    if action.action_type != action_types.NODE_DELETE or not well or not reduces:
        return row
    desired = max(row.desired_capacity - 1, row.min_size, 0)
    return row.evolve(desired_capacity=min(row.desired_capacity, desired))


def _with_evaluated_status(
    row: Cluster, action: Action, active: int, well: bool
) -> Cluster:
    """Return a cluster with its status after an action."""
    if row.status == states.INIT and not definition_of(action).on_cluster:
        # It is not created yet: missing nodes are no fault.
        return row
    after = evaluated(row, action.action_type, active)
    creating = action.action_type == action_types.CLUSTER_CREATE
    if creating and not well and active < row.desired_capacity:
        return after.evolve(status=states.ERROR)
    return after


def evaluated(row: Cluster, action_type: str, active: int) -> Cluster:
    """Return a cluster with the status for its number of active nodes."""
    status, text = states.evaluated(
        active, row.desired_capacity, row.min_size, row.max_size
    )
    return row.evolve(status=status, status_reason=f'{action_type}: {text}')
