"""What runs longer than it may: told, given up, or left alone."""

from typing import Any

from tests import base
from tests.factories import make_action
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.deadlines import EVERY, Deadlines
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.results import Conclusion
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.task import Task
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock


class FakePool:
    """Threads that are in the jobs that a test says.

    :ivar lost: the jobs whose threads were given up
    """

    def __init__(self) -> None:
        self.running: set[Any] = set()
        self.lost: list[Any] = []

    def runs(self, job: Any) -> bool:
        return job in self.running

    def lose_thread(self, job: Any) -> None:
        self.lost.append(job)


class DeadlinesTest(base.TestCase):
    """One action with a timeout of 10 s, and 5 s of grace."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.scheduler = Scheduler(self.clock)
        self.hand = InHand(self.clock)
        self.pool = FakePool()
        self.heeded: list[str] = []
        self.concluded: list[Conclusion] = []
        self.deadlines = Deadlines(
            self.hand,
            self.pool,  # type: ignore[arg-type]
            self.scheduler,
            self.clock,
            ExecutionSettings(signal_grace=5.0),
            lambda task, signal: self.heeded.append(signal),
            lambda task, conclusion: self.concluded.append(conclusion),
        )
        self.deadlines.watch()

    def a_task(self, in_thread: bool = True, **values: Any) -> Task:
        task = Task(
            make_action(
                **{
                    'id': 1,
                    'status': states.RUNNING,
                    'owner': 'w',
                    'start_time': self.clock.now(),
                    **values,
                }
            )
        )
        task.context = Context(task.action, None, self.clock)
        task.context.set_deadline(10)
        task.executing = True
        task.job = lambda: None
        if in_thread:
            self.pool.running.add(task.job)
        with self.hand.lock:
            self.hand.add(task)
        return task

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / EVERY)):
            self.clock.advance(EVERY)
            self.scheduler.run_due()

    def test_before_its_time_nothing_happens(self) -> None:
        task = self.a_task()
        self.pass_time(9)
        assert task.context is not None
        self.assertIsNone(task.context.signal)

    def test_when_its_time_is_over_it_is_told_and_later_given_up(self) -> None:
        task = self.a_task()
        assert task.context is not None
        self.pass_time(10)
        self.assertEqual((TIMEOUT, False), (task.context.signal, task.abandoned))
        self.pass_time(4)
        self.assertEqual([], self.concluded)
        self.pass_time(1)
        (concluded,) = self.concluded
        self.assertEqual(
            (
                states.FAILED,
                'Action failed in execute: it ran longer than its timeout',
            ),
            (concluded.action.status, concluded.action.status_message),
        )
        self.assertTrue(task.abandoned)
        self.assertEqual([task.job], self.pool.lost)
        self.pass_time(20)
        self.assertEqual(1, len(self.concluded))

    def test_in_pre_condition_the_message_says_so(self) -> None:
        task = self.a_task(status=states.READY)
        task.executing = False
        self.pass_time(15)
        self.assertEqual(
            'Action failed in pre_condition: it ran longer than its timeout',
            self.concluded[0].action.status_message,
        )

    def test_one_that_is_repeated_is_not_repeated_after_that(self) -> None:
        self.a_task(interval=60)
        self.pass_time(15)
        self.assertEqual(states.FAILED, self.concluded[0].action.status)

    def test_an_idle_one_is_ended_at_once(self) -> None:
        task = self.a_task(in_thread=False)
        with self.hand.lock:
            self.hand.rest(task)
        self.pass_time(10)
        self.assertEqual([TIMEOUT], self.heeded)
        self.assertEqual([], self.concluded)

    def test_one_that_waits_for_a_thread_or_for_the_committer_is_left_alone(
        self,
    ) -> None:
        task = self.a_task(in_thread=False)
        self.pass_time(60)
        assert task.context is not None
        self.assertEqual((None, []), (task.context.signal, self.concluded))

    def test_one_that_is_suspended_has_no_deadline(self) -> None:
        task = self.a_task()
        assert task.context is not None
        task.context.stop_clock()
        self.pass_time(60)
        self.assertIsNone(task.context.signal)

    def test_one_that_has_ended_does_not_wait_for_its_dependent(self) -> None:
        task = self.a_task()
        ended = Conclusion(task.action.evolve(status=states.SUCCEEDED))
        task.ended = ended
        assert task.context is not None
        task.context.set_deadline(1)
        self.pass_time(1)
        self.assertEqual([ended], self.concluded)
        self.assertEqual(([task.job], True), (self.pool.lost, task.abandoned))
