"""The projection of actions on the rows of stacks and resources.

Implements `execution.ports.Projection`.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain import events
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.action_inputs import (
    HOOK,
    REASON,
    RESOURCE,
    RESTRICTED,
    SIGNAL,
    STACK,
    TYPES,
    HookInputs,
    ResourceInputs,
    StackInputs,
    failure_reason,
)
from watcherlite.engine.stacks.projection import resource_transitions, stack_events
from watcherlite.engine.stacks.projection.hook_transitions import follow_hook
from watcherlite.engine.stacks.projection.resource_transitions import follow_action
from watcherlite.engine.stacks.projection.stack_transitions import end_operation
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

Change = tuple[ActionChange, Mapping[str, Any] | None]


class StackProjection:
    """Updates stacks and resources with the changes of their actions."""

    def is_affected_by(self, action: Action) -> bool:
        return action.action_type in TYPES

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> dict[int, Stack]:
        """See `Projection`; returns the locked stacks by id."""
        return tx.lock_stacks(sorted({action.inputs['stack'] for action in actions}))

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[Change],
        now: datetime.datetime,
    ) -> list[Event]:
        stacks: dict[int, Stack] = held
        written = self._resources(tx, changes, now) + _hooks(tx, changes, now)
        saved: dict[int, Stack] = {}
        for change, detail in changes:
            if change.after.action_type != STACK:
                continue
            inputs = StackInputs.of(change.after.inputs)
            stack = saved.get(inputs.stack) or stacks.get(inputs.stack)
            if stack is None:
                continue
            after = end_operation(stack, change.after, inputs, now)
            if after is not stack:
                saved[inputs.stack] = after
                written.append(
                    stack_events.stack_event(
                        stack, after, now, detail=_fault_of(detail)
                    )
                )
        if saved:
            tx.save_stacks(saved.values())
        return written

    def _resources(
        self, tx: Transaction, changes: Sequence[Change], now: datetime.datetime
    ) -> list[Event]:
        about = [
            (
                change,
                ResourceInputs.of(change.after.inputs),
                (_fault_of(detail) or {}).get('fault'),
            )
            for change, detail in changes
            if change.after.action_type == RESOURCE
        ]
        if not about:
            return []
        keys = [(one.resource, one.do == states.DELETE) for _, one, _ in about]
        rows = _current_rows(tx, keys)
        written: list[Event] = []
        saved: dict[int, Resource] = {}
        for change, inputs, fault in about:
            found = rows.get((inputs.resource, inputs.do == states.DELETE))
            if found is None:
                continue
            row = saved.get(found.id, found)
            after = follow_action(row, change, inputs, now)
            if after is not row:
                written += stack_events.state_changes(row, after, now, fault)
                if inputs.adopted is not None and after.state.name == 'ADOPT_COMPLETE':
                    left = resource_transitions.apply_adopted_health(
                        after, inputs.adopted
                    )
                    written += stack_events.state_changes(after, left, now)
                    after = left
                saved[row.id] = after
            if inputs.do == SIGNAL and change.after.status in action_states.FINAL:
                written.append(_signal_event(after, change.after, now, fault))
            elif after is row and (change.after.outputs or {}).get(RESTRICTED):
                written.append(_restriction_event(row, change.after, now, fault))
        if saved:
            tx.save_resources(list(saved.values()))
        return written


def _hooks(
    tx: Transaction, changes: Sequence[Change], now: datetime.datetime
) -> list[Event]:
    """Update the resources that wait at hooks; return the events."""
    about = [
        (change, HookInputs.of(change.after.inputs))
        for change, _ in changes
        if change.after.action_type == HOOK
    ]
    if not about:
        return []
    keys = [
        (i.resource, states.HOOKED_ACTIONS[i.hook] == states.DELETE) for _, i in about
    ]
    rows = _current_rows(tx, keys)
    written: list[Event] = []
    saved: dict[int, Resource] = {}
    for (change, inputs), key in zip(about, keys, strict=True):
        found = rows.get(key)
        if found is None:
            continue
        row = saved.get(found.id, found)
        after, events_of_hook = follow_hook(row, change, inputs, now)
        if after is not row:
            saved[row.id] = after
        written += events_of_hook
    if saved:
        tx.save_resources(list(saved.values()))
    return written


def _fault_of(detail: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the fault in the detail of an event of an action."""
    if not detail or 'fault' not in detail:
        return None
    return {'fault': detail['fault']}


def _current_rows(
    tx: Transaction, keys: Iterable[tuple[int, bool]]
) -> dict[tuple[int, bool], Resource]:
    """Return the rows of actions: (id, whether for DELETE) -> row.

    A replaced row represents its replacement, except for DELETE.
    """
    desired = set(keys)
    rows = tx.resources_by_id({resource_id for resource_id, _ in desired})
    present: dict[tuple[int, bool], Resource] = {}
    later: dict[tuple[int, bool], int] = {}
    for key in desired:
        row = rows.get(key[0])
        if row is None:
            continue
        if row.superseded_by is None or key[1]:
            present[key] = row
        else:
            later[key] = row.superseded_by
    while later:
        rows = tx.resources_by_id(set(later.values()))
        again: dict[tuple[int, bool], int] = {}
        for key, resource_id in later.items():
            row = rows.get(resource_id)
            if row is not None and row.superseded_by is not None:
                again[key] = row.superseded_by
            elif row is not None:
                present[key] = row
        later = again
    return present


def _restriction_event(
    row: Resource,
    action: Action,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None,
) -> Event:
    return stack_events.resource_event(
        row,
        row,
        now,
        state=State(states.UPDATE, states.FAILED).name,
        reason=failure_reason(action),
        fault=fault,
    )


def _signal_event(
    row: Resource,
    action: Action,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None,
) -> Event:
    well = action.status == action_states.SUCCEEDED
    outputs = action.outputs or {}
    reason = outputs.get(REASON) if well else failure_reason(action)
    status = states.COMPLETE if well else states.FAILED
    return stack_events.resource_event(
        row,
        row,
        now,
        kind=events.SIGNALLED,
        state=f'{states.SIGNAL}_{status}',
        reason=reason or 'Signal received',
        fault=fault,
    )
