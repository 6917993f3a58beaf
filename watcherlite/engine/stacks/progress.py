"""How stacks and resources get on while their actions are executed.

Implements `execution.subjects.Subjects`. The functions that decide are pure: they
take a row and a change of an action, and return the row as it is then.
"""

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain import events
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks import facts, marking
from watcherlite.engine.stacks.inputs import (
    CONVERGE,
    RESOURCE,
    SIGNAL,
    STACK,
    TYPES,
    ResourceInputs,
    StackInputs,
)
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: What of its outputs a resource takes over.
KEPT = (
    *('physical_id', 'reference', 'attributes', 'properties', 'metadata', 'data'),
    *('definition_id', 'protected', 'requires', 'deletion_policy', 'nested_id'),
)
#: In the outputs of a resource's action: nothing had to be done.
UNCHANGED = 'unchanged'
#: Likewise: what it had replaced stands for it again, in the state that it had.
RESTORED = 'restored'
#: In the outputs of either: what is told, uncut.
REASON = 'reason'
REPAIRED = 'Its type is not replaced, and has nothing to repair.'

_PREFIX = re.compile(r'^Action failed in [a-z_]+: ')

Change = tuple[ActionChange, Mapping[str, Any] | None]


class StackProgress:
    """Lets stacks and resources follow the actions that are about them."""

    def concerns(self, action: Action) -> bool:
        """See `Subjects`."""
        return action.action_type in TYPES

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> dict[int, Stack]:
        """See `Subjects`; what is held are the stacks, by id."""
        return tx.lock_stacks(sorted({action.inputs['stack'] for action in actions}))

    def follow(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[Change],
        now: datetime.datetime,
    ) -> list[Event]:
        """See `Subjects`."""
        stacks: dict[int, Stack] = held
        told = self._resources(tx, changes, now)
        saved: dict[int, Stack] = {}
        for change, detail in changes:
            if change.after.action_type != STACK:
                continue
            inputs = StackInputs.of(change.after.inputs)
            stack = saved.get(inputs.stack) or stacks.get(inputs.stack)
            if stack is None:
                continue
            after = ended_stack(stack, change.after, inputs, now)
            if after is not stack:
                saved[inputs.stack] = after
                told.append(facts.stack_event(stack, after, now, detail=_fault(detail)))
        if saved:
            tx.save_stacks(saved.values())
        return told

    def _resources(
        self, tx: Transaction, changes: Sequence[Change], now: datetime.datetime
    ) -> list[Event]:
        about = [
            (
                change,
                ResourceInputs.of(change.after.inputs),
                (_fault(detail) or {}).get('fault'),
            )
            for change, detail in changes
            if change.after.action_type == RESOURCE
        ]
        if not about:
            return []
        rows = _present(tx, [inputs for _, inputs, _ in about])
        told: list[Event] = []
        saved: dict[int, Resource] = {}
        for change, inputs, fault in about:
            found = rows.get((inputs.resource, inputs.do == states.DELETE))
            if found is None:
                continue
            row = saved.get(found.id or 0, found)
            after = followed(row, change, inputs, now)
            if after is not row:
                told += facts.changed(row, after, now, fault)
                if inputs.adopted is not None and after.state.name == 'ADOPT_COMPLETE':
                    left = marking.adopted(after, inputs.adopted)
                    told += facts.changed(after, left, now)
                    after = left
                saved[row.id or 0] = after
            if inputs.do == SIGNAL and change.after.status in action_states.FINAL:
                told.append(_signalled(after, change.after, now, fault))
        if saved:
            tx.save_resources(list(saved.values()))
        return told


def _fault(detail: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return what of the detail of an action's event is true of its subject, too."""
    if not detail or 'fault' not in detail:
        return None
    return {'fault': detail['fault']}


def _present(
    tx: Transaction, inputs: Iterable[ResourceInputs]
) -> dict[tuple[int, bool], Resource]:
    """Return the rows that actions are about: (id, whether as named) -> row.

    What was replaced stands for what replaced it, unless it is deleted.
    """
    wanted = {(i.resource, i.do == states.DELETE) for i in inputs}
    rows = tx.resources_by_id({resource_id for resource_id, _ in wanted})
    present: dict[tuple[int, bool], Resource] = {}
    later: dict[tuple[int, bool], int] = {}
    for key in wanted:
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


# pure


def entered(row: Resource, state: State, now: datetime.datetime) -> Resource:
    """Return a resource in another state, with or without the overlay of a lock."""
    under = row.base if state.action in states.MAINTENANCE else None
    return row.at(state, under_lock=under, updated_at=now)


def followed(
    row: Resource, change: ActionChange, inputs: ResourceInputs, now: datetime.datetime
) -> Resource:
    """Return a resource as it is after a change of the action that is about it."""
    before, after = change.before, change.after
    if after.status == action_states.RUNNING:
        if after.token is not None and after.token != before.token:
            return _decided(row, after.token, now)
        if before.status == action_states.READY and before.start_time is None:
            return _begun(row, inputs, now)
        return row
    if after.status == action_states.SUCCEEDED:
        return _settled(row, inputs, after.outputs or {}, now)
    if after.status == action_states.FAILED:
        return _failed(row, inputs, reason_of(after), after.outputs or {}, now)
    if after.status == action_states.CANCELLED and after.start_time is not None:
        if inputs.do == CONVERGE and row.status != states.IN_PROGRESS:
            # Nothing had been decided yet, and nothing was done to it.
            return row
        reason = f'{_doing(row, inputs)} aborted: {after.status_message or "cancelled"}'
        return _failed(row, inputs, reason, {}, now)
    return row


def _begun(row: Resource, inputs: ResourceInputs, now: datetime.datetime) -> Resource:
    if inputs.do == SIGNAL:
        return row
    if inputs.do == CONVERGE:
        if row.base.action != states.INIT:
            # What it comes to is decided when what it depends on is known.
            return row
        return entered(row, State(states.CREATE, states.IN_PROGRESS), now)
    return entered(row, State(inputs.do, states.IN_PROGRESS), now)


def _decided(
    row: Resource, token: Mapping[str, Any], now: datetime.datetime
) -> Resource:
    """Note what a token says; see `resource_action`."""
    action = token.get('action')
    if action is not None and (action, states.IN_PROGRESS) != (row.action, row.status):
        row = entered(row, State(action, states.IN_PROGRESS), now)
    taken = {key: token[key] for key in KEPT if token.get(key) is not None}
    return row.evolve(**taken) if taken else row


def _settled(
    row: Resource,
    inputs: ResourceInputs,
    outputs: Mapping[str, Any],
    now: datetime.datetime,
) -> Resource:
    taken = {key: outputs[key] for key in KEPT if key in outputs}
    if 'requires' in taken:
        taken['requires'] = tuple(taken['requires'])
    after = row.evolve(**taken) if taken else row
    if inputs.do == SIGNAL:
        return after
    reason = outputs.get(REASON) or ''
    if outputs.get(UNCHANGED):
        if outputs[UNCHANGED] == RESTORED or not row.base.failed:
            # A lock that has been taken away is not shown any longer.
            covered = after.under_lock is not None
            return after.at(after.base, under_lock=None) if covered else after
        state = State(row.base.action, states.COMPLETE, REPAIRED)
        return entered(after, state, now).evolve(under_mark=None)
    state = State(_doing(row, inputs), states.COMPLETE, reason or 'state changed')
    after = entered(after, state, now)
    if inputs.do == states.DELETE:
        return after.evolve(deleted_at=now)
    return after.evolve(under_mark=None) if inputs.do == CONVERGE else after


def _failed(
    row: Resource,
    inputs: ResourceInputs,
    reason: str,
    outputs: Mapping[str, Any],
    now: datetime.datetime,
) -> Resource:
    if inputs.do == SIGNAL:
        return row
    taken = {key: outputs[key] for key in KEPT if key in outputs}
    after = row.evolve(**taken) if taken else row
    state = State(_doing(row, inputs), states.FAILED, reason)
    return entered(after, state, now)


def _doing(row: Resource, inputs: ResourceInputs) -> str:
    """Return the action of resources that is under way."""
    if inputs.do != CONVERGE:
        return inputs.do
    if row.status == states.IN_PROGRESS:
        return row.action
    return states.CREATE if row.base.action == states.INIT else states.UPDATE


def _signalled(
    row: Resource,
    action: Action,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None,
) -> Event:
    well = action.status == action_states.SUCCEEDED
    outputs = action.outputs or {}
    reason = outputs.get(REASON) if well else reason_of(action)
    status = states.COMPLETE if well else states.FAILED
    return facts.resource_event(
        *(row, row, now, events.SIGNALLED, f'{states.SIGNAL}_{status}'),
        reason=reason or 'Signal received',
        fault=fault,
    )


def reason_of(action: Action | DerivedResult) -> str:
    """Return why an action of a stack or resource failed, for users of stacks."""
    told = (action.outputs or {}).get(REASON)
    return str(told or _PREFIX.sub('', action.status_message or 'its action failed'))


def ended_stack(
    stack: Stack, action: Action, inputs: StackInputs, now: datetime.datetime
) -> Stack:
    """Return a stack as it is after its action has ended; else as it was."""
    if action.status not in action_states.FINAL or stack.operation != action.uuid:
        return stack
    doing = stack.action
    if action.status == action_states.SUCCEEDED:
        text = f'Stack {doing} completed successfully'
        return _completed(stack, inputs, State(doing, states.COMPLETE, text), now)
    if action.status == action_states.CANCELLED:
        reason = f'Stack {doing} cancelled'
    else:
        reason = reason_of(action)
    state = State(doing, states.FAILED, reason)
    return stack.at(state, deadline=None, updated_at=now)


def _completed(
    stack: Stack, inputs: StackInputs, state: State, now: datetime.datetime
) -> Stack:
    changes: dict[str, Any] = {'deadline': None, 'updated_at': now}
    if state.action == states.DELETE:
        changes['deleted_at'] = now
    if state.action == states.UNLOCK:
        changes['inherited_level' if inputs.nested else 'lock_level'] = None
        unlocked = stack.evolve(**changes)
        if unlocked.level is not None:
            # The lock around it is gone; the one of its own is not.
            state = State(states.LOCK, states.COMPLETE, 'Its own lock remains')
    if state.action == states.ROLLBACK:
        changes['definition_id'] = stack.previous_id or stack.definition_id
        changes['previous_id'] = None
    return stack.at(state, **changes)
