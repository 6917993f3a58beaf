"""The states and health marks of a resource while an action on it is executed.

The functions are pure: they take a row and a change of an action, and return the row
as it is then.
"""

import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.actions import ActionChange
from watcherlite.domain.stacks import Resource
from watcherlite.engine.stacks.action_inputs import (
    CONVERGE,
    HEALED,
    REASON,
    RESTORED,
    RESTRICTED,
    SIGNAL,
    UNABLE,
    UNCHANGED,
    ResourceInputs,
    failure_reason,
)
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: The outputs that the row of a resource stores.
STORED_OUTPUTS = (
    'physical_id',
    'reference',
    'attributes',
    'properties',
    'metadata',
    'data',
    'definition_id',
    'protected',
    'requires',
    'deletion_policy',
    'nested_id',
)
REPAIRED = 'Its type is not replaced, and has nothing to repair.'


def follow_action(
    row: Resource, change: ActionChange, inputs: ResourceInputs, now: datetime.datetime
) -> Resource:
    """Return a resource after a change of its action."""
    before, after = change.before, change.after
    if after.status == action_states.RUNNING:
        if after.token is not None and after.token != before.token:
            return _take_token(row, after.token, now)
        if before.status == action_states.READY and before.start_time is None:
            return _started(row, inputs, now)
        return row
    if after.status == action_states.SUCCEEDED:
        return _succeeded(row, inputs, after.outputs or {}, now)
    if after.status == action_states.FAILED:
        return _failed(row, inputs, failure_reason(after), after.outputs or {}, now)
    if after.status == action_states.CANCELLED and after.start_time is not None:
        if inputs.do == CONVERGE and row.status != states.IN_PROGRESS:
            # It was cancelled before its decision.
            return row
        why = after.status_message or 'cancelled'
        reason = f'{_current_action(row, inputs)} aborted: {why}'
        return _failed(row, inputs, reason, {}, now)
    return row


def enter_state(row: Resource, state: State, now: datetime.datetime) -> Resource:
    """Return a resource in another state, which may be an overlay."""
    return row.at(state, under_lock=_state_below(row, state.action), updated_at=now)


def _state_below(row: Resource, action: str) -> State | None:
    """Return the state below the overlay of an action; None: it is not an overlay."""
    if action in states.MAINTENANCE:
        return row.base
    if action == states.CHECK:
        return row.base if row.base.action == states.SUSPEND else None
    if action not in states.RESTING:
        return None
    # Suspend and resume do not heal a resource, nor a failed check in between.
    known = row.state if row.state.name == 'CHECK_FAILED' else row.base
    return known if known.failed and known.action not in states.RESTING else None


def _still_failed(row: Resource, below: State, did: State | None) -> Resource:
    """Return a FAILED resource that was suspended or resumed.

    :param did: the state that it would have otherwise; None: the operation failed
    """
    after = row.at(below, under_lock=None)
    if did is None or row.under_mark is None:
        return after
    return after.evolve(under_mark=did)


def _started(row: Resource, inputs: ResourceInputs, now: datetime.datetime) -> Resource:
    if inputs.do == SIGNAL:
        return row
    if inputs.do == CONVERGE:
        if row.base.action != states.INIT:
            # Its state changes with its decision.
            return row
        return enter_state(row, State(states.CREATE, states.IN_PROGRESS), now)
    if inputs.do == states.ADOPT and row.nested_id is None:
        row = _take_record(row, inputs.adopted or {})
    return enter_state(row, State(inputs.do, states.IN_PROGRESS), now)


def _take_record(row: Resource, adopted: Mapping[str, Any]) -> Resource:
    """Return a resource with the record that it adopts.

    It belongs to the resource from the start of the adoption, even if that fails.
    """
    if adopted.get('handler') != row.handler or 'resources' in adopted:
        return row
    return row.evolve(
        physical_id=adopted['resource_id'],
        data=adopted['resource_data'],
        attributes=adopted['attributes'],
    )


def _take_token(
    row: Resource, token: Mapping[str, Any], now: datetime.datetime
) -> Resource:
    """Return a resource with the decision in a token, see `resource_action`."""
    token = token.get('saved', token)
    action = token.get('action')
    if action is not None and (action, states.IN_PROGRESS) != (row.action, row.status):
        row = enter_state(row, State(action, states.IN_PROGRESS), now)
    return _store(row, {key: token[key] for key in token if token[key] is not None})


def _store(row: Resource, outputs: Mapping[str, Any]) -> Resource:
    """Return a resource with these outputs of its action."""
    taken = {key: outputs[key] for key in STORED_OUTPUTS if key in outputs}
    if 'requires' in taken:
        taken['requires'] = tuple(taken['requires'])
    return row.evolve(**taken) if taken else row


def _succeeded(
    row: Resource,
    inputs: ResourceInputs,
    outputs: Mapping[str, Any],
    now: datetime.datetime,
) -> Resource:
    after = _store(row, outputs)
    if inputs.do == SIGNAL:
        return after
    reason = outputs.get(REASON) or ''
    if outputs.get(UNCHANGED):
        if outputs[UNCHANGED] == RESTORED or not row.base.failed:
            # A former lock is not shown any more.
            covered = after.under_lock is not None
            return after.at(after.base, under_lock=None) if covered else after
        if not outputs.get(HEALED, True):
            # It was marked after the decision.
            return after
        state = State(row.base.action, states.COMPLETE, REPAIRED)
        return enter_state(after, state, now).evolve(under_mark=None)
    state = State(
        _current_action(row, inputs), states.COMPLETE, reason or 'state changed'
    )
    if inputs.do in states.RESTING and row.under_lock is not None:
        return _still_failed(
            after, row.under_lock, None if outputs.get(UNABLE) else state
        )
    after = enter_state(after, state, now)
    if inputs.do == states.DELETE:
        return after.evolve(deleted_at=now)
    return after.evolve(under_mark=None) if inputs.do == CONVERGE else after


def _failed(
    row: Resource,
    inputs: ResourceInputs,
    reason: str,
    outputs: Mapping[str, Any],
    now: datetime.datetime,
) -> Resource:
    if inputs.do == SIGNAL:
        return row
    if outputs.get(RESTRICTED) and row.status != states.IN_PROGRESS:
        # Only the event has the failure.
        return row
    after = _store(row, outputs)
    if inputs.do in states.RESTING and row.under_lock is not None:
        return _still_failed(after, row.under_lock, None)
    state = State(_current_action(row, inputs), states.FAILED, reason)
    return enter_state(after, state, now)


def _current_action(row: Resource, inputs: ResourceInputs) -> str:
    """Return the action of resources in progress."""
    if inputs.do != CONVERGE:
        return inputs.do
    if row.status == states.IN_PROGRESS:
        return row.action
    return states.CREATE if row.base.action == states.INIT else states.UPDATE


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
    """Return whether an abandoned resource is unhealthy according to its record."""
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
