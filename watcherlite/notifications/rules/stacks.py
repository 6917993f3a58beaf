"""The notifications of stacks and resources, derived from the tables of their states.

Each change of state is a step of an action: its start, its end, or its error.
"""

import itertools
from collections.abc import Iterable, Mapping

from watcherlite.domain import events
from watcherlite.notifications.rules.notification import Notification, named
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: The service in `publisher_id`, instead of infra-optim.
PUBLISHER = 'orchestration'

#: status -> the step of an action
_STEPS = {states.IN_PROGRESS: 'start', states.COMPLETE: 'end', states.FAILED: 'error'}
#: The actions of a resource with notifications; INIT is the state before the first.
_RESOURCE_ACTIONS = {
    action: what
    for action, what in states.RESOURCE_ACTIONS.items()
    if action != states.INIT
}


def _action_notifications(
    actions: Mapping[str, str], payload: str, last: str
) -> dict[str, Notification]:
    """Return the notifications of the steps of actions, by name.

    :param actions: action -> its description
    :param last: the description of the error
    """
    return named(
        *(
            (f'{action.lower()}.{step}', payload, when)
            for action, what in actions.items()
            for step, when in (
                ('start', f'{action} started: {what}'),
                ('end', f'{action} succeeded'),
                ('error', f'{action} {last}'),
            )
        )
    )


#: name -> the notification
STACK = {
    'update': Notification('update', 'INFO', 'StackUpdatePayload', 'its state changed'),
    **_action_notifications(
        states.STACK_ACTIONS,
        'StackActionPayload',
        'failed, and `fault` has the error; or was cancelled, and `fault` is null',
    ),
}
RESOURCE = {
    **_action_notifications(
        _RESOURCE_ACTIONS, 'ResourceActionPayload', 'failed; `fault` has the error'
    ),
    **named(
        (
            'check.error',
            'ResourceActionPayload',
            'CHECK found it unhealthy, and `fault` has the error; or a user marked '
            'it unhealthy, and `status_reason` has the reason',
        ),
        (
            'check.end',
            'ResourceActionPayload',
            'CHECK succeeded, or a user removed a mark',
        ),
        (
            'signal.end',
            'ResourceActionPayload',
            'it handled a signal, or ignored it because of a lock',
        ),
        (
            'signal.error',
            'ResourceActionPayload',
            'handling a signal failed; `fault` has the error',
        ),
        (events.HOOK_BEGUN, 'ResourceHookPayload', 'it waits until `hook` is cleared'),
        (events.HOOK_ENDED, 'ResourceHookPayload', '`hook` was cleared'),
        (
            events.HOOK_FAILED,
            'ResourceHookPayload',
            '`hook` was not cleared before the operation on the stack ended; '
            '`status_reason` has the reason',
        ),
    ),
}
#: step -> its notifications
RESOURCE_STEPS: Mapping[str, tuple[str, ...]] = {
    step: (step,) for step in (events.HOOK_BEGUN, events.HOOK_ENDED, events.HOOK_FAILED)
}
#: new status in the events of a signal -> the notification
_SIGNALS = {
    State(states.SIGNAL, states.COMPLETE).name: 'signal.end',
    State(states.SIGNAL, states.FAILED).name: 'signal.error',
}

#: kind -> the notifications in any state
STACK_KINDS: Mapping[str, tuple[str, ...]] = {
    events.CREATED: (),
    events.STATE_CHANGED: ('update',),
}
RESOURCE_KINDS: Mapping[str, tuple[str, ...]] = {
    events.STATE_CHANGED: (),
    events.MESSAGE_CHANGED: (),
    events.SIGNALLED: (),
}
#: The state of a nested stack, and of a resource, before the first action.
_INIT = State(states.INIT, states.COMPLETE)


def _states_of(actions: Iterable[str]) -> tuple[State, ...]:
    """Return all states of these actions."""
    pairs = itertools.product(actions, states.STATUSES)
    return _INIT, *(State(action, status) for action, status in pairs)


def _step(old: State | None, new: State) -> str:
    """Return the notification of a change of state: the step of an action.

    An action in progress ends with the change, whatever the new state is: after the
    unlock of a stack it may be the lock of a stack around it. A resource that was never
    created is in INIT again when a user removes its unhealthy mark.
    """
    if new == _INIT:
        return 'check.end'
    over = old is not None and old.busy and not new.busy
    action = old.action if old is not None and over else new.action
    return f'{action.lower()}.{_STEPS[new.status]}'


def _changes(every: tuple[State, ...]) -> dict[tuple[str | None, str], str]:
    """Return (state before, state after) -> the notification of the change."""
    found: dict[tuple[str | None, str], str] = {}
    for new in every:
        found[None, new.name] = _step(None, new)
        found |= {(old.name, new.name): _step(old, new) for old in every}
    return found


_STACK_STATES = _states_of(states.STACK_ACTIONS)
_RESOURCE_STATES = _states_of(_RESOURCE_ACTIONS)
#: The valid old and new statuses of events.
STACK_STATES = frozenset(state.name for state in _STACK_STATES)
RESOURCE_STATES = frozenset((*(state.name for state in _RESOURCE_STATES), *_SIGNALS))
#: (state before, None for none; state after) -> the notification of the change
STACK_CHANGES = _changes(_STACK_STATES)
RESOURCE_CHANGES: Mapping[tuple[str | None, str], str] = {
    **_changes(_RESOURCE_STATES),
    **{
        (state.name, signal): name
        for state in _RESOURCE_STATES
        for signal, name in _SIGNALS.items()
    },
}
