"""The queues from which a worker claims: plans, and lanes without a plan.

A hint, a release or a timer marks a queue that may have actions; a claim that finds
less than its limit clears the mark. A hint that arrives during the claim keeps it.
"""

import dataclasses
import math
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence

from watcherlite.db.api import Released
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER, Action
from watcherlite.domain.commands import Receipt
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.group_commit import ClaimRequest, ClaimResult, CommitResult
from watcherlite.execution.services import CoreServices, ExecutionSettings

#: Seconds of work to have in flight.
TARGET_WORK = 0.05
#: The assumed duration of an action before any has run.
ASSUMED_DURATION = 0.02


class MovingAverage:
    """The moving average of recent values.

    :ivar value: the average

    :param assumed: the initial value
    :param weight: number of values that the initial value counts for
    :param memory: number of values that the average covers
    """

    __slots__ = ('_known', '_memory', 'value')

    def __init__(self, assumed: float, weight: int, memory: int) -> None:
        self.value = assumed
        self._known = weight
        self._memory = memory

    def add(self, value: float) -> None:
        """Add a value."""
        self._known = min(self._known + 1, self._memory)
        self.value += (value - self.value) / self._known


class ClaimWindow:
    """The number of actions to have in flight: one a thread, more if they are short.

    Short actions are claimed together, so that one transaction serves many; long ones
    are left to other workers.
    """

    def __init__(self, settings: ExecutionSettings) -> None:
        self._settings = settings
        self._runs = MovingAverage(ASSUMED_DURATION, weight=2, memory=16)

    @property
    def size(self) -> int:
        """Return the number of actions to have in flight."""
        soon = int(TARGET_WORK / max(self._runs.value, 1e-6))
        return min(max(self._settings.max_parallel, soon), self._settings.claim_batch)

    def capacity(self, busy: int, on_loop: int = 0, blocking: int = 0) -> int:
        """Return the number of actions to claim while `busy` are in flight.

        It is 0 until half of a large window is free: claiming a few at a time would
        cost a statement for each few.

        :param on_loop: further ones that wait for coroutines
        :param blocking: further ones whose plugins block in the wide pool; like the
            others they have a limit of their own, and a few of them may wait for it
        """
        size = self.size
        least = 1 if size <= self._settings.max_parallel else size // 2
        if size - busy < least:
            return 0
        settings = self._settings
        if blocking >= 2 * settings.max_probes:
            return 0
        return min(size - busy, max(0, settings.max_coroutines - on_loop))

    def record_duration(self, seconds: float) -> None:
        """Record the duration of an execution."""
        self._runs.add(seconds)

    def record_stuck(self, seconds: float) -> None:
        """Record that all threads have been busy for `seconds`."""
        self._runs.value = max(self._runs.value, seconds)


#: The limit of the first claim from a queue, small so that its actions start soon, and
#: the factor by which it grows with each further claim.
FIRST_LIMIT = 32
LIMIT_GROWTH = 4
#: Seconds for which a worker lets others claim first after it passed an action on.
YIELD_TIME = 2.0


@dataclasses.dataclass(slots=True)
class ClaimQueue:
    """A plan, or a lane's actions without a plan.

    :ivar more: it may have actions that can be claimed
    :ivar hinted: a hint arrived after the last claim was requested
    :ivar limited: `max_parallel` prevents claims until one of its actions ends
    :ivar limit: the limit of its next claim
    :ivar receipts: of the commands that gave the hints
    :ivar claiming: those whose claim is being written
    """

    plan_id: int | None
    plan_uuid: str | None
    lane: str | None
    more: bool = True
    hinted: bool = True
    limited: bool = False
    limit: int = FIRST_LIMIT
    receipts: list[Receipt] = dataclasses.field(default_factory=list)
    claiming: list[Receipt] = dataclasses.field(default_factory=list)

    def hint(self, receipt: Receipt | None = None) -> None:
        """Record that the queue may have actions."""
        self.more = self.hinted = True
        if receipt is not None:
            self.receipts.append(receipt)

    def claim(self) -> None:
        """Record that a claim is requested, which answers the hints so far."""
        self.hinted = False
        for receipt in self.receipts:
            receipt.claiming = True
        self.claiming += self.receipts
        self.receipts = []

    def complete(self) -> None:
        """Record that the claim is written."""
        claimed, self.claiming = self.claiming, []
        for receipt in claimed:
            receipt.settle_part()


class ClaimQueues:
    """All claim queues of one worker; safe for threads.

    :ivar is_closed: nothing more is claimed

    :param lanes: the lanes that it serves
    :param commit_queue: woken by hints, because claims are part of commits
    """

    def __init__(
        self, services: CoreServices, lanes: Sequence[str], commit_queue: CommitQueue
    ) -> None:
        self._clock = services.clock
        self._commit_queue = commit_queue
        self._lock = threading.RLock()
        self.window = ClaimWindow(services.settings)
        #: plans by id and lanes by name, in the order of their turns
        self._queues: dict[int | str, ClaimQueue] = {
            lane: ClaimQueue(None, None, lane) for lane in lanes
        }
        self._yields_until = -math.inf
        self.is_closed = False

    def __iter__(self) -> Iterator[ClaimQueue]:
        with self._lock:
            return iter(list(self._queues.values()))

    def close(self) -> None:
        """Claim nothing more."""
        self.is_closed = True

    def has_lane(self, lane: str) -> bool:
        """Return whether this worker serves a lane."""
        return lane in self._queues

    def of(self, item: Action | Released) -> ClaimQueue | None:
        """Return the queue of an action, if this worker has it."""
        return self.find(item.plan_id, item.lane)

    def find(self, plan_id: int | None, lane: str | None) -> ClaimQueue | None:
        """Return the queue of a plan, or of a lane if there is none."""
        return self._queues.get(plan_id if plan_id is not None else lane or '')

    # hints; each asks for a claim

    def hint_plan(
        self, plan_id: int, plan_uuid: str, receipt: Receipt | None = None
    ) -> None:
        """Record that a plan may have actions that can be claimed."""
        with self._lock:
            if not self.has_lane(APPLIER):
                return
            queue = self._queues.get(plan_id)
            if queue is None:
                queue = self._queues[plan_id] = ClaimQueue(plan_id, plan_uuid, None)
            queue.hint(receipt)
        self._commit_queue.wake()

    def hint_lane(self, lane: str, receipt: Receipt | None = None) -> None:
        """Record that a lane may have actions without a plan that can be claimed."""
        with self._lock:
            if not self.has_lane(lane):
                return
            self._queues[lane].hint(receipt)
        self._commit_queue.wake()

    def hint_all(self) -> None:
        """Record that every queue may have actions."""
        with self._lock:
            for queue in self._queues.values():
                queue.hint()
        self._commit_queue.wake()

    def hint_action(self, action: Action) -> None:
        """Record that an action can be claimed, if this worker has its queue."""
        with self._lock:
            queue = self.of(action)
            if queue is None:
                return
            queue.hint()
        self._commit_queue.wake()

    def retry_plans(self, plan_ids: Collection[int]) -> None:
        """Claim again from plans that another transaction had locked."""
        with self._lock:
            for plan_id in plan_ids:
                queue = self.find(plan_id, None)
                if queue is not None:
                    queue.hint()

    def back_off(self) -> None:
        """Let other workers claim due actions first, for a while."""
        self._yields_until = self._clock.monotonic() + YIELD_TIME

    @property
    def is_yielding(self) -> bool:
        """Return whether other workers claim due actions first."""
        return self._clock.monotonic() < self._yields_until

    # claims

    def has_more(self) -> bool:
        """Return whether any queue may have actions."""
        with self._lock:
            return any(queue.more for queue in self._queues.values())

    def has_room(self, busy: int, on_loop: int = 0, blocking: int = 0) -> bool:
        """Return whether to claim with these attempts in flight."""
        return self._capacity(busy, on_loop, blocking) > 0

    def _capacity(self, busy: int, on_loop: int, blocking: int) -> int:
        if self.is_closed or not self.has_more():
            return 0
        return self.window.capacity(busy, on_loop, blocking)

    def claim_requests(
        self, busy: int, on_loop: int = 0, blocking: int = 0
    ) -> Sequence[ClaimRequest]:
        """Return the claims to make with these attempts in flight.

        :param busy: attempts in the action pool
        :param on_loop: attempts that wait for coroutines
        :param blocking: attempts whose plugins block in the wide pool
        """
        with self._lock:
            room = self._capacity(busy, on_loop, blocking)
            return self.share(room) if room else ()

    def share(self, room: int) -> list[ClaimRequest]:
        """Divide the room among the queues that may have actions."""
        with self._lock:
            queues = [queue for queue in self._queues.values() if queue.more]
            share = max(1, room // len(queues)) if queues else 0
            requests = []
            for at, queue in enumerate(queues):
                limit = room if at + 1 == len(queues) else min(share, room)
                if limit <= 0:
                    break
                limit = min(limit, queue.limit)
                room -= limit
                queue.claim()
                requests.append(ClaimRequest(queue.plan_id, queue.lane, limit))
            # Queues that were not served come first the next time; if all were served,
            # the order rotates, because the last queue gets the rest of the room.
            served = len(requests) if len(requests) < len(queues) else 1
            for queue in queues[:served]:
                key = queue.plan_id if queue.plan_id is not None else queue.lane or ''
                self._queues[key] = self._queues.pop(key)
            return requests

    def apply_result(self, result: CommitResult, full: bool) -> list[ClaimQueue]:
        """Record where a transaction left more to claim.

        :param full: every thread of this worker has work
        :returns: the queues that other workers may help with
        """
        with self._lock:
            touched = self._mark(
                [
                    *(r for r in result.released if not r.handed_over),
                    *result.unblocked,
                    *result.derived,
                ]
            )
            left_over = touched if full else []
            # The claims came last in the transaction, so their results are the newest.
            for claim in result.claims:
                queue = self.apply_claim(claim)
                if queue is not None and queue.more:
                    left_over.append(queue)
            return left_over

    def _mark(self, items: Iterable[Action | Released]) -> list[ClaimQueue]:
        """Record that actions can be claimed now; return their queues."""
        found = [self.of(item) for item in items]
        queues = [queue for queue in found if queue is not None]
        for queue in queues:
            queue.more = True
        return queues

    def apply_claim(self, claim: ClaimResult) -> ClaimQueue | None:
        """Record the result of a claim; return its queue."""
        with self._lock:
            queue = self.find(claim.request.plan_id, claim.request.lane)
            if queue is not None:
                queue.complete()
                queue.limited = claim.limited
                queue.more = queue.hinted or (claim.more and not claim.limited)
                queue.limit = queue.limit * LIMIT_GROWTH if claim.more else FIRST_LIMIT
            return queue

    def update_plan(self, plan: ActionPlan) -> None:
        """Record the state of a plan after a transaction."""
        with self._lock:
            queue = self._queues.get(plan.id)
            if queue is None:
                return
            if not plan.claimable:
                queue.claim()
                queue.complete()
                del self._queues[plan.id]
            elif queue.limited and (
                plan.max_parallel is None or plan.active < plan.max_parallel
            ):
                queue.limited, queue.more = False, True

    def mark(self, action: Action) -> None:
        """Record that an action is READY again, without requesting a claim."""
        with self._lock:
            self._mark([action])

    def unowned(self, result: CommitResult) -> list[Action | Released]:
        """Return the claimable actions of queues that this worker does not have.

        For example, an action of another plan or lane that waited for an action here.
        Released actions of a plan that this transaction locked are excluded.
        """
        released = [
            r
            for r in result.released
            if not r.handed_over
            and (r.plan_id is None or r.plan_id not in result.plans)
        ]
        items: list[Action | Released] = [*result.unblocked, *result.derived, *released]
        return [item for item in items if self.of(item) is None]
