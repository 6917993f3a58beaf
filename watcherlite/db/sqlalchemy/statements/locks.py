"""Statements on locks of targets.

A transaction that finds a lock taken locks its row and writes `blocked_on`. A
transaction that releases the lock waits for that row, and so sees all waiters;
otherwise a waiter could be lost.

A shared lock has one row, too, which transactions lock before they add or remove a
sharer, so that the last sharer deletes it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import sqlalchemy as sa

from watcherlite.db.sqlalchemy import constructs
from watcherlite.db.sqlalchemy.statements.actions import COLUMNS, UNFINISHED, claimable
from watcherlite.db.sqlalchemy.statements.group import ActionUpdate, StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.coordination import locks, shared_locks
from watcherlite.domain import readiness
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

#: `action_id` of a shared lock.
SHARED = 0
#: `action_id` of a shared lock with an exclusive waiter: no further action can share
#: it.
CLOSED = -1

LOCKS = constructs.RowSource(locks.c.target, locks.c.action_id)
TAKE = constructs.insert_rows(locks, LOCKS, ignore=True)
SHARE = constructs.insert_rows(shared_locks, LOCKS, ignore=True)
_OF_TARGETS = constructs.text_in(locks.c.target, 'targets')
LOCK = (
    sa.select(locks.c.target, locks.c.action_id)
    .where(_OF_TARGETS)
    .order_by(locks.c.target)
    .with_for_update()
)
DROP = sa.delete(locks).where(constructs.id_in(locks.c.action_id, 'ids'))
DROP_RETURNING = DROP.returning(locks.c.target)
CLOSE = (
    sa.update(locks)
    .where(_OF_TARGETS, locks.c.action_id == SHARED)
    .values(action_id=CLOSED)
)
SHARING = sa.select(shared_locks.c.action_id).where(
    constructs.id_in(shared_locks.c.action_id, 'ids')
)
LEAVE = sa.delete(shared_locks).where(constructs.id_in(shared_locks.c.action_id, 'ids'))
DROP_EMPTY = sa.delete(locks).where(
    _OF_TARGETS,
    locks.c.action_id.in_([SHARED, CLOSED]),
    ~sa.exists().where(shared_locks.c.target == locks.c.target),
)

_READY = sa.case(
    (constructs.meets(readiness.UNBLOCKED, COLUMNS), constructs.constant(states.READY)),
    else_=actions.c.status,
)
_UNBLOCK = (
    (
        actions.c.claimable,
        claimable({**COLUMNS, 'status': _READY, 'blocked_on': sa.null()}),
    ),
    (actions.c.status, _READY),
    (actions.c.blocked_on, sa.null()),
)
_OTHER = actions.alias('w')
_NOBODY_HOLDS = ~sa.exists().where(locks.c.target == _OTHER.c.blocked_on)
#: Unblocks the first waiter of each free target.
UNBLOCK_FIRST = ActionUpdate(
    actions.c.id.in_(
        sa.select(sa.func.min(_OTHER.c.id))
        .where(
            constructs.text_in(_OTHER.c.blocked_on, 'targets'),
            _OTHER.c.ended == constructs.EMPTY,
            _NOBODY_HOLDS,
        )
        .group_by(_OTHER.c.blocked_on)
    ),
    *_UNBLOCK,
)
#: Unblocks the shared waiters of targets before the first exclusive one.
UNBLOCK_SHARERS = ActionUpdate(
    sa.and_(
        constructs.text_in(actions.c.blocked_on, 'targets'),
        UNFINISHED,
        actions.c.within == actions.c.blocked_on,
        ~sa.exists().where(
            _OTHER.c.blocked_on == actions.c.blocked_on,
            _OTHER.c.ended == constructs.EMPTY,
            _OTHER.c.id < actions.c.id,
            sa.or_(_OTHER.c.within.is_(None), _OTHER.c.within != _OTHER.c.blocked_on),
        ),
    ),
    *_UNBLOCK,
    index='ix_actions_blocked_on',
)
UNBLOCK_STALE = ActionUpdate(
    sa.and_(
        actions.c.blocked_on.is_not(None),
        UNFINISHED,
        ~sa.exists().where(locks.c.target == actions.c.blocked_on),
        # A derived action is blocked while the action that derived it is suspended.
        ~sa.exists().where(
            _OTHER.c.uuid == actions.c.blocked_on,
            _OTHER.c.status == constructs.constant(states.SUSPENDED),
        ),
    ),
    *_UNBLOCK,
    index='ix_actions_blocked_on',
)


class LockStatements(StatementGroup):
    """Implementation of `db.locking.LockTransaction`."""

    def acquire_locks(self, targets: Mapping[str, int]) -> set[str]:
        held = self._acquire(targets)
        shared = [target for target in held if held[target] == SHARED]
        if shared:
            self._session.count(CLOSE, targets=shared)
        return {target for target in held if held[target] == targets[target]}

    def share_locks(self, targets: Mapping[str, Collection[int]]) -> set[int]:
        held = self._acquire(dict.fromkeys(targets, SHARED))
        new = [
            (target, action_id)
            for target in held
            for action_id in sorted(targets[target])
            if held[target] == SHARED
        ]
        if new:
            self._session.write_rows(SHARE, LOCKS, new)
        sharing = {action_id for _, action_id in new}
        late = [i for target in held if held[target] == CLOSED for i in targets[target]]
        if late:
            sharing.update(row[0] for row in self._session.rows(SHARING, ids=late))
        return sharing

    def _acquire(self, desired: Mapping[str, int]) -> dict[str, int]:
        """Take the free locks; return the `action_id` of each lock."""
        held: dict[str, int] = {}
        desired = dict(sorted(desired.items()))
        while desired:
            if self._try_insert(list(desired.items())):
                return {**held, **desired}
            # A missing row was released in the meantime: retry.
            for target, action_id in self._session.rows(LOCK, targets=desired):
                held[target] = action_id
                del desired[target]
        return held

    def _try_insert(self, desired: Sequence[tuple[str, int]]) -> bool:
        """Insert the free locks; return whether all of them were free."""
        return self._session.write_rows(TAKE, LOCKS, desired) == len(desired)

    def release_locks(
        self,
        action_ids: Sequence[int],
        targets: Iterable[str] = (),
        shared: Iterable[str] = (),
    ) -> list[Action]:
        if not action_ids:
            return []
        free, left = set(targets), sorted(set(shared))
        if left:
            free |= set(left)
            self._session.rows(LOCK, targets=sorted(free))
        free.update(self._drop(action_ids))
        if left:
            self._session.count(LEAVE, ids=action_ids)
            self._session.count(DROP_EMPTY, targets=left)
        if not free:
            return []
        unblocked = self._update(UNBLOCK_FIRST, targets=sorted(free))
        # Rarely any: actions of plans share no locks.
        shared_targets = sorted(
            {a.within for a in unblocked if a.within in free and a.within}
        )
        if shared_targets:
            unblocked += self._update(UNBLOCK_SHARERS, targets=shared_targets)
            unblocked.sort(key=lambda action: action.id)
        return unblocked

    def _drop(self, action_ids: Sequence[int]) -> list[str]:
        """Delete the locks of actions; return their targets."""
        rows = self._session.rows(DROP_RETURNING, ids=action_ids)
        return sorted(row[0] for row in rows)

    def unblock_stale(self) -> int:
        """Unblock actions whose target is free; return their number."""
        return len(self._update(UNBLOCK_STALE))
