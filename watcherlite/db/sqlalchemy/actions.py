"""The part of a transaction that stores and changes actions."""

import datetime
import functools
from collections.abc import Iterable, Mapping, Sequence
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
    text_in,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Row
from watcherlite.db.sqlalchemy.objects import ACTIONS
from watcherlite.db.sqlalchemy.statement_group import (
    ActionUpdate,
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

#: Rows in one statement: more gain nothing and need memory on both sides.
PORTION = 2000
#: The columns of actions by name; what is to be taken instead is put over them.
COLUMNS: Columns = dict(actions.c.items())
NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=TIME)
NOT_CLAIMABLE = (actions.c.claimable, sa.null())
UNFINISHED = actions.c.ended == EMPTY


def claimable(columns: Columns) -> sa.ColumnElement[Any]:
    """Return the column `claimable` of a row."""
    return sa.case((meets(readiness.CLAIMABLE, columns), ONE))


def _ended(status: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Return the column `ended`: a final status, or nothing."""
    return sa.case((constant_in(status, states.FINAL), status), else_=EMPTY)


# storing

_NEW_NAMES = [name for name in ACTIONS.names if name != 'id']
_NEW_ROWS = RowSource(*(actions.c[name] for name in _NEW_NAMES))
_new_row = ACTIONS.values_of(*_NEW_NAMES)
#: Whatever stores an action, its audit is that of its plan.
_AUDIT = (
    sa.select(action_plans.c.audit_id)
    .where(action_plans.c.id == _NEW_ROWS.c.plan_id)
    .scalar_subquery()
)
INSERT = insert_rows(
    actions,
    _NEW_ROWS,
    claimable=claimable(dict(_NEW_ROWS.c.items())),
    ended=_ended(_NEW_ROWS.c.status),
    audit_id=_AUDIT,
)
_EDGES = RowSource(*action_dependencies.c)
INSERT_EDGES = insert_rows(action_dependencies, _EDGES)
IDS = sa.select(actions.c.uuid, actions.c.id).where(text_in(actions.c.uuid, 'uuids'))

# compare and set

#: What a change writes; `pending` is counted by others, `control` is set by others.
CHANGING = [
    name
    for name in ACTIONS.names[ACTIONS.names.index('status') :]
    if name not in ('pending', 'control', 'id')
]
#: What is compared.
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
    """Return what a change writes of a row of CHANGED_COLUMNS."""
    new = {name: row[name] for name in CHANGING}
    return {
        **new,
        'ended': _ended(row['status']),
        'claimable': claimable({**COLUMNS, **new}),
    }


def is_unchanged(table: Columns, row: Columns) -> sa.ColumnElement[bool]:
    """Return that an action is what a row of CHANGED_COLUMNS expects it to be."""
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
#: Of rows that are locked and were compared.
CHANGE_LOCKED = _CHANGE.where(actions.c.id == CHANGED.c.id)

# ends and signals

_STATUS: sa.BindParameter[Any] = sa.bindparam('new_status', type_=WORD)
_END: Sequence[tuple[sa.Column[Any], Any]] = (
    (actions.c.status, _STATUS),
    (actions.c.ended, _STATUS),
    (actions.c.status_message, sa.bindparam('message', type_=MESSAGE)),
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
    """Return the update that writes a signal to actions; one for each kind."""
    heard = meets(readiness.STARTED, COLUMNS)
    if not of_plan:
        heard = sa.or_(heard, meets(readiness.PREPARED, COLUMNS))
    where = [UNFINISHED, heard]
    control = actions.c.control
    if not cancels:
        # A CANCEL that was accepted is not taken back.
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


class ActionWriting(StatementGroup):
    """Storing, compare and set, signals, and ends without a run."""

    def insert_actions(
        self, actions: Sequence[NewAction], edges: Sequence[Edge]
    ) -> list[int]:
        ids: list[int] = []
        for at in range(0, len(actions), PORTION):
            rows = list(map(_new_row, actions[at : at + PORTION]))
            ids += self._session.insert_numbered(INSERT, _NEW_ROWS, rows)
        if edges:
            known = dict(zip((action.uuid for action in actions), ids, strict=True))
            self._insert_edges(edges, known)
        return ids

    def _insert_edges(self, edges: Sequence[Edge], known: dict[str, int]) -> None:
        unknown = {uuid for e in edges for uuid in (e.parent, e.child)} - known.keys()
        if unknown:
            known = {**known, **self._ids(unknown)}
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
        for at in range(0, len(items), PORTION):
            self._session.write_rows(INSERT_EDGES, _EDGES, items[at : at + PORTION])

    def _ids(self, uuids: Iterable[str]) -> dict[str, int]:
        """Return the ids of stored actions by their uuids."""
        wanted = sorted(uuids)
        found: dict[str, int] = {}
        for at in range(0, len(wanted), PORTION):
            rows = self._session.rows(IDS, uuids=wanted[at : at + PORTION])
            found.update((row[0], row[1]) for row in rows)
        return found

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        if not changes:
            return set()
        # By id, so that two transactions lock rows in the same order.
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
