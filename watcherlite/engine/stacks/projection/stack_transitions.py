"""The states of a stack when its operation starts and ends; pure functions."""

import datetime
from typing import Any, TypeVar

from watcherlite.domain.actions import Action
from watcherlite.domain.stacks import NewStack, Stack
from watcherlite.engine.stacks.action_inputs import StackInputs, failure_reason
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

AnyStack = TypeVar('AnyStack', NewStack, Stack)


def in_progress(
    stack: AnyStack, inputs: StackInputs, action_uuid: str, now: datetime.datetime
) -> AnyStack:
    """Return a stack with a started operation, which is admitted.

    :param action_uuid: of the action that executes it
    """
    changes: dict[str, Any] = {
        'operation': action_uuid,
        'deadline': inputs.deadline or now + datetime.timedelta(seconds=stack.timeout),
        'updated_at': now,
        'under_lock': stack.base if _is_overlay(inputs.do, stack.base) else None,
    }
    if inputs.do == states.UPDATE:
        changes |= {
            'previous_id': stack.definition_id,
            'definition_id': inputs.definition or stack.definition_id,
        }
    if inputs.do == states.LOCK:
        kind = 'inherited_level' if inputs.nested else 'lock_level'
        changes[kind] = inputs.level or states.ALL
    state = State(inputs.do, states.IN_PROGRESS, f'Stack {inputs.do} started')
    return stack.at(state, **changes)


def _is_overlay(do: str, base: State) -> bool:
    """Return whether the state before the operation comes back after it."""
    suspended = base.action == states.SUSPEND
    return do in states.MAINTENANCE or (do == states.CHECK and suspended)


def rollback_in_progress(stack: Stack, reason: str, now: datetime.datetime) -> Stack:
    """Return a stack that starts to roll back, by the same action."""
    return stack.at(
        State(states.ROLLBACK, states.IN_PROGRESS, reason),
        deadline=now + datetime.timedelta(seconds=stack.timeout),
        updated_at=now,
    )


def end_operation(
    stack: Stack, action: Action, inputs: StackInputs, now: datetime.datetime
) -> Stack:
    """Return a stack after its action has ended; else unchanged."""
    if action.status not in action_states.FINAL or stack.operation != action.uuid:
        return stack
    doing = stack.action
    if action.status == action_states.SUCCEEDED:
        text = f'Stack {doing} completed successfully'
        return _complete_operation(
            stack, inputs, State(doing, states.COMPLETE, text), now
        )
    if action.status == action_states.CANCELLED:
        reason = f'Stack {doing} cancelled'
    else:
        reason = failure_reason(action)
    state = State(doing, states.FAILED, reason)
    return stack.at(state, deadline=None, updated_at=now)


def _complete_operation(
    stack: Stack, inputs: StackInputs, state: State, now: datetime.datetime
) -> Stack:
    changes: dict[str, Any] = {'deadline': None, 'updated_at': now}
    if state.action == states.DELETE:
        changes['deleted_at'] = now
    if state.action == states.UNLOCK:
        changes['inherited_level' if inputs.nested else 'lock_level'] = None
        unlocked = stack.evolve(**changes)
        if unlocked.level is not None:
            # The lock around it is gone; the one of its own is not.
            state = State(states.LOCK, states.COMPLETE, 'Its own lock remains')
    if state.action == states.ROLLBACK:
        changes['definition_id'] = stack.previous_id or stack.definition_id
        changes['previous_id'] = None
    return stack.at(state, **changes)
