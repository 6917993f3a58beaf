"""What an operation on a stack takes the place of.

That is what changes the stack, or a stack in it, at that moment. A group that follows
a signal in steps is not being changed while it pauses between two of them: then what
is ended is the signal itself, or the operation would wait for all steps to come.
"""

from collections.abc import Iterable

from watcherlite.db.api import Store, Transaction
from watcherlite.domain.actions import Action
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.engine.stacks.inputs import RESOURCE, SIGNAL, STACK
from watcherlite.states import stack as states

#: What a group is in while it follows a signal.
_FOLLOWING = states.State(states.UPDATE, states.IN_PROGRESS)


def signals(tx: Transaction, tree: Tree, operation: str) -> list[Action]:
    """Return the signals that are under way in a stack, for `followed`.

    None for an operation that waits for what they come to.
    """
    if not states.supersedes(operation, _FOLLOWING):
        return []
    inside = {stack.id for stack in (tree.stack, *tree.below)}
    return [
        action
        for action in tx.unfinished_actions([tree.target])
        if action.action_type == RESOURCE
        and action.inputs['do'] == SIGNAL
        and action.inputs['stack'] in inside
        and action.start_time is not None
    ]


def followed(store: Store, signals: Iterable[Action]) -> list[str]:
    """Return the uuids of those that a group has stored, and is at.

    Of the others nobody would do later what they ask for.
    """
    return [signal.uuid for signal in signals if _is_stored(store, signal)]


def _is_stored(store: Store, signal: Action) -> bool:
    found = [signal]
    while found:
        if any(action.action_type == STACK for action in found):
            return True
        found = store.unfinished_derived([action.id or 0 for action in found])
    return False
