"""Threads that wait on a manual clock."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from watcherlite.testing import ManualClock


class TestWaiting(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.condition = threading.Condition()
        self.woken = []

    def waiter(self, timeout):
        def wait():
            with self.condition:
                self.woken.append(self.clock.wait(self.condition, timeout))

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread

    def test_a_timeout_of_zero_does_not_wait(self):
        with self.condition:
            self.assertFalse(self.clock.wait(self.condition, 0))

    def test_a_waiter_wakes_up_after_its_timeout(self):
        thread = self.waiter(5)
        self.clock.until_waiting()

        self.clock.advance(4)
        self.clock.until_waiting()
        self.clock.advance(1)
        thread.join(TIMEOUT)

        self.assertEqual([False], self.woken)

    def test_notified_wait_returns_true_however_late_without_a_timeout(self):
        for timeout, passed in ((5, 4), (None, 1e9)):
            thread = self.waiter(timeout)
            self.clock.until_waiting()

            self.clock.advance(passed)
            self.clock.until_waiting()
            with self.condition:
                self.condition.notify()
            thread.join(TIMEOUT)

            self.assertEqual(True, self.woken.pop())

    def test_several_threads_wait_on_one_condition(self):
        threads = [self.waiter(seconds) for seconds in (1, 2, 3)]
        self.clock.until_waiting(3)

        self.clock.advance(3)
        for thread in threads:
            thread.join(TIMEOUT)

        self.assertEqual([False] * 3, self.woken)

    def test_clock_advances_while_the_condition_is_held(self):
        thread = self.waiter(1)
        self.clock.until_waiting()

        with self.condition:
            self.clock.advance(1)
        thread.join(TIMEOUT)

        self.assertEqual([False], self.woken)

    def test_until_waiting_fails_if_no_thread_waits(self):
        error = self.assertRaises(
            AssertionError, self.clock.until_waiting, 2, timeout=0.01
        )

        self.assertEqual('0 threads wait for the clock, not 2', str(error))
