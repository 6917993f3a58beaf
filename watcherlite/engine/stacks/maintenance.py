"""Which resources an operation on all of them is for, and what is done to each.

What a lock does to each state is in spec 004; what is left out there is decided by
what a user would expect: nothing that was never made is locked, only what was locked
is unlocked, and a lock that is tried again goes on where it failed.
"""

import dataclasses
from collections.abc import Mapping

from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.inputs import StackInputs
from watcherlite.states import stack as states

#: Resources with what is done to them, by name.
Work = dict[str, tuple[Resource, str]]


def in_force(stack: Stack, inputs: StackInputs) -> StackInputs:
    """Return what an operation comes to on a stack that may have two locks.

    Of its own and that of a stack around it the stronger one counts; when one of them
    is taken away, what is left is a lock at the level of the other.
    """
    if inputs.do == states.LOCK:
        return dataclasses.replace(inputs, level=stack.level)
    if inputs.do == states.UNLOCK:
        left = stack.lock_level if inputs.nested else stack.inherited_level
        if left is not None:
            return dataclasses.replace(inputs, do=states.LOCK, level=left)
    return inputs


def work(rows: Mapping[str, Resource], inputs: StackInputs) -> Work:
    """Return what is to be done to which of these resources."""
    chosen: Work = {}
    for name, row in rows.items():
        do = _for_one(row, inputs)
        if do is not None:
            chosen[name] = (row, do)
    return chosen


def _for_one(row: Resource, inputs: StackInputs) -> str | None:
    match inputs.do:
        case states.ADOPT:
            return states.ADOPT
        case states.CHECK:
            # A user's word about it stands until it is replaced, or taken back.
            return states.CHECK if row.under_mark is None and _made(row) else None
        case states.SUSPEND:
            rests = row.base.name == 'SUSPEND_COMPLETE'
            return states.SUSPEND if _made(row) and not rests else None
        case states.RESUME:
            rests = row.base.action in (states.SUSPEND, states.RESUME)
            return states.RESUME if _made(row) and rests else None
        case states.LOCK:
            return _locking(row, inputs.level or states.ALL)
        case states.UNLOCK:
            return states.UNLOCK if _in_lock(row) else None
    raise ValueError(f'{inputs.do} is not done to each resource')


def _locking(row: Resource, level: str) -> str | None:
    if not _made(row):
        return None
    if row.nested_id is not None:
        return states.LOCK
    if level == states.STACKS:
        # What is protected from before is free again under this level.
        return states.UNLOCK if _in_lock(row) else None
    return None if row.state.name == 'LOCK_COMPLETE' else states.LOCK


def _made(row: Resource) -> bool:
    return row.made and row.base.action not in (states.INIT, states.DELETE)


def _in_lock(row: Resource) -> bool:
    """Say whether something of a lock may be left on it."""
    return row.state.action in states.MAINTENANCE and (
        row.state.name != 'UNLOCK_COMPLETE'
    )
