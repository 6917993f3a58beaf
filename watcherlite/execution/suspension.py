"""Suspending what waits for derived actions, and these with it.

Such an action has no worker: it is SUSPENDED as a row. What it derived and has not
started waits for it as others wait for a lock: `blocked_on` is its uuid, and the sweep
of locks that nobody holds lets go what was forgotten, once it is suspended no more.
"""

import datetime
from collections.abc import Mapping, Sequence

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import COMPLETE, Action, ActionChange
from watcherlite.execution import locking, overdue
from watcherlite.states import action as states


def waits(action: Action) -> bool:
    """Say whether an action waits for what it derived."""
    return action.phase == COMPLETE and action.status == states.WAITING


def rests(action: Action) -> bool:
    """Say whether an action is suspended while it waits for what it derived."""
    paused = action.status == states.SUSPENDED and action.owner is None
    return paused and action.phase == COMPLETE


def depends(action: Action) -> bool:
    """Say whether an action waits for what it derived, suspended or not."""
    return waits(action) or rests(action)


def turn(
    tx: Transaction, told: Sequence[Action], signal: str, now: datetime.datetime
) -> list[ActionChange]:
    """Let actions heed a signal for which there is no worker; return what changed.

    :param told: as they are now, locked; others among them have a worker
    """
    changes = []
    for action in told:
        if signal == states.SUSPEND and waits(action):
            status = states.SUSPENDED
        elif signal != states.SUSPEND and rests(action):
            status = states.WAITING if action.pending else states.READY
        else:
            continue
        after = overdue.turned(action, status, now).evolve(updated_at=now)
        changes.append(ActionChange(action, after))
    tx.change_actions(changes)
    return changes


def hold_or_let_go(
    tx: Transaction,
    unstarted: Sequence[Action],
    parents: Mapping[int | None, str],
    signal: str,
    now: datetime.datetime,
) -> tuple[list[ActionChange], list[Action]]:
    """Keep derived actions from starting at SUSPEND, and let them go at RESUME.

    :param unstarted: as they are now, locked
    :param parents: id -> uuid of what derived them
    :returns: what changed, and what may have its target now
    """
    changes = []
    for action in unstarted:
        holder = parents[action.derived_from]
        if signal == states.SUSPEND:
            # Who has taken it and not started it finds that it is not its any more.
            after = action.evolve(owner=None, blocked_on=holder, updated_at=now)
        elif action.blocked_on == holder:
            ready = action.status == states.WAITING and not action.pending
            status = states.READY if ready else action.status
            after = action.evolve(status=status, blocked_on=None, updated_at=now)
        else:
            continue
        changes.append(ActionChange(action, after))
    if len(tx.change_actions(changes)) < len(changes):
        raise exceptions.Conflict(
            f'Action {unstarted[0].uuid} was changed at the same time; look again'
        )
    if signal != states.SUSPEND:
        return changes, []
    # What waited for a lock, or was about to take it, is not in the way of others.
    return changes, locking.release(tx, [change.after for change in changes])
