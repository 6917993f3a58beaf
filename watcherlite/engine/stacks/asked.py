"""The beginning of an operation that another action asks for, and not a request.

It begins when the action is taken, under the lock on the tree of stacks: what was
asked before has ended then. So nothing is in progress for which there is no action,
whatever becomes of the plan that the other action belongs to.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.outcomes import Done, Failed, Outcome
from watcherlite.domain.stacks import Definition, NewStack, Stack
from watcherlite.domain.templates import document
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks import asking, beginning, facts, guarding, merging
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.engine.stacks.inputs import StackInputs
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.progress import REASON
from watcherlite.plugins.base import ActionContext
from watcherlite.states import stack as states

GONE = 'The stack has been deleted.'
#: What an update is asked for with, of the fields of NewStack.
FIELDS = (
    *('template', 'environment', 'files', 'parameters', 'clear_parameters', 'tags'),
    *('timeout_mins', 'disable_rollback'),
)
#: Like `parameters`, and shown nowhere.
PRIVATE = 'private_parameters'


@dataclasses.dataclass(frozen=True, slots=True)
class _Update:
    """What an update comes to, checked.

    :param before: the id of the definition that it goes over
    """

    before: int
    definition: Definition
    changes: Mapping[str, Any]


def begin(parts: Parts, context: ActionContext) -> Outcome | None:
    """Begin the operation of an action, once; None: it has begun."""
    inputs = StackInputs.of(context.inputs)
    what = f'The operation {context.uuid} on a stack'
    while True:
        try:
            return patiently(context, what, lambda: _begin(parts, context, inputs))
        except exceptions.OutOfDate:
            # Another update came between: this one goes over that.
            context.checkpoint()
        except exceptions.WatcherliteError as error:
            return Failed(str(error), outputs={REASON: str(error)})


def _begin(parts: Parts, context: ActionContext, inputs: StackInputs) -> Outcome | None:
    stack = parts.store.stacks_by_id([inputs.stack]).get(inputs.stack)
    if stack is None or stack.deleted_at is not None:
        return Failed(GONE, outputs={REASON: GONE})
    if stack.operation == context.uuid:
        # The worker was lost that had begun it.
        return None
    update = _update(parts, stack, inputs) if inputs.do == states.UPDATE else None
    with parts.store.transaction() as tx:
        return _written(tx, stack, context, inputs, update)


def _written(
    tx: Transaction,
    stack: Stack,
    context: ActionContext,
    inputs: StackInputs,
    update: _Update | None,
) -> Outcome | None:
    tree = Tree.of(stack.id or 0, tx.lock_tree(stack.root_id or 0))
    before, now = tree.stack, context.now()
    guarding.check(tree, inputs.do)
    if before.state.busy:
        # It would be superseded, by something that was asked for before it.
        raise exceptions.ActionInProgress(
            f'Stack {before.name} already has an action ({before.action}) in progress.'
        )
    if is_done(before, inputs.do, inputs.level):
        return Done({})
    changed = before
    if update is not None:
        if before.definition_id != update.before:
            raise exceptions.OutOfDate
        known = tx.insert_definition(update.definition)
        inputs = dataclasses.replace(inputs, definition=known.id)
        changed = before.evolve(**update.changes)
    after = beginning.begun(changed, inputs, context.uuid, now)
    tx.save_stacks([after])
    tx.add_events([facts.stack_event(before, after, now)])
    return None


def is_done(stack: Stack, do: str, level: str | None) -> bool:
    """Say whether a lock is there already."""
    same = stack.lock_level == (level or states.ALL)
    return do == states.LOCK and same and stack.state.name == 'LOCK_COMPLETE'


def _update(parts: Parts, stack: Stack, inputs: StackInputs) -> _Update:
    """Return what an update comes to; raises Invalid."""
    new = new_stack(stack.name, inputs.asked or {}, parts.limits.template)
    before = parts.store.get_definition(stack.definition_id)
    definition = merging.updated(before, new)
    asking.check_update(parts, stack, before, definition)
    return _Update(
        stack.definition_id, definition, asking.changes(stack, new, definition)
    )


def new_stack(name: str, asked: Mapping[str, Any], limit: int) -> NewStack:
    """Return what an update is asked for with; what is not given stays as it is.

    :param asked: of FIELDS, and PRIVATE
    :param limit: bytes of a template that is a text
    :raises TemplateInvalid: such a text is none
    """
    given = {key: value for key, value in asked.items() if key in FIELDS}
    template = given.pop('template', None)
    if isinstance(template, str):
        template = document.parse(template, 'template', limit)
    for key in ('tags', 'clear_parameters'):
        if key in given:
            given[key] = tuple(given[key])
    given['parameters'] = {**given.get('parameters', {}), **asked.get(PRIVATE, {})}
    return NewStack(name, template, existing=True, **given)
