"""The committer of a worker, which writes the conclusions of all attempts in groups.

One thread drains the commit queue and writes it in one transaction: states,
dependents, plans, locks, events and the next claims. An action executes only after its
RUNNING is durable, and listeners are notified only of durable events.
"""

import collections
import dataclasses
import logging
import random
import threading
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.db.action_logs import LogEntry
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import results
from watcherlite.execution.action_logs import ActionLogs
from watcherlite.execution.context import log_extra
from watcherlite.execution.group_commit import (
    ChainCommitter,
    ClaimRequest,
    ClaimSource,
    CommitResult,
    GroupCommit,
    PendingCommit,
)
from watcherlite.execution.lease import Lease
from watcherlite.execution.ports import PlanRules, Projection
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: Spreads the retries of workers, so that they do not conflict again.
_random = random.SystemRandom()


class EventListeners:
    """The listeners of durable events.

    They are called in the thread that stored the events, and return quickly.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[list[Event]], None]] = []

    def add(self, listener: Callable[[list[Event]], None]) -> None:
        """Call `listener` with the events of each transaction."""
        self._listeners.append(listener)

    def notify(self, stored: list[Event]) -> None:
        """Call the listeners; an empty list means that the store has new events."""
        for listener in self._listeners:
            try:
                listener(stored)
            except Exception:
                LOG.exception('A listener failed; the events are stored')


@dataclasses.dataclass(frozen=True, slots=True)
class _Held:
    """Commits that wait because another transaction had locked their plans.

    :param at: monotonic time of the next attempt
    """

    at: float
    items: list[PendingCommit]
    plan_ids: frozenset[int]


class CommitQueue:
    """The queue of conclusions between the threads and the committer.

    While threads still produce conclusions, `take` lingers for a moment, so that one
    transaction writes many of them.
    """

    def __init__(self, services: CoreServices) -> None:
        self._clock = services.clock
        self._settings = services.settings
        self._condition = threading.Condition()
        self._items: collections.deque[PendingCommit] = collections.deque()
        #: sorted by `at`
        self._held: list[_Held] = []
        self._woken = False
        self._flushing = True
        self._waiting = False
        self._stopped = False

    # called by the threads

    def submit(self, item: PendingCommit) -> None:
        """Queue a conclusion; `item.on_written` is called after its commit."""
        with self._condition:
            self._items.append(item)
            # The first item starts the linger, a large batch ends it.
            if self._waiting and (
                self._flushing
                or len(self._items) == 1
                or len(self._items) >= self._settings.claim_batch // 2
            ):
                self._condition.notify()

    def wake(self) -> None:
        """Request a transaction even if nothing is queued, for its claims."""
        with self._condition:
            self._woken = True
            self._condition.notify()

    def flush(self) -> None:
        """End the linger: all threads are idle."""
        with self._condition:
            self._flushing = True
            self._condition.notify()

    def allow_linger(self) -> None:
        """Allow the linger: threads are busy and will submit more."""
        with self._condition:
            self._flushing = False

    def stop(self) -> None:
        """Let `take` return None once the queue is empty."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    # called by the committer

    def take(self) -> tuple[list[PendingCommit], set[int]] | None:
        """Wait for the next batch; return None when the queue is stopped and empty.

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
        """Hold the commits of locked plans back for `seconds`."""
        with self._condition:
            self._held.append(_Held(self._clock.monotonic() + seconds, items, plan_ids))
            self._held.sort(key=lambda held: held.at)

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`; a submission may end the pause early."""
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
        """Remove and return the commits and the plans whose next attempt is due."""
        now = self._clock.monotonic()
        items: list[PendingCommit] = []
        plan_ids: set[int] = set()
        while self._held and self._held[0].at <= now:
            held = self._held.pop(0)
            items += held.items
            plan_ids |= held.plan_ids
        return items, plan_ids


#: Seconds before a transaction is tried again: the first pause, and the longest.
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
#: Seconds before locked plans are retried: the first pause, the longest while workers
#: may just take turns, and the one after LATE attempts.
FIRST_TURN = 0.002
LONGEST_TURN = 0.05
LATE_TURN = 0.5
LATE = 25
#: The number of attempts after which the committer checks whether the plan still
#: exists.
DOUBTFUL = 3


class Committer:
    """The group commit of one worker.

    :param claims: claims in the same transactions
    :param lease: nothing is written after its end
    :param listeners: notified of the events of each transaction, once durable
    :param logs: stored before the conclusions of their actions
    """

    def __init__(
        self,
        services: CoreServices,
        queue: CommitQueue,
        rules: PlanRules,
        claims: ClaimSource,
        lease: Lease,
        listeners: EventListeners,
        logs: ActionLogs,
        projection: Projection | None = None,
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._worker = services.worker_id
        self._queue = queue
        self._claims = claims
        self._lease = lease
        self._listeners = listeners
        self._logs = logs
        self._group = GroupCommit(self._worker, rules, projection, claims)
        self._chain = ChainCommitter(self._store, self._group)
        #: id of a plan that was locked -> number of attempts so far
        self._busy: dict[int, int] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self.run, name='committer', daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Write what is queued and stop; return False if that took too long."""
        self._queue.stop()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # the thread

    def run(self) -> None:
        """Write batches until the queue is stopped or the lease is lost."""
        while self.commit_next():
            pass

    def commit_next(self) -> bool:
        """Wait for the next batch and write it.

        :returns: False if there is no further batch: the queue is stopped, or the
            lease has expired
        """
        taken = self._queue.take()
        if taken is None:
            self._store_logs(self._logs.take_all())
            return False
        items, plan_ids = taken
        if plan_ids:
            self._claims.retry_plans(plan_ids)
        try:
            self._store_logs(self._logs.take([item.before.id for item in items]))
            self._commit(items)
        except exceptions.LeaseLost:
            LOG.error(
                'Worker %s could not write before its lease ended; it stops, '
                'and other workers take over its actions',
                self._worker,
            )
            self._lease.report_loss()
            return False
        except Exception:
            LOG.exception(
                'Worker %s: a transaction of %d changes failed; the next sweep '
                'recovers its actions',
                self._worker,
                len(items),
            )
            # The sweep recovers actions that are not in flight any more.
            for item in items:
                if not item.is_settled:
                    self._finish(item, False)
        return True

    def _store_logs(self, entries: list[LogEntry]) -> None:
        """Store log entries; repeat until they are stored or the lease expires."""
        pause = FIRST_PAUSE
        unanswered = False
        while entries and self._lease.seconds_left() > 0:
            try:
                self._logs.store(entries, unanswered)
                return
            except exceptions.StoreConflict as error:
                LOG.debug('Retrying to store log entries: %s', error)
            except exceptions.StoreUnavailable as error:
                LOG.warning('%s; retrying in %.1f s', error, pause)
                unanswered = True
            except Exception:
                # Results matter more than logs.
                LOG.exception('The store refused %d log entries', len(entries))
                return
            self._queue.pause(pause * (0.5 + _random.random()))
            pause = min(pause * 2, LONGEST_PAUSE)

    def _commit(self, items: list[PendingCommit]) -> None:
        """Write a batch and notify; repeat until it is written or the lease expires."""
        claim_requests = list(self._claims.claim_requests())
        if not items and not claim_requests:
            return
        result = self._write(items, claim_requests)
        if result is None:
            self._write_apart(items)
        else:
            self._on_committed(result)

    def _write_apart(self, items: list[PendingCommit]) -> None:
        """Isolate the change that the store refuses, by bisection of the batch."""
        middle = (len(items) + 1) // 2
        for part in (items[:middle], items[middle:]):
            # A single item is written again here: the first time it had claims with it.
            result = self._write(part, []) if part else None
            if result is not None:
                self._on_committed(result)
            elif len(part) > 1:
                self._write_apart(part)
            elif part:
                self._fail_refused(part[0])

    def _write(
        self, items: list[PendingCommit], claim_requests: list[ClaimRequest]
    ) -> CommitResult | None:
        """Write a batch; return None if the store refuses it.

        :raises LeaseLost: if the lease ends before the batch is written
        """
        pause = FIRST_PAUSE
        conflicts = 0
        unanswered: CommitResult | None = None
        while True:
            if self._lease.seconds_left() <= 0:
                raise exceptions.LeaseLost
            result = CommitResult(self._clock.now())
            try:
                if unanswered is not None:
                    if self._is_stored(unanswered):
                        return unanswered
                    unanswered = None
                if self._chain.is_eligible(items, claim_requests):
                    if self._chain.write(result, items):
                        return result
                    result = CommitResult(result.now)
                with self._store.transaction() as tx:
                    self._group.write(tx, result, items, claim_requests)
                self._chain.record(result)
                return result
            except exceptions.StoreConflict as error:
                LOG.debug('Retrying a transaction: %s', error)
                conflicts += 1
                if conflicts == 1:
                    # The other transaction has committed, and is out of the way.
                    continue
            except exceptions.StoreUnavailable as error:
                LOG.warning('%s; retrying in %.1f s', error, pause)
                # A result without events has only claims, which the sweep finds.
                if result.events:
                    unanswered = result
            except Exception:
                LOG.exception('The store refused a batch of %d changes', len(items))
                return None
            self._queue.pause(pause * (0.5 + _random.random()))
            pause = min(pause * 2, LONGEST_PAUSE)

    def _is_stored(self, unanswered: CommitResult) -> bool:
        """Return whether a transaction without an answer took effect.

        Its events were stored with it or not at all. Written a second time, it would
        find its own changes and take them for those of another worker.
        """
        return self._store.event_exists(unanswered.events[0].uuid)

    def _fail_refused(self, item: PendingCommit) -> None:
        """Fail an action whose result the store refuses."""
        LOG.error(
            'Action %s: its result (%s) cannot be stored; it is FAILED instead',
            item.before.uuid,
            item.after.status,
            extra=log_extra(item.before),
        )
        ended = item.before.evolve(
            status=states.FAILED,
            status_message=results.FAILED_IN.format(
                results.EXECUTE, 'its result cannot be stored; see the log'
            ),
            owner=None,
            token=None,
            end_time=self._clock.now(),
            updated_at=self._clock.now(),
        )
        fault = Fault(
            'StoreRefused', 'its result cannot be stored', __name__, '_fail_refused'
        )
        item.conclusion = Conclusion(ended, results.fault_detail(fault))
        item.handover = None
        result = self._write([item], [])
        if result is None:
            # The next sweep finds the action in the store and recovers it.
            self._finish(item, False)
        else:
            self._on_committed(result)

    # after the transaction

    def _on_committed(self, result: CommitResult) -> None:
        """Follow up a durable transaction: its items, the claims, the listeners."""
        self._hold_busy(result)
        for item, applied in result.outcomes:
            self._finish(item, applied)
        self._claims.on_committed(result)
        if result.events:
            self._listeners.notify(result.events)

    def _finish(self, item: PendingCommit, applied: bool) -> None:
        item.is_settled = True
        try:
            item.on_written(applied)
        except Exception:
            # The other items of the batch must be settled as well.
            LOG.exception(
                'Action %s: the follow-up of its commit failed',
                item.before.uuid,
                extra=log_extra(item.before),
            )

    def _hold_busy(self, result: CommitResult) -> None:
        """Hold back the commits of plans that another transaction had locked."""
        for plan_id in result.locked:
            self._busy.pop(plan_id, None)
        if not result.busy:
            return
        tries = 0
        for plan_id in result.busy:
            self._busy[plan_id] = self._busy.get(plan_id, 0) + 1
            tries = max(tries, self._busy[plan_id])
        if tries == DOUBTFUL:
            self._find_absent(result.busy)
        if tries == LATE:
            LOG.warning(
                'Plans %s (ids) are locked by another transaction; the results of '
                'their actions are written after it ends, other plans are not affected',
                ', '.join(map(str, sorted(result.busy))),
            )
        pause = min(FIRST_TURN * 2.0 ** min(tries - 1, 10), LONGEST_TURN)
        if tries >= LATE:
            pause = LATE_TURN
        spread = 0.5 + _random.random()
        self._queue.hold(pause * spread, result.deferred, result.busy)

    def _find_absent(self, plan_ids: frozenset[int]) -> None:
        """Record which of these plans do not exist, and so cannot be locked."""
        try:
            found = self._store.relations_of_plans(sorted(plan_ids))
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            return
        self._group.absent |= plan_ids - found.keys()
