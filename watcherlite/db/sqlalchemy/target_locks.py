"""The part of a transaction that locks targets.

Somebody who finds a lock taken holds its row until the end of the transaction,
in which it writes `blocked_on`. Who releases the lock waits for that row, and so
sees everybody who waits; without that a waiter could be forgotten for ever.

A lock that is shared has one row as well, and who comes to share it, or to leave,
holds that first: the last one who leaves knows that it is the last.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.actions import COLUMNS, UNFINISHED, claimable
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    RowSource,
    constant,
    id_in,
    insert_rows,
    meets,
    text_in,
)
from watcherlite.db.sqlalchemy.statement_group import ActionUpdate, StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.coordination import locks, shared_locks
from watcherlite.domain import readiness
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

# What a row has in place of the id of the one who holds the lock.
SHARED = 0
#: It is shared, and somebody waits to have it alone: no more can share it.
CLOSED = -1

LOCKS = RowSource(locks.c.target, locks.c.action_id)
TAKE = insert_rows(locks, LOCKS, ignore=True)
SHARE = insert_rows(shared_locks, LOCKS, ignore=True)
_OF_TARGETS = text_in(locks.c.target, 'targets')
HOLD = (
    sa.select(locks.c.target, locks.c.action_id)
    .where(_OF_TARGETS)
    .order_by(locks.c.target)
    .with_for_update()
)
DROP = sa.delete(locks).where(id_in(locks.c.action_id, 'ids'))
DROP_RETURNING = DROP.returning(locks.c.target)
CLOSE = (
    sa.update(locks)
    .where(_OF_TARGETS, locks.c.action_id == SHARED)
    .values(action_id=CLOSED)
)
SHARING = sa.select(shared_locks.c.action_id).where(
    id_in(shared_locks.c.action_id, 'ids')
)
LEAVE = sa.delete(shared_locks).where(id_in(shared_locks.c.action_id, 'ids'))
DROP_EMPTY = sa.delete(locks).where(
    _OF_TARGETS,
    locks.c.action_id.in_([SHARED, CLOSED]),
    ~sa.exists().where(shared_locks.c.target == locks.c.target),
)

_READY = sa.case(
    (meets(readiness.UNBLOCKED, COLUMNS), constant(states.READY)),
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
#: The first who waits for each of these targets, unless somebody has it.
UNBLOCK_FIRST = ActionUpdate(
    actions.c.id.in_(
        sa.select(sa.func.min(_OTHER.c.id))
        .where(
            text_in(_OTHER.c.blocked_on, 'targets'),
            _OTHER.c.ended == EMPTY,
            _NOBODY_HOLDS,
        )
        .group_by(_OTHER.c.blocked_on)
    ),
    *_UNBLOCK,
)
#: Who is to share these targets, and comes before whoever is to have them alone.
UNBLOCK_SHARERS = ActionUpdate(
    sa.and_(
        text_in(actions.c.blocked_on, 'targets'),
        UNFINISHED,
        actions.c.within == actions.c.blocked_on,
        ~sa.exists().where(
            _OTHER.c.blocked_on == actions.c.blocked_on,
            _OTHER.c.ended == EMPTY,
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
        # What was derived waits for what derived it, as long as that is suspended.
        ~sa.exists().where(
            _OTHER.c.uuid == actions.c.blocked_on,
            _OTHER.c.status == constant(states.SUSPENDED),
        ),
    ),
    *_UNBLOCK,
    index='ix_actions_blocked_on',
)


class Targets(StatementGroup):
    """Taking and releasing locks."""

    def take_locks(self, targets: Mapping[str, int]) -> set[str]:
        held = self._held(targets)
        shared = [target for target in held if held[target] == SHARED]
        if shared:
            self._session.count(CLOSE, targets=shared)
        return {target for target in held if held[target] == targets[target]}

    def share_locks(self, targets: Mapping[str, Collection[int]]) -> set[int]:
        held = self._held(dict.fromkeys(targets, SHARED))
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

    def _held(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Take the locks that are free; return what each of them has then."""
        held: dict[str, int] = {}
        wanted = dict(sorted(wanted.items()))
        while wanted:
            if self._take(list(wanted.items())):
                return {**held, **wanted}
            # A row that is gone now was released in between: it is tried again.
            for target, action_id in self._session.rows(HOLD, targets=wanted):
                held[target] = action_id
                del wanted[target]
        return held

    def _take(self, wanted: Sequence[tuple[str, int]]) -> bool:
        """Store locks that nobody has; return whether these are all of them."""
        return self._session.write_rows(TAKE, LOCKS, wanted) == len(wanted)

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
            self._session.rows(HOLD, targets=sorted(free))
        free.update(self._drop(action_ids))
        if left:
            self._session.count(LEAVE, ids=action_ids)
            self._session.count(DROP_EMPTY, targets=left)
        if not free:
            return []
        woken = self._update(UNBLOCK_FIRST, targets=sorted(free))
        # Nearly always nobody: what plans wait for is never shared.
        ways = sorted({a.within for a in woken if a.within in free and a.within})
        if ways:
            woken += self._update(UNBLOCK_SHARERS, targets=ways)
            woken.sort(key=lambda action: action.id)
        return woken

    def _drop(self, action_ids: Sequence[int]) -> list[str]:
        """Delete locks of actions; return their targets."""
        rows = self._session.rows(DROP_RETURNING, ids=action_ids)
        return sorted(row[0] for row in rows)

    def unblock_stale(self) -> int:
        """Unblock actions whose target nobody has locked; return how many."""
        return len(self._update(UNBLOCK_STALE))
