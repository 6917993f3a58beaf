"""The actions that run audits: insertion, rescheduling, cancellation.

The functions run in a transaction that holds the lock of the audit.
"""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.db.api import Transaction
from watcherlite.domain import events, schedules
from watcherlite.domain.actions import ENGINE, Action, ActionChange, NewAction
from watcherlite.domain.audits import CONTINUOUS, EVENT, Audit, NewAudit
from watcherlite.domain.events import Event, action_event, created_event
from watcherlite.execution import results
from watcherlite.states import action as action_states
from watcherlite.states import audit as states

#: The name of the action type; plan documents cannot use it.
AUDIT = 'audit'

AnyAudit = TypeVar('AnyAudit', NewAudit, Audit)


@dataclasses.dataclass(frozen=True, slots=True)
class NextRun:
    """The time of the next run of an audit.

    :param at: when the action is due; None: never
    :param shown: the next run for users; None also if the action only ends the audit
    """

    at: datetime.datetime | None
    shown: datetime.datetime | None


def first_run(audit: NewAudit, now: datetime.datetime) -> NextRun:
    """Return the first run of an audit that is new or was suspended."""
    if audit.audit_type != CONTINUOUS:
        return NextRun(now, None)
    begin = max(now, audit.start_time) if audit.start_time is not None else now
    return _limited(audit, schedules.parse(audit.interval or '').first(begin))


def following_run(
    audit: Audit, started: datetime.datetime, now: datetime.datetime
) -> NextRun:
    """Return the next run of a CONTINUOUS audit.

    :param started: start of the last run
    """
    schedule = schedules.parse(audit.interval or '')
    return _limited(audit, schedule.following(started, now))


def _limited(audit: NewAudit, due: datetime.datetime | None) -> NextRun:
    """Limit the next run to the end time; the run due then ends the audit."""
    end = audit.end_time
    if end is not None and (due is None or due >= end):
        return NextRun(end, None)
    return NextRun(due, due)


def needs_action(audit: NewAudit) -> bool:
    """Return whether an audit in this state has an action without a webhook."""
    if audit.state == states.ONGOING:
        return True
    return audit.state == states.PENDING and audit.audit_type != EVENT


def lock_action(tx: Transaction, audit: Audit) -> Action | None:
    """Lock and return the current or last action of an audit, if any."""
    if audit.action_id is None:
        return None
    return tx.lock_actions([audit.action_id]).get(audit.action_id)


def insert(
    tx: Transaction,
    audit: AnyAudit,
    now: datetime.datetime,
    context: Mapping[str, Any],
    run: NextRun | None = None,
) -> tuple[AnyAudit, Event]:
    """Insert the next action of an audit; return the audit with it, and the event.

    The caller stores the audit and its event, then this event.

    :param run: None: as for a new audit
    """
    run = run or first_run(audit, now)
    at = run.at
    if at is None:
        raise _no_further_run(audit)
    action = NewAction(
        uuid=events.new_uuid(),
        action_type=AUDIT,
        lane=ENGINE,
        name=audit.name,
        inputs={'audit': audit.uuid},
        context=context,
        interval=_seconds(audit),
        status=action_states.READY,
        not_before=at if at > now else EPOCH,
        created_at=now,
    )
    (action_id,) = tx.insert_actions([action], [])
    after = audit.evolve(action_id=action_id, next_run_time=run.shown)
    return after, created_event(action.stored(action_id), None, now)


def next_run(audit: Audit, action: Action, now: datetime.datetime) -> NextRun:
    """Return the scheduled run of the waiting action of a CONTINUOUS audit."""
    if action.end_time is None:
        return first_run(audit, now)
    return following_run(audit, action.start_time or action.end_time, now)


def has_stale_interval(audit: Audit, action: Action) -> bool:
    """Return whether an action repeats by an interval that has changed since."""
    return action.interval != _seconds(audit)


def reschedule(
    tx: Transaction, audit: Audit, action: Action, now: datetime.datetime
) -> Audit:
    """Apply a changed schedule to the waiting action of a CONTINUOUS audit.

    A run that is active or claimed applies it at its end.
    """
    run = next_run(audit, action, now)
    if run.at is None:
        raise _no_further_run(audit)
    if action.status == action_states.READY and action.owner is None:
        later = action.evolve(not_before=run.at, updated_at=now)
        tx.change_actions([ActionChange(action, later)])
    return audit.evolve(next_run_time=run.shown)


def _no_further_run(audit: NewAudit) -> exceptions.Invalid:
    return exceptions.Invalid(f'The interval {audit.interval!r} has no future time')


def stop(tx: Transaction, action: Action | None, now: datetime.datetime) -> bool:
    """Cancel an action, if any; return whether a running one was signalled."""
    if action is None or action.finished:
        return False
    if action.status in action_states.NOT_STARTED:
        over = results.conclude_unstarted(action, results.CANCELLED_UNSTARTED, now)
        if tx.change_actions([ActionChange(action, over)]):
            tx.add_events([action_event(action, over, None, now)])
        return False
    signalled = tx.set_control(action_states.CANCEL, now, action_ids=[action.id])
    detail = {'signal': action_states.CANCEL}
    tx.add_events(
        [action_event(a, a, None, now, detail, events.SIGNALLED) for a in signalled]
    )
    return bool(signalled)


def _seconds(audit: NewAudit) -> int:
    """Return the interval of the action; 0 for a cron schedule."""
    if audit.audit_type != CONTINUOUS:
        return 0
    return schedules.parse(audit.interval or '').seconds
