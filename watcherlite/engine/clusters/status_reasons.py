"""The status reasons of actions on clusters and nodes, in the words of Senlin."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.clock import EPOCH
from watcherlite.domain.actions import COMPLETE, Action
from watcherlite.engine.clusters import action_types
from watcherlite.engine.stacks.action_inputs import failure_reason
from watcherlite.states import action as states

INITIALIZING = 'Initializing'
READY = 'The action is ready to be processed.'
PROCESSED = 'The action is being processed.'
SUSPENDED = 'The action is suspended.'
WAITING = 'Waiting for depended actions.'
COMPLETED = 'All depended actions completed.'
CANCELLED = 'Action execution cancelled'
SUCCEEDED = 'Action completed successfully.'
SCHEDULED = 'The action is scheduled; it does not start before {}.'
NEXT_RUN = 'The next run does not start before {}.'
#: The lock on the target is held by another action, or was just released.
QUEUED = 'The action is queued: it waits for {}.'
ITS_TURN = 'The action is queued: it waits for its turn.'
#: Maximum number of actions that a reason names.
NAMED = 5

#: The reasons of actions that succeeded.
_DONE: Mapping[str, str] = {
    action_types.CLUSTER_CREATE: 'Cluster creation succeeded.',
    action_types.CLUSTER_DELETE: 'Cluster deletion succeeded.',
    action_types.CLUSTER_UPDATE: 'Cluster update completed.',
    action_types.CLUSTER_ADD_NODES: 'Completed adding nodes.',
    action_types.CLUSTER_DEL_NODES: 'Completed deleting nodes.',
    action_types.CLUSTER_REPLACE_NODES: 'Completed replacing nodes.',
    action_types.CLUSTER_RESIZE: 'Cluster resize succeeded.',
    action_types.CLUSTER_SCALE_IN: 'Cluster scaling succeeded.',
    action_types.CLUSTER_SCALE_OUT: 'Cluster scaling succeeded.',
    action_types.CLUSTER_ATTACH_POLICY: 'Policy attached.',
    action_types.CLUSTER_DETACH_POLICY: 'Policy detached.',
    action_types.CLUSTER_UPDATE_POLICY: 'Policy updated.',
    action_types.CLUSTER_CHECK: 'Cluster checking completed.',
    action_types.CLUSTER_RECOVER: 'Cluster recovery succeeded.',
    action_types.CLUSTER_OPERATION: "Cluster operation '{operation}' completed.",
    action_types.NODE_CREATE: 'Node created successfully.',
    action_types.NODE_DELETE: 'Node deleted successfully.',
    action_types.NODE_UPDATE: 'Node updated successfully.',
    action_types.NODE_JOIN: 'Node successfully joined cluster.',
    action_types.NODE_LEAVE: 'Node successfully left cluster.',
    action_types.NODE_CHECK: 'Node check succeeded.',
    action_types.NODE_RECOVER: 'Node recovered successfully.',
    action_types.NODE_OPERATION: "Node operation '{operation}' succeeded.",
}
#: Actions whose outputs contain the reason.
_WITH_REASON = frozenset(
    {
        action_types.CLUSTER_ATTACH_POLICY,
        action_types.CLUSTER_DETACH_POLICY,
        action_types.CLUSTER_UPDATE_POLICY,
    }
)


def status_reason(action: Action, holders: Sequence[tuple[str, str]] = ()) -> str:
    """Return why an action is in its status; never empty.

    :param holders: (action type, uuid) of the holders of the lock that it waits for
    """
    match action.status:
        case states.SUCCEEDED:
            return _succeeded(action)
        case states.FAILED:
            return failure_reason(action)
        case states.CANCELLED:
            return action.status_message or CANCELLED
        case states.SKIPPED:
            return action.status_message or states.STATES[states.SKIPPED]
        case states.RUNNING:
            return PROCESSED
        case states.SUSPENDED:
            return SUSPENDED
        case states.WAITING:
            return _waiting(action, holders)
        case states.READY:
            return _ready(action)
    return INITIALIZING


def _succeeded(action: Action) -> str:
    reason = (action.outputs or {}).get(action_types.REASON)
    if action.action_type in _WITH_REASON and reason:
        return str(reason)
    given: Mapping[str, Any] = action.inputs
    text = _DONE.get(action.action_type, SUCCEEDED)
    return text.replace('{operation}', str(given.get('operation', '')))


def _waiting(action: Action, holders: Sequence[tuple[str, str]]) -> str:
    if action.blocked_on is None:
        return WAITING
    if not holders:
        return ITS_TURN
    named = [f'{action_type} {uuid}' for action_type, uuid in holders[:NAMED]]
    more = len(holders) - NAMED
    return QUEUED.format(', '.join([*named, *[f'{more} more'] * (more > 0)]))


def _ready(action: Action) -> str:
    if action.phase == COMPLETE:
        return COMPLETED
    due = action.not_before.isoformat(timespec='seconds').replace('+00:00', 'Z')
    is_scheduled = action.not_before > EPOCH
    if action.end_time is not None:
        # The reason of a repeated action has the result of its last run.
        last = action.status_message or _succeeded(action)
        return f'{last} {NEXT_RUN.format(due)}' if is_scheduled else last
    if action.status_message:
        return action.status_message
    return SCHEDULED.format(due) if is_scheduled else READY
