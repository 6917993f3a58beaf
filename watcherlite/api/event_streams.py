"""Streams of events that clients follow: how many are open, and what wakes them."""

import threading
from collections.abc import Callable, Iterator

from watcherlite import exceptions
from watcherlite.clock import Clock

#: Seconds after which a client that was refused may try again.
RETRY_AFTER = 10


class TooManyStreams(exceptions.WatcherliteError):
    """As many streams of events are open as this process serves; try again later."""

    retry_after = RETRY_AFTER


class EventStreams:
    """The streams that are open in one process; safe in any thread.

    `wake` is for whoever hears that events were stored. A stream looks again when
    it is woken, and without that when its time is over.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._open = 0
        self._wakes = 0
        self._ended = False

    @property
    def open(self) -> int:
        """Return how many streams are open."""
        with self._condition:
            return self._open

    @property
    def ended(self) -> bool:
        """Say whether all streams are to end."""
        return self._ended

    def wake(self) -> None:
        """Let every stream look for events; quick, never blocks for long."""
        with self._condition:
            self._wakes += 1
            self._condition.notify_all()

    def end(self) -> None:
        """Let every stream end, those that are opened later at once."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    def serve(self, limit: int, chunks: Iterator[bytes]) -> 'Stream':
        """Return a stream that counts as open until it ends or is closed.

        :param limit: how many may be open at a time
        :raises TooManyStreams: so many are
        """
        with self._condition:
            if self._open >= limit:
                raise TooManyStreams(
                    f'{limit} streams of events are open, and this process serves no '
                    f'more; try again in {RETRY_AFTER} s'
                )
            self._open += 1
        return Stream(chunks, self._closed)

    def _closed(self) -> None:
        with self._condition:
            self._open -= 1

    def wakes(self) -> int:
        """Return how often the streams were woken: to be taken before a look."""
        with self._condition:
            return self._wakes

    def wait(self, clock: Clock, seen: int, least: float, most: float) -> None:
        """Wait until woken again, or the streams end.

        :param seen: what `wakes` said before the last look
        :param least: seconds that are waited in any case, so that a busy process
            is not asked after every single transaction
        :param most: seconds after which nobody has to have woken it
        """
        start = clock.monotonic()
        with self._condition:
            while not self._ended:
                woken = self._wakes != seen
                left = start + (least if woken else most) - clock.monotonic()
                if left <= 0:
                    return
                clock.wait(self._condition, left)


class Stream:
    """Chunks as they come; its place is free again once it is closed."""

    def __init__(self, chunks: Iterator[bytes], closed: Callable[[], None]) -> None:
        self._chunks = chunks
        self._closed = closed
        self._lock = threading.Lock()
        self._open = True

    def __iter__(self) -> 'Stream':
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Free its place; may be called again."""
        with self._lock:
            if not self._open:
                return
            self._open = False
        self._closed()

    def __del__(self) -> None:
        # A server that loses a request before its first chunk closes nothing.
        self.close()
