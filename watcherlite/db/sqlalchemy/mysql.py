"""The transaction on MariaDB and MySQL, which have no UPDATE ... RETURNING.

It selects rows for update and then writes them.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from watcherlite.db.sqlalchemy.constructs import (
    LIMIT,
    RowSource,
    id_in,
    update_rows,
    use_index,
)
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.statements.actions import (
    CHANGE_LOCKED,
    CHANGED,
    COLUMNS,
    FENCE,
    changed_row,
    claimable,
    fence_of,
)
from watcherlite.db.sqlalchemy.statements.claims import DUE, IS_CLAIMABLE, NOW, OF, TAKE
from watcherlite.db.sqlalchemy.statements.dependents import (
    COUNTED,
    HANDOVERS,
    RETURNED,
    handover_values,
    release_rule,
)
from watcherlite.db.sqlalchemy.statements.group import ActionUpdate
from watcherlite.db.sqlalchemy.statements.locks import DROP, LOCKS
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.coordination import locks
from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.domain import readiness
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states

_BY_ID = id_in(actions.c.id, 'ids')
FENCES = (
    sa.select(actions.c.id, actions.c.status, actions.c.owner, actions.c.attempt)
    .where(_BY_ID)
    .order_by(actions.c.id)
    .with_for_update()
)


def _due(of: sa.ColumnElement[bool], due: sa.ColumnElement[bool]) -> sa.Select[Any]:
    found = (
        sa.select(actions.c.id)
        .where(of, due, actions.c.id > sa.bindparam('after'))
        .order_by(actions.c.id)
        .limit(LIMIT)
    )
    return use_index(found, actions, 'ix_actions_claimable_of_plan', 'mysql')


# Claimable actions are read, and then locked by their ids. A locking read would lock
# all rows that it passes, including those of other lanes and the row after the last
# one; other workers would skip these, and find them only by a sweep.
FIND_DUE = {name: [_due(of, due) for due in DUE.values()] for name, of in OF.items()}
EITHER = {
    name: sa.union_all(*found).order_by(sa.column('id')).limit(LIMIT)
    for name, found in FIND_DUE.items()
}
LOCK_DUE = use_index(
    ACTIONS.select()
    .where(_BY_ID, IS_CLAIMABLE, actions.c.not_before <= NOW)
    .order_by(actions.c.id)
    .limit(LIMIT)
    .with_for_update(skip_locked=True),
    actions,
    'PRIMARY',
    'mysql',
)
TAKE_DUE = use_index(
    sa.update(actions).ordered_values(*TAKE).where(_BY_ID), actions, 'PRIMARY', 'mysql'
)
# The dependents with their new `pending`.
COUNT = (
    sa.select(
        *(actions.c[name] for name in RETURNED if name != 'pending'),
        (actions.c.pending - COUNTED.c.n).label('pending'),
        actions.c.blocked_on,
    )
    .join_from(COUNTED, actions, actions.c.id == COUNTED.c.child_id)
    .order_by(actions.c.id)
    .with_for_update()
)
_COUNTED = ('id', 'pending', 'status', 'owner', 'updated_at')
COUNTED_ROWS = RowSource(*(actions.c[name] for name in _COUNTED))
_NEW = {name: COUNTED_ROWS.c[name] for name in _COUNTED}
RELEASE = update_rows(actions, COUNTED_ROWS, 'pending', 'status', 'owner').values(
    claimable=claimable({**COLUMNS, **_NEW}),
    updated_at=sa.func.coalesce(_NEW['updated_at'], actions.c.updated_at),
)
HAND_OVER = update_rows(actions, HANDOVERS)
BY_ID = ACTIONS.select().where(_BY_ID)
LOCK_HELD = (
    sa.select(locks.c.target)
    .where(id_in(locks.c.action_id, 'ids'))
    .order_by(locks.c.target)
    .with_for_update()
)
TAKE_LOCKS = (
    mysql.insert(locks)
    .from_select(['target', 'action_id'], sa.select(LOCKS))
    .on_duplicate_key_update(action_id=locks.c.action_id)
)


class MysqlTransaction(SqlTransaction):
    """Implementation of `db.api.Transaction` on MariaDB and MySQL."""

    def _change(self, changes: Sequence[ActionChange]) -> set[int]:
        session = self._session
        rows = session.rows(FENCES, ids=[change.before.id for change in changes])
        fences = {row[0]: tuple(row[1:]) for row in rows}
        matching = [
            change
            for change in changes
            if fences.get(change.before.id) == fence_of(change.before)
        ]
        session.write_rows(CHANGE_LOCKED, CHANGED, list(map(changed_row, matching)))
        return {change.before.id for change in matching}

    def _claim(
        self,
        of: str,
        source: int | str | None,
        worker: str,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        due = self._lock_due(of, source, limit, now)
        if due:
            ids = [action.id for action in due]
            self._session.count(TAKE_DUE, worker=worker, now=now, ids=ids)
        return [
            action.evolve(
                status=states.READY,
                owner=worker,
                attempt=action.attempt + 1,
                updated_at=now,
            )
            for action in due
        ]

    def _lock_due(
        self, of: str, source: int | str | None, limit: int, now: datetime.datetime
    ) -> list[Action]:
        """Lock due actions that no other transaction has locked, and no other rows."""
        session, last = self._session, 0
        held: list[Action] = []
        while True:
            found = session.rows(
                EITHER[of], source=source, after=last, limit=limit, now=now
            )
            if found:
                last = found[-1][0]
                ids = [row[0] for row in found]
                left = limit - len(held)
                held += self._actions(
                    session.rows(LOCK_DUE, ids=ids, limit=left, now=now)
                )
            # Others may have locked all of these, while later ones are free.
            if len(found) < limit or len(held) == limit:
                return held

    def _release(
        self,
        parent_ids: Sequence[int],
        started: bool,
        handovers: Mapping[int, Action],
        now: datetime.datetime,
    ) -> Iterable[Sequence[Any]]:
        released = release_rule(started)
        found, counted, handed = [], [], []
        rows: Any = self._session.rows(COUNT, ended_ids=parent_ids)
        for row in rows:
            after = row._asdict()
            changed_at = None
            handover = handovers.get(row.id)
            if handover is not None and readiness.HANDED_OVER.holds(row):
                handed.append((row.id, *handover_values(handover)))
                after |= {name: getattr(handover, name) for name in FENCE}
            elif released.holds(row):
                after |= {'status': states.READY, 'owner': None}
                changed_at = now
            after['updated_at'] = changed_at
            counted.append([after[name] for name in _COUNTED])
            found.append([after[name] for name in RETURNED])
        self._session.write_rows(RELEASE, COUNTED_ROWS, counted)
        self._session.write_rows(HAND_OVER, HANDOVERS, handed)
        return found

    def _update(self, update: ActionUpdate, **values: Any) -> list[Action]:
        # Without the index it would wait for all locked rows of the table.
        ids = [row[0] for row in self._session.rows(update.find, **values)]
        if not ids:
            return []
        self._session.count(update.write, changed=ids, **values)
        return self._actions(self._session.rows(BY_ID, ids=ids))

    def _try_insert(self, desired: Sequence[tuple[str, int]]) -> bool:
        # INSERT IGNORE would take a shared lock on an existing row, and two
        # transactions that wait for the same target would deadlock.
        self._session.write_rows(TAKE_LOCKS, LOCKS, desired)
        return False

    def _drop(self, action_ids: Sequence[int]) -> list[str]:
        held = [row[0] for row in self._session.rows(LOCK_HELD, ids=action_ids)]
        if held:
            self._session.count(DROP, ids=action_ids)
        return held
