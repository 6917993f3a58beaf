"""Whether what a plugin said can be kept.

An outcome has the right type and may still hold rubbish: a set among the outputs,
a delay that is no number, derived actions that wait for each other. What cannot
be stored, timed or shown is the failure of its action, found here, before it
reaches the transaction that it would share with others.
"""

import dataclasses
import datetime
import json
import math
from collections.abc import Sequence
from typing import Any

from watcherlite.domain import graph, json_values, outcomes
from watcherlite.domain.actions import COMPLETION, SUCCESS
from watcherlite.domain.outcomes import DerivedAction, Fault, Outcome

#: Seconds; ten years. A date further away cannot always be computed with.
MAX_DELAY = 315_360_000


def sound(outcome: Outcome) -> Outcome:
    """Return the outcome, or the failure that stands for it if it is not sound."""
    if isinstance(outcome, outcomes.Done) and (
        outcome.outputs is None and outcome.again_at is None
    ):
        return outcome
    problem = _problem(outcome)
    if problem is None:
        return _readable(outcome)
    return outcomes.Failed(f'its {type(outcome).__name__} {problem}')


def not_json(value: object) -> str | None:
    """Return what of a value cannot be kept as JSON, and where; None if nothing."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        # Walking a value is slow, and needed only to name the place.
        return _first_problem(value) or str(error)
    if '\\u0000' in text or '\\ud' in text:
        return _first_problem(value)
    return None


def _first_problem(value: object) -> str | None:
    for path, problem in json_values.problems(value):
        place = '.'.join(str(step) for step in path)
        return f'{place}: {problem}' if place else problem
    return None


def _problem(outcome: Outcome) -> str | None:
    match outcome:
        case outcomes.Done(outputs=outputs, again_at=again):
            return _outputs_problem(outputs) or _time_problem(again)
        case outcomes.Failed(
            reason=reason, fault=fault, outputs=outputs, again_at=again
        ):
            if not _is_fault(fault):
                return f'has a fault that is {json_values.kind(fault)}'
            problem = _reason_problem(reason) or _outputs_problem(outputs)
            return problem or _time_problem(again)
        case outcomes.Retry(reason=reason, delay=delay):
            return _reason_problem(reason) or _seconds_problem('delay', delay)
        case outcomes.InProgress(token=token, delay=delay):
            if token is None:
                return 'has no token; poll is called with it'
            problem = not_json(token)
            if problem:
                return f'has a token that is not JSON: {problem}'
            return _seconds_problem('delay', delay)
        case outcomes.Derived(actions=actions, timeout=timeout):
            problem = _derived_problem(actions)
            if problem is None and timeout is not None:
                problem = _seconds_problem('timeout', timeout)
            return problem
        case _:
            return _reason_problem(outcome.reason)


def _outputs_problem(outputs: object) -> str | None:
    if outputs is None:
        return None
    if not isinstance(outputs, dict):
        return f'has outputs that are {json_values.kind(outputs)}, not a mapping'
    problem = not_json(outputs)
    return f'has outputs that are not JSON: {problem}' if problem else None


def _reason_problem(reason: object) -> str | None:
    if isinstance(reason, str):
        return None
    return f'has a reason that is {json_values.kind(reason)}, not text'


def _seconds_problem(name: str, value: object) -> str | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and math.isfinite(value) and 0 <= value <= MAX_DELAY:  # type: ignore[arg-type,operator]
        return None
    shown = value if number else json_values.kind(value)
    return f'has a {name} of {shown}; it must be a number of seconds, at least 0'


def _time_problem(time: object) -> str | None:
    """Return why the next run cannot be at a time; None: at none is right, too."""
    if time is None:
        return None
    if not isinstance(time, datetime.datetime) or time.tzinfo is None:
        return 'has an again_at that is no time with a time zone'
    return None


def _is_fault(fault: object) -> bool:
    return fault is None or (
        isinstance(fault, Fault)
        and all(isinstance(text, str) for text in dataclasses.astuple(fault))
    )


def _derived_problem(actions: object) -> str | None:
    if not isinstance(actions, tuple | list) or not actions:
        return 'has no actions'
    for action in actions:
        problem = _action_problem(action)
        if problem:
            return problem
    index = {action.key: at for at, action in enumerate(actions)}
    if len(index) < len(actions):
        return 'has two actions with one key'
    for action in actions:
        for key in action.parents:
            if key not in index:
                return (
                    f'has an action {action.key} with a parent {key} that is not there'
                )
    cycles = graph.find_cycles(indexed(actions), limit=1)
    if cycles:
        names = ', '.join(actions[at].key for at in cycles[0])
        return f'has actions that wait for each other: {names}'
    return None


def indexed(actions: Sequence[DerivedAction]) -> list[list[int]]:
    """Return the graph of derived actions: for each the indexes of its parents."""
    index = {action.key: at for at, action in enumerate(actions)}
    return [[index[key] for key in action.parents] for action in actions]


def _action_problem(action: Any) -> str | None:
    if not isinstance(action, DerivedAction):
        return f'has {json_values.kind(action)} where a DerivedAction belongs'
    texts = (action.key, action.action_type, *action.parents)
    optional = (action.name, action.target, action.lane)
    if not all(text and isinstance(text, str) for text in texts):
        return 'has an action whose key, action_type or parents are not text'
    if not all(text is None or isinstance(text, str) for text in optional):
        return f'has an action {action.key} whose name, target or lane is not text'
    if len(set(action.parents)) < len(action.parents):
        return f'has an action {action.key} that names a parent twice'
    if action.needs not in (SUCCESS, COMPLETION):
        return f'has an action {action.key} that needs neither success nor completion'
    if not isinstance(action.timeout, int) or action.timeout < 0:
        return f'has an action {action.key} whose timeout is no number of seconds'
    if not isinstance(action.inputs, dict):
        return f'has an action {action.key} whose inputs are not a mapping'
    problem = not_json(action.inputs)
    if problem:
        return f'has an action {action.key} whose inputs are not JSON: {problem}'
    return None


def _readable(outcome: Any) -> Any:
    """Return the outcome with a reason that databases can keep."""
    reason = getattr(outcome, 'reason', None)
    if reason is None or json_values.text_problem(reason) is None:
        return outcome
    changes: dict[str, Any] = {'reason': _cleaned(reason)}
    fault = getattr(outcome, 'fault', None)
    if fault is not None:
        cleaned = [_cleaned(text) for text in dataclasses.astuple(fault)]
        changes['fault'] = Fault(*cleaned)
    return dataclasses.replace(outcome, **changes)


def _cleaned(text: str) -> str:
    return text.replace('\0', '?').encode('utf-8', 'replace').decode('utf-8')
