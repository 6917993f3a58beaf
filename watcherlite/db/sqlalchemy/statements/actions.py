"""Statements that insert and change actions."""

import datetime
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    LIMIT,
    ONE,
    RowSource,
    constant,
    constant_in,
    id_in,
    insert_rows,
    meets,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Row
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.statements.group import (
    MAX_ROWS,
    ActionUpdate,
    RowInsert,
    StatementGroup,
)
from watcherlite.db.sqlalchemy.tables.actions import (
    action_dependencies,
    action_plans,
    actions,
)
from watcherlite.db.sqlalchemy.tables.types import MESSAGE, TIME, WORD
from watcherlite.domain import readiness
from watcherlite.domain.actions import Action, ActionChange, Edge, NewAction
from watcherlite.states import action as states

Columns = Mapping[str, sa.ColumnElement[Any]]

#: The columns of actions by name, which callers may replace by expressions.
COLUMNS: Columns = dict(actions.c.items())
NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=TIME)
NOT_CLAIMABLE = (actions.c.claimable, sa.null())
UNFINISHED = actions.c.ended == EMPTY


def claimable(columns: Columns) -> sa.ColumnElement[Any]:
    """Return the value of the column `claimable` of a row."""
    return sa.case((meets(readiness.CLAIMABLE, columns), ONE))


def _ended(status: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Return the value of the column `ended`: a final status, or an empty text."""
    return sa.case((constant_in(status, states.FINAL), status), else_=EMPTY)


_NEW = RowInsert.new_source(ACTIONS)
#: The audit of an action is that of its plan.
_AUDIT = (
    sa.select(action_plans.c.audit_id)
    .where(action_plans.c.id == _NEW.c.plan_id)
    .scalar_subquery()
)
INSERT = RowInsert(
    ACTIONS,
    _NEW,
    claimable=claimable(dict(_NEW.c.items())),
    ended=_ended(_NEW.c.status),
    audit_id=_AUDIT,
)
_EDGES = RowSource(*action_dependencies.c)
INSERT_EDGES = insert_rows(action_dependencies, _EDGES)


# Compare and set.

#: The columns that a change writes. `release_dependents` counts `pending`,
#: `set_control` writes `control`.
CHANGING = [
    name
    for name in ACTIONS.names[ACTIONS.names.index('status') :]
    if name not in ('pending', 'control', 'id')
]
#: The columns that a change compares.
FENCE = ('status', 'owner', 'attempt')
CHANGED_COLUMNS = (
    actions.c.id,
    *(actions.c[name] for name in CHANGING),
    *(actions.c[name].label(f'old_{name}') for name in FENCE),
)
_new_values = ACTIONS.values_of(*CHANGING)
fence_of = ACTIONS.values_of(*FENCE)


def changed_row(change: ActionChange) -> tuple[Any, ...]:
    """Return the values of CHANGED_COLUMNS."""
    before, after = change.before, change.after
    return (before.id, *_new_values(after), *fence_of(before))


def changed_values(row: Columns) -> dict[str, sa.ColumnElement[Any]]:
    """Return the values that a change writes, from a row of CHANGED_COLUMNS."""
    new = {name: row[name] for name in CHANGING}
    return {
        **new,
        'ended': _ended(row['status']),
        'claimable': claimable({**COLUMNS, **new}),
    }


def is_unchanged(table: Columns, row: Columns) -> sa.ColumnElement[bool]:
    """Return the condition that an action is as a row of CHANGED_COLUMNS expects."""
    return sa.and_(
        table['id'] == row['id'],
        table['status'] == row['old_status'],
        table['attempt'] == row['old_attempt'],
        table['owner'].is_not_distinct_from(row['old_owner']),
    )


CHANGED = RowSource(*CHANGED_COLUMNS)
_CHANGED = dict(CHANGED.c.items())
_CHANGE = sa.update(actions).values(changed_values(_CHANGED))
CHANGE = _CHANGE.where(is_unchanged(COLUMNS, _CHANGED)).returning(actions.c.id)
#: For rows that are locked and have been compared.
CHANGE_LOCKED = _CHANGE.where(actions.c.id == CHANGED.c.id)

# Ends and signals.

_STATUS: sa.BindParameter[Any] = sa.bindparam('new_status', type_=WORD)
_END: Sequence[tuple[sa.Column[Any], Any]] = (
    (actions.c.status, _STATUS),
    (actions.c.ended, _STATUS),
    (actions.c.status_message, sa.bindparam('message', type_=MESSAGE)),
    # Otherwise a recovery of its worker that has just read its id takes it for lost.
    (actions.c.owner, sa.null()),
    (actions.c.end_time, NOW),
    (actions.c.updated_at, NOW),
    NOT_CLAIMABLE,
)
FIND_NOT_STARTED = use_index(
    ACTIONS.select()
    .where(
        actions.c.plan_id == sa.bindparam('plan_id'),
        UNFINISHED,
        meets(readiness.NOT_STARTED, COLUMNS),
    )
    .order_by(actions.c.id)
    .limit(LIMIT)
    .with_for_update(),
    actions,
    'ix_actions_unfinished',
    'mysql',
)
END = sa.update(actions).ordered_values(*_END).where(id_in(actions.c.id, 'ids'))
END_DEPENDENTS = ActionUpdate(
    sa.and_(
        actions.c.id.in_(
            sa.select(action_dependencies.c.child_id).where(
                id_in(action_dependencies.c.parent_id, 'ended_ids'),
                action_dependencies.c.needs == constant('success'),
            )
        ),
        meets(readiness.ENDED_WITH_PARENT, COLUMNS),
    ),
    *_END,
)
LOCK = (
    ACTIONS.select()
    .where(id_in(actions.c.id, 'ids'))
    .order_by(actions.c.id)
    .with_for_update()
)
ADD_PENDING = (
    sa.update(actions)
    .ordered_values(
        (
            actions.c.pending,
            actions.c.pending + sa.bindparam('count', type_=sa.Integer),
        ),
        NOT_CLAIMABLE,
    )
    .where(actions.c.id == sa.bindparam('key'))
)


@functools.cache
def _signal(by_id: bool, of_plan: bool, cancels: bool) -> ActionUpdate:
    """Return the update that writes a signal to actions."""
    accepts = meets(readiness.STARTED, COLUMNS)
    if not of_plan:
        accepts = sa.or_(accepts, meets(readiness.PREPARED, COLUMNS))
    where = [UNFINISHED, accepts]
    control = actions.c.control
    if not cancels:
        # No signal replaces a CANCEL.
        where.append(sa.or_(control.is_(None), control != constant(states.CANCEL)))
    if by_id:
        where.append(id_in(actions.c.id, 'ids'))
    if of_plan:
        where.append(actions.c.plan_id == sa.bindparam('of_plan'))
    return ActionUpdate(
        sa.and_(*where),
        (control, sa.bindparam('signal', type_=WORD)),
        (actions.c.updated_at, NOW),
        index='PRIMARY' if by_id else 'ix_actions_unfinished',
    )


class ActionStatements(StatementGroup):
    """The methods of `db.api.Transaction` that insert and change actions."""

    def insert_actions(
        self, actions: Sequence[NewAction], edges: Sequence[Edge]
    ) -> list[int]:
        ids = INSERT.execute(self._session, actions)
        if edges:
            known = dict(zip((action.uuid for action in actions), ids, strict=True))
            self._insert_edges(edges, known)
        return ids

    def _insert_edges(self, edges: Sequence[Edge], known: dict[str, int]) -> None:
        unknown = {uuid for e in edges for uuid in (e.parent, e.child)} - known.keys()
        if unknown:
            found = self._session.ids_by_uuid(ACTIONS.table, sorted(unknown))
            known = {**known, **found}
        rows: dict[tuple[int, int], str] = {}
        for edge in edges:
            try:
                rows[known[edge.parent], known[edge.child]] = edge.needs
            except KeyError as missing:
                raise exceptions.NotFound(
                    f'Action {missing.args[0]}, named by the dependency of '
                    f'{edge.child} on {edge.parent}, could not be found.'
                ) from None
        items = [(parent, child, needs) for (parent, child), needs in rows.items()]
        for at in range(0, len(items), MAX_ROWS):
            self._session.write_rows(INSERT_EDGES, _EDGES, items[at : at + MAX_ROWS])

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        if not changes:
            return set()
        # By id, so that all transactions lock rows in the same order.
        ordered = sorted(changes, key=lambda change: change.before.id)
        return self._change(ordered)

    def _change(self, changes: Sequence[ActionChange]) -> set[int]:
        rows: list[Row] = [changed_row(change) for change in changes]
        return {row[0] for row in self._session.rows_from(CHANGE, CHANGED, rows)}

    def end_not_started(
        self,
        plan_id: int,
        status: str,
        message: str | None,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        rows = self._session.rows(FIND_NOT_STARTED, plan_id=plan_id, limit=limit)
        found = self._actions(rows)
        if found:
            ids = [action.id for action in found]
            self._session.count(
                END, new_status=status, message=message, now=now, ids=ids
            )
        return found

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
            END_DEPENDENTS,
            ended_ids=parent_ids,
            new_status=status,
            message=message,
            now=now,
        )

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
        by_id, of_plan = action_ids is not None, plan_id is not None
        if by_id and not action_ids:
            return []
        update = _signal(by_id, of_plan, signal == states.CANCEL)
        return self._update(
            update, signal=signal, now=now, ids=action_ids, of_plan=plan_id
        )

    def lock_actions(self, action_ids: Sequence[int]) -> dict[int, Action]:
        if not action_ids:
            return {}
        found = self._actions(self._session.rows(LOCK, ids=action_ids))
        return {action.id: action for action in found}

    def add_pending(self, action_id: int, count: int) -> None:
        self._session.count(ADD_PENDING, key=action_id, count=count)
