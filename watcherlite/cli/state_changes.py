"""State changes of a plan and its actions, made from events."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states

_PLAN = 'the action plan'


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One change of an action, or of the plan itself.

    :param action_id: its id, or its uuid where that is all that is known; None for
        the plan
    :param name: of the action; 'the action plan'
    :param old: the state before, in the words of the infra-optim API; None for an
        action that is new, and where the state is as it was
    :param text: the status message, or what was asked of the action
    """

    when: datetime.datetime
    action_id: int | str | None
    name: str
    action_type: str | None
    old: str | None
    new: str
    text: str


def change_of(stored: StoredEvent) -> Change | None:
    """Return what an event changes for people; None if they would not see it."""
    event = stored.event
    old, new = _words(event)
    told = _told(event.subject, event.kind, old, new, event.message, event.detail)
    if told is None:
        return None
    name = stored.action_name or stored.action_uuid or ''
    return Change(
        when=event.occurred_at,
        action_id=event.action_id,
        name=_PLAN if event.subject == events.ACTION_PLAN else name,
        action_type=stored.action_type,
        old=told[0],
        new=new or '',
        text=told[1],
    )


def change_of_shown(event: Mapping[str, Any]) -> Change | None:
    """Return the same of an event as the infra-optim API shows it."""
    subject, old, new = event['subject'], event['old_state'], event['new_state']
    told = _told(subject, event['kind'], old, new, event['message'], event['detail'])
    if event['kind'] == events.STATE_CHANGED and old == new and event.get('suspended'):
        # The state is the same in the words of the API
        told = None, 'suspended'
    if told is None:
        return None
    name = event['action_name'] or event['action_uuid'] or ''
    return Change(
        when=datetime.datetime.fromisoformat(event['occurred_at']),
        action_id=event['action_uuid'],
        name=_PLAN if subject == events.ACTION_PLAN else name,
        action_type=event['action_type'],
        old=told[0],
        new=new or '',
        text=told[1],
    )


def _told(
    subject: str,
    kind: str,
    old: str | None,
    new: str | None,
    message: str | None,
    detail: Mapping[str, Any] | None,
) -> tuple[str | None, str] | None:
    """Return the state before and the text to show; None for what nobody sees."""
    plan = subject == events.ACTION_PLAN
    if kind == events.STATE_CHANGED and old != new:
        # A plan's message grows to a paragraph, which the summary has
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
