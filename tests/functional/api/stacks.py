"""Stacks in any state, stored without an engine."""

from typing import Any

from watcherlite import bootstrap
from watcherlite.domain.stacks import Definition, NewResource, NewStack, Stack
from watcherlite.states import stack as states
from watcherlite.states.stack import State

TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'resources': {'web': {'type': 'OS::Heat::None'}},
}


def level_of(state: str) -> str | None:
    """Return the lock level of a stack in a state."""
    if state == 'UNLOCK_COMPLETE' or not state.startswith(('LOCK', 'UNLOCK')):
        return None
    return states.ALL


def store(
    runtime: bootstrap.Runtime, number: int, name: str, state: str, **values: Any
) -> Stack:
    """Store a stack of project acme in a state, with the resource web.

    :param number: the end of its uuid and of the physical id of its resource
    :param values: the fields of the resource
    """
    action, _, status = state.partition('_')
    below = State(states.CREATE, states.COMPLETE)
    now = runtime.clock.now()
    with runtime.store.transaction() as tx:
        definition = tx.insert_definition(Definition(TEMPLATE))
        stack = tx.insert_stack(
            NewStack(
                uuid=f'00000000-0000-4000-8000-{number:012d}',
                name=name,
                tenant='acme',
                definition_id=definition.id,
                previous_id=definition.id,
                action=action,
                status=status,
                under_lock=below if action in states.MAINTENANCE else None,
                lock_level=level_of(state),
                created_at=now,
            )
        )
        resource = {
            'name': 'web',
            'action': states.CREATE,
            'status': states.COMPLETE,
            'physical_id': f'web-{number}',
            **values,
        }
        new = NewResource(
            uuid=f'10000000-0000-4000-8000-{number:012d}',
            stack_id=stack.id,
            type='OS::Heat::None',
            handler='OS::Heat::None',
            definition_id=definition.id,
            created_at=now,
            **resource,
        )
        tx.insert_resources([new])
    return stack
