"""What a plan's action meets that is for a stack under a lock; pure."""

from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.states import stack as states


def lock_on(tree: Tree) -> str | None:
    """Return which lock a stack is under, in words; None: it is under none.

    One that is being unlocked is under none: what is asked for waits for the end.
    """
    stack = tree.stack
    for other in tree.above[::-1]:
        if _is_locked(other):
            return (
                f'Stack {stack.name} is locked by the lock of stack {other.name} '
                f'({_shown(other)}), which it is part of'
            )
    if _is_locked(stack):
        return f'Stack {stack.name} is locked ({_shown(stack)})'
    return None


def lock_inside(tree: Tree) -> str | None:
    """Return which lock there is in a stack that is under none; None: there is none."""
    for other in tree.below:
        if other.lock_level is not None and _is_locked(other):
            return (
                f'Stack {other.name}, which is part of {tree.stack.name}, is locked '
                f'({_shown(other)})'
            )
    return None


def _is_locked(stack: Stack) -> bool:
    return stack.state.name in states.LOCKED and (
        stack.state.name != 'UNLOCK_IN_PROGRESS'
    )


def _shown(stack: Stack) -> str:
    level = f', level {stack.level}' if stack.level is not None else ''
    return f'{stack.state.name}{level}'
