"""The part of the in-memory store for operators: purging, and figures."""

import abc
import collections
import datetime
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any

from watcherlite.db.api import Worker
from watcherlite.domain import audits as domain
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import Audit
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states
from watcherlite.states import stack as stack_states
from watcherlite.testing.memory_tables import Table, Tables, is_awaited


class MemoryHousekeeping(abc.ABC):
    """`Store.purge` and `Store.statistics` on the tables."""

    _lock: threading.RLock
    _tables: Tables

    @abc.abstractmethod
    def _transaction(self) -> AbstractContextManager[Any]:
        """Begin a transaction."""

    @abc.abstractmethod
    def purged_of_stacks(
        self, before: datetime.datetime, limit: int
    ) -> dict[str, list[int]]:
        """Return the keys of the rows of stacks that go, by table."""

    @abc.abstractmethod
    def purged_of_clusters(
        self, before: datetime.datetime, limit: int
    ) -> dict[str, list[int]]:
        """Return the keys of the rows of clusters that go, by table."""

    @abc.abstractmethod
    def live_workers(self, lane: str | None = None) -> list[Worker]:
        """Return the workers that have a lease."""

    def purge(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, int]:
        with self._transaction():
            tables = self._tables
            plan_ids = [
                key
                for key in tables.index.of('plans')
                if self._can_be_purged(tables.plans.rows[key], before)
            ][:limit]
            last = len(plan_ids) < limit
            of_plan = [tables.index.of(('plan', key)) for key in plan_ids]
            told = [tables.index.of(('events', key)) for key in plan_ids]
            going: dict[Table[Any], list[int]] = {
                tables.events: [*chain(*told), *self._lone_events(before)],
                tables.actions: [*chain(*of_plan), *self._lone_actions(before)],
                tables.plans: plan_ids,
                tables.audits: self._left_without_plans(plan_ids, before, last),
            }
            unreferred = self._unreferred(before) if last else {}
            if last:
                of_stacks = self.purged_of_stacks(before, len(tables.stacks.rows))
                of_clusters = self.purged_of_clusters(before, len(tables.clusters.rows))
                for others in (of_stacks, of_clusters):
                    for name, keys in others.items():
                        table = getattr(tables, name)
                        if table in going:
                            going[table] = sorted({*going[table], *keys})
                        else:
                            unreferred[name] = (table, keys)
            if not dry_run:
                for table, keys in (*going.items(), *unreferred.values()):
                    for key in keys:
                        tables.drop_row(table, key)
            return {
                'action_plans': len(plan_ids),
                'audits': len(going[tables.audits]),
                'actions': len(going[tables.actions]),
                'events': len(going[tables.events]),
                **{
                    name: len(keys)
                    for name, (_, keys) in unreferred.items()
                    if keys and name != 'bindings'
                },
            }

    def _lone_events(self, before: datetime.datetime) -> list[int]:
        rows = self._tables.events.rows
        return [
            key
            for key in self._tables.index.of(('events', None))
            if rows[key].published_at is not None
            and rows[key].event.occurred_at < before
        ]

    def _lone_actions(self, before: datetime.datetime) -> list[int]:
        rows = self._tables.actions.rows
        pending = self._pending()
        told = {event.action_id for event in pending}
        found = []
        for key in self._tables.index.of(('plan', None)):
            changed = rows[key].updated_at
            if changed is None or not rows[key].finished or key in told:
                continue
            if is_awaited(rows[key], rows.get(rows[key].derived_from)):
                continue
            if changed < before:
                found.append(key)
        return found

    def _left_without_plans(
        self, plan_ids: Sequence[int], before: datetime.datetime, lone: bool
    ) -> list[int]:
        """Return the ended audits of which these are the last plans.

        :param lone: old ones without plans, too
        """
        plans, leaving = self._tables.plans.rows, set(plan_ids)
        kept = {plan.audit_id for key, plan in plans.items() if key not in leaving}
        last = {plans[key].audit_id for key in plan_ids}
        told = {e.subject_id for e in self._pending() if e.subject == events.AUDIT}
        return [
            key
            for key, audit in self._tables.audits.rows.items()
            if _has_ended(audit)
            and key not in kept
            and key not in told
            and (key in last or (lone and _is_older(audit, before)))
        ]

    def _unreferred(
        self, before: datetime.datetime
    ) -> dict[str, tuple[Table[Any], list[int]]]:
        """Return what was softly deleted, and nothing refers to, by table."""
        tables = self._tables
        audits = list(tables.audits.rows.values())
        plans = list(tables.plans.rows.values())
        templates = list(tables.templates.rows.values())
        strategies = list(tables.strategies.rows.values())
        referring: list[Any] = [*strategies, *templates, *audits]
        of_goals = {row.goal_id for row in referring}
        referring = [*templates, *audits, *plans]
        of_strategies = {row.strategy_id for row in referring}
        return {
            'audit_templates': (
                tables.templates,
                _deleted(tables.templates, (), before),
            ),
            'strategies': (
                tables.strategies,
                _deleted(tables.strategies, of_strategies, before),
            ),
            'goals': (tables.goals, _deleted(tables.goals, of_goals, before)),
        }

    def _pending(self) -> list[events.Event]:
        rows = self._tables.events.rows
        return [rows[key].event for key in self._tables.index.of('pending')]

    def _can_be_purged(self, plan: ActionPlan, before: datetime.datetime) -> bool:
        return (
            plan.state in plan_states.ENDED
            and _is_older(plan, before)
            # The relay still reads the actions of what it has to publish.
            and not self._tables.index.of(('pending', plan.id))
        )

    def statistics(self) -> Mapping[str, Any]:
        with self._lock:
            tables = self._tables
            plans = (tables.plans.rows[key] for key in tables.index.of('active'))
            actions = (a for a in tables.actions.rows.values() if not a.finished)
            return {
                'action_plans': dict(collections.Counter(p.state for p in plans)),
                'actions': dict(collections.Counter(a.status for a in actions)),
                'pending_events': len(tables.index.of('pending')),
                'stacks': dict(
                    collections.Counter(
                        row.status
                        for row in tables.stacks.rows.values()
                        if row.deleted_at is None
                    )
                ),
                'resources_in_progress': sum(
                    row.status == stack_states.IN_PROGRESS and row.deleted_at is None
                    for row in tables.resources.rows.values()
                ),
                'workers': len(self.live_workers()),
            }


def _is_older(row: ActionPlan | Audit, before: datetime.datetime) -> bool:
    changed = row.updated_at or row.created_at
    return changed is not None and changed < before


def _has_ended(audit: Audit) -> bool:
    """Say whether nothing runs an audit again, not even a webhook."""
    if audit.state == audit_states.SUCCEEDED:
        return audit.audit_type != domain.EVENT
    return audit.state in audit_states.ENDED


def _deleted(
    table: Table[Any], referred: Collection[int | None], before: datetime.datetime
) -> list[int]:
    """Return what was softly deleted before a time, and is not referred to."""
    return [
        key
        for key, row in table.rows.items()
        if row.deleted_at is not None
        and row.deleted_at < before
        and key not in referred
    ]
