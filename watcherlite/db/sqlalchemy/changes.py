"""The part of a transaction that changes actions."""

import datetime
from collections.abc import Sequence

from watcherlite.db.sqlalchemy.columns import ACTION_COLUMNS, CHANGED_ACTION
from watcherlite.db.sqlalchemy.dialects import Batch, to_text
from watcherlite.db.sqlalchemy.mappers import changed_action, ended
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states

_PLAIN = (
    'status',
    'status_message',
    'owner',
    'attempt',
    'recoveries',
    'phase',
    'not_before',
    'blocked_on',
    'token',
    'start_time',
    'end_time',
    'deadline',
    'outputs',
    'data',
    'updated_at',
    'deleted_at',
    'ended',
)


def assignments(table: str = '') -> str:
    """Return what a change writes, of a row `r` of CHANGED_ACTION.

    :param table: what is put before the columns that are written
    """
    return ', '.join(
        [
            *(f'{table}{column} = r.{column}' for column in _PLAIN),
            # `pending` is counted by others and may be above zero.
            f'{table}claimable = CASE WHEN actions.pending = 0 THEN r.claimable END',
        ]
    )


CHANGE = Batch(
    f'UPDATE actions SET {assignments()} FROM ROWS(:rows) WHERE actions.id = r.id '
    'AND actions.status = r.old_status AND actions.attempt = r.old_attempt '
    'AND actions.owner IS NOT DISTINCT FROM r.old_owner RETURNING actions.id',
    CHANGED_ACTION,
)
# Who waits for derived actions has started; what its plan says comes after them.
STARTED = (
    "(status IN ('RUNNING', 'SUSPENDED') OR status = 'WAITING' AND phase = 'complete')"
)
NOT_STARTED = (
    "(status IN ('INIT', 'READY') OR status = 'WAITING' AND phase <> 'complete')"
)
# One that a worker has taken and prepares, and one that waits for a further try.
PREPARED = "(status = 'READY' AND (owner IS NOT NULL OR start_time IS NOT NULL))"
# A CANCEL that was accepted is not taken back.
NOT_CANCELLED = f"(control IS NULL OR control <> '{states.CANCEL}')"
FIND_NOT_STARTED = (
    f'SELECT {ACTION_COLUMNS} FROM actions BY(ix_actions_unfinished) '
    f"WHERE plan_id = :plan_id AND ended = '' AND {NOT_STARTED} "
    'ORDER BY id LIMIT :limit FOR UPDATE'
)
END = (
    'UPDATE actions SET status = :status, ended = :ended, status_message = :message, '
    'end_time = :now, updated_at = :now, claimable = NULL WHERE id IN_IDS(:ids)'
)
LOCK = (
    f'SELECT {ACTION_COLUMNS} FROM actions WHERE id IN_IDS(:ids) ORDER BY id FOR UPDATE'
)
ADD_PENDING = (
    'UPDATE actions SET pending = pending + :count, claimable = NULL WHERE id = :id'
)


class Changes(StatementGroup):
    """Compare and set, signals, and ends without a run."""

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        if not changes:
            return set()
        sealing = self._session.mapper.sealing
        rows = [changed_action(c.before, c.after, sealing) for c in changes]
        # By id, so that two transactions lock rows in the same order.
        rows.sort(key=_id_of)
        return {row[0] for row in self._change(rows)}

    def _change(self, rows: list[tuple[object, ...]]) -> Sequence[Sequence[int]]:
        """Write rows of CHANGED_ACTION; return the ids of those that still matched."""
        return self._session.batch_rows(CHANGE, rows)

    def end_not_started(
        self,
        plan_id: int,
        status: str,
        message: str | None,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        rows = self._session.rows(FIND_NOT_STARTED, plan_id=plan_id, limit=limit)
        actions = self._actions(rows)
        if actions:
            self._session.count(
                END,
                status=status,
                ended=ended(status),
                message=message,
                now=to_text(now),
                ids=self._session.dialect.ids(a.id for a in actions),
            )
        return actions

    def set_control(
        self,
        signal: str,
        now: datetime.datetime,
        *,
        action_ids: Sequence[int] | None = None,
        plan_id: int | None = None,
    ) -> list[Action]:
        if action_ids is None and plan_id is None:
            raise ValueError('set_control takes action_ids or plan_id')
        heard = STARTED if plan_id is not None else f'({STARTED} OR {PREPARED})'
        condition = f"ended = '' AND {heard}"
        if signal != states.CANCEL:
            condition += f' AND {NOT_CANCELLED}'
        by = 'BY(ix_actions_unfinished)'
        values: dict[str, object] = {}
        if action_ids is not None:
            if not action_ids:
                return []
            condition += ' AND id IN_IDS(:ids)'
            values['ids'] = self._session.dialect.ids(action_ids)
            by = 'BY(PRIMARY)'
        if plan_id is not None:
            condition += ' AND plan_id = :plan_id'
            values['plan_id'] = plan_id
        return self._update(
            'control = :signal, updated_at = :now',
            condition,
            by,
            signal=signal,
            now=to_text(now),
            **values,
        )

    def lock_actions(self, action_ids: Sequence[int]) -> dict[int, Action]:
        if not action_ids:
            return {}
        ids = self._session.dialect.ids(action_ids)
        actions = self._actions(self._session.rows(LOCK, ids=ids))
        return {action.id: action for action in actions}

    def add_pending(self, action_id: int, count: int) -> None:
        self._session.count(ADD_PENDING, id=action_id, count=count)


def _id_of(row: Sequence[object]) -> int:
    found = row[-4]
    return found if isinstance(found, int) else 0
