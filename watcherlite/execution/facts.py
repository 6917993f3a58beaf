"""The events of actions, as the core records them."""

import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.events import Event


def action_event(
    before: Action,
    after: Action,
    plan: ActionPlan | None,
    now: datetime.datetime,
    detail: Mapping[str, Any] | None = None,
    kind: str = events.STATE_CHANGED,
) -> Event:
    """Return the event of one change of an action."""
    if before.under_way or after.under_way:
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
