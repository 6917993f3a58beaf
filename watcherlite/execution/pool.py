"""The threads in which plugins run: the action pool and the wide pool.

Checks, polls and hooks wait for other services, and so do plugins whose libraries
block: a server that does not answer occupies a thread until its client times out. These
jobs run in the wide pool, in which the share of each cluster, project and service is
limited.
"""

import collections
import functools
import logging
import threading
import time
from collections.abc import Callable, Container, Sequence
from typing import Any, Protocol

from watcherlite.execution.service_slots import ServiceSlots, SlotRequest
from watcherlite.execution.services import ExecutionSettings

LOG = logging.getLogger(__name__)

Job = Callable[[], None]


class Flushable(Protocol):
    """The part of the commit queue that a pool uses."""

    def flush(self) -> None:
        """End the linger: all threads are idle."""


#: Seconds; for shorter jobs a second thread is not worth its switches.
SHORT = 0.002


class Pool:
    """Runs jobs in at most `size` threads, in the order of submission.

    Threads are started on demand and stay. Short jobs run faster in one thread than in
    several that contend for the interpreter lock; so the pool wakes a second thread
    only if jobs take long or one of them stalls.

    :param commit_queue: flushed by each thread that becomes idle
    :ivar average: the moving average of the duration of a job, in seconds
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
        self._detached: set[Job] = set()
        self._seen = 0
        self._taken = 0
        self.average = SHORT * 10
        self._started_at = 0.0
        self._stopped = False

    @property
    def backlog(self) -> int:
        """Return the number of jobs that wait."""
        return len(self._jobs)

    def submit(self, jobs: list[Job]) -> bool:
        """Queue jobs and wake threads for them.

        :returns: whether more jobs wait than threads were woken, so that
            `wake_if_stalled` must be called after a while
        """
        if not jobs:
            return False
        with self._condition:
            if self._stopped:
                return False
            self._jobs.extend(jobs)
            busy = self._busy()
            desired = self.size if self.average > SHORT else max(1, busy)
            woken = self._wake(min(len(self._jobs), desired - busy))
            return len(self._jobs) > woken

    @property
    def is_full(self) -> bool:
        """Return whether all threads of the pool run jobs."""
        with self._condition:
            return self._busy() >= self.size

    def wake_if_stalled(self) -> bool:
        """Wake more threads if jobs wait and none was started since the last call.

        :returns: whether jobs still wait, so that it must be called again
        """
        with self._condition:
            if not self._jobs:
                return False
            if self._taken == self._seen:
                self._wake(min(len(self._jobs), self.size - self._busy()))
            self._seen = self._taken
            return True

    def is_stuck(self, seconds: float) -> bool:
        """Return whether jobs wait and none was started for `seconds`.

        If so, the time is counted from now on, and the average duration is raised to
        the time that the running jobs have taken.
        """
        with self._condition:
            now = time.perf_counter()
            took = now - self._started_at
            if not self._jobs or took < seconds:
                return False
            self._started_at = now
            self.average = max(self.average, took)
            return True

    def remove_waiting(self, jobs: Container[Job]) -> list[Job]:
        """Remove and return those of these jobs that wait."""
        with self._condition:
            withdrawn = [job for job in self._jobs if job in jobs]
            kept = [job for job in self._jobs if job not in jobs]
            self._jobs.clear()
            self._jobs.extend(kept)
            return withdrawn

    def is_running(self, job: Job | None) -> bool:
        """Return whether a thread runs this job."""
        with self._condition:
            return job in self._running

    def detach(self, job: Job | None) -> None:
        """Leave the thread of a job out of the size until `reattach` or its end.

        Another thread may start in its place. Nothing happens if no thread runs it.
        """
        with self._condition:
            if job is not None and job in self._running:
                self._detached.add(job)
                self._wake(min(1, len(self._jobs)))

    def reattach(self, job: Job | None) -> None:
        """Count the thread of a job again.

        If there are too many threads now, the next one that is done ends.
        """
        with self._condition:
            self._detached.discard(job)

    def stop(self) -> None:
        """Drop the jobs that wait, and end each thread after its job."""
        with self._condition:
            self._stopped = True
            self._jobs.clear()
            self._condition.notify_all()

    def _busy(self) -> int:
        return self._threads - self._idle - len(self._detached)

    def _wake(self, count: int) -> int:
        """Wake or start up to `count` threads; return how many."""
        for woken in range(count):
            if self._idle > 0:
                self._idle -= 1
                self._condition.notify()
            elif self._threads - len(self._detached) < self.size:
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
                    self._detached.discard(done)
                job = self._next()
            if job is None:
                return
            started = self._started_at = time.perf_counter()
            try:
                job()
            except BaseException:  # the thread must survive
                LOG.exception('A job of the core failed')
            took = time.perf_counter() - started
            self.average += (took - self.average) / 16
            done = job

    def _next(self) -> Job | None:
        """Wait for a job; return None if this thread must end."""
        if self._threads - len(self._detached) > self.size:
            # It was detached, and another thread has taken its place.
            self._threads -= 1
            self._wake(min(1, len(self._jobs)))
            return None
        while not self._jobs and not self._stopped:
            self._idle += 1
            self._commit_queue.flush()
            # The notifying thread decrements `_idle`, so that two jobs never count on
            # the same idle thread.
            self._condition.wait()
        if self._stopped:
            self._threads -= 1
            return None
        job = self._jobs.popleft()
        self._running.add(job)
        self._taken += 1
        return job


#: A limit that applies to a job besides the size of the pool: (kind, uuid or name).
Key = tuple[str, str]
CLUSTER, PROJECT, SERVICE = 'cluster', 'project', 'service'


class WidePool:
    """Runs jobs in threads that end when no job waits.

    The next job is the first that waits and is within the limits of its keys.

    :param slots: limits the calls of services, also by coroutines
    :param start: starts a thread that calls a function
    """

    def __init__(
        self,
        settings: ExecutionSettings,
        slots: ServiceSlots,
        start: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._settings = settings
        self._slots = slots
        self._start = start or _start_thread
        self._lock = threading.Lock()
        self._waiting: collections.deque[tuple[Job, Sequence[Key]]] = (
            collections.deque()
        )
        #: running job -> its keys, without detached jobs
        self._running: dict[Job, Sequence[Key]] = {}
        self._detached: set[Job] = set()
        self._used: collections.Counter[Key] = collections.Counter()
        #: service -> the number of requests for a slot that wait
        self._requests: collections.Counter[str] = collections.Counter()
        self._stopped = False

    def submit(self, job: Job, keys: Sequence[Key]) -> None:
        """Run a job as soon as its limits allow."""
        with self._lock:
            if self._stopped:
                return
            self._waiting.append((job, keys))
            started = self._take()
        self._start_threads(started)

    def is_running(self, job: Job | None) -> bool:
        """Return whether a thread runs this job."""
        with self._lock:
            return job in self._running or job in self._detached

    def detach(self, job: Job | None) -> None:
        """Leave the thread of a job out of the limits until its end."""
        with self._lock:
            if job is None or job not in self._running:
                return
            services = self._release(job)
            self._detached.add(job)
        self._release_slots(services)
        with self._lock:
            started = self._take()
        self._start_threads(started)

    def remove_waiting(self, jobs: Container[Job]) -> list[Job]:
        """Remove and return those of these jobs that wait."""
        with self._lock:
            withdrawn = [job for job, _ in self._waiting if job in jobs]
            kept = [entry for entry in self._waiting if entry[0] not in jobs]
            self._waiting.clear()
            self._waiting.extend(kept)
            return withdrawn

    def stop(self) -> None:
        """Drop the jobs that wait, and start no other."""
        with self._lock:
            self._stopped = True
            self._waiting.clear()

    def _start_threads(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._start(functools.partial(self._run, job))

    def _run(self, job: Job | None) -> None:
        while job is not None:
            try:
                job()
            except BaseException:  # the thread must survive
                LOG.exception('A job of the core failed')
            with self._lock:
                counted = job in self._running
                services = self._release(job) if counted else []
                self._detached.discard(job)
            self._release_slots(services)
            with self._lock:
                following = self._take(1) if counted else []
            job = following[0] if following else None

    def _take(self, most: int | None = None, granted: str | None = None) -> list[Job]:
        """Mark the jobs that may start now as running, and return them.

        :param granted: only a job that calls this service, for which there is a slot
        """
        taken: list[Job] = []
        left: list[tuple[Job, Sequence[Key]]] = []
        blocked: collections.Counter[str] = collections.Counter()
        while self._waiting and len(taken) != most:
            if len(self._running) >= self._settings.max_probes:
                break
            job, keys = self._waiting.popleft()
            service = _service_of(keys)
            may_start = all(self._has_share(key) for key in keys)
            if granted is not None:
                may_start = may_start and service == granted
            elif may_start and service is not None:
                blocked[service] += 1
                may_start = self._take_slot(service, blocked[service])
            if may_start:
                self._running[job] = keys
                self._used.update(keys)
                taken.append(job)
            else:
                left.append((job, keys))
        self._waiting.extendleft(reversed(left))
        return taken

    def _take_slot(self, service: str, jobs: int) -> bool:
        """Take a slot of a service, or request it, for the last of these jobs."""
        if jobs <= self._requests[service]:
            return False
        request = SlotRequest(functools.partial(self._use_slot, service))
        if self._slots.take(service, request):
            return True
        self._requests[service] += 1
        return False

    def _use_slot(self, service: str) -> bool:
        """Start a job with a slot that was requested; return whether there is one."""
        with self._lock:
            self._requests[service] -= 1
            started = self._take(1, service)
        self._start_threads(started)
        return bool(started)

    def _has_share(self, key: Key) -> bool:
        """Return whether a cluster or project may have another job."""
        if key[0] == SERVICE:
            # See `_take_slot`.
            return True
        limit = self._settings.max_probes_per_project
        if key[0] == CLUSTER:
            limit = self._settings.max_probes_per_cluster
        return self._used[key] < limit

    def _release(self, job: Job) -> list[str]:
        """End a job; return the services whose slots are to be released."""
        self._used.subtract(keys := self._running.pop(job))
        for key in keys:
            if not self._used[key]:
                del self._used[key]
        service = _service_of(keys)
        return [] if service is None else [service]

    def _release_slots(self, services: Sequence[str]) -> None:
        # Without the lock: the slot may be granted to this pool.
        for service in services:
            self._slots.release(service)


def _service_of(keys: Sequence[Key]) -> str | None:
    return next((name for kind, name in keys if kind == SERVICE), None)


def _start_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=run, name='wide', daemon=True).start()


class Loop(Protocol):
    """The event loop of a worker; see `event_loop.EventLoop`."""

    slots: ServiceSlots

    def run(
        self,
        attempt: Any,
        job: Job,
        request: Any,
        on_done: Callable[[Any, BaseException | None], None],
    ) -> None:
        """Run the coroutine that a job awaits."""

    def is_running(self, job: Job | None) -> bool:
        """Return whether the coroutine that a job awaits has not ended."""

    def detach(self, job: Job | None) -> None:
        """Leave a coroutine out of the limit."""

    def reattach(self, job: Job | None) -> None:
        """Count a coroutine again."""

    def cancel(self, job: Job | None) -> None:
        """Cancel the task of a coroutine."""

    def report_blocked(self) -> None:
        """Log coroutines that block the loop."""

    def stop(self) -> None:
        """Cancel all coroutines, and start no other."""


class Pools:
    """The two pools of a worker, and its event loop.

    :ivar actions: runs all other jobs
    :ivar wide: runs checks, polls, hooks and blocking plugins
    :ivar loop: runs the coroutines that jobs await
    """

    def __init__(
        self, settings: ExecutionSettings, commit_queue: Flushable, loop: Loop
    ) -> None:
        self.actions = Pool(settings.max_parallel, commit_queue)
        self.wide = WidePool(settings, loop.slots)
        self.loop = loop

    def is_running(self, job: Job | None) -> bool:
        """Return whether a thread runs this job, or the loop its coroutine."""
        return (
            self.actions.is_running(job)
            or self.wide.is_running(job)
            or self.loop.is_running(job)
        )

    def detach(self, job: Job | None) -> None:
        """Leave a job out of the limits: it is suspended or abandoned."""
        self.actions.detach(job)
        self.wide.detach(job)
        self.loop.detach(job)

    def abandon(self, job: Job | None) -> None:
        """Detach a job whose attempt is abandoned, and cancel its coroutine."""
        self.detach(job)
        self.loop.cancel(job)

    def reattach(self, job: Job | None) -> None:
        """Count a job again."""
        self.actions.reattach(job)
        self.loop.reattach(job)

    def remove_waiting(self, jobs: Container[Job]) -> list[Job]:
        """Remove and return those of these jobs that wait."""
        return [*self.actions.remove_waiting(jobs), *self.wide.remove_waiting(jobs)]

    def stop(self) -> None:
        """Drop the jobs that wait, and end each thread after its job."""
        self.actions.stop()
        self.wide.stop()
        self.loop.stop()
