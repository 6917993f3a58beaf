"""The part of a transaction that stores what a plan belongs to."""

from collections.abc import Mapping
from typing import Any

from watcherlite.db.sqlalchemy.columns import GOAL_COLUMNS, STRATEGY_COLUMNS
from watcherlite.db.sqlalchemy.mappers import new_goal, new_strategy
from watcherlite.db.sqlalchemy.part import Part
from watcherlite.domain.audits import Goal, Strategy


class Catalogue(Part):
    """Goals and strategies."""

    def ensure_goal(self, goal: Goal) -> Goal:
        row = self._ensure('goals', GOAL_COLUMNS, new_goal(goal))
        return self._session.mapper.goal(row)

    def ensure_strategy(self, strategy: Strategy) -> Strategy:
        row = self._ensure('strategies', STRATEGY_COLUMNS, new_strategy(strategy))
        return self._session.mapper.strategy(row)

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
