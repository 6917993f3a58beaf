"""What is told of stacks and of their resources: tables, made of those of the states.

Each change of their state is a step of one of their actions: that begins, ends well
or fails.
"""

import itertools
from collections.abc import Iterable, Mapping

from watcherlite.domain import events
from watcherlite.notifications.notification import Notification
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: Who says so, instead of infra-optim.
PUBLISHER = 'orchestration'

#: status -> the step that is told of an action
_STEPS = {
    states.IN_PROGRESS: 'start',
    states.COMPLETE: 'end',
    states.FAILED: 'error',
}
#: step -> priority
_PRIORITIES = {'start': 'INFO', 'end': 'INFO', 'error': 'ERROR'}
#: Of these a resource has notifications: INIT is where it is before the first.
_RESOURCE_ACTIONS = {
    action: what
    for action, what in states.RESOURCE_ACTIONS.items()
    if action != states.INIT
}


def _of_actions(
    actions: Mapping[str, str], payload: str, last: str
) -> dict[str, Notification]:
    """Return the notifications of the steps of actions, by name.

    :param actions: action -> what is done
    :param last: when an action fails
    """
    found = {}
    for action, what in actions.items():
        for step, when in (
            ('start', f'{action} began: {what}'),
            ('end', f'{action} ended well'),
            ('error', f'{action} {last}'),
        ):
            name = f'{action.lower()}.{step}'
            found[name] = Notification(name, _PRIORITIES[step], payload, when)
    return found


#: name -> the notification
STACK = {
    'update': Notification(
        'update', 'INFO', 'StackUpdatePayload', 'its state changed, in any way'
    ),
    **_of_actions(
        states.STACK_ACTIONS,
        'StackActionPayload',
        'failed, and `fault` says how; or it was cancelled, and that is null',
    ),
}
RESOURCE = {
    **_of_actions(
        _RESOURCE_ACTIONS, 'ResourceActionPayload', 'failed; `fault` says how'
    ),
    'check.error': Notification(
        'check.error',
        'ERROR',
        'ResourceActionPayload',
        'CHECK found that it is not as it should be, and `fault` says how; or a user '
        'marked it unhealthy, and `status_reason` says why',
    ),
    'check.end': Notification(
        'check.end',
        'INFO',
        'ResourceActionPayload',
        'CHECK ended well, or a user took a mark back',
    ),
    'signal.end': Notification(
        'signal.end',
        'INFO',
        'ResourceActionPayload',
        'it took note of a signal, or ignored it because of a lock',
    ),
    'signal.error': Notification(
        'signal.error',
        'ERROR',
        'ResourceActionPayload',
        'it could not do what a signal asked for; `fault` says how',
    ),
}
#: What the events of a signal name as the new status -> what is told
_SIGNALS = {
    State(states.SIGNAL, states.COMPLETE).name: 'signal.end',
    State(states.SIGNAL, states.FAILED).name: 'signal.error',
}

#: kind -> what is told whatever the states are
STACK_KINDS: Mapping[str, tuple[str, ...]] = {
    events.CREATED: (),
    events.STATE_CHANGED: ('update',),
}
RESOURCE_KINDS: Mapping[str, tuple[str, ...]] = {
    events.STATE_CHANGED: (),
    events.SIGNALLED: (),
}
#: Where a stack within another one, and each resource, is before the first action.
_INIT = State(states.INIT, states.COMPLETE)


def _every(actions: Iterable[str]) -> tuple[State, ...]:
    """Return all states that there are with these actions."""
    pairs = itertools.product(actions, states.STATUSES)
    return _INIT, *(State(action, status) for action, status in pairs)


def _step(old: State | None, new: State) -> str:
    """Return what a change of state is: the step of an action.

    What was under way ends with it, whatever the state is then: after the unlock of
    a stack that may be the lock of one around it. What was never made is that again
    when the mark is taken back with which a user called it unhealthy.
    """
    if new == _INIT:
        return 'check.end'
    over = old is not None and old.busy and not new.busy
    action = old.action if old is not None and over else new.action
    return f'{action.lower()}.{_STEPS[new.status]}'


def _changes(every: tuple[State, ...]) -> dict[tuple[str | None, str], str]:
    """Return (state before, state after) -> what is told of the change."""
    found: dict[tuple[str | None, str], str] = {}
    for new in every:
        found[None, new.name] = _step(None, new)
        found |= {(old.name, new.name): _step(old, new) for old in every}
    return found


_STACK_STATES = _every(states.STACK_ACTIONS)
_RESOURCE_STATES = _every(_RESOURCE_ACTIONS)
#: What events may name as old and new status.
STACK_STATES = frozenset(state.name for state in _STACK_STATES)
RESOURCE_STATES = frozenset((*(state.name for state in _RESOURCE_STATES), *_SIGNALS))
#: (state before, None for nothing; state after) -> what is told besides
STACK_CHANGES = _changes(_STACK_STATES)
RESOURCE_CHANGES: Mapping[tuple[str | None, str], str] = {
    **_changes(_RESOURCE_STATES),
    **{
        (state.name, signal): name
        for state in _RESOURCE_STATES
        for signal, name in _SIGNALS.items()
    },
}
