"""Operations that another action starts, and not a request.

The operation starts when its action is claimed, with the lock on the tree of stacks;
earlier operations have ended by then. So no stack is IN_PROGRESS without an action,
whatever happens to the plan of the other action.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, Failed, Outcome
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.domain.templates import document
from watcherlite.engine.stacks.action_inputs import REASON, StackInputs
from watcherlite.engine.stacks.projection import stack_events, stack_transitions
from watcherlite.engine.stacks.requests import admission, validation
from watcherlite.engine.stacks.services import StackServices
from watcherlite.engine.stacks.tree import StackTree
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext
from watcherlite.states import stack as states

GONE = 'The stack has been deleted.'
#: The arguments of an update: fields of StackRequest.
UPDATE_FIELDS = (
    'template',
    'environment',
    'files',
    'parameters',
    'clear_parameters',
    'tags',
    'timeout_mins',
    'disable_rollback',
)
#: An argument like `parameters`, whose values are never shown.
PRIVATE_PARAMETERS = 'private_parameters'


def start(services: StackServices, context: ActionContext) -> Outcome | None:
    """Start the operation of an action, once; None: it has started."""
    inputs = StackInputs.of(context.inputs)
    what = f'The operation {context.uuid} on a stack'
    while True:
        try:
            return retry_while_unavailable(
                context, what, lambda: _start(services, context, inputs)
            )
        except exceptions.OutOfDate:
            # Another update came first: merge this one into its result.
            context.checkpoint()
        except exceptions.WatcherliteError as error:
            return Failed(str(error), outputs={REASON: str(error)})


def _start(
    services: StackServices, context: ActionContext, inputs: StackInputs
) -> Outcome | None:
    stack = services.store.stacks_by_id([inputs.stack]).get(inputs.stack)
    if stack is None or stack.deleted_at is not None:
        return Failed(GONE, outputs={REASON: GONE})
    if stack.operation == context.uuid:
        # A lost worker has started it.
        return None
    apply = None
    if inputs.do == states.UPDATE:
        new = build_update(stack.name, inputs.asked or {}, services.limits.template)
        apply = validation.prepare_update(services, stack, new)
    with services.store.transaction() as tx:
        tree = StackTree.lock(tx, stack)
        before, now = tree.stack, context.now()
        admission.check_allowed(tree, inputs.do)
        if before.state.busy:
            # An older request must not supersede a newer one.
            raise exceptions.ActionInProgress(
                f'Stack {before.name} already has an action ({before.action}) in '
                'progress.'
            )
        if is_locked_at(before, inputs.do, inputs.level):
            return Done({})
        changed = before
        if apply is not None:
            changed, definition_id = apply(tx, before)
            inputs = dataclasses.replace(inputs, definition=definition_id)
        after = stack_transitions.in_progress(changed, inputs, context.uuid, now)
        tx.save_stacks([after])
        tx.add_events([stack_events.stack_event(before, after, now)])
    return None


def is_locked_at(stack: Stack, do: str, level: str | None) -> bool:
    """Return whether the operation is a LOCK that the stack already has."""
    same = stack.lock_level == (level or states.ALL)
    return do == states.LOCK and same and stack.state.name == 'LOCK_COMPLETE'


def build_update(name: str, asked: Mapping[str, Any], limit: int) -> StackRequest:
    """Return the request of an update; what it omits stays unchanged.

    :param asked: the arguments: UPDATE_FIELDS and PRIVATE_PARAMETERS
    :param limit: the maximum size of a template that is a text, in bytes
    :raises TemplateInvalid: the text is not a template
    """
    given = {key: value for key, value in asked.items() if key in UPDATE_FIELDS}
    template = given.pop('template', None)
    if isinstance(template, str):
        template = document.parse(template, 'template', limit)
    for key in ('tags', 'clear_parameters'):
        if key in given:
            given[key] = tuple(given[key])
    given['parameters'] = {
        **given.get('parameters', {}),
        **asked.get(PRIVATE_PARAMETERS, {}),
    }
    return StackRequest(name, template, existing=True, **given)
