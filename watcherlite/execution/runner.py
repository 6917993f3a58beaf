"""The runner, which runs the steps of one attempt of an action.

`prepare` runs the steps before the start, `perform` the steps from the start to the
end; in between, the committer makes RUNNING durable. Both return a `Conclusion`, and
write nothing. Any exception of a plugin, SystemExit included, fails its action only.

The steps are coroutines that suspend only for those of plugins, see `steps`.
"""

import dataclasses
import functools
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT, RUN, Action, truncate
from watcherlite.execution import deadlines, results
from watcherlite.execution.action_logs import LogSink
from watcherlite.execution.context import TIMEOUT, LeaseTime
from watcherlite.execution.coroutines.steps import (
    COROUTINE,
    ENDING,
    STEPS,
    OnLoop,
    Steps,
    enter_pool_of,
    hook_kind,
)
from watcherlite.execution.in_flight import Attempt, AttemptServices, Checkpoints
from watcherlite.execution.policy_chain import (
    ERROR,
    OK,
    PolicyChain,
    PolicyCheckFailed,
    PolicyDelay,
    PolicyWait,
)
from watcherlite.execution.ports import ActionTypes, AdmissionCheck
from watcherlite.execution.results import Conclusion, validated
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.execution.services import CoreServices
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The outcomes that end the work of an action.
_ENDS = outcomes.Done | outcomes.Failed | outcomes.Cancelled | outcomes.TimedOut

Answer = TypeVar('Answer')


class _AttemptsTimedOut(exceptions.TimedOut):
    """The timeout of an action, which covers all tries, ended before this one."""

    def __init__(self, action: Action) -> None:
        tries = action.attempt - 1
        text = f'it ran longer than its timeout, which covers all tries; it had {tries}'
        if action.status_message:
            text += f', and the last one reported: {action.status_message}'
        super().__init__(text)


@dataclasses.dataclass(frozen=True, slots=True)
class StepResult:
    """The outcome of an attempt after one of its steps.

    :param step: the step of the outcome, as status messages name it
    :param raised: whether the plugin raised it, so that there is no post_condition
    """

    outcome: outcomes.Outcome
    step: str
    raised: bool = False


PrepareStep = Callable[[Attempt], Coroutine[Any, Any, outcomes.Outcome | None]]
PerformStep = Callable[[Attempt, StepResult], Coroutine[Any, Any, StepResult]]


class Runner:
    """Runs the steps of actions in the threads that drive them.

    :param lease: of the worker; None: it never ends
    :param admission: actions that it blocks are skipped
    :param logs: stores the logs of actions; None: they are dropped
    """

    def __init__(
        self,
        services: CoreServices,
        types: ActionTypes,
        policies: PolicyChain,
        checkpoints: Checkpoints,
        lease: LeaseTime | None = None,
        admission: AdmissionCheck | None = None,
        logs: LogSink | None = None,
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._settings = services.settings
        self._types = types
        self._policies = policies
        self._lease = lease
        self._attempts = AttemptServices(
            services.clock,
            types,
            checkpoints,
            lease,
            logs,
            services.timers,
            services.settings,
        )
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
        #: phase -> the call of the plugin
        self._phases: Mapping[str, Callable[[Attempt], Steps[outcomes.Outcome]]] = {
            RUN: self._execute,
            CHECK: self._execute,
            REVERT: self._revert,
            COMPLETE: self._complete,
        }

    def make_attempt(self, action: Action, plan_uuid: str | None) -> Attempt:
        """Return a new attempt of an action."""
        return Attempt(action, plan_uuid, self._attempts)

    # before the action counts as started

    async def prepare(self, attempt: Attempt) -> Conclusion:
        """Run the steps before the start.

        :returns: the action as RUNNING, or its end if a step ended it
        """
        action = attempt.action
        if attempt.context.signal == states.CANCEL:
            return await self._end_cancelled(attempt)
        outcome, step = await self._run_preparation(attempt)
        # The action may wait for a thread now, which does not count.
        left = attempt.context.stop_clock()
        if (
            isinstance(outcome, outcomes.Skipped)
            and step == results.PRE_CONDITION
            and results.is_late_skip_success(action)
        ):
            attempt.applied = True
            attempt.skip_reason = outcome.reason
            outcome = None
        if outcome is None:
            return Conclusion(results.start(action, self._clock.now(), attempt.data))
        await self._release_policies(attempt, outcome)
        conclusion = self._conclude(attempt, outcome, step, left)
        if step == results.POLICIES and isinstance(outcome, outcomes.Retry):
            # Whether it has taken effect was not checked yet.
            again = conclusion.action.evolve(phase=action.phase)
            return dataclasses.replace(conclusion, action=again)
        return conclusion

    async def _run_preparation(
        self, attempt: Attempt
    ) -> tuple[outcomes.Outcome | None, str]:
        """Run the steps before the start, up to the first that ends the action."""
        try:
            for step in self._preparation[attempt.action.phase]:
                outcome = await step(attempt)
                if outcome is not None:
                    of_policies = step == self.run_pre_policies
                    name = results.POLICIES if of_policies else results.PRE_CONDITION
                    return outcome, name
        except BaseException as error:  # a plugin may raise anything
            if attempt.is_dropped:
                raise
            name = results.PRE_CONDITION
            if isinstance(error, PolicyCheckFailed):
                name = results.POLICIES
            if isinstance(error, _AttemptsTimedOut):
                name = results.EXECUTE
            return self._failure(attempt, error, name), name
        return None, results.PRE_CONDITION

    def prepares_elsewhere(self, attempt: Attempt) -> bool:
        """Return whether the preparation of an attempt may leave its thread."""
        hooks = ['is_applied'] if attempt.action.phase == CHECK else []
        try:
            plugin = attempt.plugin()
            if plugin.has_pre_condition(attempt.action.inputs):
                hooks.append('pre_condition')
        except BaseException:  # a plugin may raise anything; its preparation reports it
            return False
        return any(
            plugin.blocking or hook_kind(plugin, hook) == COROUTINE for hook in hooks
        )

    async def instantiate(self, attempt: Attempt) -> None:
        """Instantiate the plugin, and set the deadline of an attempt."""
        self._instantiate(attempt)

    def _instantiate(self, attempt: Attempt) -> None:
        attempt.plugin()
        # This is the deadline of the steps before the start, which resets it.
        left = deadlines.timeout_of(attempt.action, self._settings)
        if attempt.action.phase != COMPLETE:
            left = deadlines.seconds_left(
                attempt.action, self._clock.now(), self._settings
            )
        attempt.context.set_deadline(max(0.0, left))

    async def check_time_left(self, attempt: Attempt) -> None:
        """Raise TimedOut if the timeout ended before this try."""
        if attempt.context.remaining() == 0.0:
            raise _AttemptsTimedOut(attempt.action)

    async def validate_inputs(self, attempt: Attempt) -> None:
        """Raise InvalidInput for inputs that the plugin does not accept."""
        self._types.validate_inputs(attempt.plugin(), attempt.action.inputs)

    async def check_admission(self, attempt: Attempt) -> outcomes.Outcome | None:
        """Skip an action whose target is locked by an operator."""
        # An action that had started when its worker was lost must end.
        if self._admission is None or attempt.action.start_time is not None:
            return None
        reason = self._retry(
            attempt, functools.partial(self._admission.blocking_reason, attempt.action)
        )
        return None if reason is None else outcomes.Skipped(reason)

    async def run_pre_policies(self, attempt: Attempt) -> outcomes.Outcome | None:
        """Run `pre_op` of the policies; raises PolicyCheckFailed."""
        delayed = await self._policies.run_pre_op(attempt)
        attempt.context.checkpoint()
        return None if delayed is None else delayed.as_retry()

    async def check_applied(self, attempt: Attempt) -> None:
        """Check whether an earlier run of the action has taken effect."""
        attempt.applied = bool(await self._call(attempt, 'is_applied'))

    async def run_pre_condition(self, attempt: Attempt) -> outcomes.Outcome | None:
        """Run `pre_condition` of the plugin, unless the effect exists."""
        if attempt.applied:
            return None
        context, plugin = attempt.context, attempt.plugin()
        returned: Any = None
        if plugin.has_pre_condition(attempt.action.inputs):
            returned = await self._call(attempt, 'pre_condition')
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

    async def _release_policies(
        self, attempt: Attempt, outcome: outcomes.Outcome
    ) -> None:
        """Run `post_op` of the policies whose `pre_op` ran, at an early end."""
        if not attempt.has_plugin or not isinstance(outcome, _ENDS | outcomes.Skipped):
            return
        if self._is_lost():
            return
        try:
            if _may_have_policies(attempt.action):
                delayed = await self._policies.run_post_op(attempt, ERROR)
            else:
                delayed = await self._policies.release(attempt)
            _refuse_delay(delayed)
        except BaseException:  # a plugin may raise anything
            if attempt.is_dropped:
                raise
            LOG.exception(
                'Action %s (%s) ended before its start, and post_op of its policies '
                'failed; check the changes of its policies',
                attempt.action.uuid,
                attempt.action.action_type,
            )

    async def _end_cancelled(self, attempt: Attempt) -> Conclusion:
        """Return the end of a cancelled action without work in progress."""
        result = StepResult(outcomes.Cancelled(), results.PRE_CONDITION)
        if _may_have_policies(attempt.action):
            try:
                self._instantiate(attempt)
                result = await self._run_post_policies(attempt, result, last=True)
            except BaseException:  # a plugin may raise anything
                if attempt.is_dropped:
                    raise
                LOG.exception(
                    'Action %s (%s) was cancelled, and post_op of its policies failed',
                    attempt.action.uuid,
                    attempt.action.action_type,
                )
        return self._conclude(attempt, result.outcome, result.step)

    def cancel_unprepared(self, attempt: Attempt) -> Conclusion | None:
        """Return the end of a cancelled action before its preparation.

        It returns None if policies must run, which takes a thread.
        """
        if _may_have_policies(attempt.action):
            return None
        return self._conclude(attempt, outcomes.Cancelled(), results.PRE_CONDITION)

    def adopt(self, attempt: Attempt) -> Conclusion | None:
        """Prepare an attempt of another worker for `poll` or `cancel`.

        It returns the failure of the action if its plugin cannot be instantiated.
        """
        action, passed = attempt.action, 0.0
        try:
            self._instantiate(attempt)
        except BaseException as error:  # a plugin may raise anything
            failure = self._failure(attempt, error, results.EXECUTE)
            return self._conclude(attempt, failure, results.EXECUTE)
        # The time of a suspension is not known: such an action gets its whole timeout.
        if action.start_time is not None and action.status == states.RUNNING:
            passed = (self._clock.now() - action.start_time).total_seconds()
        self._start_clock(attempt, max(0.0, passed))
        attempt.executing = True
        return None

    # from the durable start to the end

    async def perform(self, attempt: Attempt) -> Conclusion:
        """Run the steps from the durable start to the end."""
        if not attempt.executing:
            attempt.executing = True
            self._start_clock(attempt)
        if self._is_suspended_before_start(attempt):
            return self._suspend(attempt)
        reverts = attempt.action.phase == REVERT
        result = StepResult(
            outcomes.Done(), results.REVERT_STEP if reverts else results.EXECUTE
        )
        for step in self._performance:
            result = await step(attempt, result)
        return self._conclude(attempt, result.outcome, result.step)

    async def run_phase(self, attempt: Attempt, result: StepResult) -> StepResult:
        """Call execute, poll, complete or revert of the plugin."""
        waiting = PolicyWait.from_token(attempt.action.token)
        if waiting is not None and attempt.context.signal != states.SUSPEND:
            return StepResult(waiting.outcome, waiting.step, waiting.raised)
        try:
            outcome = validated(await self._run_phase(attempt))
        except BaseException as error:  # a plugin may raise anything
            if attempt.is_dropped:
                raise
            outcome = await self._stopped_outcome(attempt, error, result.step)
            return StepResult(outcome, result.step, raised=True)
        return StepResult(outcome, result.step)

    async def run_post_policies(
        self, attempt: Attempt, result: StepResult
    ) -> StepResult:
        """Run `post_op` of the policies when the work has ended."""
        return await self._run_post_policies(attempt, result)

    async def _run_post_policies(
        self, attempt: Attempt, result: StepResult, last: bool = False
    ) -> StepResult:
        """Run `post_op` of the policies.

        :param last: whether they are not called again: a delay fails the action
        """
        context, outcome = attempt.context, result.outcome
        if not isinstance(outcome, _ENDS) or self._is_lost():
            return result
        policy_result = ERROR
        if isinstance(outcome, outcomes.Done):
            policy_result, context.outputs = OK, outcome.outputs
        try:
            delayed = await self._policies.run_post_op(attempt, policy_result)
            if last or context.signal in ENDING or context.remaining() == 0.0:
                _refuse_delay(delayed)
        except (exceptions.Cancelled, exceptions.TimedOut) as error:
            failure = self._failure(attempt, error, result.step)
            return dataclasses.replace(result, outcome=failure)
        except BaseException as error:  # a plugin may raise anything
            if attempt.is_dropped:
                raise
            return self._failed_after(attempt, result, error, results.POLICIES)
        if delayed is None:
            return result
        wait = PolicyWait(outcome, result.step, result.raised)
        waiting = outcomes.InProgress(wait.token(), delayed.delay)
        return dataclasses.replace(result, outcome=waiting)

    async def run_post_condition(
        self, attempt: Attempt, result: StepResult
    ) -> StepResult:
        """Run `post_condition` of the plugin; a first failure keeps its reason."""
        if result.raised or result.step in (results.POLICIES, results.REVERT_STEP):
            return result
        if not isinstance(result.outcome, outcomes.Done | outcomes.Failed):
            return result
        try:
            # An action that was faster than a signal is verified in spite of it.
            ignored = ENDING & {attempt.context.signal}
            await self._call(attempt, 'post_condition', ignored=ignored)
        except (exceptions.Cancelled, exceptions.TimedOut) as error:
            outcome = await self._stopped_outcome(attempt, error, result.step)
            return dataclasses.replace(result, outcome=outcome)
        except BaseException as error:  # a plugin may raise anything
            if attempt.is_dropped:
                raise
            return self._failed_after(attempt, result, error, results.POST_CONDITION)
        return result

    def _failed_after(
        self, attempt: Attempt, result: StepResult, error: BaseException, later: str
    ) -> StepResult:
        """Return the result of an action after a later step failed."""
        failure = self._failure(attempt, error, later)
        if not isinstance(result.outcome, outcomes.Done):
            return result
        if isinstance(failure, outcomes.Failed):
            failure = dataclasses.replace(failure, outputs=result.outcome.outputs)
        return dataclasses.replace(result, outcome=failure, step=later)

    def _is_suspended_before_start(self, attempt: Attempt) -> bool:
        """Return whether SUSPEND arrived before the first call of the plugin."""
        signal = attempt.context.signal
        has_work = attempt.applied or attempt.action.token is not None
        return signal == states.SUSPEND and not has_work

    def _suspend(self, attempt: Attempt) -> Conclusion:
        """Return an action as SUSPENDED, without a thread."""
        attempt.remaining = attempt.context.stop_clock()
        now = self._clock.now()
        paused = deadlines.change_status(attempt.action, states.SUSPENDED, now)
        return Conclusion(paused.evolve(updated_at=now))

    async def _stopped_outcome(
        self, attempt: Attempt, error: BaseException, step: str
    ) -> outcomes.Outcome:
        """Return the outcome of a step that raised; cancel its work outside."""
        stopped = isinstance(error, exceptions.Cancelled | exceptions.TimedOut)
        if stopped and attempt.action.token is not None:
            # It is InProgress.
            await self._cancel_external(attempt)
        return self._failure(attempt, error, step)

    async def cancel(self, attempt: Attempt, outcome: outcomes.Outcome) -> Conclusion:
        """Return the end of an idle action; cancel its work outside."""
        waiting = PolicyWait.from_token(attempt.action.token)
        if waiting is not None:
            # Its work has ended before.
            result = StepResult(waiting.outcome, waiting.step, waiting.raised)
            result = await self._run_post_policies(attempt, result, last=True)
            result = await self.run_post_condition(attempt, result)
            return self._conclude(attempt, result.outcome, result.step)
        if attempt.action.token is not None:
            await self._cancel_external(attempt)
        result = StepResult(outcome, results.EXECUTE)
        result = await self._run_post_policies(attempt, result, last=True)
        return self._conclude(attempt, result.outcome, result.step)

    def _is_lost(self) -> bool:
        """Return whether the lease expired, so that other workers own the actions."""
        return self._lease is not None and self._lease.seconds_left() <= 0

    async def _cancel_external(self, attempt: Attempt) -> None:
        """Call `cancel` of the plugin of an action that is InProgress."""
        if self._is_lost():
            return
        try:
            token = attempt.action.token
            await self._call(attempt, 'cancel', token, ignored=ENDING)
        except BaseException:  # the action must end in any case
            if attempt.is_dropped:
                raise
            LOG.exception(
                'Action %s (%s) is ended, but cancelling its work outside failed; '
                'check its target',
                attempt.action.uuid,
                attempt.action.action_type,
            )

    def _start_clock(self, attempt: Attempt, passed: float = 0.0) -> None:
        """Start the timeout of an attempt."""
        attempt.context.mark_started()
        left = deadlines.seconds_left(
            attempt.action, self._clock.now(), self._settings, passed
        )
        attempt.context.set_deadline(max(0.0, left))

    async def _run_phase(self, attempt: Attempt) -> outcomes.Outcome:
        context, action = attempt.context, attempt.action
        if attempt.applied:
            return outcomes.Done(action.outputs)
        if action.token is not None and context.signal == states.SUSPEND:
            # Suspended as an idle action, without a thread.
            return outcomes.InProgress(action.token, 0.0)
        if context.signal is not None or action.token is not None:
            context.checkpoint()
        if action.token is not None:
            returned = await self._call(attempt, 'poll', action.token)
            return outcomes.from_returned(returned, 'poll')
        return await self._phases[action.phase](attempt)

    async def _execute(self, attempt: Attempt) -> outcomes.Outcome:
        outcome = outcomes.from_returned(await self._call(attempt, 'execute'))
        if isinstance(outcome, outcomes.Derived) and not outcome.actions:
            # Without derived actions nothing would wake it.
            return await self._call_complete(attempt, ())
        return outcome

    async def _complete(self, attempt: Attempt) -> outcomes.Outcome:
        action = attempt.action
        ends = self._retry(attempt, functools.partial(self._load_results, action))
        if deadlines.is_expired(action, ends, self._clock.now()):
            returned = await self._call(attempt, 'overdue', ends)
            return outcomes.from_returned(returned, 'overdue')
        outcome = await self._call_complete(attempt, ends)
        waits = isinstance(outcome, outcomes.Derived) and outcome.timeout is None
        is_overdue = waits and action.deadline == deadlines.EXPIRED
        return outcomes.TimedOut() if is_overdue else outcome

    async def _call_complete(
        self, attempt: Attempt, ends: Sequence[DerivedResult]
    ) -> outcomes.Outcome:
        completed = await self._call(attempt, 'complete', ends)
        if completed is None:
            return default_completion(ends)
        return outcomes.from_returned(completed, 'complete')

    async def _revert(self, attempt: Attempt) -> outcomes.Outcome:
        # `data` contains the outputs of the run to revert.
        attempt.context.outputs = attempt.action.data.get('outputs')
        return outcomes.from_returned(await self._call(attempt, 'revert'), 'revert')

    async def _call(
        self,
        attempt: Attempt,
        name: str,
        *arguments: Any,
        ignored: Collection[str | None] = (),
    ) -> Any:
        """Call a hook of the plugin, in this thread or in the event loop.

        :param ignored: signals that do not cancel a coroutine
        """
        plugin = attempt.plugin()
        kind = hook_kind(plugin, name)
        hook = getattr(plugin, name)
        if kind == COROUTINE:
            request = OnLoop(lambda context: hook(context, *arguments), ignored)
            try:
                return await request
            finally:
                attempt.is_dropped = request.is_dropped
        try:
            if kind == STEPS:
                return await hook(attempt.context, *arguments)
            await enter_pool_of(plugin)
        except GeneratorExit:
            attempt.is_dropped = True
            raise
        return hook(attempt.context, *arguments)

    def _load_results(self, action: Action) -> Sequence[DerivedResult]:
        # Without the derived actions of former runs.
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
        """Return the conclusion of an action from the outcome of a step.

        :param left: seconds left of its timeout, if its clock is stopped
        """
        action, now = attempt.action, self._clock.now()
        signal = attempt.context.signal
        outcome = _with_fault(attempt, outcome, step)
        conclusion = results.conclude(action, outcome, step, now, attempt.data)
        status = conclusion.action.status
        if signal == states.CANCEL and status in states.NOT_STARTED:
            # It would run again, or its derived actions would.
            outcome = outcomes.Cancelled()
        elif status == action.status or states.MACHINE.allows(action.status, status):
            after = self._with_details(attempt, conclusion.action, outcome, left)
            if after is conclusion.action:
                return conclusion
            return dataclasses.replace(conclusion, action=after)
        else:
            # The plugin was suspended, and caught the exception that ended that.
            late = signal == TIMEOUT
            outcome = outcomes.TimedOut() if late else outcomes.Cancelled()
        return results.conclude(action, outcome, step, now, attempt.data)

    def _with_details(
        self,
        attempt: Attempt,
        after: Action,
        outcome: outcomes.Outcome,
        left: float | None,
    ) -> Action:
        """Return a concluded action with a message or deadline from its attempt."""
        now, context = self._clock.now(), attempt.context
        if after.status == states.SUCCEEDED and attempt.skip_reason is not None:
            text = truncate(results.SKIPPED_LATE.format(attempt.skip_reason))
            return after.evolve(status_message=text)
        if isinstance(outcome, outcomes.Derived):
            deadline = deadlines.wait_deadline(
                attempt.action, outcome, context, now, self._settings
            )
            return after.evolve(deadline=deadline)
        if isinstance(outcome, outcomes.Retry):
            if left is None:
                left = context.remaining()
            if left is None:
                left = deadlines.timeout_of(attempt.action, self._settings)
            return results.limit_tries(after, now, left)
        return after

    def _failure(
        self, attempt: Attempt, error: BaseException, step: str
    ) -> outcomes.Outcome:
        """Return the outcome of an exception."""
        if isinstance(error, exceptions.Cancelled):
            return outcomes.Cancelled()
        if isinstance(error, exceptions.TimedOut):
            late = isinstance(error, _AttemptsTimedOut)
            return outcomes.TimedOut(str(error)) if late else outcomes.TimedOut()
        try:
            fault = outcomes.fault_of(error)
        except BaseException:  # its __str__ is code of a plugin
            name = type(error).__name__
            fault = outcomes.Fault(name, name, '', '')
        if isinstance(error, exceptions.ActionSkipException):
            return validated(outcomes.Skipped(fault.message))
        if isinstance(error, exceptions.WatcherliteError):
            # By contract, its text explains the problem to users.
            _log_failure(attempt.action, step, ' '.join(fault.message.split()))
        else:
            # Its public text is its class only; the log has the details.
            _log_failure(attempt.action, step, fault.message, error)
        return validated(outcomes.Failed(fault.message, fault))


def _may_have_policies(action: Action) -> bool:
    """Return whether policies may have run for this run before it was claimed.

    They ran before a former try, or perhaps at a worker that was lost.
    """
    started = action.start_time is not None and action.end_time is None
    tried = started or action.attempt > 1
    return action.phase == COMPLETE or action.recoveries > 0 or tried


def _refuse_delay(delayed: PolicyDelay | None) -> None:
    """Raise PolicyCheckFailed for a delay that an action has no time for."""
    if delayed is not None:
        raise PolicyCheckFailed(delayed.name, delayed.reason)


def _with_fault(
    attempt: Attempt, outcome: outcomes.Outcome, step: str
) -> outcomes.Outcome:
    """Return an outcome; a failure without a fault gets one that names the plugin."""
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
    """Log the failure of an action; with a traceback if it is unexpected."""
    names = [action.action_type, action.name, action.target]
    LOG.log(
        logging.WARNING if unexpected is None else logging.ERROR,
        'Action %s (%s) failed in %s: %s; %s',
        action.uuid,
        ', '.join(name for name in names if name),
        step,
        message,
        'correct the cause and repeat the request'
        if action.plan_id is None
        else 'the plan continues as its on_failure option says',
        exc_info=unexpected,
    )


def default_completion(derived: Sequence[DerivedResult]) -> outcomes.Outcome:
    """Return the outcome of an action from those of its derived actions."""
    failed = [result for result in derived if result.status == states.FAILED]
    if failed:
        names = ', '.join(
            f'{result.key} ({result.status_message})' for result in failed
        )
        return outcomes.Failed(f'derived actions failed: {names}')
    if any(result.status == states.CANCELLED for result in derived):
        return outcomes.Cancelled('A derived action was cancelled.')
    return outcomes.Done()
