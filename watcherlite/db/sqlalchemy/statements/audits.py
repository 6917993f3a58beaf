"""Statements on audits, their templates, goals, strategies and scoring engines."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db import query as queries
from watcherlite.db.sqlalchemy.constructs import (
    LIMIT,
    ONE,
    ZERO,
    RowSource,
    id_in,
    insert_ignore,
    text_in,
)
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.mappers import (
    ACTION_PLANS,
    AUDIT_TEMPLATES,
    AUDITS,
    GOALS,
    SCORING_ENGINES,
    STRATEGIES,
)
from watcherlite.db.sqlalchemy.rows import RowMapper, split
from watcherlite.db.sqlalchemy.statements.group import StatementGroup, conflict_as
from watcherlite.db.sqlalchemy.tables.actions import action_plans
from watcherlite.db.sqlalchemy.tables.audits import (
    audit_templates,
    audits,
    goals,
    scoring_engines,
    strategies,
)
from watcherlite.db.sqlalchemy.text import dumps, fold
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import (
    Audit,
    AuditRelations,
    AuditTemplate,
    Goal,
    NewAudit,
    NewAuditTemplate,
    NewGoal,
    NewScoringEngine,
    NewStrategy,
    Strategy,
)

AUDIT_BY_UUID = AUDITS.select().where(
    audits.c.uuid == sa.bindparam('uuid'), audits.c.deleted == ZERO
)
LOCK_AUDIT = AUDIT_BY_UUID.with_for_update()
LOCK_TEMPLATE = (
    AUDIT_TEMPLATES.select()
    .where(
        audit_templates.c.uuid == sa.bindparam('uuid'),
        audit_templates.c.deleted == ZERO,
    )
    .with_for_update()
)
RELATIONS = (
    sa.select(*AUDITS.columns, *GOALS.columns, *STRATEGIES.columns)
    .join_from(audits, goals, goals.c.id == audits.c.goal_id)
    .outerjoin(strategies, strategies.c.id == audits.c.strategy_id)
    .where(id_in(audits.c.id, 'ids'))
)
_IN_STATES = text_in(action_plans.c.state, 'states')
PLANS_OF_AUDIT = (
    ACTION_PLANS.select()
    .where(action_plans.c.audit_id == sa.bindparam('audit_id'), _IN_STATES)
    .order_by(action_plans.c.id)
    .with_for_update()
)
ANY_PLAN = sa.select(action_plans.c.id).where(_IN_STATES).limit(ONE)
EXPIRED = (
    ACTION_PLANS.select()
    .where(_IN_STATES, action_plans.c.created_at < sa.bindparam('before'))
    .order_by(action_plans.c.created_at, action_plans.c.id)
    .limit(LIMIT)
)
ALL_GOALS = GOALS.select().where(goals.c.deleted == ZERO).order_by(goals.c.id)
ALL_STRATEGIES = (
    STRATEGIES.select().where(strategies.c.deleted == ZERO).order_by(strategies.c.id)
)
ALL_SCORING_ENGINES = (
    SCORING_ENGINES.select()
    .where(scoring_engines.c.deleted == ZERO)
    .order_by(scoring_engines.c.id)
)
_Named = NewGoal | NewStrategy | NewScoringEngine | NewAuditTemplate | NewAudit


def stored(mapper: RowMapper[Any], row: _Named) -> dict[str, Any]:
    """Return the values of a row, with the columns of its unique name."""
    return {
        **mapper.by_column(row),
        'lower_name': fold(row.name),
        'deleted': 0 if row.deleted_at is None else getattr(row, 'id', 0),
    }


class PluginRows:
    """The statements that synchronize the rows of one kind with their plugins.

    These are few and rarely written, so that all databases share the statements.

    :param described: the fields that a later version of a plugin may change
    """

    def __init__(self, mapper: RowMapper[Any], *described: str) -> None:
        self.described = described
        self._mapper = mapper
        table = mapper.table
        self.columns = [c for c in table.c if c.name != 'id']
        self.new = RowSource(*self.columns)
        self.insert = insert_ignore(table).from_select(
            [c.name for c in self.columns], sa.select(self.new)
        )
        self.written = [table.c.id, *(table.c[c] for c in (*described, 'updated_at'))]
        self.changed = RowSource(*self.written)
        same = self.changed.c.id == table.c.id
        self.update = (
            sa.update(table)
            .where(id_in(table.c.id, 'ids'))
            .values(
                {
                    c.name: sa.select(self.changed.c[c.name])
                    .where(same)
                    .scalar_subquery()
                    for c in self.written[1:]
                }
            )
        )

    def sync(
        self,
        session: Session,
        known: Mapping[str, Any],
        desired: Iterable[Any],
        now: datetime.datetime,
    ) -> None:
        """Insert new rows, and update rows that differ from `known`, by name."""
        new, changed = [], []
        for item in desired:
            old = known.get(item.name)
            if old is None:
                item = item.evolve(created_at=item.created_at or now)
                values = stored(self._mapper, item)
                new.append([values[c.name] for c in self.columns])
            elif any(self._differs(old, item, field) for field in self.described):
                values = {**self._mapper.by_column(item), 'updated_at': now}
                written = [values[c.name] for c in self.written[1:]]
                changed.append([old.id, *written])
        if new:
            session.execute_rows(self.insert, self.new, new)
        if changed:
            ids = [row[0] for row in changed]
            session.execute_rows(
                self.update, self.changed, changed, divisible=False, ids=ids
            )

    def _differs(self, old: Any, new: Any, field: str) -> bool:
        # As JSON: a stored tuple is read as a list.
        return dumps(getattr(old, field)) != dumps(getattr(new, field))


_GOALS = PluginRows(GOALS, 'display_name', 'efficacy_specification')
_STRATEGIES = PluginRows(STRATEGIES, 'display_name', 'goal_id', 'parameters_spec')
_SCORING_ENGINES = PluginRows(SCORING_ENGINES, 'description', 'metainfo')


class AuditStatements(StatementGroup):
    """Implementation of `db.audits.AuditTransaction`, and of inserts of its rows."""

    def insert_audit(self, audit: NewAudit) -> Audit:
        with conflict_as(queries.name_in_use('audits', audit.name)):
            key = self._session.insert_row(audits, stored(AUDITS, audit))
        return audit.stored(key)

    def insert_audit_template(self, template: NewAuditTemplate) -> AuditTemplate:
        with conflict_as(queries.name_in_use('audit_templates', template.name)):
            values = stored(AUDIT_TEMPLATES, template)
            key = self._session.insert_row(audit_templates, values)
        return template.stored(key)

    def lock_audit(self, uuid: str) -> Audit | None:
        rows = self._session.rows(LOCK_AUDIT, uuid=uuid)
        return AUDITS.read(rows[0]) if rows else None

    def lock_audit_template(self, uuid: str) -> AuditTemplate | None:
        rows = self._session.rows(LOCK_TEMPLATE, uuid=uuid)
        return AUDIT_TEMPLATES.read(rows[0]) if rows else None

    def save_audit(self, audit: Audit) -> None:
        with conflict_as(queries.name_in_use('audits', audit.name)):
            self._save(AUDITS, audit)

    def save_audit_template(self, template: AuditTemplate) -> None:
        with conflict_as(queries.name_in_use('audit_templates', template.name)):
            self._save(AUDIT_TEMPLATES, template)

    def _save(self, mapper: RowMapper[Any], row: Audit | AuditTemplate) -> None:
        values = stored(mapper, row)
        del values['uuid']
        self._session.update_row(mapper.table, row.id, values)

    def sync_goals(self, goals: Sequence[NewGoal], now: datetime.datetime) -> None:
        _GOALS.sync(self._session, self._goals(), goals, now)

    def sync_strategies(
        self, strategies: Mapping[str, Sequence[NewStrategy]], now: datetime.datetime
    ) -> None:
        known = map(STRATEGIES.read, self._session.rows(ALL_STRATEGIES))
        goals = self._goals()
        desired = []
        for name, members in strategies.items():
            if name not in goals:
                raise queries.not_found('goals', name)
            key = goals[name].id
            desired += [member.evolve(goal_id=key) for member in members]
        _STRATEGIES.sync(self._session, {s.name: s for s in known}, desired, now)

    def sync_scoring_engines(
        self, engines: Sequence[NewScoringEngine], now: datetime.datetime
    ) -> None:
        rows = self._session.rows(ALL_SCORING_ENGINES)
        known = {engine.name: engine for engine in map(SCORING_ENGINES.read, rows)}
        _SCORING_ENGINES.sync(self._session, known, engines, now)

    def _goals(self) -> dict[str, Goal]:
        """Return the goals that are not deleted, by name."""
        goals = map(GOALS.read, self._session.rows(ALL_GOALS))
        return {goal.name: goal for goal in goals}

    def plans_of_audit(self, audit_id: int, states: Iterable[str]) -> list[ActionPlan]:
        desired = sorted(set(states))
        if not desired:
            return []
        rows = self._session.rows(PLANS_OF_AUDIT, audit_id=audit_id, states=desired)
        return [ACTION_PLANS.read(row) for row in rows]

    def ensure_goal(self, goal: NewGoal) -> Goal:
        found = self._ensure(GOALS, ALL_GOALS, goal)
        return GOALS.read(found)

    def ensure_strategy(self, strategy: NewStrategy) -> Strategy:
        found = self._ensure(STRATEGIES, ALL_STRATEGIES, strategy)
        return STRATEGIES.read(found)

    def _ensure(
        self, mapper: RowMapper[Any], known: sa.Select[Any], row: NewGoal | NewStrategy
    ) -> Sequence[Any]:
        """Return the stored row of a name; insert it if there is none."""
        find = known.where(mapper.table.c.name == sa.bindparam('name'))
        rows = self._session.rows(find, name=row.name)
        if not rows:
            self._session.count(insert_ignore(mapper.table), **stored(mapper, row))
            rows = self._session.rows(find, name=row.name)
        return rows[0]


class SqlAuditStore:
    """Implementation of `db.audits.AuditStore`."""

    _db: Database

    def get_audit(self, uuid: str) -> Audit:
        for row in self._db.rows(AUDIT_BY_UUID, uuid=uuid):
            return AUDITS.read(row)
        raise queries.not_found('audits', uuid)

    def audit_relations(self, audit_id: int) -> AuditRelations | None:
        return self.relations_of_audits([audit_id]).get(audit_id)

    def relations_of_audits(
        self, audit_ids: Sequence[int]
    ) -> dict[int, AuditRelations]:
        if not audit_ids:
            return {}
        rows = self._db.rows(RELATIONS, ids=audit_ids)
        found = [AuditRelations(*split(r, AUDITS, GOALS, STRATEGIES)) for r in rows]
        return {relations.audit.id: relations for relations in found}

    def has_plan_in(self, states: Iterable[str]) -> bool:
        desired = sorted(set(states))
        return bool(desired and self._db.rows(ANY_PLAN, states=desired))

    def expired_plans(
        self, states: Iterable[str], before: datetime.datetime, limit: int
    ) -> list[ActionPlan]:
        desired = sorted(set(states))
        if not desired:
            return []
        rows = self._db.rows(EXPIRED, states=desired, before=before, limit=limit)
        return [ACTION_PLANS.read(row) for row in rows]
