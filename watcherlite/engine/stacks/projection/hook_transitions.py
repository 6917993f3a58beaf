"""The hook at which a resource waits, while the action of the hook is executed."""

import datetime

from watcherlite.domain import events
from watcherlite.domain.actions import ActionChange
from watcherlite.domain.events import Event
from watcherlite.domain.stacks import Resource
from watcherlite.engine.stacks.action_inputs import HookInputs, failure_reason
from watcherlite.engine.stacks.projection.stack_events import resource_event
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

#: Clients find the resources that wait by these reasons of events.
PAUSED = '{} paused until Hook {} is cleared'
CLEARED = 'Hook {} is cleared'
ABANDONED = 'Hook {} was not cleared: {}'


def follow_hook(
    row: Resource, change: ActionChange, inputs: HookInputs, now: datetime.datetime
) -> tuple[Resource, list[Event]]:
    """Return a resource after a change of the action of its hook, with the events."""
    before, after = change.before, change.after
    if after.status == action_states.RUNNING:
        if after.token is None or row.hook_action == after.uuid:
            return row, []
        waiting = row.evolve(hook=inputs.hook, hook_action=after.uuid)
        reason = PAUSED.format(states.HOOKED_ACTIONS[inputs.hook], inputs.hook)
        return waiting, [
            hook_event(waiting, inputs.hook, events.HOOK_BEGUN, reason, now)
        ]
    if not after.finished or row.hook_action != before.uuid:
        return row, []
    if after.status == action_states.SUCCEEDED:
        return clear(row, inputs.hook, now)
    reason = ABANDONED.format(inputs.hook, failure_reason(after))
    free = row.evolve(hook=None, hook_action=None)
    return free, [hook_event(row, inputs.hook, events.HOOK_FAILED, reason, now)]


def clear(
    row: Resource, hook: str, now: datetime.datetime
) -> tuple[Resource, list[Event]]:
    """Return a resource whose hook is cleared, with the event."""
    free = row.evolve(hook=None, hook_action=None)
    return free, [hook_event(free, hook, events.HOOK_ENDED, CLEARED.format(hook), now)]


def hook_event(
    row: Resource, hook: str, step: str, reason: str, now: datetime.datetime
) -> Event:
    """Return the event of a hook; the state of the resource is the same.

    :param step: HOOK_BEGUN, HOOK_ENDED or HOOK_FAILED
    """
    return resource_event(
        row,
        row,
        now,
        kind=events.STEPPED,
        reason=reason,
        detail={'step': step, 'hook': hook},
    )
