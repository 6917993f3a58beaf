"""Health marks of users on resources (spec 002); pure functions."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.stacks import Resource
from watcherlite.states import stack as states
from watcherlite.states.stack import State

DEFAULT_REASON = 'state changed by resource_mark_unhealthy api'
UNHEALTHY_WHEN_ABANDONED = 'It was unhealthy when its stack was abandoned.'


def mark(row: Resource, reason: str) -> Resource:
    """Return a resource marked as unhealthy, unless it is being deleted."""
    if row.base.action == states.DELETE:
        return row
    return row.at(
        State(states.CHECK, states.FAILED, reason),
        under_lock=None,
        under_mark=row.under_mark or row.base,
    )


def clear_mark(row: Resource, reason: str) -> Resource:
    """Return a resource without its mark, if it is CHECK_FAILED.

    A resource that had failed before the mark, did not exist or was suspended gets its
    former state back.
    """
    if row.base.name != 'CHECK_FAILED':
        return row
    before = row.under_mark
    kept = (states.INIT, states.SUSPEND)
    if before is not None and (before.failed or before.action in kept):
        state = before
    else:
        state = State(states.CHECK, states.COMPLETE, reason)
    return row.at(state, under_lock=None, under_mark=None)


def was_unhealthy(left: Mapping[str, Any]) -> bool:
    """Return whether the record of an abandoned resource says that it is unhealthy."""
    return left.get('status') == states.FAILED


def apply_adopted_health(row: Resource, left: Mapping[str, Any]) -> Resource:
    """Return an adopted resource with the health in its record.

    The health of a stack is that of its members, unless it was marked itself.
    """
    if not was_unhealthy(left):
        return row
    reason = left.get('status_reason')
    text = reason if isinstance(reason, str) and reason else UNHEALTHY_WHEN_ABANDONED
    if left.get('marked') is True:
        return mark(row, text)
    if row.nested_id is not None:
        return row
    # Clearing a mark heals only a failed check.
    by = states.CHECK if left.get('action') == states.CHECK else states.ADOPT
    return row.at(State(by, states.FAILED, text))
