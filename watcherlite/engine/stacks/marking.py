"""What a user says of the health of a resource (spec 002); pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.states import stack as states
from watcherlite.states.stack import State

DEFAULT_REASON = 'state changed by resource_mark_unhealthy api'
LEFT_UNWELL = 'It was not well when the stack was abandoned that had it.'


def marked(row: Resource, reason: str) -> Resource:
    """Return a resource as unhealthy; one that is being deleted stays as it is."""
    if row.base.action == states.DELETE:
        return row
    return row.at(
        State(states.CHECK, states.FAILED, reason),
        under_lock=None,
        under_mark=row.under_mark or row.base,
    )


def unmarked(row: Resource, reason: str) -> Resource:
    """Return a resource as healthy again, if it was CHECK_FAILED.

    What had failed before the mark, or was never made, is not healed by taking a
    mark back, and what rested does not go on by that: it gets the state that it had.
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


def was_unwell(left: Mapping[str, Any]) -> bool:
    """Say whether a stack that was abandoned knew that a resource is not well."""
    return left.get('status') == states.FAILED


def adopted(row: Resource, left: Mapping[str, Any]) -> Resource:
    """Return a resource that was adopted, as unwell as it was when it was left.

    A stack is what its members are, unless it was marked itself.
    """
    if not was_unwell(left):
        return row
    reason = left.get('status_reason')
    text = reason if isinstance(reason, str) and reason else LEFT_UNWELL
    if left.get('marked') is True:
        return marked(row, text)
    if row.nested_id is not None:
        return row
    # What had failed otherwise than by a look is not healed by word of mouth.
    by = states.CHECK if left.get('action') == states.CHECK else states.ADOPT
    return row.at(State(by, states.FAILED, text))


def found(rows: Sequence[Resource], stack: Stack, name: str) -> Resource:
    """Return the resource that a name, a physical id or a reference means.

    :param rows: those of the stack that have not been replaced
    :raises ResourceNotFound, PhysicalResourceIDAmbiguity: see the text
    """
    for row in rows:
        if row.name == name:
            return row
    for same in (
        [row for row in rows if row.physical_id == name],
        [row for row in rows if row.reference == name],
    ):
        if len(same) > 1:
            names = ', '.join(sorted(row.name for row in same))
            raise exceptions.PhysicalResourceIDAmbiguity(
                f'Several resources of stack {stack.name} have the physical id {name}: '
                f'{names}. Name the one that is meant.'
            )
        if same:
            return same[0]
    raise exceptions.ResourceNotFound(
        f'The Resource ({name}) could not be found in Stack {stack.name}.'
    )
