"""The events of actions, and those who listen to them."""

import datetime
import logging
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.events import Event
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)


def action_event(
    before: Action,
    after: Action,
    plan: ActionPlan | None,
    now: datetime.datetime,
    detail: Mapping[str, Any] | None = None,
    kind: str = events.STATE_CHANGED,
) -> Event:
    """Return the event of one change of an action."""
    # One that is cancelled before a further try had started: its end is told.
    tried = before.start_time is not None and before.end_time is None
    waited = before.status == states.READY and after.status == states.CANCELLED
    if before.under_way or after.under_way or (tried and waited):
        detail = {**(detail or {}), 'started': True}
    return Event(
        events.ACTION,
        kind,
        after.plan_id,
        after.id,
        before.status,
        after.status,
        after.status_message,
        plan.state if plan is not None else None,
        plan.status_message if plan is not None else None,
        now,
        detail,
    )


def created_event(
    action: Action, plan: ActionPlan | None, now: datetime.datetime
) -> Event:
    """Return the event of an action that was stored."""
    return Event(
        events.ACTION,
        events.CREATED,
        action.plan_id,
        action.id,
        None,
        action.status,
        action.status_message,
        plan.state if plan is not None else None,
        plan.status_message if plan is not None else None,
        now,
    )


class EventListeners:
    """Functions that are called with events once these are durable.

    They are called in the thread that stored the events and have to be quick.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[list[Event]], None]] = []

    def add(self, listener: Callable[[list[Event]], None]) -> None:
        """Call `listener` with the events of each transaction."""
        self._listeners.append(listener)

    def notify(self, stored: list[Event]) -> None:
        """Pass durable events on; an empty list means: look at the store."""
        for listener in self._listeners:
            try:
                listener(stored)
            except Exception:
                LOG.exception('A listener failed; the events are stored')
