"""Locks on targets: taken with the claim, released with the final state.

There is no step in between in which a lock could be forgotten. Who asked for an
action decides who locks (spec 001): one with the cause `RPC Request` takes the
lock on its target, derived ones run under the lock of the one they come from.
"""

import datetime
from collections.abc import Sequence

from watcherlite.db.api import Released, Store, Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states


def locks(action: Action) -> bool:
    """Say whether this action has to hold the lock on its target."""
    return action.target is not None and action.cause == states.RPC_REQUEST


def admit(
    tx: Transaction, claimed: Sequence[Action], now: datetime.datetime
) -> tuple[list[Action], list[Action]]:
    """Take the locks of claimed actions.

    Those whose target is locked go to WAITING without an owner; the release of
    the lock wakes the first of them.

    :returns: the actions that may go on, and those that now wait
    """
    admitted: list[Action] = []
    waiting: list[Action] = []
    queues: dict[str, list[Action]] = {}
    for action in claimed:
        if locks(action):
            queues.setdefault(str(action.target), []).append(action)
        else:
            admitted.append(action)
    for queue in queues.values():
        # Who was taken before may hold the lock already, and then no other can
        # have it: it must not come to wait for itself.
        queue.sort(key=lambda action: action.attempt == 1)
    while queues:
        free = tx.take_locks({t: queue[0].id or 0 for t, queue in queues.items()})
        for target, queue in list(queues.items()):
            first = queue.pop(0)
            (admitted if target in free else waiting).append(first)
            if target in free or not queue or queue[0].attempt == 1:
                waiting += queue
                del queues[target]
    if waiting:
        blocked = [
            action.evolve(
                status=states.WAITING,
                owner=None,
                blocked_on=action.target,
                updated_at=now,
            )
            for action in waiting
        ]
        tx.change_actions(
            [
                ActionChange(before, after)
                for before, after in zip(waiting, blocked, strict=True)
            ]
        )
        waiting = blocked
    return admitted, waiting


def release(tx: Transaction, ended: Sequence[Action]) -> list[Action]:
    """Drop the locks of actions that have ended; return who may go on now.

    One that was woken for a target, and ended before it could lock it, lets the
    next one go on as well.
    """
    targets = {a.id: a.target for a in ended if a.id is not None and locks(a)}
    if not targets:
        return []
    return tx.release_locks(list(targets), {str(t) for t in targets.values()})


def plans_of(store: Store, actions: Sequence[Action | Released]) -> tuple[str, ...]:
    """Return the uuids of the plans that some actions, a few, belong to."""
    ids = {action.plan_id for action in actions if action.plan_id is not None}
    found = store.surroundings_of_plans(sorted(ids))
    return tuple(found[key].plan.uuid for key in sorted(found))
