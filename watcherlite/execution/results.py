"""From what a run said to what becomes of the action: the one table.

Everything here is pure: it takes the action and an outcome, and returns the
action as it is to be stored. Texts of status messages are in decisions.md.
"""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.clock import EPOCH
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, RUN, Action, cut
from watcherlite.states import action as states

# The steps that a failure can be in, as status messages name them
PRE_CONDITION = 'pre_condition'
EXECUTE = 'execute'
POST_CONDITION = 'post_condition'
POLICIES = 'policies'
REVERT_STEP = 'revert'

#: outcome -> the status that an executed action takes, and why
STATUS: dict[type, tuple[str, str]] = {
    outcomes.Done: (states.SUCCEEDED, 'it did what it should'),
    outcomes.Failed: (states.FAILED, 'it did not'),
    outcomes.TimedOut: (states.FAILED, 'it did not in time (spec 001: TIMEOUT)'),
    outcomes.Cancelled: (states.CANCELLED, 'it heeded a CANCEL'),
    outcomes.Skipped: (states.SKIPPED, 'it does not apply: before execute only'),
    outcomes.Retry: (states.READY, 'another try, by any worker (spec 001: RETRY)'),
    outcomes.Derived: (states.WAITING, 'it waits for what it derived'),
    outcomes.InProgress: (states.RUNNING, 'the work goes on outside'),
}

SKIPPED_AUTOMATICALLY = 'Action was skipped automatically'
SKIPPED_AUTOMATICALLY_BECAUSE = 'Action was skipped automatically: {}'
SKIPPED_BY_USER = 'Action skipped by user.'
SKIPPED_BY_USER_BECAUSE = 'Action skipped by user. Reason: {}'
FAILED_IN = 'Action failed in {}: {}'
CANCELLED_RUNNING = 'Action was cancelled while it ran.'
CANCELLED_UNSTARTED = 'Action was cancelled before it started.'
STOPPED_UNSTARTED = 'Action was not started because another action of its plan failed.'
WORKER_LOST = (
    'Outcome unknown: worker {} was lost while the action ran, and its type '
    'cannot tell whether it took effect.'
)
WORKER_LOST_TOO_OFTEN = (
    'Worker {} was lost while the action ran; it is not tried again after {}.'
)
WORKER_LOST_PLAN_ENDS = (
    'Worker {} was lost while the action ran, and its plan is not to go on then.'
)
PARENT_FAILED = 'Not started: an action that it needs the success of did not succeed.'

#: Seconds between two tries, at least: before the third one, and in the end.
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0


@dataclasses.dataclass(frozen=True, slots=True)
class Conclusion:
    """What is to be stored after a step.

    :param action: as it is to become
    :param detail: for the event: `fault`, ...; None when there is nothing
    :param derived: what the action asked for
    :param delay: seconds until an action that is InProgress is polled
    """

    action: Action
    detail: Mapping[str, Any] | None = None
    derived: tuple[outcomes.DerivedAction, ...] = ()
    delay: float = 0.0


def fault_detail(fault: outcomes.Fault | None) -> dict[str, Any] | None:
    """Return the detail of an event that tells of a failure."""
    return {'fault': dataclasses.asdict(fault)} if fault is not None else None


def start(
    action: Action, now: datetime.datetime, data: Mapping[str, Any] | None = None
) -> Action:
    """Return the action as RUNNING.

    Its start time is that of the last start (spec 001), except that waiting for
    derived actions does not start it anew.
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
    """Return what becomes of an action after a step had this outcome.

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
        case outcomes.Retry(reason=reason, delay=delay):
            delay = max(delay, _pause(action))
            return Conclusion(_ready(action, now, delay, reason))
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
            # It came back, so that it is none that costs its workers their lives.
            going = action.evolve(token=token, recoveries=0, updated_at=now)
            return Conclusion(going, delay=delay)


def cancelled_text(action: Action, unstarted: str) -> str:
    """Return the message of a cancelled action.

    :param unstarted: what it is for one that never ran
    """
    if action.status in states.NOT_STARTED and action.phase != COMPLETE:
        return unstarted
    return CANCELLED_RUNNING


def conclude_unstarted(action: Action, message: str, now: datetime.datetime) -> Action:
    """Return an action that was about to start as CANCELLED."""
    return _end(action, states.CANCELLED, cancelled_text(action, message), now)


def repeated(before: Action, after: Action) -> bool:
    """Say whether this change ends one run of a repeated action."""
    # Only the end of a run sets an end time, and its start takes it away.
    return (
        after.status == states.READY
        and after.end_time is not None
        and after.end_time != before.end_time
    )


def fail_lost_run(
    action: Action, message: str, fault: outcomes.Fault, now: datetime.datetime
) -> Conclusion:
    """Return an action whose run was lost with its worker.

    It is FAILED, unless it is repeated: then the next run comes when it is due.
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
        status_message=cut(message),
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
        status_message=cut(message or None),
        owner=None,
        token=None,
        # A run that begins again begins at its beginning.
        phase=RUN if action.phase in (CHECK, COMPLETE) else action.phase,
        not_before=now + datetime.timedelta(seconds=delay) if delay > 0 else EPOCH,
        deadline=None,
        outputs=outputs if outputs is not None else action.outputs,
        updated_at=now,
    )


def _pause(action: Action) -> float:
    """Return the seconds that another try of an action waits for at least.

    The first comes at once. Who then asks again and again, which may be for ever,
    is not to keep the database and those who hear of each try busy with it.
    """
    before = min(action.attempt - 2, 20)
    return 0.0 if before < 0 else min(FIRST_PAUSE * 2.0**before, LONGEST_PAUSE)


def _repeat_or_end(
    action: Action,
    status: str,
    message: str | None,
    now: datetime.datetime,
    said: outcomes.Done | outcomes.Failed | None = None,
) -> Conclusion:
    """A repeated action goes back to READY, and says how its last run went.

    That includes one that its pre_condition skipped or failed: what does not
    apply now may apply the next time.

    The next run starts `interval` seconds after the start of this one, at once
    when this one took longer, and never while this one runs; a run may name
    another time instead, or be the last.
    """
    said = said or outcomes.Done()
    outputs = said.outputs
    if said.again_at is not None:
        again = _ready(action, now, 0.0, message, outputs)
        again = again.evolve(not_before=max(said.again_at, EPOCH))
        return Conclusion(again.evolve(end_time=now, recoveries=0))
    if action.interval <= 0 or said.last:
        return Conclusion(_end(action, status, message, now, outputs))
    # One that ended before it started counts from its end.
    started = action.start_time if action.status in states.STARTED else None
    since_start = (now - (started or now)).total_seconds()
    delay = max(0.0, action.interval - since_start)
    again = _ready(action, now, delay, message, outputs)
    # Workers that were lost count for one run, not for all that are to come.
    return Conclusion(again.evolve(end_time=now, recoveries=0))


def _skip(action: Action, reason: str, step: str, now: datetime.datetime) -> Conclusion:
    if step != PRE_CONDITION:
        reason = f'{step} said Skipped ({reason}), which only pre_condition may'
        return _fail(action, outcomes.Failed(reason), step, now)
    message = SKIPPED_AUTOMATICALLY_BECAUSE.format(reason)
    return _repeat_or_end(action, states.SKIPPED, message, now)


def _fail(
    action: Action, failed: outcomes.Failed, step: str, now: datetime.datetime
) -> Conclusion:
    # What policies refuse says so itself, as clients know it.
    message = failed.reason
    if step != POLICIES:
        message = FAILED_IN.format(step, failed.reason)
    fault = failed.fault
    if fault is None:
        fault = outcomes.Fault('ActionFailed', failed.reason, action.action_type, step)
    done = _repeat_or_end(action, states.FAILED, message, now, failed)
    return Conclusion(done.action, fault_detail(fault))
