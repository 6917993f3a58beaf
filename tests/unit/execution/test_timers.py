"""Timers, called in the thread of the test."""

from tests import base
from watcherlite.execution.services import Timers
from watcherlite.testing.clock import ManualClock


class TestRunDue(base.TestCase):
    def setUp(self):
        super().setUp()
        self.build()

    def build(self):
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.called = []

    def record(self, name):
        return lambda: self.called.append((self.clock.monotonic(), name))

    def pass_time(self, *seconds):
        """Advance the time in these steps, and call the due timers after each."""
        for step in seconds:
            self.clock.advance(step)
            self.timers.run_due()
        return self.called

    def test_run_due_returns_the_seconds_until_the_next_timer(self):
        self.assertIsNone(self.timers.run_due())
        self.timers.after(5, self.record('a'))
        self.timers.after(3, self.record('b'))
        self.clock.advance(1)

        self.assertEqual(2, self.timers.run_due())

    def test_timers_are_called_once_in_the_order_of_their_times(self):
        for delays, passed, called in (
            ({'a': 5}, (4, 1, 1), [(5, 'a')]),
            ({'c': 3, 'a': 1, 'b': 2}, (3,), [(3, 'a'), (3, 'b'), (3, 'c')]),
            # Timers with the same time are called in the order of scheduling.
            (dict.fromkeys('ebcda', 1), (1,), [(1, name) for name in 'ebcda']),
            # A timer in the past is called immediately.
            ({'a': -6}, (0,), [(0, 'a')]),
        ):
            self.build()
            for name, delay in delays.items():
                self.timers.after(delay, self.record(name))
            self.assertEqual(called, self.pass_time(*passed), delays)

    def test_a_periodic_timer_is_called_at_its_interval_and_skips_missed_times(self):
        for passed, times in (([1] * 7, (2, 4, 6)), ([9, 1, 1], (9, 11))):
            self.build()
            self.timers.every(2, self.record('a'))
            self.assertEqual([(at, 'a') for at in times], self.pass_time(*passed))

    def test_a_due_timer_scheduled_by_another_is_called_in_the_same_run(self):
        self.timers.after(1, lambda: self.timers.after(0, self.record('b')))

        self.assertEqual([(1, 'b')], self.pass_time(1))

    def test_an_exception_is_logged_and_does_not_stop_other_timers(self):
        self.timers.after(1, lambda: [].pop())
        self.timers.after(2, self.record('a'))

        self.assertEqual([(2, 'a')], self.pass_time(2))
        self.assertIn('A timer failed; the next sweep tries again', self.log.output)
        self.assertIn('pop from empty list', self.log.output)

    def test_a_periodic_timer_that_raises_is_called_again(self):
        calls = []

        def fail():
            calls.append(self.clock.monotonic())
            raise ValueError

        self.timers.every(1, fail)
        self.pass_time(1, 1)

        self.assertEqual([1, 2], calls)

    def test_no_timer_is_called_after_the_stop(self):
        self.timers.after(1, self.record('a'))

        self.timers.stop()

        self.assertEqual([], self.pass_time(5))
