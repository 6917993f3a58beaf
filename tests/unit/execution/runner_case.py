"""A runner for one action type, with a scripted clock."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from tests import base
from tests.clocks import ScriptedClock
from tests.factories import make_action
from tests.policies import chain_of
from tests.worlds import Calls, kind
from watcherlite.domain import outcomes
from watcherlite.domain.actions import Action
from watcherlite.execution.context import Write
from watcherlite.execution.coroutines.steps import OnLoop, run_steps
from watcherlite.execution.in_flight import Attempt, AttemptServices
from watcherlite.execution.ports import ActionTypes, AdmissionCheck
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.plugins import loader
from watcherlite.plugins.base import ActionType, Policy
from watcherlite.states import action as states
from watcherlite.testing.actions import SimulatedResult
from watcherlite.testing.memory_store import MemoryStore


class Checkpoints:
    """Records checkpoints, which are durable immediately."""

    def __init__(self, kept: list[Any]) -> None:
        self._kept = kept

    def suspend(self, attempt: Attempt) -> Iterable[Write]:
        return ()

    def resume(self, attempt: Attempt) -> Iterable[Write]:
        return ()

    def save_data(self, attempt: Attempt) -> Iterable[Write]:
        self._kept.append(attempt.data)
        return ()

    def save_token(self, attempt: Attempt, token: Any) -> Iterable[Write]:
        return ()


class DrivenRunner:
    """A runner whose steps run to their end in the thread of the test."""

    def __init__(self, runner: Runner) -> None:
        self.core = runner
        self.adopt = runner.adopt
        self.cancel_unprepared = runner.cancel_unprepared
        self.make_attempt = runner.make_attempt

    def prepare(self, attempt: Attempt) -> Conclusion:
        return run_steps(self.core.prepare(attempt), run_on_loop(attempt))

    def perform(self, attempt: Attempt) -> Conclusion:
        return run_steps(self.core.perform(attempt), run_on_loop(attempt))

    def cancel(self, attempt: Attempt, outcome: outcomes.Outcome) -> Conclusion:
        return run_steps(self.core.cancel(attempt, outcome), run_on_loop(attempt))


def run_on_loop(attempt: Attempt) -> Callable[[OnLoop], Any]:
    """Return a function that runs a coroutine of a plugin in a loop of its own."""
    return lambda request: asyncio.run(request.make(attempt.loop_context()))


def make_policy_plugin(name: str = 'P', **hooks: Any) -> Policy:
    """Return a policy for the type 'kind' with these hooks (without self)."""

    def method(hook: Any) -> Any:
        return lambda self, context, data: hook(context, data)

    when = {'pre_op': 'before', 'post_op': 'after'}
    kinds = {when[key]: frozenset({'kind'}) for key in hooks}
    methods = {key: method(hook) for key, hook in hooks.items()}
    return type(name, (Policy,), {**kinds, **methods})()


class RunnerCase(base.TestCase):
    """A runner for one action type, named 'kind'."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ScriptedClock()
        self.calls = Calls()
        self.derived: Sequence[SimulatedResult] = ()
        self.policies: list[Policy] = []
        self.kept: list[Any] = []
        self.checkpoints = Checkpoints(self.kept)
        self.types = loader.Plugins.of(action_types={})
        self.lease = 1.0
        self.admission: AdmissionCheck | None = None

    def runner(
        self, made: type[ActionType] | None = None, **members: Any
    ) -> DrivenRunner:
        settings = ExecutionSettings(default_action_timeout=100)
        self.types = loader.Plugins.of(action_types={'kind': made or kind(**members)})
        runner = Runner(
            CoreServices(MemoryStore(self.clock), self.clock, settings, 'w'),
            self.types,
            chain_of(*self.policies),
            self.checkpoints,
            self,
            self.admission,
        )
        runner._load_results = lambda action: self.derived  # type: ignore[method-assign]
        return DrivenRunner(runner)

    def seconds_left(self) -> float:
        return self.lease

    def attempt(self, **values: Any) -> Attempt:
        return Attempt(
            make_action(
                **{
                    'id': 1,
                    'name': 'a',
                    'action_type': 'kind',
                    'status': states.READY,
                    'owner': 'w',
                    'attempt': 1,
                    **values,
                }
            ),
            'a-plan',
            # Resolves types as the runner of the test does.
            AttemptServices(
                self.clock, cast(ActionTypes, self), self.checkpoints, self
            ),
        )

    def make_action_type(self, name: str) -> ActionType:
        return self.types.make_action_type(name)

    def prepare(self, attempt: Attempt | None = None, **members: Any) -> Action:
        return self.runner(**members).prepare(attempt or self.attempt()).action

    def run_task(
        self, attempt: Attempt | None = None, signal: str | None = None, **members: Any
    ) -> Conclusion:
        """Run an attempt to its end; deliver a signal after its start."""
        attempt = attempt or self.attempt()
        runner = self.runner(**members)
        prepared = runner.prepare(attempt)
        self.assertEqual(states.RUNNING, prepared.action.status, prepared.action)
        attempt.action = prepared.action
        if signal:
            attempt.context.deliver(signal)
        return runner.perform(attempt)

    def result_of(self, *arguments: Any, **members: Any) -> tuple[str, str | None]:
        after = self.run_task(*arguments, **members).action
        return after.status, after.status_message
