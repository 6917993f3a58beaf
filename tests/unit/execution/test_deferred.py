"""Deferred polling: delays, signals, adoption."""

from collections.abc import Callable
from typing import Any

from tests import base
from tests.factories import make_action
from tests.unit.execution.attempts import make_attempt
from watcherlite.domain import outcomes
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.coroutines.steps import run_steps
from watcherlite.execution.dispatcher import DeferredPolling
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class FakeRunner:
    """A runner with fixed answers."""

    def __init__(self) -> None:
        self.adoption: Conclusion | None = None

    def adopt(self, attempt: Attempt) -> Conclusion | None:
        return self.adoption

    async def cancel(self, attempt: Attempt, outcome: outcomes.Outcome) -> Conclusion:
        return Conclusion(attempt.action.evolve(status_message=type(outcome).__name__))


class Control:
    """A dispatcher whose jobs the test runs."""

    def __init__(self, case: 'DeferredPollingTest') -> None:
        self.run = case.run_step
        self.poll = case.poll
        self.conclude = case.conclude


class DeferredPollingTest(base.TestCase):
    """One action that is InProgress; `done` records its jobs and conclusions."""

    def setUp(self) -> None:
        super().setUp()
        self.build()

    def build(self) -> None:
        """Create the action, and a poller without timers."""
        self.clock = ManualClock()
        services = CoreServices(
            MemoryStore(self.clock), self.clock, ExecutionSettings(), 'w'
        )
        self.timers = services.timers
        self.in_flight = InFlight(self.clock)
        self.runner = FakeRunner()
        self.done: list[str] = []
        self.jobs: list[Callable[[], None]] = []
        self.deferred = DeferredPolling(
            services,
            self.in_flight,
            self.runner,  # type: ignore[arg-type]
            Control(self),
        )
        self.attempt = make_attempt(
            make_action(id=1, status=states.RUNNING, owner='w', token={'job': 1}),
            self.clock,
        )
        self.in_flight.add(self.attempt)

    @property
    def context(self) -> Context:
        return self.attempt.context

    def run_step(self, step: Callable[[Attempt], Any], attempt: Attempt) -> None:
        self.jobs.append(lambda: run_steps(step(attempt)))

    def poll(self, attempt: Attempt) -> None:
        self.jobs.append(lambda: self.done.append('polled'))

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        after = conclusion.action
        self.done.append(after.status_message or after.status)

    def durable(self, status: str) -> None:
        """Apply the last conclusion, as its commit does."""
        self.attempt.action = self.attempt.action.evolve(status=status)
        if status == states.SUSPENDED:
            self.deferred.hold(self.attempt)
        else:
            self.deferred.poll_later(self.attempt, 0.0)

    def work(self) -> None:
        """Run the queued jobs."""
        self.timers.run_due()
        while self.jobs:
            self.jobs.pop(0)()

    def deliver(self, signal: str) -> None:
        self.context.deliver(signal)
        self.deferred.apply_signal(self.attempt, signal)

    def test_an_action_is_polled_after_its_last_delay(self) -> None:
        for delays in ([5], [5, 50], [50, 5]):
            self.build()
            for delay in delays:
                self.deferred.poll_later(self.attempt, delay)
            self.assertEqual((0, True), (self.in_flight.busy, self.attempt.idle))
            self.clock.advance(delays[-1] - 0.1)
            self.work()
            self.assertEqual([], self.done)
            self.clock.advance(0.1)
            self.work()
            self.assertEqual((['polled'], 1), (self.done, self.in_flight.busy))

    def test_a_removed_attempt_is_not_polled(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.in_flight.remove(self.attempt)
        self.clock.advance(5)
        self.work()
        self.assertEqual([], self.done)

    def test_a_cancel_or_a_timeout_runs_in_a_thread_once(self) -> None:
        for signals, done in (
            ([states.CANCEL], 'Cancelled'),
            ([TIMEOUT], 'TimedOut'),
            ([states.CANCEL, states.CANCEL], 'Cancelled'),
        ):
            self.build()
            self.deferred.poll_later(self.attempt, 5)
            for signal in signals:
                self.deliver(signal)
            self.assertEqual(([], 1), (self.done, self.in_flight.busy))
            self.work()
            self.assertEqual([done], self.done)

    def test_a_suspended_action_is_polled_at_once_after_its_resume(self) -> None:
        self.context.set_deadline(30)
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.SUSPEND)
        self.durable(states.SUSPENDED)
        # Its timeout stops.
        self.assertIsNone(self.context.remaining())
        self.clock.advance(100)
        self.work()
        self.assertEqual([states.SUSPENDED], self.done)
        self.deliver(states.RESUME)
        self.assertEqual(30, self.context.remaining())
        self.durable(states.RUNNING)
        self.work()
        self.assertEqual([states.SUSPENDED, states.RUNNING, 'polled'], self.done)

    def test_successive_signals_are_applied_one_by_one(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.SUSPEND)
        self.deliver(states.CANCEL)
        self.work()
        self.assertEqual([states.SUSPENDED], self.done)
        self.durable(states.SUSPENDED)
        self.work()
        self.assertEqual([states.SUSPENDED, 'Cancelled'], self.done)

    def test_a_signal_during_a_poll_is_applied_after_it(self) -> None:
        self.context.deliver(states.SUSPEND)
        self.deferred.poll_later(self.attempt, 5)
        self.assertEqual([states.SUSPENDED], self.done)

    def test_signals_without_an_effect_are_ignored(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.RESUME)
        self.assertEqual(([], 0), (self.done, self.in_flight.busy))
        self.clock.advance(5)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_an_adopted_action_is_polled_at_once(self) -> None:
        run_steps(self.deferred.adopt(self.attempt))
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_an_adopted_suspended_action_stays_suspended(self) -> None:
        self.context.set_deadline(30)
        self.attempt.action = self.attempt.action.evolve(status=states.SUSPENDED)
        run_steps(self.deferred.adopt(self.attempt))
        self.work()
        self.assertEqual(([], 30.0), (self.done, self.attempt.remaining))
        self.assertIsNone(self.context.remaining())

    def test_a_cancel_before_the_adoption_is_applied(self) -> None:
        for status in (states.RUNNING, states.SUSPENDED):
            self.context.signal = states.CANCEL
            self.attempt.action = self.attempt.action.evolve(status=status)
            run_steps(self.deferred.adopt(self.attempt))
            self.work()
        self.assertEqual(['Cancelled', 'Cancelled'], self.done)

    def test_an_adopted_action_without_its_plugin_fails(self) -> None:
        failed = self.attempt.action.evolve(status_message='no such type')
        self.runner.adoption = Conclusion(failed)
        run_steps(self.deferred.adopt(self.attempt))
        self.work()
        self.assertEqual(['no such type'], self.done)
