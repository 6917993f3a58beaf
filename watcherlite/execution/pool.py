"""The threads in which plugins run: the action pool and the probe pool.

Checks, polls and hooks wait for the answers of others: a server that does not answer
holds a thread for as long as its client waits. These jobs have the probe pool, in which
a cluster or a project whose servers hang holds no more than its share.
"""

import collections
import functools
import logging
import threading
import time
from collections.abc import Callable, Container, Sequence
from typing import Protocol

from watcherlite.execution.services import ExecutionSettings

LOG = logging.getLogger(__name__)

Job = Callable[[], None]


class Flushable(Protocol):
    """The commit queue, as a pool sees it."""

    def flush(self) -> None:
        """Write what is queued without waiting for more."""


#: Jobs shorter than this are not worth waking a second thread for.
SHORT = 0.002


class Pool:
    """Runs jobs in at most `size` threads, in the order of submission.

    Threads are started when they are needed and stay. Where jobs are short one
    thread does them faster than several that take turns at the interpreter; so
    the pool wakes a second one only when jobs take long or one of them stalls.

    :param commit_queue: flushed by each thread that finds nothing left to do
    """

    def __init__(self, size: int, commit_queue: Flushable, name: str = 'action'):
        self.size = size
        self._commit_queue = commit_queue
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
        """Return whether every thread that there may be is in a job."""
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
        """Return whether jobs wait, and none was begun for so long.

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
        """Return whether a thread is in this job."""
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
            self._commit_queue.flush()
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


#: What a job counts against besides the size of the pool: (kind, uuid).
Key = tuple[str, str]
CLUSTER, PROJECT = 'cluster', 'project'


class ProbePool:
    """Runs jobs in threads that end when nothing is left for them.

    Of the jobs that wait the first one is next whose keys have room.

    :param start: starts a thread that calls a function; a test may run it itself
    """

    def __init__(
        self,
        settings: ExecutionSettings,
        start: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._settings = settings
        self._start = start or _start_thread
        self._lock = threading.Lock()
        self._waiting: collections.deque[tuple[Job, Sequence[Key]]] = (
            collections.deque()
        )
        #: those that count, by job; one that is lost does not
        self._running: dict[Job, Sequence[Key]] = {}
        self._lost: set[Job] = set()
        self._used: collections.Counter[Key] = collections.Counter()
        self._stopped = False

    def submit(self, job: Job, keys: Sequence[Key]) -> None:
        """Run a job as soon as there is room for it."""
        with self._lock:
            if self._stopped:
                return
            self._waiting.append((job, keys))
            started = self._take()
        self._begin(started)

    def runs(self, job: Job | None) -> bool:
        """Return whether a thread is in this job."""
        with self._lock:
            return job in self._running or job in self._lost

    def lose_thread(self, job: Job | None) -> None:
        """Count the thread of a job no more: it is suspended, or given up."""
        with self._lock:
            if job is None or job not in self._running:
                return
            self._release(job)
            self._lost.add(job)
            started = self._take()
        self._begin(started)

    def withdraw(self, jobs: Container[Job]) -> list[Job]:
        """Take back those of these jobs that no thread has begun."""
        with self._lock:
            withdrawn = [job for job, _ in self._waiting if job in jobs]
            kept = [entry for entry in self._waiting if entry[0] not in jobs]
            self._waiting.clear()
            self._waiting.extend(kept)
            return withdrawn

    def stop(self) -> None:
        """Drop the jobs that wait, and begin no other."""
        with self._lock:
            self._stopped = True
            self._waiting.clear()

    def _begin(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._start(functools.partial(self._run, job))

    def _run(self, job: Job | None) -> None:
        while job is not None:
            try:
                job()
            except BaseException:  # no thread dies of a job
                LOG.exception('A job of the core failed')
            with self._lock:
                counted = job in self._running
                if counted:
                    self._release(job)
                self._lost.discard(job)
                following = self._take(1) if counted else []
            job = following[0] if following else None

    def _take(self, most: int | None = None) -> list[Job]:
        """Note the jobs as running for which there is room now, and return them."""
        taken: list[Job] = []
        left: list[tuple[Job, Sequence[Key]]] = []
        while self._waiting and len(taken) != most:
            if len(self._running) >= self._settings.max_probes:
                break
            job, keys = self._waiting.popleft()
            if all(self._used[key] < self._share(key) for key in keys):
                self._running[job] = keys
                self._used.update(keys)
                taken.append(job)
            else:
                left.append((job, keys))
        self._waiting.extendleft(reversed(left))
        return taken

    def _share(self, key: Key) -> int:
        if key[0] == CLUSTER:
            return self._settings.max_probes_per_cluster
        return self._settings.max_probes_per_project

    def _release(self, job: Job) -> None:
        self._used.subtract(keys := self._running.pop(job))
        for key in keys:
            if not self._used[key]:
                del self._used[key]


def _start_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=run, name='probe', daemon=True).start()


class Pools:
    """The two pools of a worker.

    :ivar actions: the pool for everything but probes
    :ivar probes: the pool for checks, polls and hooks
    """

    def __init__(self, settings: ExecutionSettings, commit_queue: Flushable) -> None:
        self.actions = Pool(settings.max_parallel, commit_queue)
        self.probes = ProbePool(settings)

    def runs(self, job: Job | None) -> bool:
        """Return whether a thread is in this job."""
        return self.actions.runs(job) or self.probes.runs(job)

    def lose_thread(self, job: Job | None) -> None:
        """Count the thread of a job no more: it is suspended, or given up."""
        self.actions.lose_thread(job)
        self.probes.lose_thread(job)

    def find_thread(self, job: Job | None) -> None:
        """Count the thread of a job again."""
        self.actions.find_thread(job)

    def withdraw(self, jobs: Container[Job]) -> list[Job]:
        """Take back those of these jobs that no thread has begun."""
        return [*self.actions.withdraw(jobs), *self.probes.withdraw(jobs)]

    def stop(self) -> None:
        """Let the threads end when they come back."""
        self.actions.stop()
        self.probes.stop()
