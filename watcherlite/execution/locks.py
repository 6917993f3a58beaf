"""Locks on targets: taken with the claim, released with the final state.

There is no step in between in which a lock could be forgotten. Who asked for an
action decides who locks (spec 001): one with the cause `RPC Request` takes the
lock on its target, derived ones run under the lock of the one they come from.

What a target is a part of is locked with it, but shared: actions on different parts
run side by side, and none of them beside an action on the whole.
"""

import datetime
import itertools
from collections.abc import Sequence

from watcherlite.db.api import Released, Store, Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states


def needs_lock(action: Action) -> bool:
    """Return whether this action has to hold the lock on its target."""
    return action.target is not None and action.cause == states.RPC_REQUEST


def shared_lock(action: Action) -> str | None:
    """Return the lock that this action shares with others, or None."""
    within = action.within
    return within if within != action.target and needs_lock(action) else None


def acquire(
    tx: Transaction, claimed: Sequence[Action], now: datetime.datetime
) -> tuple[list[Action], list[Action]]:
    """Take the locks of claimed actions.

    Those for which one is taken go to WAITING without an owner; its release wakes
    the first of them. What such a one shares already it keeps: all take the whole
    before the part, so that no two can wait for each other.

    :returns: the actions that may go on, and those that now wait
    """
    wanting = [action for action in claimed if needs_lock(action)]
    wholes = {name for action in wanting if (name := shared_lock(action)) is not None}
    waits: dict[int, str] = {}
    queues: dict[str, list[Action]] = {name: [] for name in sorted(wholes)}
    for action in wanting if wholes else ():
        for name in {shared_lock(action), action.target} & wholes:
            queues[str(name)].append(action)
    waits.update(_take_in_turn(tx, queues))
    queues = {}
    for action in wanting:
        if action.id not in waits and action.target not in wholes:
            queues.setdefault(str(action.target), []).append(action)
    waits.update(_take_in_turn(tx, queues))
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
        for action in wanting
        if action.id in waits
    ]
    if changes:
        tx.change_actions(changes)
    admitted = [action for action in claimed if action.id not in waits]
    return admitted, [change.after for change in changes]


def _take_in_turn(tx: Transaction, queues: dict[str, list[Action]]) -> dict[int, str]:
    """Take locks for those who want them, the first of each first.

    :param queues: lock -> who wants it; used up
    :returns: which lock those have to wait for who did not get one, by id
    """
    waits: dict[int, str] = {}
    for queue in queues.values():
        # Who was taken before may hold the lock already, and then no other can
        # have it: it must not come to wait for itself.
        queue.sort(key=lambda action: action.attempt == 1)
    while queues:
        tried = {name: _first(name, queue) for name, queue in queues.items()}
        alone: dict[str, int] = {}
        together: dict[str, list[int]] = {}
        for name, first in tried.items():
            if shared_lock(first[0]) == name:
                together[name] = [action.id for action in first]
            else:
                alone[name] = first[0].id
        free = tx.take_locks(alone) if alone else set()
        sharing = tx.share_locks(together) if together else set()
        for name, first in tried.items():
            rest = queues.pop(name)[len(first) :]
            failed = [a for a in first if name not in free and a.id not in sharing]
            if name in free or (failed and rest and rest[0].attempt == 1):
                # Those who never had it do not get it after one who did not.
                failed, rest = [*failed, *rest], []
            waits.update((action.id, name) for action in failed)
            if rest:
                queues[name] = rest
    return waits


def _first(name: str, queue: Sequence[Action]) -> list[Action]:
    """Return who is first in a queue, with all after it who share the lock with it."""
    sharing = itertools.takewhile(lambda action: shared_lock(action) == name, queue)
    return list(sharing) or [queue[0]]


def release(tx: Transaction, ended: Sequence[Action]) -> list[Action]:
    """Drop the locks of actions that have ended; return who may go on now.

    One that was woken for a lock, and ended before it could take it, lets the
    next one go on as well.
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
    """Return the uuids of the plans that some actions, a few, belong to."""
    ids = {action.plan_id for action in actions if action.plan_id is not None}
    found = store.surroundings_of_plans(sorted(ids))
    return tuple(found[key].plan.uuid for key in sorted(found))
