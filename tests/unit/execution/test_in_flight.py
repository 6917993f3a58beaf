"""Actions in flight, and how many of them occupy a thread."""

from tests import base
from tests.factories import make_action
from tests.unit.execution.attempts import make_attempt
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.testing.clock import ManualClock


class InFlightTest(base.TestCase):
    """Every way in and out leaves the count right."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.in_flight = InFlight(self.clock)

    def a_task(self, key: int = 1, **values: int) -> Attempt:
        return make_attempt(make_action(id=key, attempt=1, **values))

    def take(self, key: int = 1) -> Attempt:
        attempt = self.a_task(key)
        self.in_flight.add(attempt)
        return attempt

    def test_a_task_is_busy_until_it_ends(self) -> None:
        first, second = self.take(1), self.take(2)
        self.assertEqual(2, self.in_flight.busy)
        self.assertEqual({1: 1, 2: 1}, self.in_flight.attempt_numbers())
        self.assertEqual([first, second], self.in_flight.attempts())
        self.assertIs(first, self.in_flight.get(1))
        self.in_flight.remove(first)
        self.assertEqual((1, None), (self.in_flight.busy, self.in_flight.get(1)))

    def test_to_forget_twice_is_to_forget_once(self) -> None:
        attempt = self.take()
        self.take(2)
        self.in_flight.remove(attempt)
        self.in_flight.remove(attempt)
        self.assertEqual(1, self.in_flight.busy)

    def test_an_idle_task_is_not_busy(self) -> None:
        attempt = self.take()
        self.in_flight.set_idle(attempt)
        self.in_flight.set_idle(attempt)
        self.assertEqual((0, True), (self.in_flight.busy, attempt.idle))
        self.assertTrue(self.in_flight.set_busy(attempt))
        self.assertFalse(self.in_flight.set_busy(attempt))
        self.assertEqual((1, False), (self.in_flight.busy, attempt.idle))
        self.in_flight.set_idle(attempt)
        self.in_flight.remove(attempt)
        self.assertEqual(0, self.in_flight.busy)

    def test_a_task_that_is_not_in_flight_changes_nothing(self) -> None:
        stranger = self.a_task(7)
        self.in_flight.set_idle(stranger)
        self.in_flight.set_paused(stranger, True)
        self.in_flight.remove(stranger)
        self.assertFalse(self.in_flight.set_busy(stranger))
        self.assertEqual((0, False), (self.in_flight.busy, stranger.paused))

    def test_a_new_attempt_takes_the_place_of_the_old(self) -> None:
        old = self.take()
        new = self.a_task()
        self.in_flight.add(new)
        self.assertEqual((1, True), (self.in_flight.busy, old.abandoned))
        self.in_flight.remove(old)
        self.assertTrue(self.in_flight.is_current(new))
        self.assertEqual(1, self.in_flight.busy)

    def test_quiet_is_when_no_thread_is_at_work(self) -> None:
        self.assertTrue(self.in_flight.wait_until_idle(0))
        attempt = self.take()
        self.assertFalse(self.in_flight.wait_until_idle(0))
        self.in_flight.set_idle(attempt)
        self.assertTrue(self.in_flight.wait_until_idle(0))

    def test_who_is_suspended_in_a_thread_is_not_waited_for_and_is_not_over(
        self,
    ) -> None:
        attempt = self.take()
        self.in_flight.set_paused(attempt, True)
        self.in_flight.set_paused(attempt, True)
        # At once, and it takes nobody's place.
        self.assertFalse(self.in_flight.wait_until_idle(3600))
        self.assertEqual(0, self.in_flight.busy)
        other = self.take(2)
        self.in_flight.remove(attempt)
        self.assertFalse(self.in_flight.wait_until_idle(0))
        self.in_flight.remove(other)
        self.assertTrue(self.in_flight.wait_until_idle(0))

    def test_one_that_goes_on_is_at_work_again(self) -> None:
        attempt = self.take()
        self.in_flight.set_paused(attempt, True)
        self.in_flight.set_paused(attempt, False)
        self.assertFalse(self.in_flight.wait_until_idle(0))
        self.assertEqual(1, self.in_flight.busy)

    def test_what_is_given_up_hears_of_it_and_nothing_more_is_taken(self) -> None:
        attempt = self.take()
        idle = self.take(2)
        self.in_flight.set_idle(idle)
        self.in_flight.abandon()
        later = self.take(3)
        self.assertEqual(
            [True, True, True], [t.abandoned for t in (attempt, idle, later)]
        )
        self.assertEqual(TIMEOUT, attempt.context.signal)
        self.assertEqual((0, []), (self.in_flight.busy, self.in_flight.attempts()))
        self.in_flight.remove(attempt)
        self.assertEqual(0, self.in_flight.busy)
