"""The steps of one attempt of an action.

The runner decides and writes nothing. `prepare` runs the steps before the start,
`perform` the steps from the start to the end; in between, the committer makes RUNNING
durable. Both return a `Conclusion`.

Whatever a plugin does, only its own action is harmed: any exception, SystemExit
included, is that action's failure.
"""

import dataclasses
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT, RUN, Action, cut
from watcherlite.execution import deadlines, results
from watcherlite.execution.context import TIMEOUT, Context, LeaseTime
from watcherlite.execution.in_flight import Attempt, AttemptServices, Checkpoints
from watcherlite.execution.policy_chain import (
    ERROR,
    OK,
    PolicyChain,
    PolicyCheckFailed,
)
from watcherlite.execution.ports import ActionTypes, AdmissionCheck
from watcherlite.execution.results import Conclusion, validated
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.execution.services import CoreServices
from watcherlite.plugins.base import ActionType, DerivedResult
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: What ends the work of an action.
_ENDS = outcomes.Done | outcomes.Failed | outcomes.Cancelled | outcomes.TimedOut

Answer = TypeVar('Answer')


class _TriedTooLong(exceptions.TimedOut):
    """The timeout of an action was over before a further try of it could begin."""

    def __init__(self, action: Action) -> None:
        tries = action.attempt - 1
        text = f'it ran longer than its timeout, which covers all tries; it had {tries}'
        if action.status_message:
            text += f', and the last one said: {action.status_message}'
        super().__init__(text)


@dataclasses.dataclass(frozen=True, slots=True)
class StepResult:
    """The outcome of an attempt after one of its steps.

    :param step: the step that the outcome is of, as status messages name it
    :param raised: the plugin raised it: there is no post_condition
    """

    outcome: outcomes.Outcome
    step: str
    raised: bool = False


PrepareStep = Callable[[Attempt], outcomes.Outcome | None]
PerformStep = Callable[[Attempt, StepResult], StepResult]


class Runner:
    """Runs the steps of actions in the thread that calls it.

    :param lease: of the worker; None: there is none that could end
    :param admission: an action that it blocks is skipped
    """

    def __init__(
        self,
        services: CoreServices,
        types: ActionTypes,
        policies: PolicyChain,
        checkpoints: Checkpoints,
        lease: LeaseTime | None = None,
        admission: AdmissionCheck | None = None,
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._settings = services.settings
        self._types = types
        self._policies = policies
        self._lease = lease
        self._attempts = AttemptServices(services.clock, types, checkpoints, lease)
        self._admission = admission
        first = (self.instantiate, self.check_time_left)
        checked = (
            *first,
            self.validate_inputs,
            self.check_admission,
            self.run_pre_policies,
        )
        #: phase -> the steps before the start
        self._preparation: Mapping[str, Sequence[PrepareStep]] = {
            RUN: (*checked, self.run_pre_condition),
            CHECK: (*checked, self.check_applied, self.run_pre_condition),
            REVERT: first,
            COMPLETE: (self.instantiate,),
        }
        #: the steps from the durable start to the end
        self._performance: Sequence[PerformStep] = (
            self.run_phase,
            self.run_post_policies,
            self.run_post_condition,
        )
        #: phase -> what the plugin does for it
        self._phases: Mapping[str, Callable[[Attempt], outcomes.Outcome]] = {
            RUN: self._execute,
            CHECK: self._execute,
            REVERT: self._revert,
            COMPLETE: self._complete,
        }

    def make_attempt(self, action: Action, plan_uuid: str | None) -> Attempt:
        """Return a new attempt of an action."""
        return Attempt(action, plan_uuid, self._attempts)

    # before the action counts as started

    def prepare(self, attempt: Attempt) -> Conclusion:
        """Run the steps before the start.

        :returns: the action as RUNNING, or its end if a step decides so
        """
        action = attempt.action
        if attempt.context.signal == states.CANCEL:
            return self._end_cancelled(attempt)
        outcome, step = self._run_preparation(attempt)
        # It may wait for a thread now, which does not count.
        left = attempt.context.stop_clock()
        if (
            isinstance(outcome, outcomes.Skipped)
            and step == results.PRE_CONDITION
            and results.skipped_late(action)
        ):
            attempt.applied = True
            attempt.skip_reason = outcome.reason
            outcome = None
        if outcome is None:
            return Conclusion(results.start(action, self._clock.now(), attempt.data))
        self._release_policies(attempt, outcome)
        return self._conclude(attempt, outcome, step, left)

    def _run_preparation(self, attempt: Attempt) -> tuple[outcomes.Outcome | None, str]:
        """Run the steps of `_preparation` up to the first that ends the action."""
        try:
            for step in self._preparation[attempt.action.phase]:
                outcome = step(attempt)
                if outcome is not None:
                    return outcome, results.PRE_CONDITION
        except BaseException as error:  # a plugin may raise anything
            name = results.PRE_CONDITION
            if isinstance(error, PolicyCheckFailed):
                name = results.POLICIES
            if isinstance(error, _TriedTooLong):
                name = results.EXECUTE
            return self._failure(attempt, error, name), name
        return None, results.PRE_CONDITION

    def instantiate(self, attempt: Attempt) -> None:
        """Have the plugin made, and set the deadline of an attempt."""
        attempt.plugin()
        # The steps before the start have a deadline, too; the start sets it anew.
        left = deadlines.timeout_of(attempt.action, self._settings)
        if attempt.action.phase != COMPLETE:
            left = deadlines.seconds_left(
                attempt.action, self._clock.now(), self._settings
            )
        attempt.context.set_deadline(max(0.0, left))

    def check_time_left(self, attempt: Attempt) -> None:
        """Raise TimedOut if the timeout was over before this try."""
        if attempt.context.remaining() == 0.0:
            raise _TriedTooLong(attempt.action)

    def validate_inputs(self, attempt: Attempt) -> None:
        """Raise InvalidInput for inputs that the plugin does not accept."""
        self._types.validate_inputs(attempt.plugin(), attempt.action.inputs)

    def check_admission(self, attempt: Attempt) -> outcomes.Outcome | None:
        """Skip an action whose target is locked for the time being."""
        # What has begun before its worker was lost has to come to its end.
        if self._admission is None or attempt.action.start_time is not None:
            return None
        reason = self._retry(
            attempt,
            functools.partial(self._admission.blocking_reason, attempt.action),
        )
        return None if reason is None else outcomes.Skipped(reason)

    def run_pre_policies(self, attempt: Attempt) -> None:
        """Run `pre_op` of the policies; raises PolicyCheckFailed."""
        self._policies.before(attempt)
        attempt.context.checkpoint()

    def check_applied(self, attempt: Attempt) -> None:
        """Ask the plugin whether its effect is there from an earlier run."""
        attempt.applied = bool(attempt.plugin().is_applied(attempt.context))

    def run_pre_condition(self, attempt: Attempt) -> outcomes.Outcome | None:
        """Run `pre_condition` of the plugin, unless its effect is there."""
        if attempt.applied:
            return None
        context = attempt.context
        returned = attempt.plugin().pre_condition(context)
        if returned is None or returned is True:
            context.checkpoint()
            return None
        outcome = validated(outcomes.from_returned(returned, results.PRE_CONDITION))
        if isinstance(outcome, outcomes.Done):
            return None
        if isinstance(outcome, outcomes.Derived | outcomes.InProgress):
            return outcomes.Failed(
                f'pre_condition returned {type(outcome).__name__}; only execute may'
            )
        return outcome

    def _release_policies(self, attempt: Attempt, outcome: outcomes.Outcome) -> None:
        """Notify the policies that were asked of an end before the start."""
        if not attempt.has_plugin or not isinstance(outcome, _ENDS | outcomes.Skipped):
            return
        if self._is_lost():
            return
        try:
            if _may_have_policies(attempt.action):
                self._policies.after(attempt, ERROR)
            else:
                self._policies.release(attempt)
        except BaseException:  # a plugin may raise anything
            LOG.exception(
                'Action %s (%s) ends before its start; not all of its policies were '
                'told, look after what they have changed',
                attempt.action.uuid,
                attempt.action.action_type,
            )

    def _end_cancelled(self, attempt: Attempt) -> Conclusion:
        """Return the end of an action that was cancelled and has no work under way."""
        result = StepResult(outcomes.Cancelled(), results.PRE_CONDITION)
        if _may_have_policies(attempt.action):
            try:
                self.instantiate(attempt)
                result = self.run_post_policies(attempt, result)
            except BaseException:  # a plugin may raise anything
                LOG.exception(
                    'Action %s (%s) is cancelled; its policies were not told',
                    attempt.action.uuid,
                    attempt.action.action_type,
                )
        return self._conclude(attempt, result.outcome, result.step)

    def cancel_untouched(self, attempt: Attempt) -> Conclusion | None:
        """Return the end of a cancelled action that nobody has begun to prepare.

        None if its policies have to be told, which takes a thread.
        """
        if _may_have_policies(attempt.action):
            return None
        return self._conclude(attempt, outcomes.Cancelled(), results.PRE_CONDITION)

    def adopt(self, attempt: Attempt) -> Conclusion | None:
        """Make an attempt that is InProgress ready for `poll` or `cancel` here.

        Called at a worker that took it over. Returns its failure if its plugin
        cannot be made here.
        """
        action, passed = attempt.action, 0.0
        try:
            self.instantiate(attempt)
        except BaseException as error:  # a plugin may raise anything
            failure = self._failure(attempt, error, results.EXECUTE)
            return self._conclude(attempt, failure, results.EXECUTE)
        # How long one was suspended is not known: it gets its whole time again.
        if action.start_time is not None and action.status == states.RUNNING:
            passed = (self._clock.now() - action.start_time).total_seconds()
        self._begin(attempt, max(0.0, passed))
        attempt.executing = True
        return None

    # from the durable start to the end

    def perform(self, attempt: Attempt) -> Conclusion:
        """Run the steps from the durable start to the end."""
        if not attempt.executing:
            attempt.executing = True
            self._begin(attempt)
        if self._is_suspended_before_start(attempt):
            return self._suspend(attempt)
        reverts = attempt.action.phase == REVERT
        result = StepResult(
            outcomes.Done(), results.REVERT_STEP if reverts else results.EXECUTE
        )
        for step in self._performance:
            result = step(attempt, result)
        return self._conclude(attempt, result.outcome, result.step)

    def run_phase(self, attempt: Attempt, result: StepResult) -> StepResult:
        """Let the plugin execute, poll, complete or revert."""
        try:
            outcome = validated(self._run_phase(attempt))
        except BaseException as error:  # a plugin may raise anything
            outcome = self._stopped_outcome(attempt, error, result.step)
            return StepResult(outcome, result.step, raised=True)
        return StepResult(outcome, result.step)

    def run_post_policies(self, attempt: Attempt, result: StepResult) -> StepResult:
        """Run `post_op` of the policies once the work has ended, well or not."""
        context, outcome = attempt.context, result.outcome
        if not isinstance(outcome, _ENDS) or self._is_lost():
            return result
        said = ERROR
        if isinstance(outcome, outcomes.Done):
            said, context.outputs = OK, outcome.outputs
        try:
            self._policies.after(attempt, said)
        except (exceptions.Cancelled, exceptions.TimedOut) as error:
            failure = self._failure(attempt, error, result.step)
            return dataclasses.replace(result, outcome=failure)
        except BaseException as error:  # a plugin may raise anything
            return self._failed_after(attempt, result, error, results.POLICIES)
        return result

    def run_post_condition(self, attempt: Attempt, result: StepResult) -> StepResult:
        """Run `post_condition` of the plugin; a first failure keeps its reason."""
        if result.raised or result.step in (results.POLICIES, results.REVERT_STEP):
            return result
        if not isinstance(result.outcome, outcomes.Done | outcomes.Failed):
            return result
        try:
            attempt.plugin().post_condition(attempt.context)
        except (exceptions.Cancelled, exceptions.TimedOut) as error:
            outcome = self._stopped_outcome(attempt, error, result.step)
            return dataclasses.replace(result, outcome=outcome)
        except BaseException as error:  # a plugin may raise anything
            return self._failed_after(attempt, result, error, results.POST_CONDITION)
        return result

    def _failed_after(
        self, attempt: Attempt, result: StepResult, error: BaseException, later: str
    ) -> StepResult:
        """Return the result of an action of which a later step has failed."""
        failure = self._failure(attempt, error, later)
        if not isinstance(result.outcome, outcomes.Done):
            return result
        if isinstance(failure, outcomes.Failed):
            failure = dataclasses.replace(failure, outputs=result.outcome.outputs)
        return dataclasses.replace(result, outcome=failure, step=later)

    def _is_suspended_before_start(self, attempt: Attempt) -> bool:
        """Return whether an action is to be suspended before it does anything."""
        signal = attempt.context.signal
        begun = attempt.applied or attempt.action.token is not None
        return signal == states.SUSPEND and not begun

    def _suspend(self, attempt: Attempt) -> Conclusion:
        """Return an action as it is suspended, which takes no thread."""
        attempt.remaining = attempt.context.stop_clock()
        now = self._clock.now()
        paused = deadlines.change_status(attempt.action, states.SUSPENDED, now)
        return Conclusion(paused.evolve(updated_at=now))

    def _stopped_outcome(
        self, attempt: Attempt, error: BaseException, step: str
    ) -> outcomes.Outcome:
        """Return the outcome of a step that raised, whose work outside is stopped."""
        stopped = isinstance(error, exceptions.Cancelled | exceptions.TimedOut)
        if stopped and attempt.action.token is not None:
            # It was about to be polled, or just was.
            self._stop_outside(attempt)
        return self._failure(attempt, error, step)

    def cancel(self, attempt: Attempt, outcome: outcomes.Outcome) -> Conclusion:
        """End an action that no thread works on, and its work outside."""
        if attempt.action.token is not None:
            self._stop_outside(attempt)
        result = StepResult(outcome, results.EXECUTE)
        result = self.run_post_policies(attempt, result)
        return self._conclude(attempt, result.outcome, result.step)

    def _is_lost(self) -> bool:
        """Return whether the lease is over, so that others end what was ours."""
        return self._lease is not None and self._lease.left() <= 0

    def _stop_outside(self, attempt: Attempt) -> None:
        if self._is_lost():
            return
        try:
            attempt.plugin().cancel(attempt.context, attempt.action.token)
        except BaseException:  # it ends in any case
            LOG.exception(
                'Action %s (%s): stopping the work outside failed; the action is '
                'ended all the same, look after its target',
                attempt.action.uuid,
                attempt.action.action_type,
            )

    def _begin(self, attempt: Attempt, passed: float = 0.0) -> None:
        """Set the clock of an attempt going: its timeout counts from here."""
        attempt.context.begin()
        left = deadlines.seconds_left(
            attempt.action, self._clock.now(), self._settings, passed
        )
        attempt.context.set_deadline(max(0.0, left))

    def _run_phase(self, attempt: Attempt) -> outcomes.Outcome:
        context, action = attempt.context, attempt.action
        if attempt.applied:
            return outcomes.Done(action.outputs)
        if action.token is not None and context.signal == states.SUSPEND:
            # It came after its turn: it is paused outside, where it takes no thread.
            return outcomes.InProgress(action.token, 0.0)
        if context.signal is not None or action.token is not None:
            context.checkpoint()
        if action.token is not None:
            returned = attempt.plugin().poll(context, action.token)
            return outcomes.from_returned(returned, 'poll')
        return self._phases[action.phase](attempt)

    def _execute(self, attempt: Attempt) -> outcomes.Outcome:
        plugin, context = attempt.plugin(), attempt.context
        outcome = outcomes.from_returned(plugin.execute(context))
        if isinstance(outcome, outcomes.Derived) and not outcome.actions:
            # There is nothing whose end would wake it.
            return _complete(plugin, context, ())
        return outcome

    def _complete(self, attempt: Attempt) -> outcomes.Outcome:
        plugin, context = attempt.plugin(), attempt.context
        action = attempt.action
        ends = self._retry(attempt, functools.partial(self._load_results, action))
        if deadlines.is_expired(action, ends, self._clock.now()):
            return outcomes.from_returned(plugin.overdue(context, ends), 'overdue')
        outcome = _complete(plugin, context, ends)
        again = isinstance(outcome, outcomes.Derived) and outcome.timeout is None
        over = again and action.deadline == deadlines.EXPIRED
        return outcomes.TimedOut() if over else outcome

    def _revert(self, attempt: Attempt) -> outcomes.Outcome:
        plugin, context = attempt.plugin(), attempt.context
        # The outputs of the run that is undone travel in `data`.
        context.outputs = attempt.action.data.get('outputs')
        return outcomes.from_returned(plugin.revert(context), 'revert')

    def _load_results(self, action: Action) -> Sequence[DerivedResult]:
        # Not those of the runs before this one.
        found = self._store.derived_actions(action.id, action.start_time)
        return [results.DerivedEnd.of(child) for child in found]

    def _retry(self, attempt: Attempt, call: Callable[[], Answer]) -> Answer:
        """Repeat a store call while the database is unavailable."""
        subject = f'Action {attempt.action.uuid}'
        return retry_while_unavailable(attempt.context, subject, call)

    # both

    def _conclude(
        self,
        attempt: Attempt,
        outcome: outcomes.Outcome,
        step: str,
        left: float | None = None,
    ) -> Conclusion:
        """Return what becomes of an action after a step had this outcome.

        :param left: seconds left of its timeout, if its clock is stopped
        """
        action, now = attempt.action, self._clock.now()
        signal = attempt.context.signal
        outcome = _with_fault(attempt, outcome, step)
        concluded = results.conclude(action, outcome, step, now, attempt.data)
        status = concluded.action.status
        if status == states.SUCCEEDED and attempt.skip_reason is not None:
            text = cut(results.SKIPPED_LATE.format(attempt.skip_reason))
            explained = concluded.action.evolve(status_message=text)
            concluded = dataclasses.replace(concluded, action=explained)
        if isinstance(outcome, outcomes.Derived):
            until = deadlines.wait_deadline(
                action, outcome, attempt.context, now, self._settings
            )
            waiting = concluded.action.evolve(deadline=until)
            concluded = dataclasses.replace(concluded, action=waiting)
        elif isinstance(outcome, outcomes.Retry):
            if left is None:
                left = attempt.context.remaining()
            if left is None:
                left = deadlines.timeout_of(action, self._settings)
            again = results.limit_tries(concluded.action, now, left)
            concluded = dataclasses.replace(concluded, action=again)
        if signal == states.CANCEL and status in states.NOT_STARTED:
            # It would run again, or what it derived would: that is over now.
            outcome = outcomes.Cancelled()
        elif status == action.status or states.MACHINE.allows(action.status, status):
            return concluded
        else:
            # It was suspended, and caught what ended that.
            late = signal == TIMEOUT
            outcome = outcomes.TimedOut() if late else outcomes.Cancelled()
        return results.conclude(action, outcome, step, now, attempt.data)

    def _failure(
        self, attempt: Attempt, error: BaseException, step: str
    ) -> outcomes.Outcome:
        """Return the outcome that an exception stands for."""
        if isinstance(error, exceptions.Cancelled):
            return outcomes.Cancelled()
        if isinstance(error, exceptions.TimedOut):
            late = isinstance(error, _TriedTooLong)
            return outcomes.TimedOut(str(error)) if late else outcomes.TimedOut()
        try:
            fault = outcomes.fault_of(error)
        except BaseException:  # even its text is a plugin's code
            name = type(error).__name__
            fault = outcomes.Fault(name, name, '', '')
        if isinstance(error, exceptions.ActionSkipException):
            return validated(outcomes.Skipped(fault.message))
        if isinstance(error, exceptions.WatcherliteError):
            # By contract: something outside is not as it should be, and it says what.
            _log_failure(attempt.action, step, ' '.join(fault.message.split()))
        else:
            # Its public text is its class; the log has it all.
            _log_failure(attempt.action, step, fault.message, error)
        return validated(outcomes.Failed(fault.message, fault))


def _may_have_policies(action: Action) -> bool:
    """Return whether policies may have been asked about this run before it was taken.

    They were before a former try of it, and may have been by a worker that was lost.
    """
    started = action.start_time is not None and action.end_time is None
    return action.phase == COMPLETE or action.recoveries > 0 or started


def _with_fault(
    attempt: Attempt, outcome: outcomes.Outcome, step: str
) -> outcomes.Outcome:
    """Return a failure that a plugin reported by a value with the plugin's name."""
    if not isinstance(outcome, outcomes.Failed) or outcome.fault is not None:
        return outcome
    if not attempt.has_plugin or step == results.POLICIES:
        return outcome
    kind = type(attempt.plugin())
    place = f'{kind.__qualname__}.{step}'
    fault = outcomes.Fault('ActionFailed', outcome.reason, kind.__module__, place)
    return dataclasses.replace(outcome, fault=fault)


def _log_failure(
    action: Action, step: str, message: str, unexpected: BaseException | None = None
) -> None:
    """Say that an action failed; of what nobody expects, where in the code."""
    about = [action.action_type, action.name, action.target]
    LOG.log(
        logging.WARNING if unexpected is None else logging.ERROR,
        'Action %s (%s) failed in %s: %s; %s',
        action.uuid,
        ', '.join(part for part in about if part),
        step,
        message,
        'who asked for it is told, and may ask again once that is put right'
        if action.plan_id is None
        else 'its plan goes on by its rules',
        exc_info=unexpected,
    )


def _complete(
    kind: ActionType, context: Context, derived: Sequence[DerivedResult]
) -> outcomes.Outcome:
    completed = kind.complete(context, derived)
    if completed is None:
        return default_completion(derived)
    return outcomes.from_returned(completed, 'complete')


def default_completion(derived: Sequence[DerivedResult]) -> outcomes.Outcome:
    """Say how an action went by how what it derived went."""
    failed = [result for result in derived if result.status == states.FAILED]
    if failed:
        names = ', '.join(
            f'{result.key} ({result.status_message})' for result in failed
        )
        return outcomes.Failed(f'derived actions failed: {names}')
    if any(result.status == states.CANCELLED for result in derived):
        return outcomes.Cancelled('A derived action was cancelled.')
    return outcomes.Done()
