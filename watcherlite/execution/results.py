"""The results of actions, from the outcome of a step to the row.

All functions are pure: they take an action and an outcome, and return the action as it
is stored. `conclude` is the table of outcomes.
"""

import dataclasses
import datetime
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.clock import EPOCH
from watcherlite.domain import actions, graph, outcomes
from watcherlite.domain.actions import (
    CHECK,
    COMPLETE,
    COMPLETION,
    RUN,
    SUCCESS,
    Action,
    truncate,
)
from watcherlite.domain.documents import json_values
from watcherlite.domain.outcomes import DerivedAction, Fault, Outcome
from watcherlite.exceptions import ActionSkipException
from watcherlite.states import action as states

# The steps in which an action can fail, as status messages name them
PRE_CONDITION = 'pre_condition'
EXECUTE = 'execute'
POST_CONDITION = 'post_condition'
POLICIES = 'policies'
REVERT_STEP = 'revert'

#: outcome -> the status that an executed action takes, and why
STATUS: dict[type, tuple[str, str]] = {
    outcomes.Done: (states.SUCCEEDED, 'it succeeded'),
    outcomes.Failed: (states.FAILED, 'it failed'),
    outcomes.TimedOut: (states.FAILED, 'it exceeded its timeout (spec 001: TIMEOUT)'),
    outcomes.Cancelled: (states.CANCELLED, 'it was cancelled by a CANCEL'),
    outcomes.Skipped: (states.SKIPPED, 'it does not apply: before execute only'),
    outcomes.Retry: (states.READY, 'another try, by any worker (spec 001: RETRY)'),
    outcomes.Derived: (states.WAITING, 'it waits for its derived actions'),
    outcomes.InProgress: (states.RUNNING, 'its external work continues'),
}

SKIPPED_AUTOMATICALLY = 'Action was skipped automatically'
SKIPPED_AUTOMATICALLY_BECAUSE = 'Action was skipped automatically: {}'
SKIPPED_BY_USER = 'Action skipped by user.'
SKIPPED_BY_USER_BECAUSE = 'Action skipped by user. Reason: {}'
FAILED_IN = 'Action failed in {}: {}'
CANCELLED_RUNNING = 'Action was cancelled while it ran.'
CANCELLED_UNSTARTED = actions.CANCELLED_UNSTARTED
STOPPED_UNSTARTED = actions.STOPPED_UNSTARTED
CANCELLED_STARTED = 'Action was cancelled after it had started.'
WORKER_LOST = (
    'Outcome unknown: worker {} was lost while the action ran, and its type '
    'cannot tell whether it took effect.'
)
WORKER_LOST_TOO_OFTEN = (
    'Worker {} was lost while the action ran; it is not tried again after {}.'
)
WORKER_LOST_PLAN_ENDS = (
    'Worker {} was lost while the action ran, and its plan ends in this case.'
)
SKIPPED_LATE = 'Action had started before, and its further run was skipped: {}'
SKIPPED_LATE_UNAPPLIED = (
    'it had started before its worker was lost, its effect is not there, and its '
    'further run was skipped: {}'
)
PARENT_FAILED = 'Not started: an action that it depends on did not succeed.'

#: The only key of a token that `execute` saved, see `saved_token`.
_SAVED = 'saved'
#: The shortest delay of the third try in seconds, and the limit of its backoff.
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
#: An earlier deadline has another meaning, see `Action.deadline`.
_FIRST_DEADLINE = EPOCH + datetime.timedelta(seconds=1)


@dataclasses.dataclass(frozen=True, slots=True)
class Conclusion:
    """The changes to store after a step.

    :param action: the action after the change
    :param detail: of the event, for example its `fault`; or None
    :param derived: the actions that it derives
    :param delay: seconds until an action that is InProgress is polled
    :param elsewhere: whether another worker should claim it, if there is one
    """

    action: Action
    detail: Mapping[str, Any] | None = None
    derived: tuple[outcomes.DerivedAction, ...] = ()
    delay: float = 0.0
    elsewhere: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class DerivedEnd:
    """The end of a derived action; see `plugins.base.DerivedResult`."""

    key: str
    status: str
    status_message: str | None
    outputs: Mapping[str, Any] | None

    @classmethod
    def of(cls, child: Action) -> 'DerivedEnd':
        """Return the end of an action as it is stored."""
        return cls(
            str(child.data.get('key', child.name)),
            child.status,
            child.status_message,
            child.outputs,
        )


def fault_detail(fault: outcomes.Fault | None) -> dict[str, Any] | None:
    """Return the detail of the event of a failure."""
    return {'fault': dataclasses.asdict(fault)} if fault is not None else None


def start(
    action: Action, now: datetime.datetime, data: Mapping[str, Any] | None = None
) -> Action:
    """Return the action as RUNNING.

    The start time is that of the last start (spec 001), except that an action which
    waited for derived actions keeps it.
    """
    return action.evolve(
        status=states.RUNNING,
        start_time=action.start_time
        if action.phase == COMPLETE and action.start_time
        else now,
        end_time=None,
        token=None,
        status_message=None,
        data=action.data if data is None else data,
        updated_at=now,
    )


def conclude(
    action: Action,
    outcome: outcomes.Outcome,
    step: str,
    now: datetime.datetime,
    data: Mapping[str, Any] | None = None,
) -> Conclusion:
    """Return the conclusion of an action from the outcome of a step.

    :param step: PRE_CONDITION, EXECUTE, POST_CONDITION, POLICIES or REVERT_STEP
    """
    if data is not None and data != action.data:
        action = action.evolve(data=data)
    match outcome:
        case outcomes.Done():
            return _repeat_or_end(action, states.SUCCEEDED, None, now, outcome)
        case outcomes.Skipped(reason=reason):
            return _skip(action, reason, step, now)
        case outcomes.Failed():
            return _fail(action, outcome, step, now)
        case outcomes.TimedOut(reason=reason):
            text = reason or 'it ran longer than its timeout'
            fault = outcomes.Fault('TimedOut', text, '', '')
            return _fail(action, outcomes.Failed(text, fault), step, now)
        case outcomes.Cancelled(reason=reason):
            message = reason or cancelled_text(action, CANCELLED_UNSTARTED)
            return Conclusion(_end(action, states.CANCELLED, message, now))
        case outcomes.Retry(reason=reason, delay=delay, elsewhere=elsewhere):
            # With `elsewhere` the plugin limits the number of attempts.
            delay = delay if elsewhere else max(delay, _backoff(action))
            ready = _ready(action, now, delay, reason)
            return Conclusion(ready, elsewhere=elsewhere)
        case outcomes.Derived(actions=derived):
            return Conclusion(
                action.evolve(
                    status=states.WAITING,
                    phase=COMPLETE,
                    owner=None,
                    token=None,
                    updated_at=now,
                ),
                derived=derived,
            )
        case outcomes.InProgress(token=token, delay=delay):
            # Its worker survived, so that former losses do not count.
            going = action.evolve(token=token, recoveries=0, updated_at=now)
            return Conclusion(going, delay=delay)


def saved_token(token: object) -> dict[str, object]:
    """Return the stored form of a token that `execute` saves while it runs."""
    return {_SAVED: token}


def is_outside(action: Action) -> bool:
    """Return whether an action is InProgress, by its token."""
    token = action.token
    return token is not None and not (
        isinstance(token, dict) and set(token) == {_SAVED}
    )


def cancelled_text(action: Action, unstarted: str) -> str:
    """Return the message of a cancelled action.

    :param unstarted: the message of an action that never started
    """
    if action.status in states.NOT_STARTED and action.phase != COMPLETE:
        # An action that is READY for a retry or a further run has a start time.
        return unstarted if action.start_time is None else CANCELLED_STARTED
    return CANCELLED_RUNNING


def conclude_unstarted(action: Action, message: str, now: datetime.datetime) -> Action:
    """Return an unstarted action as CANCELLED."""
    return _end(action, states.CANCELLED, cancelled_text(action, message), now)


def limit_tries(action: Action, now: datetime.datetime, seconds: float) -> Action:
    """Return an action that is tried again, with a deadline in `seconds`.

    Its timeout covers all tries. At the deadline the action is claimed once more,
    whatever its delay, and fails.
    """
    deadline = max(now + datetime.timedelta(seconds=seconds), _FIRST_DEADLINE)
    return action.evolve(deadline=deadline, not_before=min(action.not_before, deadline))


def ends_repeated_run(before: Action, after: Action) -> bool:
    """Return whether a change ends one run of a repeated action."""
    # Only the end of a run sets an end time, and the next start removes it.
    return (
        after.status == states.READY
        and after.end_time is not None
        and after.end_time != before.end_time
    )


def fail_lost_run(
    action: Action, message: str, fault: outcomes.Fault, now: datetime.datetime
) -> Conclusion:
    """Return the conclusion of an action whose run was lost with its worker.

    It is FAILED, or READY for its next run if it is repeated.
    """
    done = _repeat_or_end(action, states.FAILED, message, now)
    return Conclusion(done.action, fault_detail(fault))


def _end(
    action: Action,
    status: str,
    message: str | None,
    now: datetime.datetime,
    outputs: Mapping[str, Any] | None = None,
) -> Action:
    return action.evolve(
        status=status,
        status_message=truncate(message),
        owner=None,
        token=None,
        end_time=now,
        deadline=None,
        updated_at=now,
        outputs=outputs if outputs is not None else action.outputs,
    )


def _ready(
    action: Action,
    now: datetime.datetime,
    delay: float,
    message: str | None,
    outputs: Mapping[str, Any] | None = None,
) -> Action:
    return action.evolve(
        status=states.READY,
        status_message=truncate(message or None),
        owner=None,
        token=None,
        # The next run starts with `pre_condition`.
        phase=RUN if action.phase in (CHECK, COMPLETE) else action.phase,
        not_before=now + datetime.timedelta(seconds=delay) if delay > 0 else EPOCH,
        deadline=None,
        outputs=outputs if outputs is not None else action.outputs,
        updated_at=now,
    )


def _backoff(action: Action) -> float:
    """Return the shortest delay of the next try, in seconds.

    The second try comes at once. Later ones back off, because an action that is tried
    forever must not keep the database and the notifications busy.
    """
    before = min(action.attempt - 2, 20)
    return 0.0 if before < 0 else min(FIRST_PAUSE * 2.0**before, LONGEST_PAUSE)


def _repeat_or_end(
    action: Action,
    status: str,
    message: str | None,
    now: datetime.datetime,
    outcome: outcomes.Done | outcomes.Failed | None = None,
) -> Conclusion:
    """Return a repeated action as READY with the message of its run, others as ended.

    A run that was skipped or failed is followed by the next one as well.

    The next run starts `interval` seconds after the start of this one, or at once
    if this one took longer; a run may set another time instead, or be the last.
    """
    outcome = outcome or outcomes.Done()
    outputs = outcome.outputs
    if outcome.again_at is None and (action.interval <= 0 or outcome.last):
        return Conclusion(_end(action, status, message, now, outputs))
    # For a run that ended before its start the interval counts from its end.
    started = action.start_time if action.status in states.STARTED else None
    since_start = (now - (started or now)).total_seconds()
    again = _ready(action, now, action.interval - since_start, message, outputs)
    if outcome.again_at is not None:
        again = again.evolve(not_before=max(outcome.again_at, EPOCH))
    # Lost workers count for one run only.
    return Conclusion(again.evolve(end_time=now, recoveries=0))


def is_late_skip_success(action: Action) -> bool:
    """Return whether a skip of a further run means that the action succeeded.

    An action that has started is never SKIPPED: its start was notified, and a rollback
    must revert it. In phase RUN its former run may have taken effect, which is the
    usual reason for a skip: the action continues with its post_condition. In phase
    CHECK `is_applied` has denied the effect, and the skip is a failure. A repeated
    action between two runs is READY again in any case.
    """
    started = action.start_time is not None and not _is_between_runs(action)
    return started and action.phase == RUN


def _is_between_runs(action: Action) -> bool:
    """Return whether the last run of a repeated action has ended."""
    return action.interval > 0 and action.end_time is not None


def _skip(action: Action, reason: str, step: str, now: datetime.datetime) -> Conclusion:
    reason = reason.strip() or ActionSkipException.DEFAULT
    if step != PRE_CONDITION:
        reason = f'{step} returned Skipped ({reason}), which only pre_condition may'
        return _fail(action, outcomes.Failed(reason), step, now)
    if action.start_time is not None and not _is_between_runs(action):
        reason = SKIPPED_LATE_UNAPPLIED.format(reason)
        return _fail(action, outcomes.Failed(reason), step, now)
    message = SKIPPED_AUTOMATICALLY_BECAUSE.format(reason)
    return _repeat_or_end(action, states.SKIPPED, message, now)


def _fail(
    action: Action, failed: outcomes.Failed, step: str, now: datetime.datetime
) -> Conclusion:
    # The message of a policy is complete, as clients expect it.
    message = failed.reason
    if step != POLICIES:
        message = FAILED_IN.format(step, failed.reason)
    fault = failed.fault
    if fault is None:
        fault = outcomes.Fault('ActionFailed', failed.reason, action.action_type, step)
    done = _repeat_or_end(action, states.FAILED, message, now, failed)
    return Conclusion(done.action, fault_detail(fault))


#: Seconds, ten years: the sum with a later date could overflow.
MAX_DELAY = 315_360_000


def validated(outcome: Outcome) -> Outcome:
    """Return the outcome, or a failure if the outcome is not valid."""
    if isinstance(outcome, outcomes.Done) and (
        outcome.outputs is None and outcome.again_at is None
    ):
        return outcome
    problem = _problem(outcome)
    if problem is None:
        return _sanitize_reason(outcome)
    return outcomes.Failed(f'its {type(outcome).__name__} {problem}')


def json_problem(value: object) -> str | None:
    """Return why and where a value cannot be stored as JSON, or None if it can."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        # Traversing the value is slow, and needed only for the message.
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
            problem = json_problem(token)
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
    problem = json_problem(outputs)
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
    """Return why `again_at` is invalid, or None if it is valid."""
    if time is None:
        return None
    if not isinstance(time, datetime.datetime) or time.tzinfo is None:
        return 'has an again_at that is not a datetime with a time zone'
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
                    f'has an action {action.key} with a parent {key} that does not '
                    'exist'
                )
    cycles = graph.find_cycles(indexed(actions), limit=1)
    if cycles:
        names = ', '.join(actions[at].key for at in cycles[0])
        return f'has actions that wait for each other: {names}'
    return None


def indexed(actions: Sequence[DerivedAction]) -> list[list[int]]:
    """Return the graph of derived actions: the indexes of the parents of each."""
    index = {action.key: at for at, action in enumerate(actions)}
    return [[index[key] for key in action.parents] for action in actions]


def _action_problem(action: Any) -> str | None:
    if not isinstance(action, DerivedAction):
        return f'has {json_values.kind(action)} instead of a DerivedAction'
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
    problem = json_problem(action.inputs)
    if problem:
        return f'has an action {action.key} whose inputs are not JSON: {problem}'
    return None


def _sanitize_reason(outcome: Any) -> Any:
    """Return the outcome with a reason that databases can store."""
    reason = getattr(outcome, 'reason', None)
    if reason is None or json_values.text_problem(reason) is None:
        return outcome
    changes: dict[str, Any] = {'reason': _sanitize(reason)}
    fault = getattr(outcome, 'fault', None)
    if fault is not None:
        cleaned = [_sanitize(text) for text in dataclasses.astuple(fault)]
        changes['fault'] = Fault(*cleaned)
    return dataclasses.replace(outcome, **changes)


def _sanitize(text: str) -> str:
    return text.replace('\0', '?').encode('utf-8', 'replace').decode('utf-8')
