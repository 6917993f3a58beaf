"""Statements on action plans."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import constant, id_in, use_index
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import ACTION_PLANS, AUDITS, GOALS, STRATEGIES
from watcherlite.db.sqlalchemy.rows import split
from watcherlite.db.sqlalchemy.statements.group import RowUpdate, StatementGroup, by_id
from watcherlite.db.sqlalchemy.tables.actions import action_plans
from watcherlite.db.sqlalchemy.tables.audits import audits, goals, strategies
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan, PlanRelations

#: The condition of the partial index of active plans, in the same words: SQLite uses
#: the index for no other form of it.
ACTIVE = action_plans.c.state.in_(
    [constant(state) for state in ('PENDING', 'ONGOING', 'CANCELLING')]
)
#: The columns of the changing half of a plan; the id is the last column.
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
SAVE = RowUpdate(ACTION_PLANS, set(ACTION_PLANS.names).difference(CHANGING))
RELATIONS = (
    sa.select(
        *ACTION_PLANS.columns, *AUDITS.columns, *GOALS.columns, *STRATEGIES.columns
    )
    .join_from(action_plans, audits, audits.c.id == action_plans.c.audit_id)
    .join(goals, goals.c.id == audits.c.goal_id)
    .outerjoin(strategies, strategies.c.id == action_plans.c.strategy_id)
    .where(id_in(action_plans.c.id, 'ids'))
)
PLAN_BY_UUID = ACTION_PLANS.select().where(action_plans.c.uuid == sa.bindparam('uuid'))


class PlanStatements(StatementGroup):
    """The methods of `db.api.Transaction` that lock, save and insert plans."""

    def lock_plans(
        self, plan_ids: Iterable[int], *, wait: bool = True
    ) -> dict[int, ActionPlan]:
        ids = list(plan_ids)
        if not ids:
            return {}
        rows = self._session.rows(LOCK if wait else LOCK_FREE, ids=ids)
        return by_id(map(ACTION_PLANS.read, rows))

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        SAVE.execute(self._session, plans)

    def insert_plan(self, plan: NewActionPlan) -> ActionPlan:
        values = ACTION_PLANS.by_column(plan)
        return plan.stored(self._session.insert_row(action_plans, values))


class SqlPlanStore:
    """The methods of `db.api.Store` that read plans."""

    _db: Database

    def plan_relations(self, plan_id: int) -> PlanRelations | None:
        return self.relations_of_plans([plan_id]).get(plan_id)

    def relations_of_plans(self, plan_ids: Sequence[int]) -> dict[int, PlanRelations]:
        if not plan_ids:
            return {}
        rows = self._db.rows(RELATIONS, ids=plan_ids)
        found = [
            PlanRelations(*split(row, ACTION_PLANS, AUDITS, GOALS, STRATEGIES))
            for row in rows
        ]
        return {relations.plan.id: relations for relations in found}

    def get_plan(self, uuid: str) -> ActionPlan:
        for row in self._db.rows(PLAN_BY_UUID, uuid=uuid):
            return ACTION_PLANS.read(row)
        raise exceptions.NotFound(f'Action plan {uuid} could not be found.')
