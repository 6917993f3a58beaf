"""A clock that advances only when a test sets it."""

import datetime
import threading

from watcherlite.clock import UTC

#: Seconds of real time after which a test that waits for a thread fails.
REAL_TIMEOUT = 60.0


class ManualClock:
    """Implements `watcherlite.clock.Clock`; time passes in `advance` only.

    Thread-safe: threads that wait on a condition wake up when it is notified, or when
    the clock has advanced past their timeout.
    """

    def __init__(
        self, now: datetime.datetime = datetime.datetime(2030, 1, 1, tzinfo=UTC)
    ) -> None:
        self._start = now
        self._passed = 0.0
        self._state = threading.Condition()
        self._waiting: dict[object, tuple[threading.Condition, float | None]] = {}

    def now(self) -> datetime.datetime:
        with self._state:
            return self._start + datetime.timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        with self._state:
            return self._passed

    def advance(self, seconds: float) -> None:
        """Advance the time, and wake threads whose timeout has expired."""
        if seconds < 0:
            raise ValueError(f'time does not go back, not by {-seconds} s either')
        with self._state:
            self._passed += seconds
            over = {
                condition
                for condition, deadline in self._waiting.values()
                if deadline is not None and deadline <= self._passed
            }
        # Not under our lock: the holder of the condition may be reading the time.
        for condition in over:
            with condition:
                condition.notify_all()

    def wait(self, condition: threading.Condition, timeout: float | None) -> bool:
        if timeout is not None and timeout <= 0:
            return False
        key = object()
        with self._state:
            deadline = None if timeout is None else self._passed + timeout
            self._waiting[key] = (condition, deadline)
            self._state.notify_all()
        try:
            condition.wait()
        finally:
            with self._state:
                del self._waiting[key]
                over = deadline is not None and deadline <= self._passed
        return not over

    def until_waiting(self, threads: int = 1, timeout: float = REAL_TIMEOUT) -> None:
        """Return once this number of threads wait for this clock.

        :param timeout: seconds of real time
        :raises AssertionError: they do not within that time
        """
        with self._state:
            if not self._state.wait_for(lambda: len(self._waiting) >= threads, timeout):
                raise AssertionError(
                    f'{len(self._waiting)} threads wait for the clock, not {threads}'
                )
