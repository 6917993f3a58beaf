"""The result of an action plan, as a table or as a JSON document."""

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from watcherlite.cli.action_table import coloured, print_actions
from watcherlite.cli.formatting import capitalized, plan_label
from watcherlite.cli.output import Output
from watcherlite.cmd.exits import one_line
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.action_plans import REVERTING, ActionPlan
from watcherlite.domain.actions import REVERT, Action
from watcherlite.states import action as states

PAGE = 1000
#: Number of characters shown of the output of a program.
WORDS = 200
_NOT_SUCCEEDED = sorted(set(states.STATES) - {states.SUCCEEDED})


def print_text(
    store: Store, plan: ActionPlan, out: Output, *, every: bool, seconds: float
) -> None:
    """Print the actions and the result of the plan.

    :param every: include SUCCEEDED actions
    :param seconds: duration
    """
    found: Iterable[Action] = actions(store, plan, None if every else _NOT_SUCCEEDED)
    print_actions(found, every, out)
    state = coloured(plan.state, plan.state, out.has_colours)
    text = capitalized(plan_label(plan.uuid, plan.name))
    counted = ', '.join(f'{n} {word}' for word, n in _count_by_state(store, plan))
    if plan.stage == REVERTING:
        counted = f'of all {plan.total}: {counted}'
    undone = _rollback(store, plan)
    out.line(f'{text}: {state} after {seconds:.1f} s, {undone}{counted}')
    if plan.status_message:
        out.line(one_line(plan.status_message))


def print_json(store: Store, plan: ActionPlan, out: Output) -> None:
    """Print a JSON document with one action per line, in constant memory."""
    head = {
        'uuid': plan.uuid,
        'name': plan.name,
        'state': plan.state,
        'status_message': plan.status_message,
    }
    out.write(json.dumps(head)[:-1] + ', "actions": [')
    separator = '\n'
    for action in actions(store, plan, None):
        out.write(separator + json.dumps(_as_json(action)))
        separator = ',\n'
    out.line('\n]}')


def reason(store: Store, plan: ActionPlan) -> str:
    """Return the reason why a plan did not succeed, on one line."""
    text = f'the {plan_label(plan.uuid, plan.name)} is {plan.state}'
    if not plan.failed:
        return text
    found = store.list_actions(plan_id=plan.id, statuses=[states.FAILED], limit=1)
    if not found:
        return text
    first = found[0]
    others = f'{plan.failed} actions failed, the first is' if plan.failed > 1 else ''
    name = first.name or first.uuid
    text = f'{text}: {others} {name}: {first.status_message}{_last_output(first)}'
    return ' '.join(text.split())


def seconds_since_start(store: Store, plan: ActionPlan) -> float:
    """Return the duration of an ended plan, over all runs of the command."""
    starts = [
        action.start_time for action in actions(store, plan, None) if action.start_time
    ]
    if not starts or plan.updated_at is None:
        return 0.0
    return max(0.0, (plan.updated_at - min(starts)).total_seconds())


def _rollback(store: Store, plan: ActionPlan) -> str:
    """Return the result of the rollback of a plan, or ''."""
    if plan.stage != REVERTING:
        return ''
    total = reverted = 0
    for action in actions(store, plan, None):
        if action.phase == REVERT:
            total += 1
            reverted += action.status == states.SUCCEEDED
    if not total:
        return 'rolled back: no actions to revert, '
    return f'rolled back: {reverted} of {total} actions reverted, '


def actions(
    store: Store, plan: ActionPlan, statuses: Sequence[str] | None
) -> Iterator[Action]:
    """Return all actions of a plan, in the order of creation."""
    after: int | None = None
    while True:
        page = store.list_actions(
            plan_id=plan.id, statuses=statuses, after_id=after, limit=PAGE
        )
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].id


def _last_output(action: Action) -> str:
    """Return the last output of a failed program, or ''.

    It is stored in the action, and not in its message, which is published.
    """
    written = (action.outputs or {}).get('stderr')
    lines = written.strip().splitlines() if isinstance(written, str) else []
    if not lines:
        return ''
    line = masking.mask_text(lines[-1].strip())
    return f'; stderr: {line if len(line) <= WORDS else line[: WORDS - 1] + "…"}'


def _count_by_state(store: Store, plan: ActionPlan) -> list[tuple[str, int]]:
    """Return the number of actions per state, in the order of the table."""
    found: dict[str, int] = {}
    counts = store.count_actions(plan.id)
    for status in states.STATES:
        if counts.get(status):
            word = states.infra_optim_state(status)
            found[word] = found.get(word, 0) + counts[status]
    return list(found.items()) or [('actions', 0)]


def _as_json(action: Action) -> dict[str, Any]:
    return {
        'uuid': action.uuid,
        'name': action.name,
        'action_type': action.action_type,
        'state': action.state,
        'status_message': action.status_message,
        'start_time': _time(action.start_time),
        'end_time': _time(action.end_time),
        'outputs': action.outputs,
        'parents': list(action.parents),
    }


def _time(when: datetime.datetime | None) -> str | None:
    return None if when is None else when.isoformat()
