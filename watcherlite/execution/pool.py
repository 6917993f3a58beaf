"""The threads in which plugins run."""

import collections
import logging
import threading
import time
from collections.abc import Callable

LOG = logging.getLogger(__name__)

Job = Callable[[], None]

#: Jobs shorter than this are not worth waking a second thread for.
SHORT = 0.002


class Pool:
    """Runs jobs in at most `size` threads, in the order of submission.

    Threads are started when they are needed and stay. Where jobs are short one
    thread does them faster than several that take turns at the interpreter; so
    the pool wakes a second one only when jobs take long or one of them stalls.

    :param drained: called by the last thread that finds nothing left to do
    """

    def __init__(self, size: int, drained: Callable[[], None], name: str = 'action'):
        self.size = size
        self._drained = drained
        self._name = name
        self._jobs: collections.deque[Job] = collections.deque()
        self._condition = threading.Condition()
        self._idle = 0
        self._threads = 0
        self._lost = 0
        self._seen = 0
        self._taken = 0
        self._average = SHORT * 10
        self._stopped = False

    @property
    def backlog(self) -> int:
        """Return how many jobs no thread has begun."""
        return len(self._jobs)

    @property
    def average(self) -> float:
        """Return how many seconds a job takes, on recent average."""
        return self._average

    def submit(self, jobs: list[Job]) -> None:
        """Queue jobs and wake as many threads as they are worth."""
        if not jobs:
            return
        with self._condition:
            self._jobs.extend(jobs)
            busy = self._threads - self._idle - self._lost
            wanted = self.size if self._average > SHORT else max(1, busy)
            self._wake(min(len(self._jobs), wanted - busy))

    def relieve(self) -> bool:
        """Wake more threads if jobs wait and none was begun since the last call.

        :returns: whether jobs are still waiting, so that it is to be called again
        """
        with self._condition:
            if not self._jobs:
                return False
            if self._taken == self._seen:
                busy = self._threads - self._idle - self._lost
                self._wake(min(len(self._jobs), self.size - busy))
            self._seen = self._taken
            return True

    def lose_thread(self) -> None:
        """Count a thread as lost: its plugin does not return. Another may start."""
        with self._condition:
            self._lost += 1
            if self._jobs:
                self._wake(1)

    def regain_thread(self) -> None:
        """Count a lost thread in again: its plugin has returned after all."""
        with self._condition:
            self._lost -= 1

    def stop(self) -> None:
        """Let threads end when they come back; jobs that wait are dropped."""
        with self._condition:
            self._stopped = True
            self._jobs.clear()
            self._condition.notify_all()

    def _wake(self, count: int) -> None:
        for _ in range(count):
            if self._idle > 0:
                self._idle -= 1
                self._condition.notify()
            elif self._threads - self._lost < self.size:
                self._threads += 1
                threading.Thread(
                    target=self._loop, name=f'{self._name}-{self._threads}', daemon=True
                ).start()
            else:
                return

    def _loop(self) -> None:
        while True:
            with self._condition:
                while not self._jobs and not self._stopped:
                    self._idle += 1
                    self._drained()
                    # Who notifies takes one off `_idle`: so that two jobs never
                    # count on the same thread, the count is not ours to lower.
                    self._condition.wait()
                if self._stopped:
                    self._threads -= 1
                    return
                job = self._jobs.popleft()
                self._taken += 1
            began = time.perf_counter()
            try:
                job()
            except BaseException:  # noqa: B036  (no thread dies of a job)
                LOG.exception('A job of the core failed; its action stays with us')
            took = time.perf_counter() - began
            self._average += (took - self._average) / 16
