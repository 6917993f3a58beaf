"""Threads that wait for the next event of a stream."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from watcherlite.api.event_streams import EventStreams
from watcherlite.testing import ManualClock


class TestWait(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.streams, self.clock = EventStreams(), ManualClock()

    def wait(self, seen: int | None = None) -> threading.Thread:
        """Let a thread wait for 1 to 5 s; `seen` is its known number of wake-ups."""
        known = self.streams.wakes() if seen is None else seen
        thread = threading.Thread(
            target=self.streams.wait, args=(self.clock, known, 1.0, 5.0), daemon=True
        )
        thread.start()
        return thread

    def assert_over(self, thread: threading.Thread) -> None:
        thread.join(TIMEOUT)
        self.assertFalse(thread.is_alive())

    def test_wakeup_ends_wait_after_minimum_time(self) -> None:
        thread = self.wait()
        self.clock.until_waiting()
        self.streams.wake()
        self.clock.advance(1)
        self.assert_over(thread)

    def test_wakeup_between_poll_and_wait_is_not_lost(self) -> None:
        seen = self.streams.wakes()
        self.streams.wake()
        thread = self.wait(seen)
        self.clock.until_waiting()
        self.clock.advance(1)
        self.assert_over(thread)

    def test_wait_without_wakeup_ends_after_maximum_time(self) -> None:
        thread = self.wait()
        self.clock.until_waiting()
        self.clock.advance(4)
        self.assertTrue(thread.is_alive())
        self.clock.advance(1)
        self.assert_over(thread)

    def test_end_of_process_ends_wait_at_once(self) -> None:
        thread = self.wait()
        self.clock.until_waiting()
        self.streams.end()
        self.assert_over(thread)
        self.assertTrue(self.streams.ended)
