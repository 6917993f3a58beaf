"""Wake-ups of a waiting thread, and the signals that interrupt it."""

import os
import queue
import signal
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Self

from watcherlite.cmd import exits

CODES: Mapping[int, int] = {
    signal.SIGINT: exits.INTERRUPTED,
    signal.SIGTERM: exits.TERMINATED,
}


class Wake:
    """Wakes one waiting thread; safe in signal handlers and other threads.

    The `put` of a SimpleQueue is reentrant; an Event would wait for a lock that the
    interrupted thread holds.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[None] = queue.SimpleQueue()

    def now(self) -> None:
        """Wake it."""
        if self._queue.empty():
            self._queue.put(None)

    def wait(self, timeout: float) -> None:
        """Wait until woken, or for `timeout` seconds."""
        try:
            self._queue.get(timeout=timeout)
        except queue.Empty:
            return


class Interrupts:
    """Handles SIGINT and SIGTERM: the first is recorded, the second exits at once.

    :ivar received: the first signal, or None
    :param leave: called in the second handler with the exit code; it does not return
    """

    def __init__(self, wake: Wake, leave: Callable[[int], None]) -> None:
        self.received: int | None = None
        self._wake = wake
        self._leave = leave
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in CODES:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self._leave(CODES[number])
        self.received = number
        self._wake.now()


class InterruptGuard:
    """Ends a wait on Ctrl-C even if its KeyboardInterrupt was lost.

    It is raised anywhere in the main thread, and Python drops exceptions raised in a
    finalizer, for example of a broken stream.
    """

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._sleep = sleep
        self._interrupted = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def wait(self, seconds: float) -> None:
        """Wait; raises KeyboardInterrupt after an earlier or a new interrupt."""
        if self._interrupted:
            raise KeyboardInterrupt
        self._sleep(seconds)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        raise KeyboardInterrupt


def exit_at_once(code: int, text: str) -> None:
    """Print the reason and end the process at once.

    Running plugins cannot be stopped in any other way. The function takes no locks: the
    interrupted thread may hold them.
    """
    show_cursor = '\x1b[?25h' if os.isatty(2) else ''
    os.write(2, f'{show_cursor}\n{text}\n'.encode())
    os._exit(code)
