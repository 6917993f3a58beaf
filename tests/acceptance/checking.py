"""Check the history of an execution for contradictions.

The ledger of the target is the reference; the database and the notifications are
compared with it.
"""

import collections
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from tests.acceptance import listening
from tests.acceptance.target import APPLIED, BEGIN, STALE, Call
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

#: Action types that leave a mark at the target.
MARKS = ('mark', 'mark_checked', 'mark_once')


@dataclasses.dataclass(frozen=True)
class History:
    """The stored rows and events of one plan.

    :param calls: the whole ledger
    :param notifications: its notifications in order; None if they were not consumed
    """

    plan: ActionPlan
    actions: Sequence[Action]
    events: Sequence[StoredEvent]
    calls: Sequence[Call]
    notifications: Sequence[Mapping] | None = None


def problems(history: History) -> list[str]:
    """Return one line for each contradiction."""
    found = [*_lost(history), *_events(history), *_check_notifications(history)]
    ledger = collections.defaultdict(list)
    for call in history.calls:
        ledger[call.key].append(call)
    for action in history.actions:
        found += (f'{action.name}: {text}' for text in _calls(ledger[action.uuid]))
        if action.action_type in MARKS:
            marks = _mark(action, ledger[action.uuid])
            found += (f'{action.name}: {text}' for text in marks)
    return found


def _lost(history: History) -> Iterator[str]:
    if history.plan.state not in plan_states.ENDED:
        yield f'the plan is {history.plan.state}'
    for action in history.actions:
        if action.status not in states.FINAL:
            yield f'{action.name}: it is {action.status}, but the plan has ended'


def _calls(calls: Sequence[Call]) -> Iterator[str]:
    """Return the errors in the calls of one action, for any action type."""
    owners: dict[int, int] = {}
    latest = 0
    for call in calls:
        if owners.setdefault(call.token, call.pid) != call.pid:
            yield f'two processes executed attempt {call.token}'
        if call.token < latest and call.result != STALE:
            yield f'attempt {call.token} was accepted after attempt {latest}'
        latest = max(latest, call.token)
    if sum(1 for call in calls if call.result == APPLIED) > 1:
        yield 'the effect was applied twice'


def _mark(action: Action, calls: Sequence[Call]) -> Iterator[str]:
    applied = any(call.result == APPLIED for call in calls)
    begun = {call.token for call in calls if call.what == BEGIN}
    if action.status == states.SUCCEEDED and not applied:
        yield 'SUCCEEDED without an effect'
    if action.status == states.SUCCEEDED and action.outputs is not None:
        result = (action.outputs['attempt'], action.outputs['pid'])
        if result not in {(call.token, call.pid) for call in calls}:
            yield f'the result is of {result}, which made no call'
        if action.outputs['attempt'] != action.attempt:
            yield f'the result is of attempt {result[0]}, not {action.attempt}'
    if action.action_type == 'mark_once':
        if len(begun) > 1:
            yield f'it must run once, but attempts ran it: {sorted(begun)}'
        if action.status == states.FAILED and not (
            action.status_message or ''
        ).startswith('Outcome unknown: worker '):
            yield f'FAILED: {action.status_message}'
    elif action.status != states.SUCCEEDED:
        yield f'it is recoverable, but {action.status}: {action.status_message}'


def _events(history: History) -> Iterator[str]:
    """Return the contradictions in a history and in the stored rows."""
    last: dict[int | None, str | None] = {}
    ended = set()
    for stored in history.events:
        event = stored.event
        if event.kind not in (events.CREATED, events.STATE_CHANGED):
            continue
        whose = event.action_id
        old, new = _outside(event, event.old_status), _outside(event, event.new_status)
        if whose in ended:
            yield f'{_name(stored)}: it became {new} after its end'
        if last.get(whose) != old:
            was = last.get(whose)
            yield f'{_name(stored)}: it was {was}, but the event is {old} -> {new}'
        last[whose] = new
        if event.new_status in states.FINAL | plan_states.ENDED:
            ended.add(whose)
    for action in history.actions:
        if last.get(action.id) != action.state:
            yield f'{action.name}: {action.state}, last event {last.get(action.id)}'
    if last.get(None) != history.plan.state:
        yield f'the plan is {history.plan.state}, last event {last.get(None)}'


def _outside(event: events.Event, status: str | None) -> str | None:
    """Return the public status, which omits core statuses such as READY."""
    if event.subject == events.ACTION and status is not None:
        return states.INFRA_OPTIM[status]
    return status


def _name(stored: StoredEvent) -> str:
    return stored.action_name or 'the plan'


def _check_notifications(history: History) -> Iterator[str]:
    if history.notifications is None:
        return
    first: dict[str, Mapping] = {}
    for notification in history.notifications:
        known = first.setdefault(notification['message_id'], notification)
        if known != notification:
            yield f'{notification["message_id"]} is the id of two notifications'
    expected = listening.expected(history.events)
    for missing in set(expected) - set(first):
        yield f'{missing} was not sent'
    for forged in set(first) - set(expected):
        yield f'{forged} has no event'
    if set(first) == set(expected) and list(first) != expected:
        yield 'the notifications are not in the order of the events'
