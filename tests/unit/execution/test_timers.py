"""Functions called at their times."""

import threading

from tests import base
from watcherlite.execution.timers import Timers
from watcherlite.testing.clock import ManualClock

PATIENCE = 10


class TestRunDue(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.called = []

    def note(self, name):
        return lambda: self.called.append((self.clock.monotonic(), name))

    def apply_signal(self, *seconds):
        """Let time pass in these steps and call what is due after each."""
        for step in seconds:
            self.clock.advance(step)
            self.timers.run_due()
        return self.called

    def test_nothing_is_due_when_nothing_is_scheduled(self):
        self.assertIsNone(self.timers.run_due())

    def test_it_tells_the_seconds_until_the_next(self):
        self.timers.after(5, self.note('a'))
        self.timers.after(3, self.note('b'))
        self.clock.advance(1)

        self.assertEqual(2, self.timers.run_due())

    def test_what_is_due_is_called_once_at_its_time_and_not_before(self):
        self.timers.after(5, self.note('a'))

        self.assertEqual([(5, 'a')], self.apply_signal(4, 1, 1))

    def test_what_is_due_is_called_in_the_order_of_its_times(self):
        self.timers.after(3, self.note('c'))
        self.timers.at(1, self.note('a'))
        self.timers.after(2, self.note('b'))

        self.assertEqual([(3, 'a'), (3, 'b'), (3, 'c')], self.apply_signal(3))

    def test_equal_times_are_called_in_the_order_of_scheduling(self):
        for name in 'abcde':
            self.timers.after(1, self.note(name))

        self.assertEqual([(1, name) for name in 'abcde'], self.apply_signal(1))

    def test_what_is_over_already_is_called_at_once(self):
        self.clock.advance(10)
        self.timers.at(4, self.note('a'))

        self.assertEqual([(10, 'a')], self.apply_signal(0))

    def test_a_repeated_one_is_called_as_long_apart_as_was_asked(self):
        self.timers.every(2, self.note('a'))

        self.assertEqual([(2, 'a'), (4, 'a'), (6, 'a')], self.apply_signal(*[1] * 7))

    def test_times_that_were_missed_are_not_made_up_for(self):
        self.timers.every(2, self.note('a'))

        self.assertEqual([(9, 'a'), (11, 'a')], self.apply_signal(9, 1, 1))

    def test_one_that_is_scheduled_by_another_is_called_in_the_same_turn(self):
        self.timers.after(1, lambda: self.timers.after(0, self.note('b')))

        self.assertEqual([(1, 'b')], self.apply_signal(1))

    def test_one_that_raises_is_logged_and_does_not_stop_the_others(self):
        self.timers.after(1, lambda: [].pop())
        self.timers.after(2, self.note('a'))

        self.assertEqual([(2, 'a')], self.apply_signal(2))
        self.assertIn('A scheduled step failed', self.log.output)
        self.assertIn('pop from empty list', self.log.output)

    def test_a_repeated_one_that_raises_is_called_again(self):
        calls = []

        def fail():
            calls.append(self.clock.monotonic())
            raise ValueError

        self.timers.every(1, fail)
        self.apply_signal(1, 1)

        self.assertEqual([1, 2], calls)

    def test_nothing_is_called_after_the_stop(self):
        self.timers.after(1, self.note('a'))

        self.timers.stop()

        self.assertEqual([], self.apply_signal(5))


class TestThread(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock, 'a-scheduler')
        self.timers.start()
        self.addCleanup(self.timers.stop)

    def test_it_calls_what_is_due_in_a_thread_of_its_own(self):
        done = threading.Event()
        names = []

        def note():
            names.append(threading.current_thread().name)
            done.set()

        self.timers.after(5, note)
        self.clock.until_waiting()
        self.clock.advance(5)

        self.assertTrue(done.wait(PATIENCE))
        self.assertEqual(['a-scheduler'], names)

    def test_an_earlier_time_wakes_it_from_waiting_for_a_later_one(self):
        done = threading.Event()
        self.timers.after(3600, lambda: None)
        self.clock.until_waiting()

        self.timers.after(0, done.set)

        self.assertTrue(done.wait(PATIENCE))

    def test_a_step_may_stop_it(self):
        done = threading.Event()

        def stop():
            self.timers.stop()
            done.set()

        self.timers.after(0, stop)

        self.assertTrue(done.wait(PATIENCE))

    def test_it_ends_while_it_waits(self):
        self.timers.after(3600, lambda: None)
        self.clock.until_waiting()

        self.timers.stop(PATIENCE)

        self.assertNotIn(
            'a-scheduler', [thread.name for thread in threading.enumerate()]
        )
