"""Events of clusters and nodes: one for each phase of an action.

The clustering API lists them under `/v1/events`, and notifications are built from them.
"""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.actions import ENGINE, Action, ActionChange, truncate
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import Event
from watcherlite.engine.clusters import action_types
from watcherlite.execution import results
from watcherlite.states import action as states

# The phases of an action
START = 'start'
END = 'end'
ERROR = 'error'
PHASES = (START, END, ERROR)
#: Who requested an action, in its context: the sender of a request, or a receiver.
_INITIATOR = (
    *('user_id', 'user_name', 'project_id', 'roles', 'request_id'),
    'receiver',
)


def target_event(
    before: Cluster | Node,
    after: Cluster | Node,
    action: Action,
    phase: str,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None = None,
    cluster: str | None = None,
    **more: Any,
) -> Event:
    """Return the event of a phase of an action on a cluster or node.

    :param fault: of the failure: the fields of `outcomes.Fault`
    :param cluster: uuid of the cluster of a node; None: it has none
    :param more: other details
    """
    message = after.status_reason
    if phase == ERROR:
        message = action.status_message or message
    if isinstance(after, Node):
        more['physical_id'] = after.physical_id
    if cluster is not None:
        more['cluster'] = cluster
    if fault is not None:
        more['fault'] = fault
    initiator = {
        name: value for name in _INITIATOR if (value := action.context.get(name))
    }
    if initiator:
        more[events.INITIATOR] = initiator
    detail = {
        'action': {
            'uuid': action.uuid,
            'name': action.name,
            'type': action.action_type,
        },
        'phase': phase,
        'uuid': after.uuid,
        'name': after.name,
        **more,
    }
    return Event(
        events.NODE if isinstance(after, Node) else events.CLUSTER,
        events.STATE_CHANGED,
        None,
        None,
        before.status,
        after.status,
        truncate(message),
        None,
        None,
        now,
        detail,
        subject_id=after.id,
    )


_UUID_LENGTH = 36


def is_user_defined(action: Action) -> bool:
    """Return whether an action on a cluster or node is user-defined; fast.

    Among the other actions without a plan, audits and health rounds have no target, and
    the target of stack actions is not a uuid.
    """
    return (
        action.plan_id is None
        and action.derived_from is None
        and action.target is not None
        and len(action.target) == _UUID_LENGTH
        and action.tenant is not None
        and action.lane == ENGINE
        and action.action_type not in action_types.DEFINITIONS
    )


def run_end_event(
    target: Cluster | Node,
    change: ActionChange,
    phase: str,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None,
) -> Event:
    """Return the event of the end of a run of a user-defined action.

    :param target: unchanged by the action
    :param phase: END or ERROR
    """
    action, status = change.after, _status(change, phase)
    result = {
        'status': status,
        'start_time': _text(change.before.start_time),
        'end_time': _text(action.end_time),
    }
    event = target_event(
        target, target, action, phase, now, fault, action.within, result=result
    )
    message = action.status_message or f'{action.action_type} {status}'
    return dataclasses.replace(event, message=truncate(message))


def user_defined_targets(actions: Sequence[Action]) -> set[str]:
    """Return the targets of user-defined actions: clusters or nodes."""
    return {a.target for a in actions if a.target and is_user_defined(a)}


def _status(change: ActionChange, phase: str) -> str:
    """Return the final status of a run; the row of a repeated action is READY."""
    if change.after.finished:
        return change.after.status
    if phase == END:
        return states.SUCCEEDED
    message = change.after.status_message or ''
    skipped = message.startswith(results.SKIPPED_AUTOMATICALLY)
    return states.SKIPPED if skipped else states.FAILED


def _text(when: datetime.datetime | None) -> str | None:
    return None if when is None else when.isoformat()
