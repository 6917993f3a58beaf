"""The committer of a worker: the conclusions of all attempts, written together.

One thread drains the commit queue and writes it in one transaction: states,
dependents, plans, locks, events, and the next claims ride along. An action's execute
never begins before its RUNNING is durable, and nothing is announced before it is.
"""

import collections
import dataclasses
import logging
import random
import threading

from watcherlite import exceptions
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import results
from watcherlite.execution.chain_commit import ChainCommitter
from watcherlite.execution.context import about
from watcherlite.execution.events import EventListeners
from watcherlite.execution.group_commit import (
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


FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
#: Seconds until plans are tried again that another transaction had locked: at first,
#: at most while workers may just take turns, and once it takes so many tries.
FIRST_TURN = 0.002
LONGEST_TURN = 0.05
LATE_TURN = 0.5
LATE = 25
#: The try at which it is asked whether such a plan is there at all.
DOUBTFUL = 3


class Committer:
    """The group commit of one worker.

    :param claims: what to claim in the same transactions
    :param lease: nothing is written after its end
    :param listeners: called with the events of each transaction, once durable
    """

    def __init__(
        self,
        services: CoreServices,
        queue: CommitQueue,
        rules: PlanRules,
        claims: ClaimSource,
        lease: Lease,
        listeners: EventListeners,
        projection: Projection | None = None,
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._worker = services.worker_id
        self._queue = queue
        self._claims = claims
        self._lease = lease
        self._listeners = listeners
        self._group = GroupCommit(self._worker, rules, projection)
        self._chaining = ChainCommitter(self._store, self._group)
        #: id of a plan that was locked -> how often in turn
        self._busy: dict[int, int] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(
            target=self._loop, name='committer', daemon=True
        )
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Write what is queued and stop; False if that took too long."""
        self._queue.stop()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # the thread

    def _loop(self) -> None:
        while True:
            taken = self._queue.take()
            if taken is None:
                return
            items, plan_ids = taken
            if plan_ids:
                self._claims.retry_plans(plan_ids)
            try:
                self._commit(items)
            except exceptions.LeaseLost:
                LOG.error(
                    'Worker %s could not write before its lease ended; it stops, '
                    'and others take over its actions',
                    self._worker,
                )
                self._lease.report_loss()
                return
            except Exception:
                LOG.exception(
                    'Worker %s: a transaction of %d changes failed; its actions '
                    'are looked after by the next sweep',
                    self._worker,
                    len(items),
                )
                # The sweep looks after what is not in flight any more.
                for item in items:
                    if not item.is_settled:
                        self._notify(item, False)

    def _defer(self, written: CommitResult) -> None:
        """Put back what concerns plans that another transaction had locked."""
        for plan_id in written.locked:
            self._busy.pop(plan_id, None)
        if not written.busy:
            return
        tries = 0
        for plan_id in written.busy:
            self._busy[plan_id] = self._busy.get(plan_id, 0) + 1
            tries = max(tries, self._busy[plan_id])
        if tries == DOUBTFUL:
            self._look_for_absent(written.busy)
        if tries == LATE:
            LOG.warning(
                'Plans %s (ids) are locked by another transaction; what their actions '
                'came to is written when it ends, and other plans go on',
                ', '.join(map(str, sorted(written.busy))),
            )
        pause = min(FIRST_TURN * 2.0 ** min(tries - 1, 10), LONGEST_TURN)
        if tries >= LATE:
            pause = LATE_TURN
        spread = 0.5 + random.random()  # noqa: S311  # nosec B311  # a pause
        self._queue.hold(pause * spread, written.deferred, written.busy)

    def _look_for_absent(self, plan_ids: frozenset[int]) -> None:
        """Note which of these plans are gone: nobody can have locked them."""
        try:
            found = self._store.surroundings_of_plans(sorted(plan_ids))
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            return
        self._group.absent |= plan_ids - found.keys()

    def _commit(self, items: list[PendingCommit]) -> None:
        """Write a batch, however often that takes, until the lease is over."""
        claim_requests = list(self._claims.claim_requests())
        if not items and not claim_requests:
            return
        written = self._write(items, claim_requests)
        if written is None:
            self._write_apart(items)
        else:
            self._announce(written)

    def _write_apart(self, items: list[PendingCommit]) -> None:
        """Find the change that cannot be stored, which takes no other with it."""
        middle = (len(items) + 1) // 2
        for part in (items[:middle], items[middle:]):
            # One that is alone here was not alone before: the claims were there.
            written = self._write(part, []) if part else None
            if written is not None:
                self._announce(written)
            elif len(part) > 1:
                self._write_apart(part)
            elif part:
                self._drop(part[0])

    def _write(
        self, items: list[PendingCommit], claim_requests: list[ClaimRequest]
    ) -> CommitResult | None:
        """Return what was written, or None if the store cannot keep this batch."""
        pause = FIRST_PAUSE
        conflicts = 0
        unanswered: CommitResult | None = None
        while True:
            if self._lease.left() <= 0:
                raise exceptions.LeaseLost
            written = CommitResult()
            try:
                if unanswered is not None:
                    # Its events tell whether it took effect: they were stored with
                    # it or not at all. Written again it would seem that others
                    # own its actions now.
                    if self._store.event_exists(unanswered.events[0].uuid):
                        return unanswered
                    unanswered = None
                now = self._clock.now()
                if self._chaining.suits(items, claim_requests):
                    if self._chaining.write(written, items, self._claims, now):
                        return written
                    written = CommitResult()
                with self._store.transaction() as tx:
                    self._group.fill(
                        tx, written, items, claim_requests, self._claims, now
                    )
                self._chaining.note(written)
                return written
            except exceptions.StoreConflict as error:
                LOG.debug('A transaction is tried again: %s', error)
                conflicts += 1
                if conflicts == 1:
                    # The other one has won, and is out of the way.
                    continue
            except exceptions.StoreUnavailable as error:
                LOG.warning('%s; trying again in %.1f s', error, pause)
                # One without events only claimed, which is found by the sweep,
                # or does no harm when it is written twice.
                if unanswered is None and written.events:
                    unanswered = written
            except Exception:
                LOG.exception('A batch of %d changes cannot be stored', len(items))
                return None
            self._queue.pause(pause * (0.5 + random.random()))  # noqa: S311  # nosec B311  # a pause
            pause = min(pause * 2, LONGEST_PAUSE)

    def _drop(self, item: PendingCommit) -> None:
        """Fail an action whose result the store refuses; else leave it be."""
        LOG.error(
            'Action %s: its result (%s) cannot be stored; it is FAILED instead',
            item.before.uuid,
            item.after.status,
            extra=about(item.before),
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
        fault = Fault('StoreRefused', 'its result cannot be stored', __name__, '_drop')
        item.conclusion = Conclusion(ended, results.fault_detail(fault))
        item.handover = None
        written = self._write([item], [])
        if written is None:
            # Out of our hands: the next sweep finds it in the store and decides.
            self._notify(item, False)
        else:
            self._announce(written)

    def _announce(self, written: CommitResult) -> None:
        """Tell everybody what is durable now."""
        self._defer(written)
        for item, applied, _ in written.outcomes:
            self._notify(item, applied)
        self._claims.on_committed(written)
        if written.events:
            self._listeners.notify(written.events)

    def _notify(self, item: PendingCommit, applied: bool) -> None:
        item.is_settled = True
        try:
            item.on_written(applied)
        except Exception:
            # The others of the batch wait to be told, too.
            LOG.exception(
                'Action %s could not be gone on with',
                item.before.uuid,
                extra=about(item.before),
            )
