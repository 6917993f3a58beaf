"""Open streams: their number, wake-ups and end."""

from collections.abc import Iterator

from tests import base
from watcherlite.api.event_streams import EventStreams, TooManyStreams


class TestStreamLimit(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.streams = EventStreams()

    def test_stream_counts_as_open_until_closed(self) -> None:
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

    def test_stream_closes_after_last_chunk_or_error_or_when_discarded(self) -> None:
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
