"""The threads in which plugins run."""

import collections
import logging
import threading
import time
from collections.abc import Callable, Container

LOG = logging.getLogger(__name__)

Job = Callable[[], None]

#: Jobs shorter than this are not worth waking a second thread for.
SHORT = 0.002


class Pool:
    """Runs jobs in at most `size` threads, in the order of submission.

    Threads are started when they are needed and stay. Where jobs are short one
    thread does them faster than several that take turns at the interpreter; so
    the pool wakes a second one only when jobs take long or one of them stalls.

    :param drained: called by each thread that finds nothing left to do
    """

    def __init__(self, size: int, drained: Callable[[], None], name: str = 'action'):
        self.size = size
        self._drained = drained
        self._name = name
        self._jobs: collections.deque[Job] = collections.deque()
        self._condition = threading.Condition()
        self._idle = 0
        self._threads = 0
        self._running: set[Job] = set()
        self._lost: set[Job] = set()
        self._seen = 0
        self._taken = 0
        self._average = SHORT * 10
        self._begun = 0.0
        self._stopped = False

    @property
    def backlog(self) -> int:
        """Return how many jobs no thread has begun."""
        return len(self._jobs)

    @property
    def average(self) -> float:
        """Return how many seconds a job takes, on recent average."""
        return self._average

    def submit(self, jobs: list[Job]) -> bool:
        """Queue jobs and wake as many threads as they are worth.

        :returns: whether more jobs wait now than threads were woken for them, so
            that `relieve` is to be called in a while
        """
        if not jobs:
            return False
        with self._condition:
            if self._stopped:
                return False
            self._jobs.extend(jobs)
            busy = self._busy()
            wanted = self.size if self._average > SHORT else max(1, busy)
            woken = self._wake(min(len(self._jobs), wanted - busy))
            return len(self._jobs) > woken

    @property
    def full(self) -> bool:
        """Say whether every thread that there may be is in a job."""
        with self._condition:
            return self._busy() >= self.size

    def relieve(self) -> bool:
        """Wake more threads if jobs wait and none was begun since the last call.

        :returns: whether jobs are still waiting, so that it is to be called again
        """
        with self._condition:
            if not self._jobs:
                return False
            if self._taken == self._seen:
                self._wake(min(len(self._jobs), self.size - self._busy()))
            self._seen = self._taken
            return True

    def is_stuck(self, seconds: float) -> bool:
        """Say whether jobs wait, and none was begun for so long.

        If so it is asked anew after as long again, and the threads are known to be
        in jobs that take at least that long.
        """
        with self._condition:
            now = time.perf_counter()
            took = now - self._begun
            if not self._jobs or took < seconds:
                return False
            self._begun = now
            self._average = max(self._average, took)
            return True

    def withdraw(self, jobs: Container[Job]) -> list[Job]:
        """Take back those of these jobs that no thread has begun."""
        with self._condition:
            withdrawn = [job for job in self._jobs if job in jobs]
            kept = [job for job in self._jobs if job not in jobs]
            self._jobs.clear()
            self._jobs.extend(kept)
            return withdrawn

    def runs(self, job: Job | None) -> bool:
        """Say whether a thread is in this job."""
        with self._condition:
            return job in self._running

    def lose_thread(self, job: Job | None) -> None:
        """Count the thread of a job as lost until it is found, or the job comes back.

        Another may start meanwhile. Nothing happens if no thread is in this job.
        """
        with self._condition:
            if job is not None and job in self._running:
                self._lost.add(job)
                self._wake(min(1, len(self._jobs)))

    def find_thread(self, job: Job | None) -> None:
        """Count the thread of a job as one of these again; there may be too many now.

        The next one that comes back ends then.
        """
        with self._condition:
            self._lost.discard(job)

    def stop(self) -> None:
        """Let threads end when they come back; jobs that wait are dropped."""
        with self._condition:
            self._stopped = True
            self._jobs.clear()
            self._condition.notify_all()

    def _busy(self) -> int:
        return self._threads - self._idle - len(self._lost)

    def _wake(self, count: int) -> int:
        """Wake so many threads, or start them; return how many there were."""
        for woken in range(count):
            if self._idle > 0:
                self._idle -= 1
                self._condition.notify()
            elif self._threads - len(self._lost) < self.size:
                self._threads += 1
                threading.Thread(
                    target=self._loop, name=f'{self._name}-{self._threads}', daemon=True
                ).start()
            else:
                return woken
        return max(0, count)

    def _loop(self) -> None:
        done: Job | None = None
        while True:
            with self._condition:
                if done is not None:
                    self._running.discard(done)
                    self._lost.discard(done)
                job = self._next()
            if job is None:
                return
            began = self._begun = time.perf_counter()
            try:
                job()
            except BaseException:  # no thread dies of a job
                LOG.exception('A job of the core failed')
            took = time.perf_counter() - began
            self._average += (took - self._average) / 16
            done = job

    def _next(self) -> Job | None:
        """Wait for a job; None if this thread is to end."""
        if self._threads - len(self._lost) > self.size:
            # It was counted as lost, and another has taken its place.
            self._threads -= 1
            self._wake(min(1, len(self._jobs)))
            return None
        while not self._jobs and not self._stopped:
            self._idle += 1
            self._drained()
            # Who notifies takes one off `_idle`: so that two jobs never count on
            # the same thread, the count is not ours to lower.
            self._condition.wait()
        if self._stopped:
            self._threads -= 1
            return None
        job = self._jobs.popleft()
        self._running.add(job)
        self._taken += 1
        return job
