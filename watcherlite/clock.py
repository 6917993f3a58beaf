"""The time, injected wherever it matters, so that tests can turn it."""

import datetime
import threading
import time
from typing import Protocol

UTC = datetime.UTC
#: The `not_before` of an action that may run at once; stores keep no NULL there.
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


def duration_text(seconds: float) -> str:
    """Return a duration for people: `1.5 s`, `2 min 3 s`, `1 h 2 min`, `3 d 4 h`."""
    if seconds < 60:
        return f'{seconds:.1f} s'
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f'{minutes} min {rest} s'
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f'{hours} h {minutes} min'
    return f'{hours // 24} d {hours % 24} h'


class Clock(Protocol):
    """The interface of a clock."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC: for what is stored."""

    def monotonic(self) -> float:
        """Return seconds that never go back: for deadlines within a process."""

    def wait(self, condition: threading.Condition, timeout: float | None) -> bool:
        """Wait on a held condition; False when `timeout` seconds passed first."""


class SystemClock:
    """The machine's clock.

    `monotonic` counts the time that a machine was suspended where the system
    can tell (Linux), so that a lease is known to be over after a long sleep.
    """

    def __init__(self) -> None:
        self._monotonic_id = getattr(time, 'CLOCK_BOOTTIME', time.CLOCK_MONOTONIC)

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(UTC)

    def monotonic(self) -> float:
        return time.clock_gettime(self._monotonic_id)

    def wait(self, condition: threading.Condition, timeout: float | None) -> bool:
        return condition.wait(timeout)
