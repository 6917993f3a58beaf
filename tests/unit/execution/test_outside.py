"""Actions whose work goes on outside: polled, signalled, taken over."""

from collections.abc import Callable

from tests import base
from tests.factories import make_action
from watcherlite.domain import outcomes
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.outside import Outside
from watcherlite.execution.results import Conclusion
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.task import Task
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock


class FakeRunner:
    """Answers as the runner would."""

    def __init__(self) -> None:
        self.adoption: Conclusion | None = None

    def adopt(self, task: Task) -> Conclusion | None:
        return self.adoption

    def cancel(self, task: Task, outcome: outcomes.Outcome) -> Conclusion:
        return Conclusion(task.action.evolve(status_message=type(outcome).__name__))


class OutsideTest(base.TestCase):
    """One action that is InProgress; what happens to it is in `done`."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.scheduler = Scheduler(self.clock)
        self.hand = InHand(self.clock)
        self.runner = FakeRunner()
        self.done: list[str] = []
        self.jobs: list[Callable[[], None]] = []
        self.outside = Outside(
            self.hand,
            self.runner,  # type: ignore[arg-type]
            self.scheduler,
            self.clock,
            self.run_step,
            lambda task: self.done.append('polled'),
            self.conclude,
        )
        self.task = Task(
            make_action(id=1, status=states.RUNNING, owner='w', token={'job': 1})
        )
        self.task.context = Context(self.task.action, None, self.clock)
        with self.hand.lock:
            self.hand.add(self.task)

    @property
    def context(self) -> Context:
        assert self.task.context is not None
        return self.task.context

    def run_step(self, step: Callable[[Task], None], task: Task) -> None:
        self.jobs.append(lambda: step(task))

    def conclude(self, task: Task, conclusion: Conclusion) -> None:
        after = conclusion.action
        self.done.append(after.status_message or after.status)

    def durable(self, status: str) -> None:
        """Let what was concluded be in the store."""
        self.task.action = self.task.action.evolve(status=status)
        if status == states.SUSPENDED:
            self.outside.stay(self.task)
        else:
            self.outside.wait(self.task, 0.0)

    def work(self) -> None:
        """Let the threads do what there is for them."""
        self.scheduler.run_due()
        while self.jobs:
            self.jobs.pop(0)()

    def deliver(self, signal: str) -> None:
        self.context.deliver(signal)
        self.outside.heed(self.task, signal)

    def test_it_is_polled_when_its_delay_is_over_and_not_before(self) -> None:
        self.outside.wait(self.task, 5)
        self.assertEqual((0, True), (self.hand.busy, self.task.idle))
        self.clock.advance(4.9)
        self.work()
        self.assertEqual([], self.done)
        self.clock.advance(0.1)
        self.work()
        self.assertEqual((['polled'], 1), (self.done, self.hand.busy))

    def test_only_the_timer_of_the_last_delay_counts(self) -> None:
        self.outside.wait(self.task, 5)
        self.outside.wait(self.task, 50)
        self.clock.advance(49)
        self.work()
        self.assertEqual([], self.done)
        self.clock.advance(1)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_one_that_was_let_go_of_is_not_polled(self) -> None:
        self.outside.wait(self.task, 5)
        with self.hand.lock:
            self.hand.forget(self.task)
        self.clock.advance(5)
        self.work()
        self.assertEqual([], self.done)

    def stopped_by(self, signal: str) -> list[str]:
        self.outside.wait(self.task, 5)
        self.deliver(signal)
        self.assertEqual(([], 1), (self.done, self.hand.busy))
        self.work()
        return self.done

    def test_a_cancel_stops_the_work_in_a_thread(self) -> None:
        self.assertEqual(['Cancelled'], self.stopped_by(states.CANCEL))

    def test_a_timeout_stops_the_work_in_a_thread(self) -> None:
        self.assertEqual(['TimedOut'], self.stopped_by(TIMEOUT))

    def test_a_second_cancel_while_the_first_is_heeded_does_nothing(self) -> None:
        self.outside.wait(self.task, 5)
        self.deliver(states.CANCEL)
        self.deliver(states.CANCEL)
        self.work()
        self.assertEqual(['Cancelled'], self.done)

    def test_suspended_it_is_not_polled_and_resumed_at_once(self) -> None:
        self.outside.wait(self.task, 5)
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
        self.outside.wait(self.task, 5)
        self.deliver(states.SUSPEND)
        self.durable(states.SUSPENDED)
        self.assertIsNone(self.context.remaining())
        self.clock.advance(1000)
        self.deliver(states.RESUME)
        self.assertEqual(30, self.context.remaining())

    def test_signals_on_the_heels_of_each_other_are_heeded_one_by_one(self) -> None:
        self.outside.wait(self.task, 5)
        self.deliver(states.SUSPEND)
        self.deliver(states.CANCEL)
        self.work()
        self.assertEqual([states.SUSPENDED], self.done)
        self.durable(states.SUSPENDED)
        self.work()
        self.assertEqual([states.SUSPENDED, 'Cancelled'], self.done)

    def test_a_signal_that_came_while_a_thread_polled_is_heeded_then(self) -> None:
        self.context.deliver(states.SUSPEND)
        self.outside.wait(self.task, 5)
        self.assertEqual([states.SUSPENDED], self.done)

    def test_signals_that_change_nothing_are_none(self) -> None:
        self.outside.wait(self.task, 5)
        self.deliver(states.RESUME)
        self.assertEqual(([], 0), (self.done, self.hand.busy))
        self.clock.advance(5)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_one_that_was_taken_over_is_polled_at_once(self) -> None:
        self.outside.adopt(self.task)
        self.work()
        self.assertEqual(['polled'], self.done)

    def test_one_that_was_taken_over_suspended_stays_so(self) -> None:
        self.context.set_deadline(30)
        self.task.action = self.task.action.evolve(status=states.SUSPENDED)
        self.outside.adopt(self.task)
        self.work()
        self.assertEqual(([], 30.0), (self.done, self.task.remaining))
        self.assertIsNone(self.context.remaining())

    def test_a_cancel_from_before_it_was_taken_over_is_heeded(self) -> None:
        for status in (states.RUNNING, states.SUSPENDED):
            self.context.signal = states.CANCEL
            self.task.action = self.task.action.evolve(status=status)
            self.outside.adopt(self.task)
            self.work()
        self.assertEqual(['Cancelled', 'Cancelled'], self.done)

    def test_one_whose_plugin_cannot_be_made_is_concluded(self) -> None:
        failed = self.task.action.evolve(status_message='no such type')
        self.runner.adoption = Conclusion(failed)
        self.outside.adopt(self.task)
        self.work()
        self.assertEqual(['no such type'], self.done)
