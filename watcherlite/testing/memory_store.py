"""The store in memory: for unit tests, of plugins as well as of the core.

It passes the same contract suite as the SQL store. Transactions run one after
the other under one lock, so that no row is ever held by somebody else.
"""

import bisect
import contextlib
import dataclasses
import datetime
import json
import threading
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from watcherlite import exceptions
from watcherlite.clock import EPOCH, Clock, SystemClock
from watcherlite.db.api import Link, Transaction, Worker
from watcherlite.domain.action_plans import ActionPlan, PlanSurroundings
from watcherlite.domain.actions import Action
from watcherlite.domain.events import StoredEvent, check_subject
from watcherlite.states import action as states
from watcherlite.testing.memory_audits import MemoryAuditing
from watcherlite.testing.memory_clusters import MemoryClustering
from watcherlite.testing.memory_housekeeping import MemoryHousekeeping
from watcherlite.testing.memory_listing import MemoryListing
from watcherlite.testing.memory_stacks import MemoryStacking
from watcherlite.testing.memory_tables import Role, Tables, handed_out
from watcherlite.testing.memory_transaction import MemoryTransaction, claimable_ids


class MemoryStore(
    MemoryListing,
    MemoryAuditing,
    MemoryStacking,
    MemoryClustering,
    MemoryHousekeeping,
):
    """`db.api.Store` without a database.

    What JSON cannot hold is refused with TypeError, as a database would. A plan
    that is saved without having been locked is refused with ValueError, which no
    database does: it would lose an update now and then.

    :param clock: what leases are measured by; default: the machine's
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.RLock()
        self._tables = Tables(self._clock)

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self._transaction()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[MemoryTransaction]:
        with self._lock:
            self._tables.journal.begin()
            try:
                yield MemoryTransaction(self._tables)
            except BaseException:
                self._tables.journal.rollback()
                raise
            self._tables.journal.commit()

    @property
    def writes_links(self) -> bool:
        return True

    def write_link(self, link: Link) -> bool:
        before, after = link.plan
        child = link.started.after
        with self._transaction() as tx:
            plan = tx.lock_plans([before.id or 0]).get(before.id or 0)
            found = self._tables.actions.rows.get(child.id or 0)
            if (
                plan != before
                or found is None
                or (found.pending, found.attempt) != (1, child.attempt - 1)
                or found.owner is not None
                or found.status not in (states.INIT, states.WAITING)
                or not tx.change_actions([link.ended])
            ):
                return False
            tx.release_dependents(
                [link.ended.before.id or 0],
                started=True,
                handovers={child.id or 0: child},
                now=after.updated_at or EPOCH,
            )
            tx.save_plans([after])
            tx.add_events(link.events)
        return True

    def check(self) -> None:
        """Return: there is no database that could be away, or be out of date."""

    def close(self) -> None:
        """Return: there are no connections; what was stored stays."""

    # workers and their leases

    def register_worker(self, worker: Worker, lease: float) -> Worker:
        with self._lock:
            if worker.uuid in self._tables.workers.rows:
                raise exceptions.Conflict(f'There is already a worker {worker.uuid}.')
            now = self._clock.now()
            row = dataclasses.replace(
                worker,
                started_at=worker.started_at or now,
                lease_until=now + datetime.timedelta(seconds=lease),
            )
            self._tables.workers.put(worker.uuid, row)
            self._tables.worker_ids[worker.uuid] = self._tables.workers.next_key()
            return row

    def renew_lease(self, worker: str, lease: float) -> bool:
        with self._lock:
            row = self._tables.workers.rows.get(worker)
            if row is None or not self._is_live(row):
                return False
            until = self._clock.now() + datetime.timedelta(seconds=lease)
            self._tables.workers.put(
                worker, dataclasses.replace(row, lease_until=until)
            )
            return True

    def end_lease(self, worker: str) -> None:
        with self._lock:
            row = self._tables.workers.rows.get(worker)
            if row is not None and self._is_live(row):
                self._tables.workers.put(
                    worker, dataclasses.replace(row, lease_until=self._clock.now())
                )

    def expired_workers(self) -> list[Worker]:
        with self._lock:
            workers = self._tables.workers.rows.values()
            return [row for row in workers if not self._is_live(row)]

    def forgotten_owners(self) -> list[str]:
        with self._lock:
            known = self._tables.workers.rows
            owners = self._tables.index.names('owner')
            return [owner for owner in owners if owner not in known]

    def live_workers(self, lane: str | None = None) -> list[Worker]:
        with self._lock:
            return [
                row
                for row in self._tables.workers.rows.values()
                if self._is_live(row) and (lane is None or lane in row.lanes)
            ]

    def remove_worker(self, worker: str) -> bool:
        with self._lock:
            row = self._tables.workers.rows.get(worker)
            if row is None or self._is_live(row):
                return False
            if self._tables.index.of(('owner', worker)):
                return False
            self._tables.workers.drop(worker)
            return True

    def take_role(self, role: str, worker: str, lease: float) -> bool:
        with self._lock:
            now = self._clock.now()
            row = self._tables.roles.rows.get(role)
            if row is not None and row.worker != worker and row.lease_until > now:
                return False
            until = now + datetime.timedelta(seconds=lease)
            self._tables.roles.put(role, Role(worker, until))
            return True

    def drop_role(self, role: str, worker: str) -> None:
        with self._lock:
            row = self._tables.roles.rows.get(role)
            if row is not None and row.worker == worker:
                self._tables.roles.drop(role)

    def _is_live(self, worker: Worker) -> bool:
        until = worker.lease_until
        return until is not None and until > self._clock.now()

    # what there is to do

    def active_plans(self, limit: int) -> list[ActionPlan]:
        with self._lock:
            plans = self._tables.plans.rows
            keys = self._tables.index.of('active')[:limit]
            return [handed_out(plans[key]) for key in keys]

    def next_not_before(
        self, lane: str, after: datetime.datetime
    ) -> datetime.datetime | None:
        with self._lock:
            items = self._tables.index.of(('scheduled', 'all', lane))
            at = bisect.bisect_right(items, after, key=lambda item: item[0])
            return items[at][0] if at < len(items) else None

    def deadlines(
        self, lane: str, until: datetime.datetime, limit: int
    ) -> list[tuple[str, datetime.datetime]]:
        with self._lock:
            rows = self._tables.actions.rows
            return [
                (rows[key].uuid, deadline)
                for deadline, key in self._tables.index.of(('deadline', lane))
                if EPOCH < deadline <= until
            ][:limit]

    def has_claimable(self, lane: str, now: datetime.datetime) -> bool:
        with self._lock:
            return bool(claimable_ids(self._tables, ('lane', lane), now, 1))

    def controls(self, worker: str) -> dict[int, str]:
        with self._lock:
            signals = {
                key: self._tables.actions.rows[key].control
                for key in self._tables.index.of(('owner', worker))
            }
            return {key: signal for key, signal in signals.items() if signal}

    def owned_ids(self, worker: str) -> list[tuple[int, int]]:
        with self._lock:
            return [
                (key, self._tables.actions.rows[key].attempt)
                for key in self._tables.index.of(('owner', worker))
            ]

    def unblock_stale(self) -> int:
        with self._transaction() as transaction:
            stale = [
                key
                for target in self._tables.index.names('blocked')
                if target not in self._tables.locks.rows
                and not self._is_suspended(target)
                for key in self._tables.index.of(('blocked', target))
            ]
            return len(transaction.unblock(sorted(stale)))

    def _is_suspended(self, uuid: str) -> bool:
        """Say whether this is an action that keeps what it derived from starting."""
        key = self._tables.action_ids.get(uuid)
        return (
            key is not None
            and self._tables.actions.rows[key].status == states.SUSPENDED
        )

    # the outbox

    def pending_events(self, limit: int) -> list[StoredEvent]:
        with self._lock:
            keys = self._tables.index.of('pending')[:limit]
            return [self._stored_event(key) for key in keys]

    def mark_published(self, sequences: Sequence[int], now: datetime.datetime) -> None:
        with self._transaction():
            events = self._tables.events
            for key in sequences:
                row = events.rows.get(key)
                if row is not None and row.published_at is None:
                    events.put(key, dataclasses.replace(row, published_at=now))

    def event_exists(self, uuid: str) -> bool:
        with self._lock:
            return uuid in self._tables.event_uuids

    def oldest_pending_event(self) -> datetime.datetime | None:
        with self._lock:
            for key in self._tables.index.of('pending')[:1]:
                return self._tables.events.rows[key].event.occurred_at
            return None

    def _stored_event(self, sequence: int) -> StoredEvent:
        event = handed_out(self._tables.events.rows[sequence].event)
        action = self._tables.actions.rows.get(event.action_id)
        if action is None:
            return StoredEvent(sequence, event)
        return StoredEvent(
            sequence,
            event,
            action_uuid=action.uuid,
            action_name=action.name,
            action_type=action.action_type,
            action_inputs=json.dumps(action.inputs),
            action_parents=json.dumps(action.parents),
            action_created_at=action.created_at,
        )

    # reading

    def plan_surroundings(self, plan_id: int) -> PlanSurroundings | None:
        with self._lock:
            tables = self._tables
            plan = tables.plans.rows.get(plan_id)
            audit = tables.audits.rows.get(plan.audit_id) if plan else None
            if plan is None or audit is None:
                return None
            strategy = tables.strategies.rows.get(plan.strategy_id)
            return PlanSurroundings(
                handed_out(plan),
                handed_out(audit),
                handed_out(tables.goals.rows[audit.goal_id]),
                handed_out(strategy) if strategy else None,
            )

    def surroundings_of_plans(
        self, plan_ids: Sequence[int]
    ) -> dict[int, PlanSurroundings]:
        with self._lock:
            found = {key: self.plan_surroundings(key) for key in plan_ids}
            return {key: around for key, around in found.items() if around is not None}

    def get_plan(self, uuid: str) -> ActionPlan:
        with self._lock:
            key = self._tables.plan_ids.get(uuid)
            if key is None:
                raise exceptions.NotFound(f'Action plan {uuid} could not be found.')
            return handed_out(self._tables.plans.rows[key])

    def get_action(self, uuid: str) -> Action:
        with self._lock:
            key = self._tables.action_ids.get(uuid)
            if key is None:
                raise exceptions.NotFound(f'Action {uuid} could not be found.')
            return handed_out(self._tables.actions.rows[key])

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        with self._lock:
            rows = self._tables.actions.rows
            return {key: handed_out(rows[key]) for key in action_ids if key in rows}

    def derived_actions(
        self, action_id: int, since: datetime.datetime | None = None
    ) -> list[Action]:
        with self._lock:
            rows = self._tables.actions.rows
            found = [rows[key] for key in self._tables.index.of(('derived', action_id))]
            return [
                handed_out(row)
                for row in found
                if since is None or (row.created_at and row.created_at >= since)
            ]

    def unfinished_derived(self, action_ids: Sequence[int]) -> list[Action]:
        found = [a for key in action_ids for a in self.derived_actions(key)]
        return sorted(
            (action for action in found if not action.finished),
            key=lambda action: action.id or 0,
        )

    def list_actions(
        self,
        *,
        plan_id: int | None = None,
        statuses: Iterable[str] | None = None,
        after_id: int | None = None,
        limit: int = 1000,
        descending: bool = False,
    ) -> list[Action]:
        with self._lock:
            key = 'actions' if plan_id is None else ('plan', plan_id)
            rows = self._tables.actions.rows
            wanted = None if statuses is None else frozenset(statuses)
            page: list[Action] = []
            for action_id in _ids_from(
                self._tables.index.of(key), after_id, descending
            ):
                if wanted is None or rows[action_id].status in wanted:
                    page.append(handed_out(rows[action_id]))
                    if len(page) == limit:
                        break
            return page

    def count_actions(self, plan_id: int) -> dict[str, int]:
        with self._lock:
            counts = {
                status: len(self._tables.index.of(('status', plan_id, status)))
                for status in states.STATES
            }
            return {status: count for status, count in counts.items() if count}

    def list_events(
        self,
        *,
        plan_id: int | None = None,
        subject: str | None = None,
        subject_id: int | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[StoredEvent]:
        check_subject(plan_id, subject, subject_id)
        with self._lock:
            key: Hashable = 'events' if plan_id is None else ('events', plan_id)
            if subject_id is not None:
                key = ('history', subject, subject_id)
            sequences = self._tables.index.of(key)
            start = bisect.bisect_right(sequences, after)
            return [self._stored_event(s) for s in sequences[start : start + limit]]

    def depended_by(self, action_id: int) -> list[str]:
        with self._lock:
            return self._unfinished(self._tables.children.get(action_id, ()))

    def depends_on(self, action_id: int) -> list[str]:
        with self._lock:
            return self._unfinished(self._tables.parents.get(action_id, ()))

    def _unfinished(self, keys: Iterable[int]) -> list[str]:
        rows = [self._tables.actions.rows[key] for key in sorted(keys)]
        return [row.uuid for row in rows if not row.finished]


def _ids_from(
    ids: Sequence[int], after: int | None, descending: bool = False
) -> Iterator[int]:
    """Walk sorted ids beyond one, up or down."""
    if descending:
        end = len(ids) if after is None else bisect.bisect_left(ids, after)
        return (ids[at] for at in range(end - 1, -1, -1))
    start = 0 if after is None else bisect.bisect_right(ids, after)
    return (ids[at] for at in range(start, len(ids)))
