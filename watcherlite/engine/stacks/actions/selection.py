"""The selection of the resources that an operation on a stack applies to.

Spec 004 defines the effect of a lock in each state. Beyond it, a resource that does not
exist is not locked, only a locked one is unlocked, and a repeated lock continues with
the resources that are not locked yet.
"""

import dataclasses
from collections.abc import Mapping

from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.action_inputs import StackInputs
from watcherlite.states import stack as states

#: Resources with the operation on each, by name.
Selection = dict[str, tuple[Resource, str]]


def effective_inputs(stack: Stack, inputs: StackInputs) -> StackInputs:
    """Return the inputs in effect on a stack that may have two locks.

    Of its own lock and the inherited one the stronger is in effect. Unlocking one of
    them leaves a lock at the level of the other.
    """
    if inputs.do == states.LOCK:
        return dataclasses.replace(inputs, level=stack.level)
    if inputs.do == states.UNLOCK:
        left = stack.lock_level if inputs.nested else stack.inherited_level
        if left is not None:
            return dataclasses.replace(inputs, do=states.LOCK, level=left)
    return inputs


def select(rows: Mapping[str, Resource], inputs: StackInputs) -> Selection:
    """Return the resources that an operation applies to."""
    selection: Selection = {}
    for name, row in rows.items():
        operation = _operation_for(row, inputs)
        if operation is not None:
            selection[name] = (row, operation)
    return selection


def _operation_for(row: Resource, inputs: StackInputs) -> str | None:
    match inputs.do:
        case states.ADOPT:
            return states.ADOPT
        case states.CHECK:
            return (
                states.CHECK if _exists(row) and unhealthy_reason(row) is None else None
            )
        case states.SUSPEND:
            return states.SUSPEND if _exists(row) and _can_suspend(row) else None
        case states.RESUME:
            return states.RESUME if _exists(row) and _can_resume(row) else None
        case states.LOCK:
            return _lock_operation(row, inputs.level or states.ALL)
        case states.UNLOCK:
            return states.UNLOCK if _may_be_locked(row) else None
    raise ValueError(f'{inputs.do} does not apply to all resources')


def unhealthy_reason(row: Resource) -> str | None:
    """Return why a check must not heal a resource; None: it may be checked.

    A mark stays until the resource is replaced or the mark is cleared. A resource that
    does not exist, or that an operation has left FAILED, stays so until an update. The
    health of a stack is that of its members.
    """
    if row.under_mark is not None:
        return f'marked unhealthy: {row.base.reason}'
    if row.base.action == states.INIT or not row.exists:
        return f'it was never created ({row.base.name})'
    if row.base.action == states.DELETE:
        return f'{row.base.name}: {row.base.reason}'
    if row.base.failed and row.base.action != states.CHECK and row.nested_id is None:
        return f'{row.base.name}: {row.base.reason}'
    return None


def _can_suspend(row: Resource) -> bool:
    known = row.under_mark or row.base
    broken = known.failed and known.action not in states.RESTING
    return known.name != 'SUSPEND_COMPLETE' and (
        not broken or row.nested_id is not None
    )


def _can_resume(row: Resource) -> bool:
    known = row.under_mark or row.base
    rests = known.action in states.RESTING
    return rests or (known.failed and row.nested_id is not None)


def _lock_operation(row: Resource, level: str) -> str | None:
    if not _exists(row):
        return None
    if row.nested_id is not None:
        return states.LOCK
    if level == states.STACKS:
        # Resources that are protected are unlocked at this level.
        return states.UNLOCK if _may_be_locked(row) else None
    return None if row.state.name == 'LOCK_COMPLETE' else states.LOCK


def _exists(row: Resource) -> bool:
    return row.exists and row.base.action not in (states.INIT, states.DELETE)


def _may_be_locked(row: Resource) -> bool:
    """Return whether a lock of a resource may be left."""
    return row.state.action in states.MAINTENANCE and (
        row.state.name != 'UNLOCK_COMPLETE'
    )
