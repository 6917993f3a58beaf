"""The part of a transaction that lets dependents follow what has ended."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db.api import Released
from watcherlite.db.sqlalchemy.database import Rows
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, TIME, Batch, to_text
from watcherlite.db.sqlalchemy.encryption import FieldCipher
from watcherlite.db.sqlalchemy.mappers import ended, time_or_null
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.states import action as states

COUNTED = (
    'SELECT child_id, count(*) AS n FROM action_dependencies '
    'WHERE parent_id IN_IDS(:parents) GROUP BY child_id'
)
HANDOVER = {
    'h_id': INTEGER,
    'h_status': TEXT,
    'h_owner': TEXT,
    'h_attempt': INTEGER,
    'h_phase': TEXT,
    'h_start_time': TIME,
    'h_data': TEXT,
    'h_updated_at': TIME,
}

_AT_ZERO = 'actions.pending = d.n'
_FREED = (
    f"{_AT_ZERO} AND (actions.status = 'WAITING' "
    "OR actions.status = 'INIT' AND :started)"
)
_HANDED = (
    f"d.h_id IS NOT NULL AND {_AT_ZERO} AND actions.status IN ('INIT', 'WAITING') "
    'AND actions.owner IS NULL AND actions.blocked_on IS NULL'
)
_CLAIMABLE = (
    f'{_AT_ZERO} AND actions.blocked_on IS NULL AND (({_FREED}) '
    "OR actions.owner IS NULL AND (actions.status = 'READY' "
    "OR actions.status = 'INIT' AND actions.plan_id IS NOT NULL))"
)
_RETURNING = (
    'WHERE actions.id = d.child_id RETURNING actions.id, actions.plan_id, '
    'actions.lane, actions.pending, actions.status, actions.owner, actions.attempt'
)
RELEASE = (
    'UPDATE actions SET pending = actions.pending - d.n, '
    f"status = CASE WHEN {_FREED} THEN 'READY' ELSE actions.status END, "
    f'owner = CASE WHEN {_FREED} THEN NULL ELSE actions.owner END, '
    f'updated_at = CASE WHEN {_FREED} THEN :now ELSE actions.updated_at END, '
    f'claimable = CASE WHEN {_CLAIMABLE} THEN 1 END '
    f'FROM ({COUNTED}) AS d {_RETURNING}'
)


def _taken(column: str) -> str:
    return (
        f'{column} = CASE WHEN {_HANDED} THEN d.h_{column} ELSE actions.{column} END, '
    )


HAND_OVER = Batch(
    'UPDATE actions SET pending = actions.pending - d.n, '
    f'status = CASE WHEN {_HANDED} THEN d.h_status WHEN {_FREED} THEN '
    "'READY' ELSE actions.status END, "
    f'owner = CASE WHEN {_HANDED} THEN d.h_owner WHEN {_FREED} THEN NULL '
    'ELSE actions.owner END, '
    f'updated_at = CASE WHEN {_HANDED} THEN d.h_updated_at WHEN {_FREED} THEN :now '
    'ELSE actions.updated_at END, '
    + ''.join(map(_taken, ('attempt', 'phase', 'start_time', 'data')))
    + f'claimable = CASE WHEN {_HANDED} THEN NULL WHEN {_CLAIMABLE} THEN 1 END '
    f'FROM (SELECT counted.child_id, counted.n, r.* FROM ({COUNTED}) AS counted '
    f'LEFT JOIN ROWS(:rows) ON r.h_id = counted.child_id) AS d {_RETURNING}',
    HANDOVER,
    divisible=False,
)
NEEDS_SUCCESS = (
    'id IN (SELECT child_id FROM action_dependencies '
    "WHERE parent_id IN_IDS(:parents) AND needs = 'success') "
    "AND (status IN ('INIT', 'WAITING') OR status = 'READY' AND owner IS NULL)"
)


def handover_row(
    action_id: int, action: Action, sealing: FieldCipher
) -> tuple[Any, ...]:
    """Return the values of HANDOVER."""
    return (
        action_id,
        action.status,
        action.owner,
        action.attempt,
        action.phase,
        time_or_null(action.start_time),
        sealing.document(action.data, action.lane == ENGINE),
        time_or_null(action.updated_at),
    )


def released(
    rows: Iterable[Sequence[Any]], handovers: Mapping[int, Action]
) -> list[Released]:
    """Return what rows of `_RETURNING` tell.

    Whether a dependent was handed over is told by its fence: as long as something
    was pending nobody could take it, so that nobody else has made it this one.
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


class Dependents(StatementGroup):
    """Counting down, and ending with what was needed."""

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
        rows = self._release(parent_ids, started, handovers, to_text(now))
        return released(rows, handovers)

    def _release(
        self,
        parent_ids: Sequence[int],
        started: bool,
        handovers: Mapping[int, Action],
        now: str,
    ) -> Rows:
        """Count down; return what `released` reads."""
        values = {
            'parents': self._session.dialect.ids(parent_ids),
            'started': started,
            'now': now,
        }
        if not handovers:
            return self._session.rows(RELEASE, **values)
        sealing = self._session.mapper.sealing
        items = [handover_row(*item, sealing) for item in handovers.items()]
        return self._session.batch_rows(HAND_OVER, items, **values)

    def end_dependents(
        self,
        parent_ids: Sequence[int],
        status: str,
        message: str,
        now: datetime.datetime,
    ) -> list[Action]:
        if not parent_ids:
            return []
        return self._update(
            'status = :status, ended = :ended, status_message = :message, '
            'end_time = :now, updated_at = :now, claimable = NULL',
            NEEDS_SUCCESS,
            parents=self._session.dialect.ids(parent_ids),
            status=status,
            ended=ended(status),
            message=message,
            now=to_text(now),
        )
