"""Open streams: their number, wake-ups and end."""

import threading
from collections.abc import Iterator

from tests import base
from watcherlite.api.event_streams import EventStreams, TooManyStreams
from watcherlite.testing import ManualClock


class TestHowManyAreOpen(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.streams = EventStreams()

    def test_a_stream_counts_from_its_beginning_to_its_close(self) -> None:
        stream = self.streams.serve(2, iter([b'a']))
        self.assertEqual(1, self.streams.open)
        stream.close()
        stream.close()
        self.assertEqual(0, self.streams.open)

    def test_excess_stream_is_rejected_with_retry_after(self) -> None:
        self.streams.serve(1, iter(()))
        held = self.streams.serve(1, iter(()))
        error = self.assertRaises(TooManyStreams, self.streams.serve, 1, iter(()))
        self.assertEqual(
            'All 1 event streams of this process are in use; try again in 10 s',
            str(error),
        )
        held.close()
        self.streams.serve(1, iter(())).close()

    def test_stream_closes_after_its_last_chunk_or_an_error_or_unread(self) -> None:
        def chunks() -> Iterator[bytes]:
            yield b'a'
            raise KeyError

        self.assertEqual([b'a', b'b'], list(self.streams.serve(1, iter([b'a', b'b']))))
        self.assertEqual(0, self.streams.open)
        stream = self.streams.serve(1, chunks())
        self.assertEqual(b'a', next(stream))
        self.assertRaises(KeyError, next, stream)
        self.assertEqual(0, self.streams.open)
        self.streams.serve(1, iter([b'a']))
        self.assertEqual(0, self.streams.open)


class TestWaiting(base.TestCase):
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
        thread.join(10)
        self.assertFalse(thread.is_alive())

    def test_a_wake_ends_it_once_the_least_time_is_over(self) -> None:
        thread = self.wait()
        self.clock.until_waiting()
        self.streams.wake()
        self.clock.advance(1)
        self.assert_over(thread)

    def test_a_wake_between_the_look_and_the_wait_is_not_lost(self) -> None:
        seen = self.streams.wakes()
        self.streams.wake()
        thread = self.wait(seen)
        self.clock.until_waiting()
        self.clock.advance(1)
        self.assert_over(thread)

    def test_without_a_wake_the_longest_time_ends_it(self) -> None:
        thread = self.wait()
        self.clock.until_waiting()
        self.clock.advance(4)
        self.assertTrue(thread.is_alive())
        self.clock.advance(1)
        self.assert_over(thread)

    def test_the_end_of_the_process_ends_it_at_once(self) -> None:
        thread = self.wait()
        self.clock.until_waiting()
        self.streams.end()
        self.assert_over(thread)
        self.assertTrue(self.streams.ended)
