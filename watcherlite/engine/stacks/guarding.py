"""Whether an operation may begin on a stack, in the tree that it is part of.

The functions look at stacks that the caller's transaction has locked, all of the
tree, so that what they find still holds when the operation begins.
"""

import dataclasses
from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.domain.stacks import Stack
from watcherlite.states import stack as states


@dataclasses.dataclass(frozen=True, slots=True)
class Tree:
    """A stack with those around it and those in it."""

    stack: Stack
    above: tuple[Stack, ...]
    below: tuple[Stack, ...]

    @classmethod
    def of(cls, stack_id: int, stacks: Sequence[Stack]) -> 'Tree':
        """Return the tree as one of its stacks sees it; raises StackNotFound."""
        by_id = {stack.id: stack for stack in stacks}
        stack = by_id.get(stack_id)
        if stack is None:
            raise exceptions.StackNotFound(
                f'The Stack ({stack_id}) could not be found.'
            )
        above = []
        owner = by_id.get(stack.owner_id)
        while owner is not None:
            above.append(owner)
            owner = by_id.get(owner.owner_id)
        inside = {stack.id}
        below = []
        # Ids ascend from the outside in.
        for other in sorted(stacks, key=lambda s: s.id or 0):
            if other.owner_id in inside:
                inside.add(other.id)
                below.append(other)
        return cls(stack, tuple(above), tuple(below))

    @property
    def root(self) -> Stack:
        """Return the outermost stack."""
        return self.above[-1] if self.above else self.stack

    @property
    def target(self) -> str:
        """Return what all that changes one of these stacks has locked."""
        return target(self.root)

    @property
    def running(self) -> list[str]:
        """Return the uuids of the operations that run, without those derived."""
        stacks = (self.stack,) if self.stack.state.busy else self.below
        return [s.operation for s in stacks if s.state.busy and s.operation]


def target(root: Stack) -> str:
    """Return the target of all that changes the stacks of one tree."""
    return f'stack:{root.uuid}'


def check(tree: Tree, operation: str) -> None:
    """Raise ActionInProgress, Conflict or NotSupported if it may not begin."""
    stack = tree.stack
    if operation == states.UNLOCK and stack.lock_level is None:
        _refuse_inherited(tree)
    refusal = states.refusal(operation, stack.state, stack.base, stack.name)
    if refusal is not None:
        raise _error(refusal, stack)
    for other in tree.above:
        if other.state.busy:
            raise exceptions.ActionInProgress(
                f'Stack {other.name}, which {stack.name} is part of, already has an '
                f'action ({other.action}) in progress.'
            )
    refusal = lock_around(tree, operation)
    if refusal is not None:
        raise exceptions.Conflict(refusal.text)
    if stack.state.busy:
        # It is superseded, and those in it with it.
        return
    for other in tree.below:
        # What a signal has begun in a group is superseded like what a user has.
        if other.state.busy and not states.supersedes(operation, other.state):
            raise exceptions.ActionInProgress(
                f'Stack {other.name}, which is part of {stack.name}, already has an '
                f'action ({other.action}) in progress.'
            )
    if operation not in (*states.MAINTENANCE, states.MARK, states.SIGNAL):
        _check_locks_inside(tree, operation)


def lock_around(tree: Tree, operation: str) -> states.Refusal | None:
    """Return why a lock of a stack around it keeps an operation off; None: none does.

    What is in a stack may be free of a lock that failed for something else: the stack
    around it counts as locked all the same, and so does all that is in it.
    """
    if operation in states.MAINTENANCE:
        # It may have a lock of its own besides.
        return None
    for other in tree.above[::-1]:
        found = states.refusal(operation, other.state, other.base, other.name)
        if found is not None and found.locked:
            return dataclasses.replace(
                found,
                text=f'Stack {tree.stack.name} is locked by the lock of stack '
                f'{other.name} ({other.state.name}), which it is part of: {operation} '
                f'needs an unlock of {other.name} first.',
            )
    return None


def _refuse_inherited(tree: Tree) -> None:
    """Raise Conflict for a stack that only a lock around it has locked."""
    if tree.stack.inherited_level is None:
        return
    locked = [stack for stack in tree.above if stack.lock_level is not None]
    name = locked[-1].name if locked else tree.root.name
    raise exceptions.Conflict(
        f'Stack {tree.stack.name} is locked by the lock of stack {name}, which it is '
        f'part of: unlock {name}.'
    )


def _check_locks_inside(tree: Tree, operation: str) -> None:
    """Raise Conflict if a stack that would be touched is locked by itself."""
    for other in tree.below:
        if other.lock_level is not None:
            raise exceptions.Conflict(
                f'Stack {other.name}, which is part of {tree.stack.name}, is locked '
                f'({other.state.name}): {operation} needs an unlock of it first.'
            )


def _error(refusal: states.Refusal, stack: Stack) -> exceptions.WatcherliteError:
    if not refusal.supported:
        return exceptions.NotSupported(refusal.text)
    if stack.state.busy:
        return exceptions.ActionInProgress(refusal.text)
    return exceptions.Conflict(refusal.text)
