"""The watchdog of the deadlines of attempts."""

from typing import Any

from tests import base
from tests.factories import make_action
from tests.unit.execution.attempts import make_attempt
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.deadlines import WATCH_INTERVAL, Watchdog
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class FakePool:
    """A pool whose running jobs the test sets.

    :ivar lost: the jobs whose threads were detached
    """

    def __init__(self) -> None:
        self.running: set[Any] = set()
        self.lost: list[Any] = []

    def is_running(self, job: Any) -> bool:
        return job in self.running

    def abandon(self, job: Any) -> None:
        self.lost.append(job)

    @property
    def loop(self) -> 'FakePool':
        return self

    def report_blocked(self) -> None:
        """Report nothing: there are no coroutines."""


class WatchdogTest(base.TestCase):
    """One action with a timeout of 10 s, and 5 s of grace."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.in_flight = InFlight(self.clock)
        self.pool = FakePool()
        self.applied: list[str] = []
        self.concluded: list[Conclusion] = []
        settings = ExecutionSettings(signal_grace=5.0)
        services = CoreServices(MemoryStore(self.clock), self.clock, settings, 'w')
        self.timers = services.timers
        Watchdog(
            services,
            self.in_flight,
            self.pool,  # type: ignore[arg-type]
            self,
        ).start()

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        self.applied.append(signal)

    def conclude(self, attempt: Attempt, conclusion: Conclusion) -> None:
        self.concluded.append(conclusion)

    def add_attempt(self, in_thread: bool = True, **values: Any) -> Attempt:
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
        for _ in range(round(seconds / WATCH_INTERVAL)):
            self.clock.advance(WATCH_INTERVAL)
            self.timers.run_due()

    def test_an_overdue_attempt_is_signalled_and_later_abandoned(self) -> None:
        attempt = self.add_attempt()
        self.pass_time(9)
        self.assertIsNone(attempt.context.signal)
        self.pass_time(1)
        self.assertEqual((TIMEOUT, False), (attempt.context.signal, attempt.abandoned))
        self.pass_time(4)
        self.assertEqual([], self.concluded)
        self.pass_time(1)
        (concluded,) = self.concluded
        self.assertEqual(
            (states.FAILED, 'Action failed in execute: it ran longer than its timeout'),
            (concluded.action.status, concluded.action.status_message),
        )
        self.assertTrue(attempt.abandoned)
        self.assertEqual([attempt.job], self.pool.lost)
        self.pass_time(20)
        self.assertEqual(1, len(self.concluded))

    def test_the_message_names_the_pre_condition(self) -> None:
        attempt = self.add_attempt(status=states.READY)
        attempt.executing = False
        self.pass_time(15)
        self.assertEqual(
            'Action failed in pre_condition: it ran longer than its timeout',
            self.concluded[0].action.status_message,
        )

    def test_an_abandoned_action_is_not_repeated(self) -> None:
        self.add_attempt(interval=60)
        self.pass_time(15)
        self.assertEqual(states.FAILED, self.concluded[0].action.status)

    def test_an_idle_attempt_times_out_at_once(self) -> None:
        attempt = self.add_attempt(in_thread=False)
        self.in_flight.set_idle(attempt)
        self.pass_time(10)
        self.assertEqual([TIMEOUT], self.applied)
        self.assertEqual([], self.concluded)

    def test_an_attempt_without_a_running_job_is_left_alone(self) -> None:
        attempt = self.add_attempt(in_thread=False)
        self.pass_time(60)
        self.assertEqual((None, []), (attempt.context.signal, self.concluded))

    def test_a_suspended_attempt_has_no_deadline(self) -> None:
        attempt = self.add_attempt()
        attempt.context.stop_clock()
        self.pass_time(60)
        self.assertIsNone(attempt.context.signal)

    def test_an_ended_attempt_does_not_wait_for_its_dependent(self) -> None:
        attempt = self.add_attempt()
        ended = Conclusion(attempt.action.evolve(status=states.SUCCEEDED))
        attempt.ended = ended
        attempt.context.set_deadline(1)
        self.pass_time(1)
        self.assertEqual([ended], self.concluded)
        self.assertEqual(([attempt.job], True), (self.pool.lost, attempt.abandoned))
