"""The attempts in flight, and the number of busy ones."""

from tests import base
from tests.factories import make_action
from tests.unit.execution.attempts import make_attempt
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.testing.clock import ManualClock


class InFlightTest(base.TestCase):
    """The counters are correct after each operation."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.in_flight = InFlight(self.clock)

    def add_attempt(self, key: int = 1, **values: int) -> Attempt:
        return make_attempt(make_action(id=key, attempt=1, **values))

    def take(self, key: int = 1) -> Attempt:
        attempt = self.add_attempt(key)
        self.in_flight.add(attempt)
        return attempt

    def test_an_attempt_is_busy_until_its_removal(self) -> None:
        first, second = self.take(1), self.take(2)
        self.assertEqual(2, self.in_flight.busy)
        self.assertEqual({1: 1, 2: 1}, self.in_flight.attempt_numbers())
        self.assertEqual([first, second], self.in_flight.attempts())
        self.assertIs(first, self.in_flight.get(1))
        # A second removal does nothing.
        for _ in range(2):
            self.in_flight.remove(first)
            self.assertEqual((1, None), (self.in_flight.busy, self.in_flight.get(1)))

    def test_an_idle_attempt_is_not_busy(self) -> None:
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

    def test_an_attempt_that_is_not_in_flight_changes_no_counter(self) -> None:
        foreign = self.add_attempt(7)
        self.in_flight.set_idle(foreign)
        self.in_flight.set_paused(foreign, True)
        self.in_flight.remove(foreign)
        self.assertFalse(self.in_flight.set_busy(foreign))
        self.assertEqual((0, False), (self.in_flight.busy, foreign.paused))

    def test_a_new_attempt_replaces_the_former(self) -> None:
        old = self.take()
        new = self.add_attempt()
        self.in_flight.add(new)
        self.assertEqual((1, True), (self.in_flight.busy, old.abandoned))
        self.in_flight.remove(old)
        self.assertTrue(self.in_flight.is_current(new))
        self.assertEqual(1, self.in_flight.busy)

    def test_wait_until_idle_returns_without_busy_attempts(self) -> None:
        self.assertTrue(self.in_flight.wait_until_idle(0))
        attempt = self.take()
        self.assertFalse(self.in_flight.wait_until_idle(0))
        self.in_flight.set_idle(attempt)
        self.assertTrue(self.in_flight.wait_until_idle(0))

    def test_wait_until_idle_ignores_paused_attempts(self) -> None:
        attempt = self.take()
        self.in_flight.set_paused(attempt, True)
        self.in_flight.set_paused(attempt, True)
        # It returns immediately, and the attempt is not busy.
        self.assertFalse(self.in_flight.wait_until_idle(3600))
        self.assertEqual(0, self.in_flight.busy)
        other = self.take(2)
        self.in_flight.remove(attempt)
        self.assertFalse(self.in_flight.wait_until_idle(0))
        self.in_flight.remove(other)
        self.assertTrue(self.in_flight.wait_until_idle(0))

    def test_a_resumed_attempt_is_busy_again(self) -> None:
        attempt = self.take()
        self.in_flight.set_paused(attempt, True)
        self.in_flight.set_paused(attempt, False)
        self.assertFalse(self.in_flight.wait_until_idle(0))
        self.assertEqual(1, self.in_flight.busy)

    def test_an_abandon_applies_to_later_attempts_as_well(self) -> None:
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
