"""The parts of the store, and of a transaction, about audits."""

import contextlib
import dataclasses
import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db import listing
from watcherlite.db.sqlalchemy.columns import (
    AUDIT,
    AUDIT_COLUMNS,
    AUDIT_TEMPLATE_COLUMNS,
    GOAL,
    GOAL_COLUMNS,
    PLAN_COLUMNS,
    STRATEGY_COLUMNS,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dialects import (
    INTEGER,
    TEXT,
    TIME,
    Batch,
    insertion,
    to_text,
)
from watcherlite.db.sqlalchemy.mappers import (
    new_audit,
    new_audit_template,
    new_goal,
    new_strategy,
)
from watcherlite.db.sqlalchemy.part import Part
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import (
    Audit,
    AuditSurroundings,
    AuditTemplate,
    Goal,
    Strategy,
)

AUDIT_BY_UUID = f'SELECT {AUDIT_COLUMNS} FROM audits WHERE uuid = :uuid AND deleted = 0'
LOCK_TEMPLATE = (
    f'SELECT {AUDIT_TEMPLATE_COLUMNS} FROM audit_templates '
    'WHERE uuid = :uuid AND deleted = 0 FOR UPDATE'
)
SURROUNDINGS = (
    f'SELECT {AUDIT_COLUMNS}, {GOAL_COLUMNS}, {STRATEGY_COLUMNS} FROM audits '
    'JOIN goals ON goals.id = audits.goal_id '
    'LEFT JOIN strategies ON strategies.id = audits.strategy_id '
    'WHERE audits.id IN_IDS(:ids)'
)
PLANS_OF_AUDIT = (
    f'SELECT {PLAN_COLUMNS} FROM action_plans WHERE audit_id = :audit_id '
    'AND state IN_TEXTS(:states) ORDER BY id FOR UPDATE'
)
ANY_PLAN = 'SELECT 1 FROM action_plans WHERE state IN_TEXTS(:states) LIMIT 1'
EXPIRED = (
    f'SELECT {PLAN_COLUMNS} FROM action_plans WHERE state IN_TEXTS(:states) '
    'AND created_at < :before ORDER BY created_at, id LIMIT :limit'
)
GOALS = f'SELECT {GOAL_COLUMNS} FROM goals WHERE deleted = 0 ORDER BY id'
STRATEGIES = f'SELECT {STRATEGY_COLUMNS} FROM strategies WHERE deleted = 0 ORDER BY id'


def _insertion(table: str, **columns: str) -> Batch:
    common = {
        **dict.fromkeys(('uuid', 'name', 'display_name'), TEXT),
        **dict.fromkeys(('created_at', 'updated_at', 'deleted_at'), TIME),
        'deleted': INTEGER,
        'lower_name': TEXT,
    }
    return insertion(table, {**common, **columns}, new=True)


def _change(table: str, **columns: str) -> Batch:
    """Return the batch that writes some columns of rows.

    In an SQL that all databases share; they are few, and seldom written.
    """
    values = ', '.join(
        f'{column} = (SELECT r.{column} FROM ROWS(:rows) WHERE r.id = {table}.id)'
        for column in (*columns, 'updated_at')
    )
    return Batch(
        f'UPDATE {table} SET {values} WHERE id IN_IDS(:ids)',
        {'id': INTEGER, **columns, 'updated_at': TIME},
        divisible=False,
    )


_OF_GOAL = {'efficacy_specification': TEXT}
_OF_STRATEGY = {'goal_id': INTEGER, 'parameters_spec': TEXT}
NEW_GOALS = _insertion('goals', **_OF_GOAL)
NEW_STRATEGIES = _insertion('strategies', **_OF_STRATEGY)
CHANGE_GOALS = _change('goals', display_name=TEXT, **_OF_GOAL)
CHANGE_STRATEGIES = _change('strategies', display_name=TEXT, **_OF_STRATEGY)


@contextlib.contextmanager
def _named(noun: str, name: str) -> Iterator[None]:
    """Say which name it is that another object has."""
    try:
        yield
    except exceptions.StoreConflict:
        raise
    except exceptions.Conflict as error:
        raise listing.name_in_use(noun, name) from error


class AuditWriting(Part):
    """`db.auditing.AuditTransaction`, and storing audits."""

    def insert_audit(self, audit: Audit) -> Audit:
        with _named('audits', audit.name):
            values = new_audit(audit, self._session.mapper.sealing)
            key = self._session.insert('audits', values)
        return dataclasses.replace(audit, id=key)

    def insert_audit_template(self, template: AuditTemplate) -> AuditTemplate:
        with _named('audit_templates', template.name):
            values = new_audit_template(template, self._session.mapper.sealing)
            key = self._session.insert('audit_templates', values)
        return template.evolve(id=key)

    def lock_audit(self, uuid: str) -> Audit | None:
        rows = self._session.rows(f'{AUDIT_BY_UUID} FOR UPDATE', uuid=uuid)
        return self._session.mapper.audit(rows[0]) if rows else None

    def lock_audit_template(self, uuid: str) -> AuditTemplate | None:
        rows = self._session.rows(LOCK_TEMPLATE, uuid=uuid)
        return self._session.mapper.audit_template(rows[0]) if rows else None

    def save_audit(self, audit: Audit) -> None:
        with _named('audits', audit.name):
            values = new_audit(audit, self._session.mapper.sealing)
            self._save('audits', audit.id, values)

    def save_audit_template(self, template: AuditTemplate) -> None:
        with _named('audit_templates', template.name):
            values = new_audit_template(template, self._session.mapper.sealing)
            self._save('audit_templates', template.id, values)

    def _save(self, table: str, key: int | None, values: dict[str, Any]) -> None:
        del values['uuid']
        assignments = ', '.join(f'{column} = :{column}' for column in values)
        self._session.count(
            f'UPDATE {table} SET {assignments} WHERE id = :key', key=key, **values
        )

    def sync_goals(self, goals: Sequence[Goal], now: datetime.datetime) -> None:
        known = {goal.name: goal for goal in self._goals()}
        new, changed = [], []
        for goal in goals:
            old = known.get(goal.name)
            if old is None:
                new.append(new_goal(_created(goal, now)))
                continue
            before, after = new_goal(old), new_goal(_updated(old, goal, now))
            if _differ(before, after, 'display_name', 'efficacy_specification'):
                changed.append({**after, 'id': old.id})
        self._sync(NEW_GOALS, new, CHANGE_GOALS, changed)

    def sync_strategies(
        self, strategies: Mapping[str, Sequence[Strategy]], now: datetime.datetime
    ) -> None:
        goals = {goal.name: goal.id for goal in self._goals()}
        rows = self._session.rows(STRATEGIES)
        known = {s.name: s for s in map(self._session.mapper.strategy, rows)}
        new, changed = [], []
        for name, members in strategies.items():
            if name not in goals:
                raise listing.not_found('goals', name)
            for strategy in members:
                strategy = dataclasses.replace(strategy, goal_id=goals[name])
                old = known.get(strategy.name)
                if old is None:
                    new.append(new_strategy(_created(strategy, now)))
                    continue
                before, after = (
                    new_strategy(old),
                    new_strategy(_updated(old, strategy, now)),
                )
                if _differ(before, after, 'display_name', 'goal_id', 'parameters_spec'):
                    changed.append({**after, 'id': old.id})
        self._sync(NEW_STRATEGIES, new, CHANGE_STRATEGIES, changed)

    def plans_of_audit(self, audit_id: int, states: Iterable[str]) -> list[ActionPlan]:
        wanted = sorted(set(states))
        if not wanted:
            return []
        rows = self._session.rows(
            PLANS_OF_AUDIT,
            audit_id=audit_id,
            states=self._session.dialect.texts(wanted),
        )
        return [self._session.mapper.plan(row) for row in rows]

    def _goals(self) -> list[Goal]:
        return [self._session.mapper.goal(row) for row in self._session.rows(GOALS)]

    def _sync(
        self,
        insert: Batch,
        new: Sequence[Mapping[str, Any]],
        change: Batch,
        changed: Sequence[Mapping[str, Any]],
    ) -> None:
        if new:
            self._insert(insert, [[row[c] for c in insert.columns] for row in new])
        if changed:
            self._session.batch_count(
                change,
                [[row[c] for c in change.columns] for row in changed],
                ids=self._session.dialect.ids(row['id'] for row in changed),
            )


def _created(row: Any, now: datetime.datetime) -> Any:
    return dataclasses.replace(row, created_at=row.created_at or now)


def _updated(old: Any, new: Any, now: datetime.datetime) -> Any:
    """Return a new description with what stays of the one that is stored."""
    return dataclasses.replace(
        new,
        uuid=old.uuid,
        id=old.id,
        created_at=old.created_at,
        updated_at=now,
        deleted_at=None,
    )


def _differ(before: Mapping[str, Any], after: Mapping[str, Any], *columns: str) -> bool:
    return any(before[column] != after[column] for column in columns)


class Audits:
    """`db.auditing.Auditing`."""

    _db: Database

    def get_audit(self, uuid: str) -> Audit:
        for row in self._db.rows(AUDIT_BY_UUID, uuid=uuid):
            return self._db.mapper.audit(row)
        raise listing.not_found('audits', uuid)

    def audit_surroundings(self, audit_id: int) -> AuditSurroundings | None:
        return self.surroundings_of_audits([audit_id]).get(audit_id)

    def surroundings_of_audits(
        self, audit_ids: Sequence[int]
    ) -> dict[int, AuditSurroundings]:
        if not audit_ids:
            return {}
        goal = len(AUDIT)
        strategy = goal + len(GOAL)
        mapper = self._db.mapper
        found = {}
        for row in self._db.rows(SURROUNDINGS, ids=self._db.dialect.ids(audit_ids)):
            audit = mapper.audit(row[:goal])
            found[audit.id or 0] = AuditSurroundings(
                audit,
                mapper.goal(row[goal:strategy]),
                None if row[strategy] is None else mapper.strategy(row[strategy:]),
            )
        return found

    def has_plan_in(self, states: Iterable[str]) -> bool:
        wanted = sorted(set(states))
        if not wanted:
            return False
        return bool(self._db.rows(ANY_PLAN, states=self._db.dialect.texts(wanted)))

    def expired_plans(
        self, states: Iterable[str], before: datetime.datetime, limit: int
    ) -> list[ActionPlan]:
        wanted = sorted(set(states))
        if not wanted:
            return []
        rows = self._db.rows(
            EXPIRED,
            states=self._db.dialect.texts(wanted),
            before=to_text(before),
            limit=limit,
        )
        return [self._db.mapper.plan(row) for row in rows]
