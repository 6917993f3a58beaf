"""The part of a transaction that finds what can be executed, now and next."""

import datetime
from collections.abc import Sequence
from typing import Any

from watcherlite.db.api import Successor
from watcherlite.db.sqlalchemy.columns import ACTION_COLUMNS
from watcherlite.db.sqlalchemy.dialects import to_text
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import NEVER_SCHEDULED
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

OF_PLAN = 'plan_id = :plan_id'
OF_LANE = 'lane = :lane AND plan_id IS NULL'
# What may run at once and what had to wait are two ranges of one index, each in
# the order of ids or short. One range would have to be sorted by id for each
# claim; taken by `not_before`, what was scheduled would starve behind the rest.
DUE = (
    f'claimable = 1 AND not_before = {NEVER_SCHEDULED}',
    f'claimable = 1 AND not_before > {NEVER_SCHEDULED} AND not_before <= :now',
)
LOWEST = 'ORDER BY id LIMIT :limit'
TAKE = (
    "status = 'READY', owner = :worker, attempt = actions.attempt + 1, "
    'claimable = NULL, updated_at = :now'
)


def _claim(where: str) -> str:
    # Materialized, because PostgreSQL may otherwise take the rows of a subquery
    # with SKIP LOCKED more than once, and so more than :limit.
    at_once, put_off = (
        f'SELECT id FROM actions WHERE {where} AND {due} {LOWEST} '
        'FOR UPDATE SKIP LOCKED'
        for due in DUE
    )
    return (
        f'WITH at_once AS MATERIALIZED ({at_once}), '
        f'put_off AS MATERIALIZED ({put_off}), '
        'due AS MATERIALIZED (SELECT id FROM at_once UNION ALL '
        f'SELECT id FROM put_off {LOWEST}) '
        f'UPDATE actions SET {TAKE} FROM due '
        f'WHERE actions.id = due.id RETURNING {ACTION_COLUMNS}'
    )


CLAIM = {where: _claim(where) for where in (OF_PLAN, OF_LANE)}


def _next_of(parent: str) -> str:
    """Return the SQL of the first action that waits for nothing but one."""
    return (
        '(SELECT d.child_id FROM action_dependencies d '
        'JOIN actions c ON c.id = d.child_id '
        f'WHERE d.parent_id = {parent} AND c.pending = 1 '
        "AND c.status IN ('INIT', 'WAITING') "
        f"AND (c.target IS NULL OR c.cause = '{states.DERIVED_ACTION}') "
        'AND c.blocked_on IS NULL '
        f'AND c.not_before = {NEVER_SCHEDULED} ORDER BY d.child_id LIMIT 1)'
    )


SUCCESSORS = (
    'WITH RECURSIVE chain (parent_id, id, level) AS ('
    f'SELECT actions.id, {_next_of("actions.id")}, 1 '
    'FROM actions WHERE actions.id IN_IDS(:ids) '
    'UNION ALL '
    f'SELECT chain.id, {_next_of("chain.id")}, chain.level + 1 '
    'FROM chain WHERE chain.id IS NOT NULL AND chain.level < :depth) '
    f'SELECT chain.parent_id, {ACTION_COLUMNS} FROM chain '
    'JOIN actions ON actions.id = chain.id ORDER BY chain.level, chain.parent_id'
)


class Claims(StatementGroup):
    """Claiming, and looking ahead."""

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
        where: tuple[str, dict[str, Any]] = (
            (OF_LANE, {'lane': lane})
            if plan_id is None
            else (OF_PLAN, {'plan_id': plan_id})
        )
        actions = self._claim(*where, worker, limit, now)
        actions.sort(key=lambda action: action.id)
        return actions

    def _claim(
        self,
        where: str,
        values: dict[str, Any],
        worker: str,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        """Take what is due of OF_PLAN or OF_LANE."""
        rows = self._session.rows(
            CLAIM[where], worker=worker, limit=limit, now=to_text(now), **values
        )
        return [self._session.mapper.action(row) for row in rows]

    def successors(self, action_ids: Sequence[int], depth: int) -> list[Successor]:
        if not action_ids or depth < 1:
            return []
        ids = self._session.dialect.ids(action_ids)
        found: dict[int, Successor] = {}
        for parent_id, *row in self._session.rows(SUCCESSORS, ids=ids, depth=depth):
            action = self._session.mapper.action(row)
            found.setdefault(action.id, Successor(parent_id, action))
        return list(found.values())
