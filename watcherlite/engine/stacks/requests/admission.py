"""Admission of operations on a stack: conflicts, locks, and what is superseded.

The functions that take a tree expect that the caller's transaction has locked all of
its stacks, so that the answer still holds when the operation starts.
"""

import dataclasses
from collections.abc import Iterable

from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.domain.actions import Action
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.action_inputs import RESOURCE, SIGNAL, STACK
from watcherlite.engine.stacks.tree import StackTree
from watcherlite.states import stack as states

#: The state of a group while it applies a signal.
_APPLYING_SIGNAL = states.State(states.UPDATE, states.IN_PROGRESS)


def check_allowed(tree: StackTree, operation: str) -> None:
    """Raise ActionInProgress, Conflict or NotSupported if it must not start."""
    stack = tree.stack
    if operation == states.UNLOCK and stack.lock_level is None:
        _check_own_lock(tree)
    refusal = states.blocking_reason(operation, stack.state, stack.base, stack.name)
    if refusal is not None:
        raise _error(refusal, stack)
    for other in tree.above:
        if other.state.busy and operation != states.MARK:
            raise exceptions.ActionInProgress(
                f'Stack {other.name}, which {stack.name} is part of, already has an '
                f'action ({other.action}) in progress.'
            )
    refusal = ancestor_lock(tree, operation)
    if refusal is not None:
        raise exceptions.Conflict(refusal.text)
    if stack.state.busy or operation == states.MARK:
        # The operation supersedes this one and those below it. `check_idle` admits
        # marks.
        return
    for other in tree.below:
        # An operation supersedes what a signal has started in a group, too.
        if other.state.busy and not states.supersedes(operation, other.state):
            raise exceptions.ActionInProgress(
                f'Stack {other.name}, which is part of {stack.name}, already has an '
                f'action ({other.action}) in progress.'
            )
    if operation not in (*states.MAINTENANCE, states.MARK, states.SIGNAL):
        _check_inner_locks(tree, operation)


def check_idle(tree: StackTree, row: Resource) -> None:
    """Raise ActionInProgress if an action on a resource is in progress (spec 002)."""
    inside = {row.nested_id} - {None}
    busy = [row.action] if row.status == states.IN_PROGRESS else []
    for other in tree.below:
        if other.id in inside or other.owner_id in inside:
            inside.add(other.id)
            busy += [other.action] if other.state.busy else []
    if busy:
        raise exceptions.ActionInProgress(
            f'Resource {row.name} of stack {tree.stack.name} already has an action '
            f'({busy[0]}) in progress.'
        )


def ancestor_lock(tree: StackTree, operation: str) -> states.Rejection | None:
    """Return the refusal due to the lock of an ancestor; None: no lock prevents it.

    A nested stack may be unlocked because its lock failed. It counts as locked as
    long as an ancestor is.
    """
    if operation in states.MAINTENANCE:
        # A nested stack may have a lock of its own in addition.
        return None
    for other in tree.above[::-1]:
        refusal = states.blocking_reason(operation, other.state, other.base, other.name)
        if refusal is not None and refusal.locked:
            return dataclasses.replace(
                refusal,
                text=f'Stack {tree.stack.name} is locked by the lock of stack '
                f'{other.name} ({other.state.name}), which it is part of: {operation} '
                f'needs an unlock of {other.name} first.',
            )
    return None


def running_signals(tx: Transaction, tree: StackTree, operation: str) -> list[Action]:
    """Return the signals in progress that an operation may supersede.

    A group that applies a signal in batches is idle while it pauses between two of
    them. An operation then ends the signal itself; otherwise it would wait for all
    remaining batches. The list is empty for an operation that waits for signals.
    """
    if not states.supersedes(operation, _APPLYING_SIGNAL):
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


def applied_signals(store: Store, signals: Iterable[Action]) -> list[str]:
    """Return the uuids of the signals that a group has stored and is applying.

    The others are not superseded: nothing else would do what they request.
    """
    return [signal.uuid for signal in signals if _is_applied(store, signal)]


def _is_applied(store: Store, signal: Action) -> bool:
    level = [signal]
    while level:
        if any(action.action_type == STACK for action in level):
            return True
        level = store.unfinished_derived([action.id for action in level])
    return False


def _check_own_lock(tree: StackTree) -> None:
    """Raise Conflict for a stack that is locked only by the lock of an ancestor."""
    if tree.stack.inherited_level is None or not tree.above:
        # A stack that its parent has left behind owns the lock that it inherited.
        return
    locked = [stack for stack in tree.above if stack.lock_level is not None]
    name = locked[-1].name if locked else tree.root.name
    raise exceptions.Conflict(
        f'Stack {tree.stack.name} is locked by the lock of stack {name}, which it is '
        f'part of: unlock {name}.'
    )


def _check_inner_locks(tree: StackTree, operation: str) -> None:
    """Raise Conflict if a descendant has a lock of its own."""
    for other in tree.below:
        if other.lock_level is not None:
            raise exceptions.Conflict(
                f'Stack {other.name}, which is part of {tree.stack.name}, is locked '
                f'({other.state.name}): {operation} needs an unlock of it first.'
            )


def _error(refusal: states.Rejection, stack: Stack) -> exceptions.WatcherliteError:
    if not refusal.supported:
        return exceptions.NotSupported(refusal.text)
    if stack.state.busy:
        return exceptions.ActionInProgress(refusal.text)
    return exceptions.Conflict(refusal.text)
