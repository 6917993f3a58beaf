"""Actions whose work goes on outside: polled, signalled, taken over."""

from collections.abc import Callable

from tests import base
from tests.factories import make_action
from tests.unit.execution.attempts import make_attempt
from watcherlite.domain import outcomes
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.deferred import DeferredPolling
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.execution.timers import Timers
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class FakeRunner:
    """Answers as the runner would."""

    def __init__(self) -> None:
        self.adoption: Conclusion | None = None

    def adopt(self, attempt: Attempt) -> Conclusion | None:
        return self.adoption

    def cancel(self, attempt: Attempt, outcome: outcomes.Outcome) -> Conclusion:
        return Conclusion(attempt.action.evolve(status_message=type(outcome).__name__))


class Control:
    """Takes the place of the dispatcher; the threads are the test's."""

    def __init__(self, case: 'DeferredPollingTest') -> None:
        self.run = case.run_step
        self.poll = case.poll
        self.conclude = case.conclude


class DeferredPollingTest(base.TestCase):
    """One action that is InProgress; what happens to it is in `done`."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.in_flight = InFlight(self.clock)
        self.runner = FakeRunner()
        self.done: list[str] = []
        self.jobs: list[Callable[[], None]] = []
        self.deferred = DeferredPolling(
            CoreServices(MemoryStore(self.clock), self.clock, ExecutionSettings(), 'w'),
            self.in_flight,
            self.runner,  # type: ignore[arg-type]
            self.timers,
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

    def run_step(self, step: Callable[[Attempt], None], attempt: Attempt) -> None:
        self.jobs.append(lambda: step(attempt))

    def poll(self, attempt: Attempt) -> None:
        self.jobs.append(lambda: self.done.append('polled'))

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        after = conclusion.action
        self.done.append(after.status_message or after.status)

    def durable(self, status: str) -> None:
        """Let what was concluded be in the store."""
        self.attempt.action = self.attempt.action.evolve(status=status)
        if status == states.SUSPENDED:
            self.deferred.hold(self.attempt)
        else:
            self.deferred.poll_later(self.attempt, 0.0)

    def work(self) -> None:
        """Let the threads do what there is for them."""
        self.timers.run_due()
        while self.jobs:
            self.jobs.pop(0)()

    def deliver(self, signal: str) -> None:
        self.context.deliver(signal)
        self.deferred.apply_signal(self.attempt, signal)

    def test_it_is_polled_when_its_delay_is_over_and_not_before(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.assertEqual((0, True), (self.in_flight.busy, self.attempt.idle))
        self.clock.advance(4.9)
        self.work()
        self.assertEqual([], self.done)
        self.clock.advance(0.1)
        self.work()
        self.assertEqual((['polled'], 1), (self.done, self.in_flight.busy))

    def test_only_the_timer_of_the_last_delay_counts(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deferred.poll_later(self.attempt, 50)
        self.clock.advance(49)
        self.work()
        self.assertEqual([], self.done)
        self.clock.advance(1)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_one_that_was_let_go_of_is_not_polled(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.in_flight.remove(self.attempt)
        self.clock.advance(5)
        self.work()
        self.assertEqual([], self.done)

    def stopped_by(self, signal: str) -> list[str]:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(signal)
        self.assertEqual(([], 1), (self.done, self.in_flight.busy))
        self.work()
        return self.done

    def test_a_cancel_stops_the_work_in_a_thread(self) -> None:
        self.assertEqual(['Cancelled'], self.stopped_by(states.CANCEL))

    def test_a_timeout_stops_the_work_in_a_thread(self) -> None:
        self.assertEqual(['TimedOut'], self.stopped_by(TIMEOUT))

    def test_a_second_cancel_while_the_first_is_heeded_does_nothing(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.CANCEL)
        self.deliver(states.CANCEL)
        self.work()
        self.assertEqual(['Cancelled'], self.done)

    def test_suspended_it_is_not_polled_and_resumed_at_once(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.SUSPEND)
        self.durable(states.SUSPENDED)
        self.clock.advance(100)
        self.work()
        self.assertEqual([states.SUSPENDED], self.done)
        self.deliver(states.RESUME)
        self.durable(states.RUNNING)
        self.work()
        self.assertEqual([states.SUSPENDED, states.RUNNING, 'polled'], self.done)

    def test_its_time_stands_still_while_it_is_suspended(self) -> None:
        self.context.set_deadline(30)
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.SUSPEND)
        self.durable(states.SUSPENDED)
        self.assertIsNone(self.context.remaining())
        self.clock.advance(1000)
        self.deliver(states.RESUME)
        self.assertEqual(30, self.context.remaining())

    def test_signals_on_the_heels_of_each_other_are_heeded_one_by_one(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.SUSPEND)
        self.deliver(states.CANCEL)
        self.work()
        self.assertEqual([states.SUSPENDED], self.done)
        self.durable(states.SUSPENDED)
        self.work()
        self.assertEqual([states.SUSPENDED, 'Cancelled'], self.done)

    def test_a_signal_that_came_while_a_thread_polled_is_heeded_then(self) -> None:
        self.context.deliver(states.SUSPEND)
        self.deferred.poll_later(self.attempt, 5)
        self.assertEqual([states.SUSPENDED], self.done)

    def test_signals_that_change_nothing_are_none(self) -> None:
        self.deferred.poll_later(self.attempt, 5)
        self.deliver(states.RESUME)
        self.assertEqual(([], 0), (self.done, self.in_flight.busy))
        self.clock.advance(5)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_one_that_was_taken_over_is_polled_at_once(self) -> None:
        self.deferred.adopt(self.attempt)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_one_that_was_taken_over_suspended_stays_so(self) -> None:
        self.context.set_deadline(30)
        self.attempt.action = self.attempt.action.evolve(status=states.SUSPENDED)
        self.deferred.adopt(self.attempt)
        self.work()
        self.assertEqual(([], 30.0), (self.done, self.attempt.remaining))
        self.assertIsNone(self.context.remaining())

    def test_a_cancel_from_before_it_was_taken_over_is_heeded(self) -> None:
        for status in (states.RUNNING, states.SUSPENDED):
            self.context.signal = states.CANCEL
            self.attempt.action = self.attempt.action.evolve(status=status)
            self.deferred.adopt(self.attempt)
            self.work()
        self.assertEqual(['Cancelled', 'Cancelled'], self.done)

    def test_one_whose_plugin_cannot_be_made_is_concluded(self) -> None:
        failed = self.attempt.action.evolve(status_message='no such type')
        self.runner.adoption = Conclusion(failed)
        self.deferred.adopt(self.attempt)
        self.work()
        self.assertEqual(['no such type'], self.done)
