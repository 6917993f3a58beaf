"""Locks on targets, acquired with the claim and released with the final state.

Both happen in the transaction that changes the state, so no lock is left behind. The
cause of an action decides whether it needs one (spec 001): an action with the cause
`RPC Request` takes the lock on its target; derived actions run under the lock of the
action that derived them.

The whole that contains a target is locked as well, shared: actions on different parts
run in parallel, but not in parallel with an action on the whole.
"""

import datetime
import itertools
from collections.abc import Sequence

from watcherlite.db.api import Released, Store, Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states


def needs_lock(action: Action) -> bool:
    """Return whether an action takes the lock on its target."""
    return action.target is not None and action.cause == states.RPC_REQUEST


def shared_lock(action: Action) -> str | None:
    """Return the lock that an action shares with others, or None."""
    within = action.within
    return within if within != action.target and needs_lock(action) else None


def acquire(
    tx: Transaction, claimed: Sequence[Action], now: datetime.datetime
) -> tuple[list[Action], list[Action]]:
    """Acquire the locks of claimed actions.

    An action whose lock is held by another becomes WAITING without an owner; the
    release of the lock wakes the first of them. It keeps a lock that it shares already:
    all actions lock the whole before the part, which prevents deadlocks.

    :returns: the actions that have their locks, and those that wait
    """
    waits = _acquire(tx, [action for action in claimed if needs_lock(action)])
    changes = [
        ActionChange(
            action,
            action.evolve(
                status=states.WAITING,
                owner=None,
                blocked_on=waits[action.id],
                updated_at=now,
            ),
        )
        for action in claimed
        if action.id in waits
    ]
    if changes:
        tx.change_actions(changes)
    admitted = [action for action in claimed if action.id not in waits]
    return admitted, [change.after for change in changes]


def _acquire(tx: Transaction, actions: Sequence[Action]) -> dict[int, str]:
    """Acquire locks, those of the wholes first.

    :returns: id of an action that must wait -> the lock that it waits for
    """
    wholes = {name for action in actions if (name := shared_lock(action)) is not None}
    queues: dict[str, list[Action]] = {name: [] for name in sorted(wholes)}
    for action in actions if wholes else ():
        for name in {shared_lock(action), action.target} & wholes:
            queues[str(name)].append(action)
    waits = _acquire_round_robin(tx, queues)
    queues = {}
    for action in actions:
        if action.id not in waits and action.target not in wholes:
            queues.setdefault(str(action.target), []).append(action)
    return waits | _acquire_round_robin(tx, queues)


def _acquire_round_robin(
    tx: Transaction, queues: dict[str, list[Action]]
) -> dict[int, str]:
    """Acquire locks for the first action of each queue, then the next.

    :param queues: lock -> actions that need it; emptied
    :returns: id of an action that must wait -> the lock that it waits for
    """
    waits: dict[int, str] = {}
    for queue in queues.values():
        # An action that was claimed before may hold the lock already. It comes first,
        # or it would wait for itself.
        queue.sort(key=lambda action: action.attempt == 1)
    while queues:
        tried = {name: _next_holders(name, queue) for name, queue in queues.items()}
        alone: dict[str, int] = {}
        together: dict[str, list[int]] = {}
        for name, first in tried.items():
            if shared_lock(first[0]) == name:
                together[name] = [action.id for action in first]
            else:
                alone[name] = first[0].id
        free = tx.acquire_locks(alone) if alone else set()
        sharing = tx.share_locks(together) if together else set()
        for name, first in tried.items():
            rest = queues.pop(name)[len(first) :]
            failed = [a for a in first if name not in free and a.id not in sharing]
            if name in free or (failed and rest and rest[0].attempt == 1):
                # Actions that are new do not overtake one that failed.
                failed, rest = [*failed, *rest], []
            waits.update((action.id, name) for action in failed)
            if rest:
                queues[name] = rest
    return waits


def _next_holders(name: str, queue: Sequence[Action]) -> list[Action]:
    """Return the first action of a queue, with those after it that share the lock."""
    sharing = itertools.takewhile(lambda action: shared_lock(action) == name, queue)
    return list(sharing) or [queue[0]]


def release(tx: Transaction, ended: Sequence[Action]) -> list[Action]:
    """Release the locks of ended actions; return the actions that can run now.

    An action that was woken for a lock, and ended before it acquired it, wakes the
    next one.
    """
    holders = [action for action in ended if needs_lock(action)]
    if not holders:
        return []
    return tx.release_locks(
        [action.id for action in holders],
        {str(action.target) for action in holders},
        {name for action in holders if (name := shared_lock(action)) is not None},
    )


def plan_uuids(store: Store, actions: Sequence[Action | Released]) -> tuple[str, ...]:
    """Return the uuids of the plans of a few actions."""
    ids = {action.plan_id for action in actions if action.plan_id is not None}
    found = store.relations_of_plans(sorted(ids))
    return tuple(found[key].plan.uuid for key in sorted(found))
