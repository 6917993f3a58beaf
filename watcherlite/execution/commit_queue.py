"""The queue between the threads of a worker and its committer."""

import collections
import dataclasses
import threading

from watcherlite.execution.group_commit import PendingCommit
from watcherlite.execution.services import CoreServices


@dataclasses.dataclass(frozen=True, slots=True)
class _Held:
    """Commits of plans that another transaction had locked.

    :param at: monotonic time of the next attempt
    """

    at: float
    items: list[PendingCommit]
    plan_ids: frozenset[int]


class CommitQueue:
    """Conclusions that wait for their transaction.

    Threads submit, the committer takes. While the threads still produce conclusions the
    committer lingers for a moment, so that one transaction serves many.
    """

    def __init__(self, services: CoreServices) -> None:
        self._clock = services.clock
        self._settings = services.settings
        self._condition = threading.Condition()
        self._items: collections.deque[PendingCommit] = collections.deque()
        #: in the order of their times
        self._held: list[_Held] = []
        self._woken = False
        self._flushing = True
        self._waiting = False
        self._stopped = False

    # called by the threads

    def submit(self, item: PendingCommit) -> None:
        """Queue a conclusion; `item.done` is called when it is written."""
        with self._condition:
            self._items.append(item)
            # The first one begins the time for which the others may gather.
            if self._waiting and (
                self._flushing
                or len(self._items) == 1
                or len(self._items) >= self._settings.claim_batch // 2
            ):
                self._condition.notify()

    def wake(self) -> None:
        """Ask for a transaction even if nothing is queued: there is work to claim."""
        with self._condition:
            self._woken = True
            self._condition.notify()

    def flush(self) -> None:
        """End the linger: the threads have nothing left to do."""
        with self._condition:
            self._flushing = True
            self._condition.notify()

    def expect_more(self) -> None:
        """Allow lingering: the threads have work."""
        with self._condition:
            self._flushing = False

    def stop(self) -> None:
        """Let the committer end once everything is taken."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    # called by the committer

    def take(self) -> tuple[list[PendingCommit], set[int]] | None:
        """Wait for something to write or to claim; None when the queue is stopped.

        :returns: the conclusions, and the ids of the plans to claim from again
        """
        batch = self._settings.claim_batch
        with self._condition:
            self._waiting = True
            self._wait_for_work()
            if self._items and not self._flushing and not self._stopped:
                self._linger(batch // 2)
            self._waiting = False
            if self._stopped and not self._items and not self._held:
                return None
            self._woken = False
            held, plan_ids = self._take_held()
            count = min(len(self._items), 2 * batch)
            return held + [self._items.popleft() for _ in range(count)], plan_ids

    def hold(
        self, seconds: float, items: list[PendingCommit], plan_ids: frozenset[int]
    ) -> None:
        """Keep the commits of locked plans back for so many seconds."""
        with self._condition:
            self._held.append(_Held(self._clock.monotonic() + seconds, items, plan_ids))
            self._held.sort(key=lambda held: held.at)

    def pause(self, seconds: float) -> None:
        """Wait for so many seconds; a submission may end the pause early."""
        with self._condition:
            self._clock.wait(self._condition, seconds)

    def _wait_for_work(self) -> None:
        while not self._items and not self._woken:
            left = self._held[0].at - self._clock.monotonic() if self._held else None
            if left is None and self._stopped:
                return
            if left is not None and left <= 0:
                return
            self._clock.wait(self._condition, left)

    def _linger(self, enough: int) -> None:
        until = self._clock.monotonic() + self._settings.linger
        while not self._flushing and len(self._items) < enough:
            left = until - self._clock.monotonic()
            if left <= 0 or self._stopped:
                return
            self._clock.wait(self._condition, left)

    def _take_held(self) -> tuple[list[PendingCommit], set[int]]:
        """Return the commits and the plans whose next attempt is due."""
        now = self._clock.monotonic()
        items: list[PendingCommit] = []
        plan_ids: set[int] = set()
        while self._held and self._held[0].at <= now:
            held = self._held.pop(0)
            items += held.items
            plan_ids |= held.plan_ids
        return items, plan_ids
