"""Signals from another thread."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from watcherlite import exceptions
from watcherlite.clock import SystemClock
from watcherlite.testing import FakeContext, at_checkpoint


class TestRealTime(base.TestCase):
    def test_signal_interrupts_sleep(self):
        context = FakeContext(clock=SystemClock())
        ended = []

        def sleep():
            try:
                context.sleep(1000)
            except exceptions.Cancelled:
                ended.append('cancelled')

        thread = threading.Thread(target=sleep, daemon=True)
        thread.start()
        context.send('CANCEL')
        thread.join(TIMEOUT)

        self.assertEqual(['cancelled'], ended)


class TestSuspension(base.TestCase):
    def test_another_thread_ends_it(self):
        context = FakeContext(signals=[at_checkpoint(1, 'SUSPEND')])
        suspended = threading.Event()
        context.paused = lambda paused: suspended.set()
        thread = threading.Thread(target=context.checkpoint, daemon=True)

        thread.start()
        self.assertTrue(suspended.wait(TIMEOUT))
        self.assertTrue(thread.is_alive())
        context.send('RESUME')
        thread.join(TIMEOUT)

        self.assertFalse(thread.is_alive())
