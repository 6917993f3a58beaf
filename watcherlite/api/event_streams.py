"""Open streams of server-sent events: their number and their wakeups."""

import threading
from collections.abc import Callable, Iterator

from watcherlite import exceptions
from watcherlite.clock import Clock

#: Seconds after which a rejected client may retry.
RETRY_AFTER = 10


class TooManyStreams(exceptions.WatcherliteError):
    """The maximum number of event streams is open; try again later."""

    retry_after = RETRY_AFTER


class EventStreams:
    """The open streams of a process; thread-safe.

    `wake` is called when events are stored. A stream queries again when it is woken,
    or when its interval has passed.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._open = 0
        self._wakes = 0
        self._ended = False

    @property
    def open(self) -> int:
        """Return the number of open streams."""
        with self._condition:
            return self._open

    @property
    def ended(self) -> bool:
        """Return whether all streams have been ended."""
        return self._ended

    def wake(self) -> None:
        """Wake every stream; does not block."""
        with self._condition:
            self._wakes += 1
            self._condition.notify_all()

    def end(self) -> None:
        """End all streams; streams opened later end at once."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    def serve(self, limit: int, chunks: Iterator[bytes]) -> 'Stream':
        """Return a stream that counts as open until it ends or is closed.

        :param limit: maximum number of open streams
        :raises TooManyStreams: the limit is reached
        """
        with self._condition:
            if self._open >= limit:
                raise TooManyStreams(
                    f'All {limit} event streams of this process are in use; try again '
                    f'in {RETRY_AFTER} s'
                )
            self._open += 1
        return Stream(chunks, self._closed)

    def _closed(self) -> None:
        with self._condition:
            self._open -= 1

    def wakes(self) -> int:
        """Return the number of wakeups; to be read before the query."""
        with self._condition:
            return self._wakes

    def wait(self, clock: Clock, seen: int, least: float, most: float) -> None:
        """Wait until woken again, or the streams end.

        :param seen: the value of `wakes` before the last query
        :param least: minimum seconds between two queries
        :param most: maximum seconds without a wakeup
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
    """An open stream; closing it frees its slot."""

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
        """Free its slot; idempotent."""
        with self._lock:
            if not self._open:
                return
            self._open = False
        self._closed()

    def __del__(self) -> None:
        # A server that loses a request before its first chunk closes nothing.
        self.close()
