"""Writes what all tasks of a worker came to, together.

One thread drains a queue and writes it in one transaction: states, dependents,
plans, locks, events, and the next claims ride along. An action's execute never
begins before its RUNNING is durable, and nothing is announced before it is.
"""

import collections
import logging
import random
import threading
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import results
from watcherlite.execution.chaining import Chaining
from watcherlite.execution.group import Claims, GroupCommit, Item, Wish, Written
from watcherlite.execution.log_context import about
from watcherlite.execution.plan_rules import PlanRules
from watcherlite.execution.results import Conclusion
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.subjects import Subjects
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0


class Committer:
    """The group commit of one worker.

    :param lost: called once when the lease is over before a batch could be
        written; nothing is written after that
    :param lease_left: seconds for which this worker may still write
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        rules: PlanRules,
        clock: Clock,
        settings: ExecutionSettings,
        lease_left: Callable[[], float],
        lost: Callable[[], None],
        subjects: Subjects | None = None,
    ) -> None:
        self._store = store
        self._worker = worker
        self._group = GroupCommit(worker, rules, subjects)
        self._chaining = Chaining(store, self._group)
        self._clock = clock
        self._settings = settings
        self._lease_left = lease_left
        self._lost = lost
        self._claims: Claims | None = None
        self._listeners: list[Callable[[list[Event]], None]] = []
        self._queue: collections.deque[Item] = collections.deque()
        self._condition = threading.Condition()
        self._poked = False
        self._drained = True
        self._waiting = False
        self._stopped = False
        self._thread: threading.Thread | None = None

    def serve(self, claims: Claims) -> None:
        """Name the dispatcher; before `start`."""
        self._claims = claims

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """Call `listener` with the events of each transaction, once durable.

        It is called in the committer's thread and has to be quick.
        """
        self._listeners.append(listener)

    # what other threads call

    def submit(self, item: Item) -> None:
        """Queue a conclusion; `item.done` is called when it is written."""
        with self._condition:
            self._queue.append(item)
            # The first one begins the time for which the others may gather.
            if self._waiting and (
                self._drained
                or len(self._queue) == 1
                or len(self._queue) >= self._settings.claim_batch // 2
            ):
                self._condition.notify()

    def poke(self) -> None:
        """Ask for a transaction even if nothing is queued: there is work to claim."""
        with self._condition:
            self._poked = True
            self._condition.notify()

    def drained(self) -> None:
        """Note that the threads have nothing left to do: do not linger."""
        with self._condition:
            self._drained = True
            self._condition.notify()

    def feeding(self) -> None:
        """Note that the threads have work, so that lingering pays."""
        with self._condition:
            self._drained = False

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(
            target=self._loop, name='committer', daemon=True
        )
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Write what is queued and stop; False if that took too long."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # the thread

    def _loop(self) -> None:
        while True:
            items = self._collect()
            if items is None:
                return
            try:
                self._commit(items)
            except exceptions.LeaseLost:
                LOG.error(
                    'Worker %s could not write before its lease ended; it stops, '
                    'and others take over its actions',
                    self._worker,
                )
                self._lost()
                return
            except Exception:
                LOG.exception(
                    'Worker %s: a transaction of %d changes failed; its actions '
                    'are looked after by the next sweep',
                    self._worker,
                    len(items),
                )
                # The sweep looks after what is not in hand any more.
                for item in items:
                    if not item.told:
                        self._tell(item, False)

    def _collect(self) -> list[Item] | None:
        """Wait for something to write or to claim; None to stop."""
        batch = self._settings.claim_batch
        with self._condition:
            self._waiting = True
            while not self._queue and not self._poked and not self._stopped:
                self._clock.wait(self._condition, None)
            if self._queue and not self._drained and not self._stopped:
                until = self._clock.monotonic() + self._settings.linger
                while not self._drained and len(self._queue) < batch // 2:
                    left = until - self._clock.monotonic()
                    if left <= 0 or self._stopped:
                        break
                    self._clock.wait(self._condition, left)
            self._waiting = False
            if self._stopped and not self._queue:
                return None
            self._poked = False
            count = min(len(self._queue), 2 * batch)
            return [self._queue.popleft() for _ in range(count)]

    def _commit(self, items: list[Item]) -> None:
        """Write a batch, however often that takes, until the lease is over."""
        wishes = list(self._claims.wishes()) if self._claims is not None else []
        if not items and not wishes:
            return
        written = self._write(items, wishes)
        if written is None:
            self._write_apart(items)
        else:
            self._announce(written)

    def _write_apart(self, items: list[Item]) -> None:
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

    def _write(self, items: list[Item], wishes: list[Wish]) -> Written | None:
        """Return what was written, or None if the store cannot keep this batch."""
        pause = FIRST_PAUSE
        conflicts = 0
        unanswered: Written | None = None
        while True:
            if self._lease_left() <= 0:
                raise exceptions.LeaseLost
            written = Written()
            try:
                if unanswered is not None:
                    # Its events tell whether it took effect: they were stored with
                    # it or not at all. Written again it would seem that others
                    # own its actions now.
                    if self._store.event_exists(unanswered.events[0].uuid):
                        return unanswered
                    unanswered = None
                now = self._clock.now()
                if self._chaining.suits(items, wishes):
                    if self._chaining.write(written, items, self._claims, now):
                        return written
                    written = Written()
                with self._store.transaction() as tx:
                    self._group.fill(tx, written, items, wishes, self._claims, now)
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
            with self._condition:
                self._clock.wait(self._condition, pause * (0.5 + random.random()))  # noqa: S311
            pause = min(pause * 2, LONGEST_PAUSE)

    def _drop(self, item: Item) -> None:
        """Fail an action whose result the store refuses; else leave it be."""
        task = item.task
        LOG.error(
            'Action %s: its result (%s) cannot be stored; it is FAILED instead',
            task.action.uuid,
            item.after.status,
            extra=about(task.action),
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
        failed = Item(
            task, Conclusion(ended, results.fault_detail(fault)), item.done, None
        )
        written = self._write([failed], [])
        if written is None:
            # Out of our hands: the next sweep finds it in the store and decides.
            self._tell(item, False)
        else:
            self._announce(written)

    def _announce(self, written: Written) -> None:
        """Tell everybody what is durable now."""
        for item, applied, action in written.outcomes:
            if applied:
                item.task.action = action
            self._tell(item, applied)
        if self._claims is not None:
            self._claims.written(written)
        if written.events:
            self.tell_listeners(written.events)

    def _tell(self, item: Item, applied: bool) -> None:
        item.told = True
        try:
            item.done(item, applied)
        except Exception:
            # The others of the batch wait to be told, too.
            action = item.task.action
            LOG.exception(
                'Action %s could not be gone on with', action.uuid, extra=about(action)
            )

    def tell_listeners(self, stored: list[Event]) -> None:
        """Tell them of events that are durable; an empty list means: look."""
        for listener in self._listeners:
            try:
                listener(stored)
            except Exception:
                LOG.exception('A listener failed; the events are stored')
