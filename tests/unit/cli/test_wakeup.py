"""Signals and waiting."""

import contextlib
import os
import signal

from tests import base
from watcherlite.cli.wakeup import InterruptGuard, Interrupts, Wake


class WakeTest(base.TestCase):
    def test_a_wake_before_the_wait_is_not_lost(self):
        wake = Wake()
        wake.now()
        wake.now()

        wake.wait(60)

    def test_a_wait_ends_after_its_timeout(self):
        Wake().wait(0)


class InterruptsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.left = []
        self.wake = Wake()
        self.before = {
            number: signal.getsignal(number)
            for number in (signal.SIGINT, signal.SIGTERM)
        }

    def test_the_first_signal_is_recorded_and_the_second_exits(self):
        with Interrupts(self.wake, self.left.append) as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            self.wake.wait(60)
            self.assertEqual((signal.SIGINT, []), (interrupts.received, self.left))

            os.kill(os.getpid(), signal.SIGTERM)
            self.wake.wait(60)

            self.assertEqual([143], self.left)

    def test_the_signal_handlers_are_restored(self):
        with Interrupts(self.wake, self.left.append):
            self.assertNotEqual(self.before[signal.SIGINT], signal.getsignal(2))

        self.assertEqual(
            self.before, {number: signal.getsignal(number) for number in self.before}
        )


class InterruptGuardTest(base.TestCase):
    def test_a_dropped_interrupt_ends_the_next_wait(self):
        slept = []
        with InterruptGuard(slept.append) as guard:
            guard.wait(1)
            # The interpreter drops exceptions while it cleans up an object.
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            self.assertRaises(KeyboardInterrupt, guard.wait, 2)

        self.assertEqual([1], slept)

    def test_the_signal_handler_is_restored(self):
        before = signal.getsignal(signal.SIGINT)
        with InterruptGuard():
            self.assertNotEqual(before, signal.getsignal(signal.SIGINT))

        self.assertEqual(before, signal.getsignal(signal.SIGINT))
