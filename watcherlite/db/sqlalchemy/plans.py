"""The part of a transaction that is about plans."""

from collections.abc import Iterable

from watcherlite.db.sqlalchemy.constructs import (
    RowSource,
    id_in,
    update_rows,
    use_index,
)
from watcherlite.db.sqlalchemy.objects import ACTION_PLANS
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import action_plans
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan

#: The changing half of a plan; the id is the last of all.
CHANGING = ACTION_PLANS.names[ACTION_PLANS.names.index('state') : -1]
LOCK = use_index(
    ACTION_PLANS.select()
    .where(id_in(action_plans.c.id, 'ids'))
    .order_by(action_plans.c.id)
    .with_for_update(),
    action_plans,
    'PRIMARY',
    'mysql',
)
LOCK_FREE = LOCK.with_for_update(skip_locked=True)
_CHANGED = RowSource(action_plans.c.id, *(action_plans.c[name] for name in CHANGING))
_changed_row = ACTION_PLANS.values_of('id', *CHANGING)
SAVE = update_rows(action_plans, _CHANGED)


class Plans(StatementGroup):
    """Locking, saving and storing of plans."""

    def lock_plans(
        self, plan_ids: Iterable[int], *, wait: bool = True
    ) -> dict[int, ActionPlan]:
        ids = list(plan_ids)
        if not ids:
            return {}
        rows = self._session.rows(LOCK if wait else LOCK_FREE, ids=ids)
        plans = map(ACTION_PLANS.read, rows)
        return {plan.id: plan for plan in plans}

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        rows = [_changed_row(plan) for plan in plans]
        if rows:
            self._session.write_rows(SAVE, _CHANGED, rows)

    def insert_plan(self, plan: NewActionPlan) -> ActionPlan:
        values = ACTION_PLANS.by_column(plan)
        return plan.stored(self._session.insert_row(action_plans, values))
