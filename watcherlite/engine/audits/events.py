"""Events of audits."""

import dataclasses
import datetime

from watcherlite.domain import events
from watcherlite.domain.audits import Audit
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault


def audit_event(
    before: Audit | None,
    after: Audit,
    now: datetime.datetime,
    kind: str = events.STATE_CHANGED,
) -> Event:
    """Return the event of a change of an audit; `before` is None for a new one."""
    return Event(
        events.AUDIT,
        kind,
        None,
        None,
        before.state if before is not None else None,
        after.state,
        after.status_message,
        None,
        None,
        now,
        subject_id=after.id,
    )


#: Attributes of an audit that users change, as the columns of its row.
_CHANGEABLE = (
    *('name', 'audit_type', 'goal_id', 'strategy_id', 'parameters', 'scope'),
    *('interval', 'auto_trigger', 'start_time', 'end_time', 'force'),
)


def update_event(before: Audit, after: Audit, now: datetime.datetime) -> Event:
    """Return the event of an update by a user, with the changed attributes."""
    kind = events.STATE_CHANGED
    if before.state == after.state:
        kind = events.MESSAGE_CHANGED
    changes = {
        name: {'old': _to_json(old), 'new': _to_json(new)}
        for name in _CHANGEABLE
        if (old := getattr(before, name)) != (new := getattr(after, name))
    }
    event = audit_event(before, after, now, kind)
    return event.with_detail(events.CHANGES, changes) if changes else event


def _to_json(value: object) -> object:
    """Return the value of an attribute as JSON."""
    return value.isoformat() if isinstance(value, datetime.datetime) else value


def change_events(before: Audit, after: Audit, now: datetime.datetime) -> list[Event]:
    """Return the event of a change of state or message, if there is one.

    A new `next_run_time` alone is no event.
    """
    if before.state != after.state:
        return [audit_event(before, after, now)]
    if before.status_message != after.status_message:
        return [audit_event(before, after, now, events.MESSAGE_CHANGED)]
    return []


def step_event(
    audit: Audit, step: str, now: datetime.datetime, fault: Fault | None = None
) -> Event:
    """Return the event of a step of a run, one of `events.STRATEGY_START` etc."""
    detail: dict[str, object] = {'step': step}
    if fault is not None:
        detail['fault'] = dataclasses.asdict(fault)
    return dataclasses.replace(
        audit_event(audit, audit, now, events.STEPPED), detail=detail
    )
