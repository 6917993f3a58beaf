"""Events of user-defined actions: one for the end of each run.

Such an action changes neither its cluster nor its node. The row of a repeated action
has only the last run; these events have the result of each.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.actions import ENGINE, Action, ActionChange
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import Event
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.projection import events
from watcherlite.execution import results
from watcherlite.states import action as states

_UUID_LENGTH = 36


def is_user_defined(action: Action) -> bool:
    """Return whether an action on a cluster or node is user-defined; fast.

    Of the other actions without a plan, audits and health rounds have no target, and
    those of stacks have one that is no uuid.
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


def run_end_events(
    clusters: Mapping[str, Cluster],
    nodes: Mapping[str, Node],
    change: ActionChange,
    phase: str,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None,
) -> list[Event]:
    """Return the event of the end of a run; none if its target is gone.

    :param phase: `events.END` or `events.ERROR`
    """
    action = change.after
    target = action.target or ''
    status = _status(change, phase)
    result = {
        'status': status,
        'start_time': _text(change.before.start_time),
        'end_time': _text(action.end_time),
    }
    message = action.status_message or f'{action.action_type} {status}'
    if (cluster := clusters.get(target)) is not None:
        return [events.run_event(cluster, action, phase, now, result, message, fault)]
    if (node := nodes.get(target)) is not None:
        return [events.run_event(node, action, phase, now, result, message, fault)]
    return []


def user_defined_targets(found: Sequence[Action]) -> set[str]:
    """Return the targets of those that users define: clusters or nodes."""
    return {a.target for a in found if a.target and is_user_defined(a)}


def _status(change: ActionChange, phase: str) -> str:
    """Return how a run ended; the row of a repeated action is READY again."""
    if change.after.finished:
        return change.after.status
    if phase == events.END:
        return states.SUCCEEDED
    message = change.after.status_message or ''
    skipped = message.startswith(results.SKIPPED_AUTOMATICALLY)
    return states.SKIPPED if skipped else states.FAILED


def _text(when: datetime.datetime | None) -> str | None:
    return None if when is None else when.isoformat()
