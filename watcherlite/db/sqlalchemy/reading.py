"""The part of the store that answers readers."""

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.columns import (
    ACTION_COLUMNS,
    AUDIT,
    AUDIT_COLUMNS,
    GOAL,
    GOAL_COLUMNS,
    PLAN,
    PLAN_COLUMNS,
    STRATEGY_COLUMNS,
)
from watcherlite.db.sqlalchemy.database import Database, Rows
from watcherlite.db.sqlalchemy.dialects import Dialect, to_text
from watcherlite.domain.action_plans import ActionPlan, PlanSurroundings
from watcherlite.domain.actions import Action
from watcherlite.states import action as action_states

SURROUNDINGS = (
    f'SELECT {PLAN_COLUMNS}, {AUDIT_COLUMNS}, {GOAL_COLUMNS}, {STRATEGY_COLUMNS} '
    'FROM action_plans JOIN audits ON audits.id = action_plans.audit_id '
    'JOIN goals ON goals.id = audits.goal_id '
    'LEFT JOIN strategies ON strategies.id = action_plans.strategy_id '
    'WHERE action_plans.id IN_IDS(:ids)'
)
PLAN_BY_UUID = f'SELECT {PLAN_COLUMNS} FROM action_plans WHERE uuid = :uuid'
_ACTIONS = f'SELECT {ACTION_COLUMNS} FROM actions WHERE'
ACTION_BY_UUID = f'{_ACTIONS} uuid = :uuid'
ACTIONS_BY_ID = f'{_ACTIONS} id IN_IDS(:ids)'
DERIVED = f'{_ACTIONS} derived_from = :id ORDER BY id'
DERIVED_SINCE = f'{_ACTIONS} derived_from = :id AND created_at >= :since ORDER BY id'
UNFINISHED_DERIVED = f"{_ACTIONS} derived_from IN_IDS(:ids) AND ended = '' ORDER BY id"
COUNT = 'SELECT status, count(*) FROM actions WHERE plan_id = :plan_id GROUP BY status'


#: No id is above it, on any database.
LAST_ID = 2**63 - 1


def _in(statuses: frozenset[str], dialect: Dialect) -> tuple[str, dict[str, Any]]:
    """Return the condition for some statuses, as an index can answer it."""
    final = statuses <= action_states.FINAL
    if final and len(statuses) == 1:
        # Those of one status are in the order of ids and need not be sorted.
        return "ended <> '' AND ended = :status", {'status': min(statuses)}
    values = {'statuses': dialect.texts(sorted(statuses))}
    if final:
        return "ended <> '' AND ended IN_TEXTS(:statuses)", values
    if statuses.isdisjoint(action_states.FINAL):
        return "ended = '' AND status IN_TEXTS(:statuses)", values
    return 'status IN_TEXTS(:statuses)', values


def _unfinished(here: str, there: str) -> str:
    return (
        'SELECT actions.uuid FROM action_dependencies '
        f'JOIN actions ON actions.id = action_dependencies.{there} '
        f"WHERE action_dependencies.{here} = :id AND actions.ended = '' "
        'ORDER BY actions.id'
    )


DEPENDED_BY = _unfinished('parent_id', 'child_id')
DEPENDS_ON = _unfinished('child_id', 'parent_id')


class Reading:
    """Single objects, and pages of many."""

    _db: Database

    def plan_surroundings(self, plan_id: int) -> PlanSurroundings | None:
        return self.surroundings_of_plans([plan_id]).get(plan_id)

    def surroundings_of_plans(
        self, plan_ids: Sequence[int]
    ) -> dict[int, PlanSurroundings]:
        if not plan_ids:
            return {}
        audit = len(PLAN)
        goal = audit + len(AUDIT)
        strategy = goal + len(GOAL)
        mapper = self._db.mapper
        found = {}
        for row in self._db.rows(SURROUNDINGS, ids=self._db.dialect.ids(plan_ids)):
            plan = mapper.plan(row[:audit])
            found[plan.id or 0] = PlanSurroundings(
                plan,
                mapper.audit(row[audit:goal]),
                mapper.goal(row[goal:strategy]),
                None if row[strategy] is None else mapper.strategy(row[strategy:]),
            )
        return found

    def get_plan(self, uuid: str) -> ActionPlan:
        for row in self._db.rows(PLAN_BY_UUID, uuid=uuid):
            return self._db.mapper.plan(row)
        raise exceptions.NotFound(f'Action plan {uuid} could not be found.')

    def get_action(self, uuid: str) -> Action:
        for row in self._db.rows(ACTION_BY_UUID, uuid=uuid):
            return self._db.mapper.action(row)
        raise exceptions.NotFound(f'Action {uuid} could not be found.')

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        if not action_ids:
            return {}
        rows = self._db.rows(ACTIONS_BY_ID, ids=self._db.dialect.ids(action_ids))
        return {action.id or 0: action for action in self._actions(rows)}

    def derived_actions(
        self, action_id: int, since: datetime.datetime | None = None
    ) -> list[Action]:
        if since is None:
            return self._actions(self._db.rows(DERIVED, id=action_id))
        rows = self._db.rows(DERIVED_SINCE, id=action_id, since=to_text(since))
        return self._actions(rows)

    def unfinished_derived(self, action_ids: Sequence[int]) -> list[Action]:
        if not action_ids:
            return []
        ids = self._db.dialect.ids(action_ids)
        return self._actions(self._db.rows(UNFINISHED_DERIVED, ids=ids))

    def list_actions(
        self,
        *,
        plan_id: int | None = None,
        statuses: Iterable[str] | None = None,
        after_id: int | None = None,
        limit: int = 1000,
        descending: bool = False,
    ) -> list[Action]:
        end = 0 if not descending else LAST_ID
        conditions = [f'id {"<" if descending else ">"} :after_id']
        values = {'after_id': end if after_id is None else after_id, 'limit': limit}
        if plan_id is not None:
            conditions.append('plan_id = :plan_id')
            values['plan_id'] = plan_id
        if statuses is not None:
            wanted = frozenset(statuses)
            if not wanted:
                return []
            condition, more = _in(wanted, self._db.dialect)
            conditions.append(condition)
            values.update(more)
        rows = self._db.rows(
            f'{_ACTIONS} {" AND ".join(conditions)} '
            f'ORDER BY id {"DESC" if descending else "ASC"} LIMIT :limit',
            **values,
        )
        return self._actions(rows)

    def count_actions(self, plan_id: int) -> dict[str, int]:
        return {row[0]: row[1] for row in self._db.rows(COUNT, plan_id=plan_id)}

    def depended_by(self, action_id: int) -> list[str]:
        return [row[0] for row in self._db.rows(DEPENDED_BY, id=action_id)]

    def depends_on(self, action_id: int) -> list[str]:
        return [row[0] for row in self._db.rows(DEPENDS_ON, id=action_id)]

    def _actions(self, rows: Rows) -> list[Action]:
        return [self._db.mapper.action(row) for row in rows]
