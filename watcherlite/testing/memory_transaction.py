"""The transaction of the in-memory store."""

import bisect
import dataclasses
import datetime
import heapq
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.db.api import Released, Successor
from watcherlite.domain import actions as domain
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange, Edge
from watcherlite.domain.events import Event
from watcherlite.states import action as states
from watcherlite.testing.memory_audits import MemoryAuditTransaction
from watcherlite.testing.memory_clusters import MemoryClusterTransaction
from watcherlite.testing.memory_projects import MemoryProjectTransaction
from watcherlite.testing.memory_stacks import MemoryStackTransaction
from watcherlite.testing.memory_tables import (
    EventRow,
    Table,
    Tables,
    handed_out,
    stored,
    through_json,
)

#: The changing half of a plan.
PLAN_FIELDS = (
    'state',
    'stage',
    'status_message',
    'total',
    'unfinished',
    'active',
    'failed',
    'skipped',
    'fault',
    'updated_at',
    'deleted_at',
)
#: The changing half of an action without `pending` and `control`, which have
#: methods of their own, and without what is kept as JSON.
ACTION_FIELDS = (
    'status',
    'status_message',
    'owner',
    'attempt',
    'recoveries',
    'phase',
    'not_before',
    'blocked_on',
    'start_time',
    'end_time',
    'deadline',
    'updated_at',
    'deleted_at',
)
ACTION_JSON_FIELDS = ('token', 'outputs', 'data')
#: What a handover says about a dependent.
HANDOVER_FIELDS = ('status', 'owner', 'attempt', 'phase', 'start_time', 'updated_at')


# What a lock has in place of the id of its holder: shared, and by no more.
SHARED = 0
CLOSED = -1


def _fields(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def claimable_ids(
    tables: Tables, group: tuple[str, Any], now: datetime.datetime, limit: int
) -> list[int]:
    """Return the lowest ids of a plan or lane that can be taken at a time."""
    due = tables.index.of(('due', *group))[:limit]
    scheduled = tables.index.of(('scheduled', *group))
    end = bisect.bisect_right(scheduled, now, key=lambda item: item[0])
    if not end:
        return list(due)
    return heapq.nsmallest(limit, [*due, *(item[1] for item in scheduled[:end])])


class MemoryTransaction(
    MemoryAuditTransaction,
    MemoryStackTransaction,
    MemoryClusterTransaction,
    MemoryProjectTransaction,
):
    """`db.api.Transaction` on the tables of one store, whose lock is held."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._locked_plans: set[int] = set()
        self._locked_rows: set[tuple[str, int]] = set()

    # plans

    def lock_plans(self, plan_ids: Iterable[int]) -> dict[int, ActionPlan]:
        plans = self._tables.plans.rows
        found = {key: handed_out(plans[key]) for key in plan_ids if key in plans}
        self._locked_plans.update(found)
        return found

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        table = self._tables.plans
        for plan in plans:
            if plan.id not in self._locked_plans:
                # A database would write it, and lose the update of another
                # transaction now and then; here it is found at once.
                raise ValueError(
                    f'action plan {plan.uuid} is saved in a transaction that has '
                    'not locked it; call lock_plans first'
                )
            changed = stored(table.rows[plan.id].evolve(**_fields(plan, PLAN_FIELDS)))
            table.put(plan.id, changed)

    def insert_plan(self, plan: ActionPlan) -> ActionPlan:
        self._refuse_duplicate('action plan', plan.uuid, self._tables.plan_ids)
        new = self._insert(self._tables.plans, plan)
        self._locked_plans.add(new.id)
        return new

    # actions

    def insert_actions(
        self, actions: Sequence[Action], edges: Sequence[Edge]
    ) -> list[int]:
        table = self._tables.actions
        ids = self._tables.action_ids
        inserted = []
        for action in actions:
            self._refuse_duplicate('action', action.uuid, ids)
            key = table.next_key()
            table.put(key, stored(action.evolve(id=key)))
            inserted.append(key)
        for edge in edges:
            for uuid in (edge.parent, edge.child):
                if uuid not in ids:
                    raise exceptions.NotFound(
                        f'Action {uuid}, named by the dependency of {edge.child} on '
                        f'{edge.parent}, could not be found.'
                    )
            self._tables.edges.put((ids[edge.parent], ids[edge.child]), edge.needs)
        return inserted

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        rows = self._tables.actions.rows
        changed = set()
        for change in changes:
            before, after = change.before, change.after
            row = rows.get(before.id)
            if row is None or (row.status, row.owner, row.attempt) != (
                before.status,
                before.owner,
                before.attempt,
            ):
                continue
            values = _fields(after, ACTION_FIELDS)
            for name in ACTION_JSON_FIELDS:
                values[name] = through_json(getattr(after, name))
            changed.add(self._write(row, **values))
        return changed

    def release_dependents(
        self,
        parent_ids: Sequence[int],
        *,
        started: bool,
        handovers: Mapping[int, Action] | None = None,
        now: datetime.datetime,
    ) -> list[Released]:
        counts: dict[int, int] = {}
        for parent in parent_ids:
            for child in self._tables.children.get(parent, ()):
                counts[child] = counts.get(child, 0) + 1
        released = []
        for key in sorted(counts):
            row = self._tables.actions.rows[key]
            values: dict[str, Any] = {'pending': row.pending - counts[key]}
            at_zero = values['pending'] == 0 and row.status not in states.STARTED
            handover = (handovers or {}).get(key) if at_zero else None
            handed_over = False
            if at_zero and row.status in (states.INIT, states.WAITING):
                if handover is not None and row.owner is row.blocked_on is None:
                    values.update(_fields(handover, HANDOVER_FIELDS))
                    values['data'] = through_json(handover.data)
                    handed_over = True
                elif started or row.status == states.WAITING:
                    values.update(status=states.READY, owner=None, updated_at=now)
            self._write(row, **values)
            if at_zero:
                released.append(
                    Released(key, row.plan_id, row.lane, handed_over, row.finished)
                )
        return released

    def end_dependents(
        self,
        parent_ids: Sequence[int],
        status: str,
        message: str,
        now: datetime.datetime,
    ) -> list[Action]:
        keys = {
            child
            for parent in parent_ids
            for child, needs in self._tables.children.get(parent, {}).items()
            if needs == domain.SUCCESS
        }

        def can_end(row: Action) -> bool:
            if row.status == states.READY:
                return row.owner is None
            return row.status in states.NOT_STARTED

        rows = [r for r in self._rows(sorted(keys)) if can_end(r)]
        self._end(rows, status, message, now)
        return [handed_out(r) for r in self._rows([r.id for r in rows])]

    def claim(
        self,
        *,
        worker: str,
        limit: int,
        now: datetime.datetime,
        plan_id: int | None = None,
        lane: str | None = None,
    ) -> list[Action]:
        if (plan_id is None) == (lane is None):
            raise ValueError('claim takes either plan_id or lane, and not both')
        group = ('lane', lane) if plan_id is None else ('plan', plan_id)
        rows = self._rows(claimable_ids(self._tables, group, now, limit))
        for row in rows:
            self._write(
                row,
                status=states.READY,
                owner=worker,
                attempt=row.attempt + 1,
                updated_at=now,
            )
        return [handed_out(row) for row in self._rows([row.id for row in rows])]

    def successors(self, action_ids: Sequence[int], depth: int) -> list[Successor]:
        found: dict[int, Successor] = {}
        level = sorted(set(action_ids))
        for _ in range(depth):
            below = []
            for parent in level:
                rows = self._rows(sorted(self._tables.children.get(parent, ())))
                child = next((row for row in rows if _follows_alone(row)), None)
                if child is not None and child.id not in found:
                    found[_key(child)] = Successor(parent, handed_out(child))
                    below.append(_key(child))
            level = below
        return list(found.values())

    def end_not_started(
        self,
        plan_id: int,
        status: str,
        message: str | None,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        by_id = heapq.merge(
            *(
                self._tables.index.of(('status', plan_id, name))
                for name in states.NOT_STARTED
            )
        )
        candidates = (self._tables.actions.rows[key] for key in by_id)
        rows = list(
            itertools.islice(
                (
                    row
                    for row in candidates
                    if row.status != states.WAITING or row.phase != domain.COMPLETE
                ),
                limit,
            )
        )
        self._end(rows, status, message, now)
        return [handed_out(row) for row in rows]

    def set_control(
        self,
        signal: str,
        now: datetime.datetime,
        *,
        action_ids: Sequence[int] | None = None,
        plan_id: int | None = None,
    ) -> list[Action]:
        if plan_id is None and action_ids is None:
            raise ValueError('set_control takes action_ids or plan_id')
        if action_ids is not None:
            keys = set(action_ids)
        else:
            keys = {
                key
                for name in (*states.STARTED, states.WAITING)
                for key in self._tables.index.of(('status', plan_id, name))
            }
        signalled = []
        for row in self._rows(sorted(keys)):
            if _has_started(row) and plan_id in (None, row.plan_id):
                signalled.append(self._write(row, control=signal, updated_at=now))
        return [handed_out(row) for row in self._rows(signalled)]

    def lock_actions(self, action_ids: Sequence[int]) -> dict[int, Action]:
        return {_key(row): handed_out(row) for row in self._rows(action_ids)}

    def add_pending(self, action_id: int, count: int) -> None:
        for row in self._rows([action_id]):
            self._write(row, pending=row.pending + count)

    # locks on targets

    def take_locks(self, targets: Mapping[str, int]) -> set[str]:
        locks = self._tables.locks
        free = {t for t, key in targets.items() if locks.rows.get(t, key) == key}
        for target in targets:
            if target in free:
                locks.put(target, targets[target])
            elif locks.rows[target] == SHARED:
                locks.put(target, CLOSED)
        return free

    def share_locks(self, targets: Mapping[str, Collection[int]]) -> set[int]:
        locks, sharers = self._tables.locks, self._tables.sharers
        sharing: set[int] = set()
        for target, keys in targets.items():
            if locks.rows.get(target, SHARED) == SHARED:
                locks.put(target, SHARED)
                for key in keys:
                    sharers.put((target, key), True)
            sharing.update(key for key in keys if (target, key) in sharers.rows)
        return sharing

    def release_locks(
        self,
        action_ids: Sequence[int],
        targets: Iterable[str] = (),
        shared: Iterable[str] = (),
    ) -> list[Action]:
        index, locks = self._tables.index, self._tables.locks
        free = {*targets, *shared}
        for key in action_ids:
            for target in list(index.of(('locks', key))):
                locks.drop(target)
                free.add(target)
            for target in list(index.of(('shares', key))):
                self._tables.sharers.drop((target, key))
        for target in sorted(free):
            nobody = not index.of(('sharers', target))
            if locks.rows.get(target) in (SHARED, CLOSED) and nobody:
                locks.drop(target)
        first: set[int] = set()
        for target in free:
            if target not in locks.rows:
                first.update(self._next(target))
        return self.unblock(sorted(first))

    def _next(self, target: str) -> list[int]:
        """Return who comes next of those who wait for a target that is free."""
        rows = self._rows(self._tables.index.of(('blocked', target)))
        sharing = list(itertools.takewhile(lambda row: row.within == target, rows))
        return [_key(row) for row in sharing or rows[:1]]

    def unblock(self, action_ids: Sequence[int]) -> list[Action]:
        """Clear `blocked_on`; WAITING actions become READY."""
        for row in self._rows(action_ids):
            waits = row.status == states.WAITING and row.pending == 0
            status = states.READY if waits else row.status
            self._write(row, blocked_on=None, status=status)
        return [handed_out(row) for row in self._rows(action_ids)]

    # events

    def add_events(self, events: Sequence[Event]) -> None:
        table = self._tables.events
        for event in events:
            table.put(table.next_key(), EventRow(stored(event)))

    # what the methods share

    def _rows(self, keys: Iterable[int | None]) -> list[Action]:
        rows = self._tables.actions.rows
        return [rows[key] for key in keys if key in rows]

    def _write(self, row: Action, **values: Any) -> int:
        key = _key(row)
        self._tables.actions.put(key, row.evolve(**values))
        return key

    def _end(
        self,
        rows: Sequence[Action],
        status: str,
        message: str | None,
        now: datetime.datetime,
    ) -> None:
        for row in rows:
            self._write(
                row,
                status=status,
                status_message=message,
                end_time=now,
                updated_at=now,
            )

    def _insert(self, table: Table[Any], row: Any) -> Any:
        key = table.next_key()
        table.put(key, stored(dataclasses.replace(row, id=key)))
        return handed_out(table.rows[key])

    def _refuse_duplicate(
        self, what: str, uuid: str, known: Mapping[str, int] | set[str]
    ) -> None:
        if uuid in known:
            raise exceptions.Conflict(f'There is already an {what} {uuid}.')


def _key(row: Action) -> int:
    if row.id is None:
        raise ValueError(f'action {row.uuid} is not stored')
    return row.id


def _has_started(row: Action) -> bool:
    waits_for_derived = row.status == states.WAITING and row.phase == domain.COMPLETE
    return row.status in states.STARTED or waits_for_derived


def _follows_alone(row: Action) -> bool:
    return (
        row.pending == 1
        and row.status in (states.INIT, states.WAITING)
        and (row.target is None or row.cause == states.DERIVED_ACTION)
        and row.not_before == EPOCH
        and row.blocked_on is None
    )
