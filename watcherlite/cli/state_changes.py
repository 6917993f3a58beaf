"""State changes of a plan and its actions, made from events."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states

_PLAN = 'action plan'


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A change of an action or of the plan.

    :param action_id: the id, or the uuid if only that is known; None: the plan
    :param name: the name of the action, or 'action plan'
    :param old: the previous state of the infra-optim API; None for a new action, or if
        the state has not changed
    :param text: the status message, or the requested signal
    """

    when: datetime.datetime
    action_id: int | str | None
    name: str
    action_type: str | None
    old: str | None
    new: str
    text: str


def change_of(stored: StoredEvent) -> Change | None:
    """Return the change of an event; None if it is not visible to users."""
    event = stored.event
    old, new = _words(event)
    visible = _visible_change(
        event.subject, event.kind, old, new, event.message, event.detail
    )
    if visible is None:
        return None
    name = stored.action_name or stored.action_uuid or ''
    return Change(
        when=event.occurred_at,
        action_id=event.action_id,
        name=_PLAN if event.subject == events.ACTION_PLAN else name,
        action_type=stored.action_type,
        old=visible[0],
        new=new or '',
        text=visible[1],
    )


def change_of_shown(event: Mapping[str, Any]) -> Change | None:
    """Return the change of an event of the infra-optim API."""
    subject, old, new = event['subject'], event['old_state'], event['new_state']
    visible = _visible_change(
        subject, event['kind'], old, new, event['message'], event['detail']
    )
    if event['kind'] == events.STATE_CHANGED and old == new and event.get('suspended'):
        # The API shows the same state for a suspended action.
        visible = None, 'suspended'
    if visible is None:
        return None
    name = event['action_name'] or event['action_uuid'] or ''
    return Change(
        when=datetime.datetime.fromisoformat(event['occurred_at']),
        action_id=event['action_uuid'],
        name=_PLAN if subject == events.ACTION_PLAN else name,
        action_type=event['action_type'],
        old=visible[0],
        new=new or '',
        text=visible[1],
    )


def _visible_change(
    subject: str,
    kind: str,
    old: str | None,
    new: str | None,
    message: str | None,
    detail: Mapping[str, Any] | None,
) -> tuple[str | None, str] | None:
    """Return the previous state and the text; None for an invisible change."""
    plan = subject == events.ACTION_PLAN
    if kind == events.STATE_CHANGED and old != new:
        # The message of a plan is long, and part of the summary.
        return old, '' if plan else message or ''
    if kind == events.SIGNALLED:
        return None, f'{(detail or {}).get("signal", "a signal")} requested'
    if not plan and kind in (events.MESSAGE_CHANGED, events.CREATED):
        return None if kind == events.MESSAGE_CHANGED else old, message or ''
    return None


def _words(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject == events.ACTION_PLAN:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _word(event.old_status, started), _word(event.new_status, started)


def _word(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)
