"""Hooks: an action that waits before or after an operation on a resource.

The environment of a stack sets hooks (`domain.templates.resource_rules`). The operation
on the stack derives an action for each of them, beside those of the resources: one on
which the action of the resource depends, or on which its dependents do. So a paused
resource holds no thread, survives its worker, and ends with the operation on the stack.
A user clears a hook by a signal, which ends its action, see `requests.hooks`.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.outcomes import (
    DerivedAction,
    Done,
    InProgress,
    Outcome,
    TimedOut,
)
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.engine.stacks.action_inputs import HOOK, UNCHANGED, HookInputs
from watcherlite.engine.stacks.actions.expansion import MAKE, REMOVE
from watcherlite.engine.stacks.services import StackServices
from watcherlite.execution.coroutines.steps import steps_of_core
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType
from watcherlite.states import stack as states

#: Seconds after which a worker forgets a hook that was cleared.
POLL_INTERVAL = 60.0
NOT_CLEARED = 'Timed out: the hook {} was not cleared.'

#: Prefixes of the keys of hook actions, by the stage of the actions that they pause.
PREFIXES: Mapping[str, tuple[str, ...]] = {
    stage: tuple(
        f'{hook}:' for operation in operations for hook in states.HOOKS[operation]
    )
    for stage, operations in (
        (MAKE, (states.CREATE, states.UPDATE)),
        (REMOVE, (states.DELETE,)),
    )
}
#: The hook before an operation on a resource, and the one after it, or None.
Pair = tuple[str | None, str | None]


def hooks_of(
    stack: Stack, blueprint: Blueprint, row: Resource, stage: str
) -> Pair | None:
    """Return the hooks of the action on a resource in a stage; None: it has none.

    As in Heat, those of creation apply to the creation of the stack, those of deletion
    to its deletion, and those of updates to the resources that an update finds.

    :param stage: MAKE or REMOVE
    """
    operation = stack.action
    if operation not in states.HOOKS or (
        (stage == REMOVE) != (operation == states.DELETE)
    ):
        return None
    if operation != states.CREATE and row.base.action == states.INIT:
        return None
    definition = blueprint.resources.get(row.name)
    external = definition is not None and definition.external_id is not None
    if row.superseded_by is not None or external:
        return None
    desired = blueprint.rules.hooks(row.name)
    before, after = states.HOOKS[operation]
    pair = before if before in desired else None, after if after in desired else None
    return pair if any(pair) else None


def insert(
    actions: Sequence[DerivedAction], hooks: Mapping[str, Pair], stack: Stack
) -> list[DerivedAction]:
    """Return derived actions together with the hook actions around them.

    :param hooks: by the key of an action on a resource
    """
    ends = {key: _key(key, after) for key, (_, after) in hooks.items() if after}
    found: list[DerivedAction] = []
    for action in actions:
        parents = tuple(ends.get(parent, parent) for parent in action.parents)
        action = dataclasses.replace(action, parents=parents)
        before, after = hooks.get(action.key, (None, None))
        if before is not None:
            hook = _hook_action(action, before, parents, stack)
            found.append(hook)
            action = dataclasses.replace(action, parents=(hook.key,))
        found.append(action)
        if after is not None:
            found.append(_hook_action(action, after, (action.key,), stack))
    return found


def _hook_action(
    action: DerivedAction, hook: str, parents: tuple[str, ...], stack: Stack
) -> DerivedAction:
    resource = action.inputs['resource']
    inputs = HookInputs(stack.id, resource, hook, stack.deadline)
    return dataclasses.replace(
        action,
        key=_key(action.key, hook),
        action_type=HOOK,
        inputs=inputs.as_inputs(),
        parents=parents,
    )


def _key(key: str, hook: str) -> str:
    """Return the key of the hook of an action."""
    return f'{hook}:{key.partition(":")[2]}'


class HookAction(ActionType):
    """Waits until a hook is cleared."""

    description = 'Waits until a hook of a resource is cleared.'
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'stack': {'type': 'integer'},
            'resource': {'type': 'integer'},
            'hook': {'type': 'string'},
        },
        'required': ['stack', 'resource', 'hook'],
    }

    def __init__(self, services: StackServices) -> None:
        super().__init__()
        self._store = services.store

    @steps_of_core
    async def execute(self, context: ActionContext) -> Outcome:
        """Wait, unless there was no update to wait after."""
        inputs = HookInputs.of(context.inputs)
        after_update = inputs.hook == states.HOOKS[states.UPDATE][1]
        if after_update and not _retry(context, lambda: self._is_updated(context)):
            return Done({})
        return _wait(context, inputs)

    @steps_of_core
    async def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Continue to wait; the request that clears the hook ends the action."""
        if _retry(context, lambda: self._store.get_action(context.uuid).finished):
            return Done({})
        return _wait(context, HookInputs.of(context.inputs))

    def _is_updated(self, context: ActionContext) -> bool:
        """Return whether the update has changed the resource in place."""
        inputs = HookInputs.of(context.inputs)
        (parent,) = self._store.get_action(context.uuid).parents
        outputs = self._store.get_action(parent).outputs or {}
        rows = self._store.list_resources([inputs.stack], names=[context.name or ''])
        return UNCHANGED not in outputs and inputs.resource in {row.id for row in rows}


def _retry(context: ActionContext, call: Callable[[], bool]) -> bool:
    return retry_while_unavailable(context, f'The hook {context.uuid}', call)


def _wait(context: ActionContext, inputs: HookInputs) -> Outcome:
    delay = POLL_INTERVAL
    if inputs.deadline is not None:
        left = (inputs.deadline - context.now()).total_seconds()
        if left <= 0:
            return TimedOut(NOT_CLEARED.format(inputs.hook))
        delay = min(delay, left)
    return InProgress({'hook': inputs.hook}, delay)
