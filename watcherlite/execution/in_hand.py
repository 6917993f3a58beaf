"""What one worker has in hand, and how much of it takes a thread."""

import threading

from watcherlite.clock import Clock
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.task import Task


class InHand:
    """The tasks of a worker.

    A task is busy from when it was taken until it ends, except while it is idle:
    InProgress, or suspended, with nothing to do for anybody here. One that is suspended
    in its thread keeps that, and another takes its place.

    :ivar lock: guards everything that the parts of a dispatcher share; a method
        that is called with it held says so
    """

    def __init__(self, clock: Clock) -> None:
        self.lock = threading.RLock()
        self._clock = clock
        self._quiet = threading.Condition(self.lock)
        self._tasks: dict[int, Task] = {}
        self._busy = 0
        self._paused = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """Return how many tasks have, or wait for, a thread that does something."""
        return self._busy - self._paused

    def attempts(self) -> dict[int, int]:
        """Return the attempt of each action in hand, by its id."""
        with self.lock:
            return {key: task.action.attempt for key, task in self._tasks.items()}

    def tasks(self) -> list[Task]:
        """Return all tasks."""
        with self.lock:
            return list(self._tasks.values())

    def get(self, action_id: int) -> Task | None:
        """Return the task of an action, or None."""
        return self._tasks.get(action_id)

    def holds(self, task: Task) -> bool:
        """Say whether this task, and not a later one of its action, is in hand."""
        return self._tasks.get(task.action.id or 0) is task

    # the lock is held for these

    def add(self, task: Task) -> None:
        """Take a task in hand; it is busy."""
        if self._closed:
            task.abandoned = True
            return
        before = self._tasks.get(task.action.id or 0)
        if before is not None:
            # It was lost to another worker and came back as a new attempt.
            before.abandoned = True
            self.forget(before)
        self._tasks[task.action.id or 0] = task
        self._busy += 1

    def forget(self, task: Task) -> None:
        """Let go of a task, if it is still in hand."""
        if not self.holds(task):
            return
        del self._tasks[task.action.id or 0]
        if task.paused:
            self._paused -= 1
        if not task.idle:
            self._busy -= 1
        self._quiet.notify_all()

    def rest(self, task: Task) -> None:
        """Note that no thread works on a task until it is occupied again."""
        if self.holds(task) and not task.idle:
            task.idle = True
            self._busy -= 1
            self._quiet.notify_all()

    def occupy(self, task: Task) -> bool:
        """Note that there is something to do for an idle task; False if not idle."""
        if not self.holds(task) or not task.idle:
            return False
        task.idle = False
        self._busy += 1
        return True

    # it need not be held for these

    def pause(self, task: Task, paused: bool) -> None:
        """Note that a thread waits for a RESUME, or that it goes on."""
        with self.lock:
            if self.holds(task) and task.paused != paused:
                task.paused = paused
                self._paused += 1 if paused else -1
                self._quiet.notify_all()

    def wait_until_quiet(self, timeout: float) -> bool:
        """Wait until no thread is at work; False if one still is.

        Who waits for a RESUME is not waited for: only a user could end that.
        """
        until = self._clock.monotonic() + timeout
        with self.lock:
            while self._busy > self._paused:
                left = until - self._clock.monotonic()
                if left <= 0:
                    break
                self._clock.wait(self._quiet, left)
            return self._busy == 0

    def abandon(self) -> None:
        """Give everything up, now and from now on; wake whoever waits."""
        with self.lock:
            self._closed = True
            tasks = list(self._tasks.values())
            self._tasks.clear()
            self._busy = self._paused = 0
            for task in tasks:
                task.abandoned = True
            self._quiet.notify_all()
        for task in tasks:
            if task.context is not None:
                task.context.deliver(TIMEOUT)
