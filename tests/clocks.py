"""A clock for tests without threads."""

import collections
import datetime
import threading
from collections.abc import Callable

from watcherlite.clock import UTC
from watcherlite.testing.clock import ManualClock


class ScriptedClock(ManualClock):
    """A clock whose waits end immediately, because the test is the only thread.

    Each wait takes the next step of a script. Without one it advances the time by its
    timeout; a wait without a timeout fails, because nothing would end it.

    :ivar steps: functions that the next waits call
    :ivar waits: the timeouts of all waits so far
    """

    def __init__(
        self, now: datetime.datetime = datetime.datetime(2030, 1, 1, tzinfo=UTC)
    ) -> None:
        super().__init__(now)
        self.steps: collections.deque[Callable[[], object]] = collections.deque()
        self.waits: list[float | None] = []

    def wait(self, condition: threading.Condition, timeout: float | None) -> bool:
        """Take the next step, or advance the time; return False after the latter."""
        if timeout is not None and timeout <= 0:
            return False
        self.waits.append(timeout)
        if self.steps:
            self.steps.popleft()()
            return True
        if timeout is None:
            raise AssertionError('nothing ends a wait without a timeout')
        self.advance(timeout)
        return False
