"""The part of a transaction that is about plans."""

from collections.abc import Iterable

from watcherlite.db.sqlalchemy.columns import CHANGED_PLAN, PLAN_COLUMNS
from watcherlite.db.sqlalchemy.dialects import INTEGER, Batch
from watcherlite.db.sqlalchemy.mappers import changed_plan, new_plan
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan

LOCK = (
    f'SELECT {PLAN_COLUMNS} FROM action_plans BY(PRIMARY) WHERE id IN_IDS(:ids) '
    'ORDER BY id FOR UPDATE'
)
LOCK_FREE = f'{LOCK} SKIP LOCKED'
_SET = ', '.join(f'{column} = r.{column}' for column in CHANGED_PLAN)
SAVE = Batch(
    f'UPDATE action_plans SET {_SET} FROM ROWS(:rows) WHERE action_plans.id = r.id',
    {**CHANGED_PLAN, 'id': INTEGER},
)


class Plans(StatementGroup):
    """Locking, saving and storing of plans."""

    def lock_plans(
        self, plan_ids: Iterable[int], *, wait: bool = True
    ) -> dict[int, ActionPlan]:
        ids = list(plan_ids)
        if not ids:
            return {}
        lock = LOCK if wait else LOCK_FREE
        rows = self._session.rows(lock, ids=self._session.dialect.ids(ids))
        plans = map(self._session.mapper.plan, rows)
        return {plan.id: plan for plan in plans if plan.id is not None}

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        rows = [(*changed_plan(plan), plan.id) for plan in plans]
        if rows:
            self._session.batch_count(SAVE, rows)

    def insert_plan(self, plan: NewActionPlan) -> ActionPlan:
        return plan.stored(self._session.insert('action_plans', new_plan(plan)))
