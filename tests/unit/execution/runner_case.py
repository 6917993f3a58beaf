"""A runner for one type of action, with a clock that a test turns."""

from collections.abc import Sequence
from typing import Any

from tests import base
from tests.factories import make_action
from tests.policies import pairs
from tests.worlds import Calls, kind
from watcherlite.domain.actions import Action
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.task import Task
from watcherlite.plugins import loader
from watcherlite.plugins.base import ActionType, Policy
from watcherlite.states import action as states
from watcherlite.testing.actions import DerivedEnd
from watcherlite.testing.clock import ManualClock


class RunnerCase(base.TestCase):
    """A runner for one type of action, called 'kind'."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.calls = Calls()
        self.derived: Sequence[DerivedEnd] = ()
        self.policies: list[Policy] = []
        self.kept: list[Any] = []

    def runner(self, made: type[ActionType] | None = None, **members: Any) -> Runner:
        return Runner(
            loader.Plugins.of(action_types={'kind': made or kind(**members)}),
            PolicyChain(lambda task: pairs(task, *self.policies)),
            self.clock,
            ExecutionSettings(default_action_timeout=100),
            lambda action: self.derived,
            lambda task, suspended: None,
            lambda task: self.kept.append(task.data),
        )

    def task(self, **values: Any) -> Task:
        return Task(
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
        )

    def prepare(self, task: Task | None = None, **members: Any) -> Action:
        return self.runner(**members).prepare(task or self.task()).action

    def run_task(
        self, task: Task | None = None, signal: str | None = None, **members: Any
    ) -> Conclusion:
        """Take a task to its end; a signal comes once it is RUNNING."""
        task = task or self.task()
        runner = self.runner(**members)
        prepared = runner.prepare(task)
        self.assertEqual(states.RUNNING, prepared.action.status, prepared.action)
        task.action = prepared.action
        if signal and task.context:
            task.context.deliver(signal)
        return runner.perform(task)

    def said(self, *arguments: Any, **members: Any) -> tuple[str, str | None]:
        after = self.run_task(*arguments, **members).action
        return after.status, after.status_message
