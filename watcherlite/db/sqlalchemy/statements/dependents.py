"""Statements that release the dependents of finished actions."""

import datetime
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db.api import Released
from watcherlite.db.sqlalchemy.constructs import RowSource, constant, id_in, meets
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.statements.actions import COLUMNS, NOW, claimable
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import action_dependencies, actions
from watcherlite.domain import readiness
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

_EDGES = action_dependencies.c
COUNTED = (
    sa.select(_EDGES.child_id, sa.func.count().label('n'))
    .where(id_in(_EDGES.parent_id, 'ended_ids'))
    .group_by(_EDGES.child_id)
    .subquery('d')
)
#: The columns that a handover writes.
HANDED_OVER = (
    'status',
    'owner',
    'attempt',
    'phase',
    'start_time',
    'data',
    'updated_at',
)
HANDOVERS = RowSource(actions.c.id, *(actions.c[name] for name in HANDED_OVER))
handover_values = ACTIONS.values_of(*HANDED_OVER)
#: The columns that `_released` reads.
RETURNED = ('id', 'plan_id', 'lane', 'pending', 'status', 'owner', 'attempt')


def release_rule(started: bool) -> readiness.Rule:
    """Return the rule of dependents that become READY.

    :param started: their plan runs
    """
    return readiness.RELEASED if started else readiness.RELEASED_UNSTARTED_PLAN


@functools.cache
def _release(started: bool, handing_over: bool) -> sa.Update:
    """Return the statement that decrements `pending` and releases dependents."""
    counted: sa.FromClause = COUNTED
    if handing_over:
        handovers = [HANDOVERS.c[name] for name in HANDED_OVER]
        counted = (
            sa.select(COUNTED, HANDOVERS.c.id.label('handover_id'), *handovers)
            .outerjoin(HANDOVERS, HANDOVERS.c.id == COUNTED.c.child_id)
            .subquery('h')
        )
    row = {**COLUMNS, 'pending': actions.c.pending - counted.c.n}
    ready: dict[str, sa.ColumnElement[Any]] = {
        'status': constant(states.READY),
        'owner': sa.null(),
        'updated_at': NOW,
    }
    released = meets(release_rule(started), row)
    values: dict[str, sa.ColumnElement[Any]] = {
        name: sa.case((released, value), else_=actions.c[name])
        for name, value in ready.items()
    }
    if handing_over:
        handed = sa.and_(
            counted.c.handover_id.is_not(None), meets(readiness.HANDED_OVER, row)
        )
        for name in HANDED_OVER:
            otherwise = values.get(name, actions.c[name])
            values[name] = sa.case((handed, counted.c[name]), else_=otherwise)
    values['pending'] = row['pending']
    values['claimable'] = claimable({**row, **values})
    return (
        sa.update(actions)
        .where(actions.c.id == counted.c.child_id)
        .values(values)
        .returning(*(actions.c[name] for name in RETURNED))
    )


def _released(
    rows: Iterable[Sequence[Any]], handovers: Mapping[int, Action]
) -> list[Released]:
    """Return the released dependents in rows of RETURNED.

    A dependent was handed over if it has the fence of its handover. No worker could
    claim it while it had unfinished parents, so that nothing else can have written it.
    """
    found = []
    for key, plan_id, lane, pending, status, owner, attempt in sorted(map(tuple, rows)):
        handover = handovers.get(key)
        handed_over = handover is not None and (status, owner, attempt) == (
            handover.status,
            handover.owner,
            handover.attempt,
        )
        if pending == 0 and (handed_over or status not in states.STARTED):
            over = status in states.FINAL
            found.append(Released(key, plan_id, lane, handed_over, over))
    return found


class DependentStatements(StatementGroup):
    """The methods of `db.api.Transaction` that release dependents."""

    def release_dependents(
        self,
        parent_ids: Sequence[int],
        *,
        started: bool,
        handovers: Mapping[int, Action] | None = None,
        now: datetime.datetime,
    ) -> list[Released]:
        if not parent_ids:
            return []
        handovers = handovers or {}
        rows = self._release(parent_ids, started, handovers, now)
        return _released(rows, handovers)

    def _release(
        self,
        parent_ids: Sequence[int],
        started: bool,
        handovers: Mapping[int, Action],
        now: datetime.datetime,
    ) -> Iterable[Sequence[Any]]:
        """Decrement `pending`; return rows of RETURNED."""
        statement = _release(started, bool(handovers))
        values = {'ended_ids': parent_ids, 'now': now}
        if not handovers:
            return self._session.rows(statement, **values)
        rows = [(key, *handover_values(a)) for key, a in handovers.items()]
        return self._session.rows_from(
            statement, HANDOVERS, rows, divisible=False, **values
        )
