"""What becomes of one action, step by step.

The runner decides and writes nothing. `prepare` takes a claimed action up to
the point where it may start, `perform` from there to its end; in between, the
committer makes RUNNING durable. Both return a `Conclusion`.

Whatever a plugin does, only its own action is harmed: any exception, SystemExit
included, is that action's failure.
"""

import dataclasses
import datetime
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from watcherlite import exceptions
from watcherlite.clock import EPOCH, Clock
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT, Action
from watcherlite.execution import overdue, results
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.policy_chain import (
    ERROR,
    OK,
    Pairs,
    PolicyChain,
    PolicyCheckFailed,
)
from watcherlite.execution.results import Conclusion
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.soundness import sound
from watcherlite.execution.task import Task
from watcherlite.plugins.base import ActionType, DerivedResult
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: What ends the work of an action.
_ENDS = outcomes.Done | outcomes.Failed | outcomes.Cancelled | outcomes.TimedOut
#: Seconds after which a store is asked again that was away.
ASK_AGAIN = 1.0

Answer = TypeVar('Answer')


class ActionTypes(Protocol):
    """Where action types come from."""

    def make_action_type(self, name: str) -> ActionType:
        """Return an instance; raises PluginNotFound or PluginError."""

    def validate_inputs(
        self, action_type: ActionType, inputs: Mapping[str, Any]
    ) -> None:
        """Raise InvalidInput."""


class KeepOut(Protocol):
    """Keeps actions from what is not to be touched for the time being."""

    def hindrance(self, action: Action) -> str | None:
        """Return why an action is not to begin, in words; None: it may."""


class Runner:
    """Runs the steps of actions in the thread that calls it.

    :param derived_results: action -> how the actions that it derived ended
    :param pause: (task, suspended): make a suspension, or its end, durable
    :param keep: makes what policies decided durable
    :param keep_out: what it keeps from beginning is skipped
    """

    def __init__(
        self,
        types: ActionTypes,
        policies: PolicyChain,
        clock: Clock,
        settings: ExecutionSettings,
        derived_results: Callable[[Action], Sequence[DerivedResult]],
        pause: Callable[[Task, bool], None],
        keep: Callable[[Task], None],
        keep_out: KeepOut | None = None,
    ) -> None:
        self._types = types
        self._policies = policies
        self._clock = clock
        self._settings = settings
        self._derived_results = derived_results
        self._pause = pause
        self._keep = keep
        self._keep_out = keep_out

    # before the action counts as started

    def prepare(self, task: Task) -> Conclusion:
        """Return the action as RUNNING, or as what it came to instead."""
        action = task.action
        if action.control == states.CANCEL:
            return self._cancelled(task)
        step = results.PRE_CONDITION
        try:
            outcome = self._admit(task)
        except BaseException as error:  # a plugin may raise anything
            if isinstance(error, PolicyCheckFailed):
                step = results.POLICIES
            outcome = self._failure(task, error, step)
        if task.context is not None:
            # It may wait for its turn now, which nobody may hold against it.
            task.context.stop_clock()
        if outcome is None:
            return Conclusion(results.start(action, self._clock.now(), task.data))
        return self._conclude(task, outcome, step)

    def _cancelled(self, task: Task) -> Conclusion:
        """Return the end of an action that was cancelled and has no work under way."""
        outcome: outcomes.Outcome = outcomes.Cancelled()
        step = results.PRE_CONDITION
        if task.action.phase == COMPLETE:
            try:
                self._equip(task)
                outcome, step = self._tell_policies(task, outcome, step)
            except BaseException:  # a plugin may raise anything
                LOG.exception(
                    'Action %s (%s) is cancelled; its policies were not told',
                    task.action.uuid,
                    task.action.action_type,
                )
        return self._conclude(task, outcome, step)

    def adopt(self, task: Task) -> Conclusion | None:
        """Make a task that is InProgress ready for `poll` or `cancel` here.

        Called at a worker that took it over. Returns its failure if its plugin
        cannot be made here.
        """
        action, passed = task.action, 0.0
        try:
            self._equip(task)
        except BaseException as error:  # a plugin may raise anything
            failure = self._failure(task, error, results.EXECUTE)
            return self._conclude(task, failure, results.EXECUTE)
        # How long one was suspended is not known: it gets its whole time again.
        if action.start_time is not None and action.status == states.RUNNING:
            passed = (self._clock.now() - action.start_time).total_seconds()
        self._begin(task, max(0.0, passed))
        task.executing = True
        return None

    def _admit(self, task: Task) -> outcomes.Outcome | None:
        """Run the steps before the start; None when all of them passed."""
        kind = self._equip(task)
        action = task.action
        context = task.context
        assert context is not None  # noqa: S101  (set by _equip)
        if action.phase in (COMPLETE, REVERT):
            return None
        self._types.validate_inputs(kind, action.inputs)
        # What has begun before its worker was lost has to come to its end.
        if self._keep_out is not None and action.start_time is None:
            hindrance = self._patiently(
                *(action, context, 'to hear what is locked'),
                functools.partial(self._keep_out.hindrance, action),
            )
            if hindrance is not None:
                return outcomes.Skipped(hindrance)
        self._policies.before(task, self._keep, self._asking(task, context))
        if action.phase == CHECK and kind.is_applied(context):
            task.applied = True
            return None
        returned = kind.pre_condition(context)
        if returned is None or returned is True:
            return None
        outcome = sound(outcomes.from_returned(returned, results.PRE_CONDITION))
        if isinstance(outcome, outcomes.Done):
            return None
        if isinstance(outcome, outcomes.Derived | outcomes.InProgress):
            return outcomes.Failed(
                f'pre_condition returned {type(outcome).__name__}; only execute may'
            )
        return outcome

    def _equip(self, task: Task) -> ActionType:
        task.type = self._types.make_action_type(task.action.action_type)
        task.context = Context(
            task.action,
            task.plan_uuid,
            self._clock,
            lambda suspended: self._pause(task, suspended),
        )
        # Checking may not take for ever either; the start sets it anew.
        task.context.set_deadline(self._timeout(task.action))
        return task.type

    # from the durable start to the end

    def perform(self, task: Task) -> Conclusion:
        """Execute, and return what the action came to."""
        if not task.executing:
            task.executing = True
            self._begin(task)
        if self._rests(task):
            return self._rest(task)
        step = results.REVERT_STEP if task.action.phase == REVERT else results.EXECUTE
        try:
            outcome = sound(self._execute(task))
        except BaseException as error:  # a plugin may raise anything
            outcome = self._broken_off(task, error, step)
            outcome, step = self._tell_policies(task, outcome, step)
            return self._conclude(task, outcome, step)
        outcome, step = self._tell_policies(task, outcome, step)
        if isinstance(outcome, outcomes.Done | outcomes.Failed):
            try:
                outcome, step = self._verify(task, outcome, step)
            except (exceptions.Cancelled, exceptions.TimedOut) as error:
                outcome = self._broken_off(task, error, step)
        return self._conclude(task, outcome, step)

    def _rests(self, task: Task) -> bool:
        """Say whether an action is to be suspended before it begins with anything."""
        signal = task.context.signal if task.context is not None else None
        begun = task.applied or task.action.token is not None
        return signal == states.SUSPEND and not begun

    def _rest(self, task: Task) -> Conclusion:
        """Return an action as it is suspended, which takes no thread."""
        if task.context is not None:
            task.remaining = task.context.stop_clock()
        now = self._clock.now()
        paused = overdue.turned(task.action, states.SUSPENDED, now)
        return Conclusion(paused.evolve(updated_at=now))

    def _broken_off(
        self, task: Task, error: BaseException, step: str
    ) -> outcomes.Outcome:
        """Return the outcome of a step that raised, whose work outside is stopped."""
        stopped = isinstance(error, exceptions.Cancelled | exceptions.TimedOut)
        if stopped and task.action.token is not None:
            # It was about to be polled, or just was.
            self._stop_outside(task)
        return self._failure(task, error, step)

    def cancel(self, task: Task, outcome: outcomes.Outcome) -> Conclusion:
        """End an action that no thread works on, and its work outside."""
        if task.action.token is not None:
            self._stop_outside(task)
        outcome, step = self._tell_policies(task, outcome, results.EXECUTE)
        return self._conclude(task, outcome, step)

    def _stop_outside(self, task: Task) -> None:
        try:
            if task.type is not None and task.context is not None:
                task.type.cancel(task.context, task.action.token)
        except BaseException:  # it ends in any case
            LOG.exception(
                'Action %s (%s): stopping the work outside failed; the action is '
                'ended all the same, look after its target',
                task.action.uuid,
                task.action.action_type,
            )

    def _begin(self, task: Task, passed: float = 0.0) -> None:
        """Set the clock of a task going: its timeout counts from here."""
        if task.context is not None:
            task.context.begin()
            left = self._left(task.action, passed)
            task.context.set_deadline(max(0.0, left))

    def _left(self, action: Action, passed: float) -> float:
        """Return how many seconds an action has that is begun, or gone on with.

        :param passed: how many it has used of its timeout
        """
        if action.phase != COMPLETE or action.deadline is None:
            return self._timeout(action) - passed
        if action.deadline == overdue.OVER:
            # What was to end has ended; all that is left is to say so.
            return self._timeout(action)
        suspended = action.status == states.SUSPENDED
        now = EPOCH if suspended else self._clock.now()
        left = (action.deadline - now).total_seconds()
        return max(left, self._settings.signal_grace)

    def _until(
        self, action: Action, context: Context | None, derived: outcomes.Derived
    ) -> datetime.datetime:
        """Return when the time of an action is over that waits for others now."""
        seconds = derived.timeout
        if seconds is None and action.phase == COMPLETE and action.deadline is not None:
            return action.deadline
        if seconds is None:
            left = context.remaining() if context is not None else None
            seconds = self._timeout(action) if left is None else left
            if not action.timeout:
                seconds = max(seconds, *(one.timeout for one in derived.actions))
        return self._clock.now() + datetime.timedelta(seconds=seconds)

    def _timeout(self, action: Action) -> float:
        return action.timeout or self._settings.default_action_timeout

    def _execute(self, task: Task) -> outcomes.Outcome:
        kind, context, action = task.type, task.context, task.action
        assert kind is not None and context is not None  # noqa: S101
        if task.applied:
            return outcomes.Done(action.outputs)
        if action.token is not None and context.signal == states.SUSPEND:
            # It came after its turn: it is paused outside, where it takes no thread.
            return outcomes.InProgress(action.token, 0.0)
        if context.signal is not None or action.token is not None:
            context.checkpoint()
        if action.token is not None:
            returned = kind.poll(context, action.token)
            return outcomes.from_returned(returned, 'poll')
        if action.phase == COMPLETE:
            ends = self._ends_of_derived(action, context)
            if not overdue.is_cut_off(action, ends, self._clock.now()):
                said = _complete(kind, context, ends)
                again = isinstance(said, outcomes.Derived) and said.timeout is None
                over = again and action.deadline == overdue.OVER
                return outcomes.TimedOut() if over else said
            return outcomes.from_returned(kind.overdue(context, ends), 'overdue')
        if action.phase == REVERT:
            # The outputs of the run that is undone travel in `data`.
            context.outputs = action.data.get('outputs')
            return outcomes.from_returned(kind.revert(context), 'revert')
        outcome = outcomes.from_returned(kind.execute(context))
        if isinstance(outcome, outcomes.Derived) and not outcome.actions:
            # There is nothing whose end would wake it.
            return _complete(kind, context, ())
        return outcome

    def _ends_of_derived(
        self, action: Action, context: Context
    ) -> Sequence[DerivedResult]:
        """Ask how derived actions ended."""
        return self._patiently(
            *(action, context, 'to hear how what it derived ended'),
            functools.partial(self._derived_results, action),
        )

    def _patiently(
        self, action: Action, context: Context, what: str, ask: Callable[[], Answer]
    ) -> Answer:
        """Ask a store, and again if it is away."""
        while True:
            try:
                return ask()
            except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
                LOG.warning('Action %s waits %s: %s', action.uuid, what, error)
            context.sleep(ASK_AGAIN)

    def _verify(
        self, task: Task, outcome: outcomes.Outcome, step: str
    ) -> tuple[outcomes.Outcome, str]:
        """Run what comes after the work; a first failure keeps its own reason."""
        kind, context = task.type, task.context
        assert kind is not None and context is not None  # noqa: S101
        if step == results.POLICIES or task.action.phase == REVERT:
            return outcome, step
        try:
            kind.post_condition(context)
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except BaseException as error:  # a plugin may raise anything
            return self._failed_after(
                task, outcome, step, error, results.POST_CONDITION
            )
        return outcome, step

    def _tell_policies(
        self, task: Task, outcome: outcomes.Outcome, step: str
    ) -> tuple[outcomes.Outcome, str]:
        """Tell policies how the work went, well or not, once it has ended."""
        context = task.context
        if context is None or not isinstance(outcome, _ENDS):
            return outcome, step
        result = ERROR
        if isinstance(outcome, outcomes.Done):
            result, context.outputs = OK, outcome.outputs
        try:
            ask = self._asking(task, context)
            self._policies.after(task, result, self._keep, ask)
        except (exceptions.Cancelled, exceptions.TimedOut) as error:
            return self._failure(task, error, step), step
        except BaseException as error:  # a plugin may raise anything
            return self._failed_after(task, outcome, step, error, results.POLICIES)
        return outcome, step

    def _failed_after(
        self,
        task: Task,
        outcome: outcomes.Outcome,
        step: str,
        error: BaseException,
        later: str,
    ) -> tuple[outcomes.Outcome, str]:
        """Return what an action came to when a later step has failed."""
        failure = self._failure(task, error, later)
        if not isinstance(outcome, outcomes.Done):
            return outcome, step
        if isinstance(failure, outcomes.Failed):
            failure = dataclasses.replace(failure, outputs=outcome.outputs)
        return failure, later

    def _asking(
        self, task: Task, context: Context
    ) -> Callable[[Callable[[], Pairs]], Pairs]:
        """Return what asks which policies there are, and again if a store is away."""
        return functools.partial(
            self._patiently, task.action, context, 'to hear what policies there are'
        )

    # both

    def _conclude(self, task: Task, outcome: outcomes.Outcome, step: str) -> Conclusion:
        action, now = task.action, self._clock.now()
        signal = task.context.signal if task.context is not None else None
        concluded = results.conclude(action, outcome, step, now, task.data)
        status = concluded.action.status
        if isinstance(outcome, outcomes.Derived):
            until = self._until(action, task.context, outcome)
            waiting = concluded.action.evolve(deadline=until)
            concluded = dataclasses.replace(concluded, action=waiting)
        if signal == states.CANCEL and status in states.NOT_STARTED:
            # It would run again, or what it derived would: that is over now.
            outcome = outcomes.Cancelled()
        elif status == action.status or states.MACHINE.allows(action.status, status):
            return concluded
        else:
            # It was suspended, and caught what ended that.
            late = signal == TIMEOUT
            outcome = outcomes.TimedOut() if late else outcomes.Cancelled()
        return results.conclude(action, outcome, step, now, task.data)

    def _failure(self, task: Task, error: BaseException, step: str) -> outcomes.Outcome:
        """Return the outcome that an exception stands for."""
        if isinstance(error, exceptions.Cancelled):
            return outcomes.Cancelled()
        if isinstance(error, exceptions.TimedOut):
            return outcomes.TimedOut()
        try:
            fault = outcomes.fault_of(error)
        except BaseException:  # even its text is a plugin's code
            name = type(error).__name__
            fault = outcomes.Fault(name, name, '', '')
        if isinstance(error, exceptions.ActionSkipException):
            return sound(outcomes.Skipped(fault.message))
        if isinstance(error, exceptions.WatcherliteError):
            # By contract: something outside is not as it should be, and it says what.
            _log_failure(task.action, step, ' '.join(fault.message.split()))
        else:
            # Its public text is its class; the log has it all.
            _log_failure(task.action, step, fault.message, error)
        return sound(outcomes.Failed(fault.message, fault))


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
