"""Events as what they change for whoever watches a plan."""

import dataclasses
import datetime

from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One change of an action, or of the plan itself.

    :param action_id: None for the plan
    :param name: of the action; 'the action plan'
    :param old: the state before, in the words of the infra-optim API; None for an
        action that is new, and where the state is as it was
    :param text: the status message, or what was asked of the action
    """

    when: datetime.datetime
    action_id: int | None
    name: str
    action_type: str | None
    old: str | None
    new: str
    text: str


def change_of(stored: StoredEvent) -> Change | None:
    """Return what an event changes for people; None if they would not see it."""
    event = stored.event
    plan = event.subject == events.ACTION_PLAN
    old, new = _words(event)
    # A plan's message grows to a paragraph, which the summary has
    text = '' if plan else event.message or ''
    if event.kind == events.STATE_CHANGED:
        if old == new:
            return None
    elif event.kind == events.SIGNALLED:
        old, text = None, f'{(event.detail or {}).get("signal", "a signal")} requested'
    elif event.kind == events.MESSAGE_CHANGED and not plan:
        old = None
    elif event.kind != events.CREATED or plan:
        return None
    return Change(
        when=event.occurred_at,
        action_id=event.action_id,
        name='the action plan'
        if plan
        else stored.action_name or stored.action_uuid or '',
        action_type=stored.action_type,
        old=old,
        new=new or '',
        text=text,
    )


def _words(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject == events.ACTION_PLAN:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _word(event.old_status, started), _word(event.new_status, started)


def _word(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)
