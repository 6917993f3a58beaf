"""How a stack begins an operation: the state in which it is then."""

import datetime
from typing import Any

from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.inputs import StackInputs
from watcherlite.states import stack as states
from watcherlite.states.stack import State


def begun(
    stack: Stack, inputs: StackInputs, action_uuid: str, now: datetime.datetime
) -> Stack:
    """Return a stack as it begins an operation; whether it may is decided before.

    :param action_uuid: of the action that does it
    """
    changes: dict[str, Any] = {
        'operation': action_uuid,
        'deadline': inputs.deadline or now + datetime.timedelta(seconds=stack.timeout),
        'updated_at': now,
        'under_lock': stack.base if inputs.do in states.MAINTENANCE else None,
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


def rolling_back(stack: Stack, reason: str, now: datetime.datetime) -> Stack:
    """Return a stack as it begins to go back to what it was, by the same action."""
    return stack.at(
        State(states.ROLLBACK, states.IN_PROGRESS, reason),
        deadline=now + datetime.timedelta(seconds=stack.timeout),
        updated_at=now,
    )
