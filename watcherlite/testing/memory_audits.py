"""The parts of the in-memory store about audits and what they refer to."""

import dataclasses
import datetime
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db import listing
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import (
    Audit,
    AuditSurroundings,
    AuditTemplate,
    Goal,
    Strategy,
)
from watcherlite.testing.memory_tables import Table, Tables, handed_out, stored


class MemoryAuditTransaction:
    """`db.auditing.AuditTransaction`, and storing what a plan belongs to."""

    _tables: Tables
    _locked_plans: set[int]
    #: (noun, id) of audits and templates.
    _locked_rows: set[tuple[str, int]]

    def ensure_goal(self, goal: Goal) -> Goal:
        return _ensure(self._tables.goals, goal)

    def ensure_strategy(self, strategy: Strategy) -> Strategy:
        return _ensure(self._tables.strategies, strategy)

    def insert_audit(self, audit: Audit) -> Audit:
        return self._insert_named('audits', self._tables.audits, audit)

    def insert_audit_template(self, template: AuditTemplate) -> AuditTemplate:
        return self._insert_named('audit_templates', self._tables.templates, template)

    def lock_audit(self, uuid: str) -> Audit | None:
        return self._lock('audits', self._tables.audits, uuid)

    def lock_audit_template(self, uuid: str) -> AuditTemplate | None:
        return self._lock('audit_templates', self._tables.templates, uuid)

    def save_audit(self, audit: Audit) -> None:
        self._save('audits', self._tables.audits, audit)

    def save_audit_template(self, template: AuditTemplate) -> None:
        self._save('audit_templates', self._tables.templates, template)

    def sync_goals(self, goals: Sequence[Goal], now: datetime.datetime) -> None:
        for goal in goals:
            _sync(
                self._tables.goals,
                goal,
                now,
                display_name=goal.display_name,
                efficacy_specification=goal.efficacy_specification,
            )

    def sync_strategies(
        self, strategies: Mapping[str, Sequence[Strategy]], now: datetime.datetime
    ) -> None:
        for name, members in strategies.items():
            goal = _of_name(self._tables.goals, name)
            if goal is None:
                raise listing.not_found('goals', name)
            for strategy in members:
                _sync(
                    self._tables.strategies,
                    strategy,
                    now,
                    display_name=strategy.display_name,
                    goal_id=goal.id,
                    parameters_spec=strategy.parameters_spec,
                )

    def plans_of_audit(self, audit_id: int, states: Iterable[str]) -> list[ActionPlan]:
        wanted = frozenset(states)
        plans = [
            plan
            for plan in self._tables.plans.rows.values()
            if plan.audit_id == audit_id and plan.state in wanted
        ]
        plans.sort(key=lambda plan: plan.id or 0)
        self._locked_plans.update(plan.id or 0 for plan in plans)
        return [handed_out(plan) for plan in plans]

    def _lock(self, noun: str, table: Table[Any], uuid: str) -> Any:
        for row in table.rows.values():
            if row.uuid == uuid and row.deleted_at is None:
                self._locked_rows.add((noun, row.id))
                return handed_out(row)
        return None

    def _insert_named(self, noun: str, table: Table[Any], row: Any) -> Any:
        if row.deleted_at is None:
            _refuse_name(noun, table, row)
        if any(known.uuid == row.uuid for known in table.rows.values()):
            raise listing.name_in_use(noun, row.uuid)
        new = _insert(table, row)
        self._locked_rows.add((noun, new.id))
        return new

    def _save(self, noun: str, table: Table[Any], row: Any) -> None:
        if (noun, row.id) not in self._locked_rows:
            # Found at once here, and now and then in a database: a lost update.
            raise ValueError(
                f'{listing.TITLES[noun]} {row.uuid} is saved in a transaction that has '
                'not locked it; lock it first'
            )
        if row.deleted_at is None:
            _refuse_name(noun, table, row)
        table.put(row.id, stored(row.evolve(uuid=table.rows[row.id].uuid)))


class MemoryAuditing:
    """`db.auditing.Auditing` on the tables."""

    _lock: threading.RLock
    _tables: Tables

    def get_audit(self, uuid: str) -> Audit:
        with self._lock:
            for row in self._tables.audits.rows.values():
                if row.uuid == uuid and row.deleted_at is None:
                    return handed_out(row)
            raise listing.not_found('audits', uuid)

    def audit_surroundings(self, audit_id: int) -> AuditSurroundings | None:
        with self._lock:
            audit = self._tables.audits.rows.get(audit_id)
            if audit is None:
                return None
            strategy = self._tables.strategies.rows.get(audit.strategy_id)
            return AuditSurroundings(
                handed_out(audit),
                handed_out(self._tables.goals.rows[audit.goal_id]),
                handed_out(strategy) if strategy else None,
            )

    def surroundings_of_audits(
        self, audit_ids: Sequence[int]
    ) -> dict[int, AuditSurroundings]:
        with self._lock:
            found = {key: self.audit_surroundings(key) for key in audit_ids}
            return {key: around for key, around in found.items() if around is not None}

    def has_plan_in(self, states: Iterable[str]) -> bool:
        wanted = frozenset(states)
        with self._lock:
            return any(
                plan.state in wanted for plan in self._tables.plans.rows.values()
            )

    def expired_plans(
        self, states: Iterable[str], before: datetime.datetime, limit: int
    ) -> list[ActionPlan]:
        wanted = frozenset(states)
        with self._lock:
            found = sorted(
                (plan.created_at, key, plan)
                for key, plan in self._tables.plans.rows.items()
                if plan.state in wanted
                and plan.created_at is not None
                and plan.created_at < before
            )
            return [handed_out(plan) for _, _, plan in found[:limit]]


def _of_name(table: Table[Any], name: str) -> Any:
    for row in table.rows.values():
        if row.name == name and row.deleted_at is None:
            return row
    return None


def _insert(table: Table[Any], row: Any) -> Any:
    key = table.next_key()
    table.put(key, stored(dataclasses.replace(row, id=key)))
    return handed_out(table.rows[key])


def _ensure(table: Table[Any], row: Any) -> Any:
    known = _of_name(table, row.name)
    return _insert(table, row) if known is None else handed_out(known)


def _sync(table: Table[Any], row: Any, now: datetime.datetime, **values: Any) -> None:
    known = _of_name(table, row.name)
    if known is None:
        created = row.created_at or now
        _insert(table, dataclasses.replace(row, **values, created_at=created))
        return
    after = stored(dataclasses.replace(known, **values))
    if after != known:
        table.put(known.id, dataclasses.replace(after, updated_at=now))


def _refuse_name(noun: str, table: Table[Any], row: Any) -> None:
    known = _of_name(table, row.name)
    if known is not None and known.id != row.id:
        raise listing.name_in_use(noun, row.name)
