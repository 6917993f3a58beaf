"""The events of stacks and of their resources."""

import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.actions import truncate
from watcherlite.domain.events import Event
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.states import stack as states


def stack_event(
    before: Stack | None,
    after: Stack,
    now: datetime.datetime,
    kind: str = events.STATE_CHANGED,
    detail: Mapping[str, Any] | None = None,
) -> Event:
    """Return the event of one change of a stack; `before` is None for a new one.

    The event of a lock or unlock has the level in its detail.
    """
    if after.action in states.MAINTENANCE:
        level = after.level
        if after.state.busy and level is None and before is not None:
            level = before.level
        detail = {**(detail or {}), 'lock_level': level}
    return Event(
        events.STACK,
        kind,
        None,
        None,
        before.state.name if before is not None else None,
        after.state.name,
        truncate(after.status_reason),
        None,
        None,
        now,
        detail,
        subject_id=after.id,
    )


def resource_event(
    before: Resource,
    after: Resource,
    now: datetime.datetime,
    kind: str = events.STATE_CHANGED,
    state: str | None = None,
    reason: str | None = None,
    fault: Mapping[str, Any] | None = None,
    detail: Mapping[str, Any] | None = None,
) -> Event:
    """Return the event of one change of a resource; its subject is the stack.

    So the events of a stack and of its resources are in one order.

    :param state: in place of its state: a signal has none
    :param reason: in place of its reason
    :param fault: the fields of `outcomes.Fault`
    :param detail: further members of its detail
    """
    return Event(
        events.RESOURCE,
        kind,
        None,
        None,
        before.state.name,
        state or after.state.name,
        truncate(after.status_reason if reason is None else reason),
        None,
        None,
        now,
        {
            'uuid': after.uuid,
            'name': after.name,
            'type': after.type,
            'physical_id': after.physical_id,
            **({'fault': fault} if fault is not None else {}),
            **(detail or {}),
        },
        subject_id=after.stack_id,
    )


def state_changes(
    before: Resource,
    after: Resource,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None = None,
) -> list[Event]:
    """Return the event of a change of state, or none if it is not visible.

    :param fault: of its action, if that failed
    """
    same = (before.action, before.status) == (after.action, after.status)
    return [] if same else [resource_event(before, after, now, fault=fault)]
