"""The event loop of a worker, which runs the coroutines of its plugins.

Its thread starts with the first coroutine, so that workers without coroutines do not
need asyncio.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from watcherlite.execution.coroutines.steps import OnLoop
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.pool import Job
from watcherlite.execution.service_slots import ServiceSlots
from watcherlite.execution.services import ExecutionSettings

if TYPE_CHECKING:
    from watcherlite.execution.coroutines.loop_thread import LoopThread

#: Seconds of one blocking step after which later coroutines run in another thread.
STUCK = 10.0


class EventLoop:
    """Runs up to `max_coroutines` coroutines of plugins at a time.

    :ivar slots: limits the calls of services, by coroutines and by the wide pool
    """

    def __init__(self, settings: ExecutionSettings) -> None:
        self._settings = settings
        self.slots = ServiceSlots(settings)
        self._lock = threading.Lock()
        #: the current one is the last; the others are stuck
        self._threads: list[LoopThread] = []
        self._is_stopped = False

    def run(
        self,
        attempt: Attempt,
        job: Job,
        request: OnLoop,
        on_done: Callable[[Any, BaseException | None], None],
    ) -> None:
        """Run a coroutine as soon as the limit allows.

        :param job: the job that awaits it; identifies it like a job of a pool
        :param on_done: called in the thread of the loop with the result and the
            exception, one of which is None
        """
        # Slow to import, and not needed without coroutines.
        from watcherlite.execution.coroutines.loop_thread import LoopCall, LoopThread

        with self._lock:
            if self._is_stopped:
                return
            stuck = [t for t in self._threads[-1:] if t.blocked_for() > STUCK]
            if stuck or not self._threads:
                self._threads.append(
                    LoopThread(lambda: self._settings.max_coroutines, self.slots)
                )
            thread = self._threads[-1]
        for replaced in stuck:
            self.slots.dismiss(replaced)
        call = LoopCall(attempt, job, request, on_done)
        thread.run(call)
        call.watch_signals()

    def is_running(self, job: Job | None) -> bool:
        """Return whether the coroutine of a job has not ended."""
        return any(thread.has(job) for thread in self._threads)

    def detach(self, job: Job | None) -> None:
        """Leave a coroutine out of the limit: it is suspended or abandoned."""
        for thread in self._threads:
            thread.detach(job)

    def reattach(self, job: Job | None) -> None:
        """Count a coroutine again."""
        for thread in self._threads:
            thread.reattach(job)

    def cancel(self, job: Job | None) -> None:
        """Cancel the task of a job: its attempt is abandoned."""
        for thread in self._threads:
            thread.stop_call(job)

    def report_blocked(self) -> None:
        """Log coroutines that block a loop."""
        for thread in self._threads:
            thread.report_if_blocked()

    def stop(self) -> None:
        """Cancel all coroutines, and start no other."""
        with self._lock:
            threads = [] if self._is_stopped else list(self._threads)
            self._is_stopped = True
        for thread in threads:
            thread.stop()
