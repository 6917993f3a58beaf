"""The part of a transaction that stores what a plan belongs to."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.db.sqlalchemy.columns import AUDIT, GOAL, STRATEGY, named
from watcherlite.db.sqlalchemy.mappers import new_audit, new_goal, new_strategy
from watcherlite.db.sqlalchemy.part import Part
from watcherlite.domain.audits import Audit, Goal, Strategy

GOAL_COLUMNS = named('goals', GOAL)
STRATEGY_COLUMNS = named('strategies', STRATEGY)
AUDIT_COLUMNS = named('audits', AUDIT)


class Catalogue(Part):
    """Goals, strategies and audits."""

    def ensure_goal(self, goal: Goal) -> Goal:
        row = self._ensure('goals', GOAL_COLUMNS, new_goal(goal))
        return self._session.mapper.goal(row)

    def ensure_strategy(self, strategy: Strategy) -> Strategy:
        row = self._ensure('strategies', STRATEGY_COLUMNS, new_strategy(strategy))
        return self._session.mapper.strategy(row)

    def insert_audit(self, audit: Audit) -> Audit:
        key = self._session.insert('audits', new_audit(audit))
        return dataclasses.replace(audit, id=key)

    def _ensure(
        self, table: str, columns: str, values: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        find = f'SELECT {columns} FROM {table} WHERE name = :name AND deleted = 0'
        rows = self._session.rows(find, name=values['name'])
        if not rows:
            places = ', '.join(f':{name}' for name in values)
            self._session.count(
                f'INSERT NEW INTO {table} ({", ".join(values)}) VALUES ({places}) '
                'OR NOTHING',
                **values,
            )
            rows = self._session.rows(find, name=values['name'])
        return tuple(rows[0])
