"""Statements that claim actions and prefetch their successors."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.clock import EPOCH
from watcherlite.db.api import Successor
from watcherlite.db.sqlalchemy.constructs import LIMIT, ONE, constant, id_in, meets
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.statements.actions import NOT_CLAIMABLE, NOW
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import action_dependencies, actions
from watcherlite.db.sqlalchemy.tables.types import UUID
from watcherlite.db.sqlalchemy.text import to_text
from watcherlite.domain import readiness
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

_SOURCE: sa.BindParameter[Any] = sa.bindparam('source')
#: Source of actions -> its condition; the parameter `source` is a plan id or a lane.
OF: Mapping[str, sa.ColumnElement[bool]] = {
    'plan': actions.c.plan_id == _SOURCE,
    'lane': sa.and_(actions.c.lane == _SOURCE, actions.c.plan_id.is_(None)),
}
NEVER_SCHEDULED = constant(to_text(EPOCH))
IS_CLAIMABLE = actions.c.claimable == ONE
# Unscheduled actions and due scheduled ones are two ranges of one index. The first is
# in the order of ids, the second is short. A single range would have to be sorted by id
# for each claim; in the order of `not_before`, scheduled actions would starve.
DUE = {
    'unscheduled': sa.and_(IS_CLAIMABLE, actions.c.not_before == NEVER_SCHEDULED),
    'scheduled': sa.and_(
        IS_CLAIMABLE,
        actions.c.not_before > NEVER_SCHEDULED,
        actions.c.not_before <= NOW,
    ),
}
TAKE: Sequence[tuple[sa.Column[Any], Any]] = (
    (actions.c.status, constant(states.READY)),
    (actions.c.owner, sa.bindparam('worker', type_=UUID)),
    (actions.c.attempt, actions.c.attempt + ONE),
    NOT_CLAIMABLE,
    (actions.c.updated_at, NOW),
)


def _claim(of: sa.ColumnElement[bool]) -> sa.Update:
    # MATERIALIZED, because PostgreSQL may otherwise execute the subquery with SKIP
    # LOCKED more than once, and so claim more than :limit actions.
    ranges = [
        sa.select(actions.c.id)
        .where(of, due)
        .order_by(actions.c.id)
        .limit(LIMIT)
        .with_for_update(skip_locked=True)
        .cte(name)
        .prefix_with('MATERIALIZED')
        for name, due in DUE.items()
    ]
    due = (
        sa.union_all(*(sa.select(found.c.id) for found in ranges))
        .order_by(sa.column('id'))
        .limit(LIMIT)
        .cte('due')
        .prefix_with('MATERIALIZED')
    )
    return (
        sa.update(actions)
        .ordered_values(*TAKE)
        .where(actions.c.id == due.c.id)
        .returning(*ACTIONS.columns)
    )


CLAIM = {name: _claim(of) for name, of in OF.items()}


def _next_of(parent: sa.ColumnElement[Any]) -> sa.ScalarSelect[Any]:
    """Return the first action whose only unfinished parent is a given one."""
    child, edge = actions.alias('c'), action_dependencies.alias('d')
    return (
        sa.select(edge.c.child_id)
        .join_from(edge, child, child.c.id == edge.c.child_id)
        .where(edge.c.parent_id == parent, meets(readiness.NEXT, dict(child.c.items())))
        .order_by(edge.c.child_id)
        .limit(ONE)
        .scalar_subquery()
    )


def _successors() -> sa.Select[Any]:
    chain = (
        sa.select(
            actions.c.id.label('parent_id'),
            _next_of(actions.c.id).label('id'),
            ONE.label('level'),
        )
        .where(id_in(actions.c.id, 'ids'))
        .cte('chain', recursive=True)
    )
    further = sa.select(chain.c.id, _next_of(chain.c.id), chain.c.level + ONE).where(
        chain.c.id.is_not(None), chain.c.level < sa.bindparam('depth')
    )
    chain = chain.union_all(further)
    return (
        sa.select(chain.c.parent_id, *ACTIONS.columns)
        .join_from(chain, actions, actions.c.id == chain.c.id)
        .order_by(chain.c.level, chain.c.parent_id)
    )


SUCCESSORS = _successors()


class ClaimStatements(StatementGroup):
    """The methods of `db.api.Transaction` that claim and prefetch actions."""

    def claim(
        self,
        *,
        worker: str,
        limit: int,
        now: datetime.datetime,
        plan_id: int | None = None,
        lane: str | None = None,
    ) -> list[Action]:
        if (plan_id is None) == (lane is None):
            raise ValueError('claim takes either plan_id or lane, and not both')
        if plan_id is None:
            return self._claim('lane', lane, worker, limit, now)
        return self._claim('plan', plan_id, worker, limit, now)

    def _claim(
        self,
        of: str,
        source: int | str | None,
        worker: str,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        """Claim due actions of a source, see OF; return them by id."""
        rows = self._session.rows(
            CLAIM[of], source=source, worker=worker, limit=limit, now=now
        )
        return self._actions(rows)

    def successors(self, action_ids: Sequence[int], depth: int) -> list[Successor]:
        if not action_ids or depth < 1:
            return []
        found: dict[int, Successor] = {}
        rows = self._session.rows(SUCCESSORS, ids=action_ids, depth=depth)
        for parent_id, *row in rows:
            action = ACTIONS.read(row)
            found.setdefault(action.id, Successor(parent_id, action))
        return list(found.values())
