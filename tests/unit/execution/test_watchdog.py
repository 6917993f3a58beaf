"""What runs longer than it may: told, given up, or left alone."""

from typing import Any

from tests import base
from tests.factories import make_action
from tests.unit.execution.attempts import make_attempt
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.deadlines import EVERY, Watchdog
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.execution.timers import Timers
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


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


class WatchdogTest(base.TestCase):
    """One action with a timeout of 10 s, and 5 s of grace."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.in_flight = InFlight(self.clock)
        self.pool = FakePool()
        self.applied: list[str] = []
        self.concluded: list[Conclusion] = []
        settings = ExecutionSettings(signal_grace=5.0)
        Watchdog(
            CoreServices(MemoryStore(self.clock), self.clock, settings, 'w'),
            self.in_flight,
            self.pool,  # type: ignore[arg-type]
            self.timers,
            self,
        ).start()

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        self.applied.append(signal)

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        self.concluded.append(conclusion)

    def a_task(self, in_thread: bool = True, **values: Any) -> Attempt:
        attempt = make_attempt(
            make_action(
                **{
                    'id': 1,
                    'status': states.RUNNING,
                    'owner': 'w',
                    'start_time': self.clock.now(),
                    **values,
                }
            ),
            self.clock,
        )
        attempt.context.set_deadline(10)
        attempt.executing = True
        attempt.job = lambda: None
        if in_thread:
            self.pool.running.add(attempt.job)
        self.in_flight.add(attempt)
        return attempt

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / EVERY)):
            self.clock.advance(EVERY)
            self.timers.run_due()

    def test_before_its_time_nothing_happens(self) -> None:
        attempt = self.a_task()
        self.pass_time(9)
        self.assertIsNone(attempt.context.signal)

    def test_when_its_time_is_over_it_is_told_and_later_given_up(self) -> None:
        attempt = self.a_task()
        self.pass_time(10)
        self.assertEqual((TIMEOUT, False), (attempt.context.signal, attempt.abandoned))
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
        self.assertTrue(attempt.abandoned)
        self.assertEqual([attempt.job], self.pool.lost)
        self.pass_time(20)
        self.assertEqual(1, len(self.concluded))

    def test_in_pre_condition_the_message_says_so(self) -> None:
        attempt = self.a_task(status=states.READY)
        attempt.executing = False
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
        attempt = self.a_task(in_thread=False)
        self.in_flight.set_idle(attempt)
        self.pass_time(10)
        self.assertEqual([TIMEOUT], self.applied)
        self.assertEqual([], self.concluded)

    def test_one_that_waits_for_a_thread_or_for_the_committer_is_left_alone(
        self,
    ) -> None:
        attempt = self.a_task(in_thread=False)
        self.pass_time(60)
        self.assertEqual((None, []), (attempt.context.signal, self.concluded))

    def test_one_that_is_suspended_has_no_deadline(self) -> None:
        attempt = self.a_task()
        attempt.context.stop_clock()
        self.pass_time(60)
        self.assertIsNone(attempt.context.signal)

    def test_one_that_has_ended_does_not_wait_for_its_dependent(self) -> None:
        attempt = self.a_task()
        ended = Conclusion(attempt.action.evolve(status=states.SUCCEEDED))
        attempt.ended = ended
        attempt.context.set_deadline(1)
        self.pass_time(1)
        self.assertEqual([ended], self.concluded)
        self.assertEqual(([attempt.job], True), (self.pool.lost, attempt.abandoned))
