"""Execution of one action as by a worker, without worker or store."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.destinations import WITH_LOOPBACK, Destinations
from watcherlite.domain import outcomes
from watcherlite.domain.actions import COMPLETE, REVERT, Action
from watcherlite.execution import results
from watcherlite.execution.runner import default_completion
from watcherlite.plugins import options as plugin_options
from watcherlite.plugins import schemas
from watcherlite.plugins.base import ActionType, CloudClient, Clouds
from watcherlite.states import action as states
from watcherlite.testing.context import FakeContext, Injected
from watcherlite.testing.coroutines import call_hook
from watcherlite.testing.recorder import Change, Recorder

#: The subject of changes in a history.
ACTION = 'action'
MAX_TRIES = 10
MAX_POLLS = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class SimulatedResult:
    """The result of a derived action in a test; see `plugins.base.DerivedResult`."""

    key: str
    status: str = states.SUCCEEDED
    status_message: str | None = None
    outputs: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action.

    :param outcome: the last one of the plugin, or the one for an exception
    :param history: its changes, as (subject, old status, new status)
    :param derived: its derived actions
    """

    status: str
    status_message: str | None
    outputs: Mapping[str, Any] | None
    outcome: outcomes.Outcome
    history: list[Change]
    derived: tuple[outcomes.DerivedAction, ...] = ()


def run_action(
    action_type: type[ActionType],
    inputs: Mapping[str, Any],
    *,
    options: Mapping[str, Any] | None = None,
    signals: Sequence[Injected] = (),
    clock: Clock | None = None,
    attempt: int = 1,
    timeout: float | None = None,
    context: FakeContext | None = None,
    derived_end: Callable[[outcomes.DerivedAction], SimulatedResult] | None = None,
    destinations: Destinations = WITH_LOOPBACK,
    clouds: Clouds | None = None,
) -> ActionResult:
    """Execute an action from READY to its end, and return its result.

    Waits of the plugin advance the clock and take no time. Every phase gets a new
    instance, and tokens and outputs are stored as JSON in between, as by a worker:
    attributes of a plugin are lost.

    :param options: values of the plugin's options; the others have their defaults
    :param signals: see `at_checkpoint` and `after_seconds`
    :param timeout: seconds, counted from the start
    :param context: in place of `signals`, `clock`, `in_flight` and `timeout`: for a
        test that sends signals from another thread
    :param derived_end: the result of a derived action; by default it succeeds. One that
        is CANCELLED after `timeout`, by a clock that it advances, is overdue
    :param destinations: the allowed servers; servers of this machine are allowed by
        default, unlike in production
    :param clouds: for a `CloudClient`, usually with fake connections
    :raises InvalidInput: the inputs are invalid
    :raises AssertionError: it retries or polls without end
    """
    given = context or FakeContext(
        inputs, signals=signals, clock=clock, attempt=attempt, timeout=timeout
    )
    given.inputs = dict(inputs)
    run = _Run(action_type, options, given, destinations, clouds)
    schemas.validate_inputs(run.instance(), inputs)
    return run.run_to_end(derived_end or (lambda action: SimulatedResult(action.key)))


def revert_action(
    action_type: type[ActionType],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    context: FakeContext | None = None,
    clouds: Clouds | None = None,
) -> ActionResult:
    """Revert an action that succeeded with these outputs."""
    given = context or FakeContext(inputs)
    given.inputs, given.outputs = dict(inputs), outputs
    run = _Run(action_type, options, given, WITH_LOOPBACK, clouds, phase=REVERT)
    return run.revert()


class _Run:
    def __init__(
        self,
        action_type: type[ActionType],
        options: Mapping[str, Any] | None,
        context: FakeContext,
        destinations: Destinations,
        clouds: Clouds | None,
        **properties: Any,
    ) -> None:
        self._type = action_type
        self._options = plugin_options.standalone_group(action_type, options)
        self._context = context
        self._destinations = destinations
        self._clouds = clouds
        self._action = Action(
            context.uuid,
            action_type.__name__,
            status=states.READY,
            inputs=context.inputs,
            attempt=context.attempt,
            id=1,
            **properties,
        )
        self._record = Recorder()
        self._derived: tuple[outcomes.DerivedAction, ...] = ()
        context.paused = self._paused

    def instance(self) -> ActionType:
        made = self._type(self._options)
        made.read_destinations = lambda: self._destinations
        if isinstance(made, CloudClient) and self._clouds is not None:
            made.clouds = self._clouds
        return made

    def run_to_end(
        self, derived_end: Callable[[outcomes.DerivedAction], SimulatedResult]
    ) -> ActionResult:
        for _ in range(MAX_TRIES):
            outcome = self._one_try(derived_end)
            if not isinstance(outcome, outcomes.Retry):
                return self._result(outcome)
            self._context.pass_time(outcome.delay)
            self._context.attempt += 1
        raise AssertionError(f'it asked for {MAX_TRIES} tries: {outcome}')

    def revert(self) -> ActionResult:
        self._start()
        outcome, _ = self._guarded('revert', lambda kind: self._call(kind, 'revert'))
        self._conclude(outcome, results.REVERT_STEP)
        return self._result(outcome)

    def _one_try(
        self, derived_end: Callable[[outcomes.DerivedAction], SimulatedResult]
    ) -> outcomes.Outcome:
        outcome = self._pre_condition()
        if outcome is not None:
            self._conclude(outcome, results.PRE_CONDITION)
            return outcome
        self._start()
        outcome, raised = self._guarded(
            'execute', lambda kind: self._call(kind, 'execute')
        )
        while isinstance(outcome, outcomes.Derived) and not raised:
            outcome, raised = self._complete(outcome, derived_end)
        if isinstance(outcome, outcomes.InProgress):
            outcome, raised = self._poll(outcome)
        step = results.EXECUTE
        if isinstance(outcome, outcomes.Done | outcomes.Failed) and not raised:
            outcome, step = self._post_condition(outcome)
        self._conclude(outcome, step)
        return outcome

    def _pre_condition(self) -> outcomes.Outcome | None:
        """Return None if the action may start."""

        def call(kind: ActionType) -> Any:
            if not kind.has_pre_condition(self._context.inputs):
                return outcomes.Done()
            returned = self._call(kind, 'pre_condition')
            return outcomes.Done() if returned is None else returned

        outcome, _ = self._guarded('pre_condition', call)
        if isinstance(outcome, outcomes.Derived | outcomes.InProgress):
            name = type(outcome).__name__
            return outcomes.Failed(f'pre_condition returned {name}; only execute may')
        return None if isinstance(outcome, outcomes.Done) else outcome

    def _poll(self, outcome: outcomes.InProgress) -> tuple[outcomes.Outcome, bool]:
        for _ in range(MAX_POLLS):
            # From the store, perhaps on another worker
            token = json.loads(json.dumps(outcome.token))
            self._conclude(outcome, results.EXECUTE)
            ended = self._idle(outcome.delay, token)
            if ended is not None:
                return ended, True
            following, raised = self._guarded('poll', self._asker(token))
            if not isinstance(following, outcomes.InProgress):
                return following, raised
            outcome = following
        raise AssertionError(f'it is InProgress after {MAX_POLLS} polls: {outcome}')

    def _asker(self, token: Any) -> Callable[[ActionType], Any]:
        return lambda kind: self._call(kind, 'poll', token)

    def _idle(self, seconds: float, token: Any) -> outcomes.Outcome | None:
        """Let the time until the next poll pass; return the outcome of a signal, or
        None.
        """
        try:
            self._context.pass_time(seconds)
        except (exceptions.Cancelled, exceptions.TimedOut) as error:
            self._call(self.instance(), 'cancel', token)
            return _outcome_of(error)
        return None

    def _complete(
        self,
        outcome: outcomes.Derived,
        derived_end: Callable[[outcomes.DerivedAction], SimulatedResult],
    ) -> tuple[outcomes.Outcome, bool]:
        self._derived += outcome.actions
        self._conclude(outcome, results.EXECUTE)
        if outcome.timeout is not None:
            self._context.set_deadline(outcome.timeout)
        ends = [derived_end(action) for action in outcome.actions]
        left = self._context.remaining()
        cut_off = left == 0 and states.CANCELLED in {end.status for end in ends}
        if cut_off:
            # Its result is not subject to the expired timeout.
            self._context.set_deadline(None)
        self._change(self._action.evolve(status=states.READY, phase=COMPLETE))
        self._start()

        def call(kind: ActionType) -> Any:
            if cut_off:
                return self._call(kind, 'overdue', ends)
            returned = self._call(kind, 'complete', ends)
            return default_completion(ends) if returned is None else returned

        return self._guarded('overdue' if cut_off else 'complete', call)

    def _post_condition(
        self, outcome: outcomes.Done | outcomes.Failed
    ) -> tuple[outcomes.Outcome, str]:
        """Verify the effect; an earlier failure keeps its own reason."""
        if isinstance(outcome, outcomes.Done):
            self._context.outputs = outcome.outputs

        def call(kind: ActionType) -> Any:
            self._call(kind, 'post_condition')
            return outcomes.Done()

        checked, raised = self._guarded('post_condition', call)
        if raised and isinstance(outcome, outcomes.Done):
            return checked, results.POST_CONDITION
        return outcome, results.EXECUTE

    def _call(self, kind: ActionType, hook: str, *arguments: Any) -> Any:
        return call_hook(self._context, kind, hook, *arguments)

    def _guarded(
        self, phase: str, call: Callable[[ActionType], Any]
    ) -> tuple[outcomes.Outcome, bool]:
        """Return the result of a phase, and whether it raised."""
        try:
            outcome = outcomes.from_returned(call(self.instance()), phase)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _outcome_of(error), True
        kept = getattr(outcome, 'outputs', getattr(outcome, 'token', None))
        try:
            json.dumps(kept, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            name = type(outcome).__name__
            return outcomes.Failed(
                f'its {name} contains values that are not JSON: {error}'
            ), False
        return outcome, False

    def _start(self) -> None:
        self._change(results.start(self._action, self._context.now()))

    def _conclude(self, outcome: outcomes.Outcome, step: str) -> None:
        now = self._context.now()
        self._change(results.conclude(self._action, outcome, step, now).action)

    def _paused(self, paused: bool) -> None:
        status = states.SUSPENDED if paused else states.RUNNING
        self._change(self._action.evolve(status=status))

    def _change(self, action: Action) -> None:
        old, self._action = self._action, action
        if old.status != action.status:
            states.MACHINE.check(old.status, action.status)
            self._record(ACTION, old.status, action.status)

    def _result(self, outcome: outcomes.Outcome) -> ActionResult:
        action = self._action
        return ActionResult(
            action.status,
            action.status_message,
            action.outputs,
            outcome,
            self._record.history,
            self._derived,
        )


def _outcome_of(error: BaseException) -> outcomes.Outcome:
    if isinstance(error, exceptions.ActionSkipException):
        return outcomes.Skipped(str(error))
    if isinstance(error, exceptions.Cancelled):
        return outcomes.Cancelled()
    if isinstance(error, exceptions.TimedOut):
        return outcomes.TimedOut()
    return outcomes.Failed(outcomes.public_text(error), outcomes.fault_of(error))
