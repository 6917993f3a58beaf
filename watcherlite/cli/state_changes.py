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
    old, new = _state_texts(event)
    return _change(
        {
            'subject': event.subject,
            'kind': event.kind,
            'old_state': old,
            'new_state': new,
            'message': event.message,
            'detail': event.detail,
            'action_name': stored.action_name,
            'action_uuid': stored.action_uuid,
            'action_type': stored.action_type,
        },
        event.occurred_at,
        event.action_id,
    )


def change_of_shown(event: Mapping[str, Any]) -> Change | None:
    """Return the change of an event of the infra-optim API."""
    when = datetime.datetime.fromisoformat(event['occurred_at'])
    return _change(event, when, event['action_uuid'])


def _change(
    event: Mapping[str, Any], when: datetime.datetime, action_id: int | str | None
) -> Change | None:
    """Return the change of an event with the fields of the API."""
    visible = _visible_change(event)
    if visible is None:
        return None
    plan = event['subject'] == events.ACTION_PLAN
    return Change(
        when=when,
        action_id=action_id,
        name=_PLAN if plan else event['action_name'] or event['action_uuid'] or '',
        action_type=event['action_type'],
        old=visible[0],
        new=event['new_state'] or '',
        text=visible[1],
    )


def _visible_change(event: Mapping[str, Any]) -> tuple[str | None, str] | None:
    """Return the previous state and the text; None for an invisible change."""
    kind, old, message = event['kind'], event['old_state'], event['message']
    plan = event['subject'] == events.ACTION_PLAN
    if kind == events.STATE_CHANGED and old != event['new_state']:
        # The message of a plan is long, and part of the summary.
        return old, '' if plan else message or ''
    if kind == events.STATE_CHANGED and event.get('suspended'):
        # The API shows the same state for a suspended action.
        return None, 'suspended'
    if kind == events.SIGNALLED:
        return None, f'{(event["detail"] or {}).get("signal", "a signal")} requested'
    if not plan and kind in (events.MESSAGE_CHANGED, events.CREATED):
        return None if kind == events.MESSAGE_CHANGED else old, message or ''
    return None


def _state_texts(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject == events.ACTION_PLAN:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _state_text(event.old_status, started), _state_text(
        event.new_status, started
    )


def _state_text(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)
