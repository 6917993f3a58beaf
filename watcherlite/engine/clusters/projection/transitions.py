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
#: Likewise a cluster (`action_types.CLUSTER`).
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

# In what a node keeps, beside what its handler does
#: Its making has begun: there may be something of it in the world.
CREATION_STARTED = 'begun'
#: Its status and reason before the action that is about it.
PREVIOUS_STATUS = 'was'
#: An update to another profile has failed or was cancelled half way: what there is may
#: be neither as before nor as it was to be.
PARTIAL = 'partial_update'
#: In the token of an action: its node is left the time that policies give it.
PAUSE = 'pause'
#: In what a node becomes: what it was before the action. See `action_types.NODE`.
UNCHANGED = 'as_before'
#: In its data: the action that counts it, or counts it no more, in the size of its
#: cluster already.
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
    return change.after.finished or results.repeated(change.before, change.after)


def is_success(change: ActionChange) -> bool:
    """Return whether a change is a successful end."""
    if change.after.finished:
        return change.after.status == action_states.SUCCEEDED
    # The next run is READY; how the last one went is in the message.
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


def definition_of(action: Action) -> action_types.ActionDefinition:
    return action_types.DEFINITIONS[action.action_type]


def cluster_of(action: Action) -> str | None:
    """Return the uuid of the cluster that an action may change."""
    if definition_of(action).on_cluster:
        return action.target
    if action.action_type == action_types.NODE_JOIN:
        # One without it fails, and that has to be written down, too.
        uuid = action.inputs.get('cluster_id')
        return uuid if isinstance(uuid, str) else None
    return action.within if is_request_within(action) else None


def fault(detail: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return (detail or {}).get('fault')


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
    said = (action.outputs or {}).get(action_types.NODE) or {}
    if is_success(change):
        after = _succeeded(row, action, said, now)
    elif was_started(before):
        if _has_not_acted(before):
            said = {**said, UNCHANGED: True}
        after = _failed(apply_fields(row, said, NODE_FIELDS), action, said, now)
    elif action.action_type == action_types.NODE_CREATE:
        after = never_created(row, action)
    else:
        return row
    kept = {key: value for key, value in after.kept.items() if key != PREVIOUS_STATUS}
    data = {key: value for key, value in after.data.items() if key != COUNTED}
    return after.evolve(kept=kept, data=data)


def _has_not_acted(action: Action) -> bool:
    """Return whether a started action has not touched its node yet."""
    # It waits until others have been told of the node, or has just done so.
    told = action.phase == COMPLETE and action.status in action_states.NOT_STARTED
    return told or (action.token or {}).get('step') == PAUSE


def _running_status(action: Action) -> str | None:
    """Return the status of a node while an action runs; None: unchanged."""
    if action.action_type == action_types.NODE_UPDATE:
        # Names, roles and the like are of the row alone.
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
    row: Node, action: Action, said: Mapping[str, Any], now: datetime.datetime
) -> Node:
    kind = action.action_type
    after = apply_fields(row, said, NODE_FIELDS)
    if 'properties' in said:
        # It was made, or made to fit its profile.
        kept = {key: value for key, value in after.kept.items() if key != PARTIAL}
        after = after.evolve(kept=kept)
    if kind == action_types.NODE_DELETE:
        return after.evolve(
            status_reason='Deletion succeeded', updated_at=now, deleted_at=now
        )
    if kind == action_types.NODE_CREATE:
        after = after.evolve(created_at=after.created_at or now)
    elif kind != action_types.NODE_CHECK or after.status != row.status:
        # To have been looked at is no change.
        after = after.evolve(updated_at=now)
    if kind == action_types.NODE_LEAVE:
        return after.evolve(cluster_id=None, index=-1)
    if said.get(UNCHANGED):
        return _with_previous_status(after)
    if 'status' in said or _running_status(action) is None:
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


def never_created(row: Node, action: Action) -> Node:
    """Return a node whose creation has failed, with the reason."""
    text = action.status_message or 'cancelled'
    return row.evolve(status=states.ERROR, status_reason=f'Not made: {text}')


def _with_previous_status(row: Node) -> Node:
    status, reason = row.kept.get(PREVIOUS_STATUS) or (row.status, row.status_reason)
    return row.evolve(status=status, status_reason=reason)


def _failed(
    row: Node, action: Action, said: Mapping[str, Any], now: datetime.datetime
) -> Node:
    if _running_status(action) is None:
        return row
    if said.get(UNCHANGED):
        return _with_previous_status(row)
    if action.status == action_states.CANCELLED:
        ending = action.status_message or 'cancelled'
        why = f'{definition_of(action).text} aborted: {ending}'
    else:
        why = failure_reason(action)
    kept = dict(row.kept)
    if action.action_type == action_types.NODE_UPDATE:
        kept[PARTIAL] = True
    return row.evolve(status=states.ERROR, status_reason=why, kept=kept, updated_at=now)


# clusters


def project_cluster(
    row: Cluster, change: ActionChange, active: int, now: datetime.datetime
) -> Cluster:
    """Return a cluster after a change of an action on it or on one of its nodes.

    :param active: how many of its nodes are ACTIVE now
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
        said = (action.outputs or {}).get(action_types.CLUSTER) or {}
        after = apply_fields(row, said, CLUSTER_FIELDS)
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
    """Return a cluster with the status for its number of active nodes."""
    if row.status == states.INIT and not definition_of(action).on_cluster:
        # Nobody has made it yet: that it lacks nodes says nothing.
        return row
    status, text = states.evaluated(
        active, row.desired_capacity, row.min_size, row.max_size
    )
    creating = action.action_type == action_types.CLUSTER_CREATE
    if creating and not well and active < row.desired_capacity:
        status = states.ERROR
    return row.evolve(status=status, status_reason=f'{action.action_type}: {text}')
