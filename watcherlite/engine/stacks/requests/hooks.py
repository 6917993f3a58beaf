"""The clearing of hooks by signals."""

import datetime

from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.db.api import Store, Transaction
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.projection import hook_transitions
from watcherlite.engine.stacks.queries import find_resource
from watcherlite.execution.signals import end_unstarted
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

#: The key of a signal that clears a hook.
UNSET = 'unset_hook'


def clear(
    store: Store,
    tx: Transaction,
    stack: Stack,
    resource: str,
    hook: object,
    now: datetime.datetime,
) -> None:
    """Clear the hook at which a resource waits: end the action that waits.

    :param stack: locked, with all stacks of its tree
    :param resource: a name, a physical id, or a value of get_resource
    :raises InvalidBreakPointHook: the resource does not wait at this hook
    """
    # A deleted resource waits at a hook after its deletion.
    waiting = tx.waiting_resources([stack.id])
    names = {row.name for row in waiting}
    others = tx.resources_of([stack.id], superseded=False)
    rows = [*waiting, *(row for row in others if row.name not in names)]
    row = find_resource(rows, stack, resource)
    what = f'{row.type} "{row.name}" Stack "{stack.name}" [{stack.uuid}]'
    if not isinstance(hook, str) or hook not in states.HOOKED_ACTIONS:
        raise exceptions.InvalidBreakPointHook(
            f'Invalid hook type "{str(hook)[:60]}" for {what}; there are '
            f'{", ".join(states.HOOKED_ACTIONS)}.'
        )
    action = None
    if row.hook == hook and row.hook_action is not None:
        found = store.get_action(row.hook_action)
        action = tx.lock_actions([found.id]).get(found.id)
    if action is None or action.finished:
        raise exceptions.InvalidBreakPointHook(
            f'The "{hook}" hook is not defined on {what}: it does not wait there.'
        )
    cleared, written = hook_transitions.clear(row, hook, now)
    tx.save_resources([cleared])
    status, reason = action_states.SUCCEEDED, hook_transitions.CLEARED.format(hook)
    end_unstarted(tx, PlanProgress(), None, [action], status, reason, now)
    tx.add_events(written)
