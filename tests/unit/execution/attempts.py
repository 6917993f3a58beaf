"""Attempts and conclusions for the tests of the core."""

from collections.abc import Callable
from typing import Any

from watcherlite.clock import Clock
from watcherlite.domain.actions import Action
from watcherlite.execution.group_commit import PendingCommit
from watcherlite.execution.in_flight import Attempt, AttemptServices
from watcherlite.execution.results import Conclusion
from watcherlite.plugins import loader
from watcherlite.testing.clock import ManualClock


def make_attempt(
    action: Action, clock: Clock | None = None, checkpoints: Any = None
) -> Attempt:
    """Return an attempt of a type that is not installed.

    :param checkpoints: None: nothing may be made durable
    """
    types = loader.Plugins.of(action_types={})
    services = AttemptServices(clock or ManualClock(), types, checkpoints)
    return Attempt(action, 'a-plan', services)


class Commit(PendingCommit):
    """A conclusion that calls a function of the test after its commit."""

    def __init__(
        self,
        attempt: Attempt,
        conclusion: Conclusion,
        done: Callable[['Commit', bool], None] = lambda item, applied: None,
        handover: tuple[Attempt, Conclusion] | None = None,
    ) -> None:
        super().__init__(attempt.action, conclusion, handover)
        self.attempt = attempt
        self.done = done

    def on_written(self, applied: bool) -> None:
        if applied:
            self.attempt.action = self.after
        self.done(self, applied)
