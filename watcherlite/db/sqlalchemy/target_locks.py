"""The part of a transaction that locks targets.

Somebody who finds a lock taken holds its row until the end of the transaction,
in which it writes `blocked_on`. Who releases the lock waits for that row, and so
sees everybody who waits; without that a waiter could be forgotten for ever.

A lock that is shared has one row as well, and who comes to share it, or to leave,
holds that first: the last one who leaves knows that it is the last.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, insertion
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

# What a row has in place of the id of the one who holds the lock.
SHARED = 0
#: It is shared, and somebody waits to have it alone: no more can share it.
CLOSED = -1

TAKE = insertion('locks', {'target': TEXT, 'action_id': INTEGER}, new=True)
HOLD = (
    'SELECT target, action_id FROM locks WHERE target IN_TEXTS(:targets) '
    'ORDER BY target FOR UPDATE'
)
DROP = 'DELETE FROM locks WHERE action_id IN_IDS(:ids) RETURNING target'
CLOSE = (
    f'UPDATE locks SET action_id = {CLOSED} WHERE target IN_TEXTS(:targets) '
    f'AND action_id = {SHARED}'
)
SHARE = insertion('shared_locks', {'target': TEXT, 'action_id': INTEGER}, new=True)
SHARING = 'SELECT action_id FROM shared_locks WHERE action_id IN_IDS(:ids)'
LEAVE = 'DELETE FROM shared_locks WHERE action_id IN_IDS(:ids)'
DROP_EMPTY = (
    'DELETE FROM locks WHERE target IN_TEXTS(:targets) '
    f'AND action_id IN ({SHARED}, {CLOSED}) AND NOT EXISTS '
    '(SELECT 1 FROM shared_locks WHERE shared_locks.target = locks.target)'
)
#: The first who waits for each of these targets, unless somebody has it.
FIRST = (
    'id IN (SELECT min(w.id) FROM actions w WHERE w.blocked_on IN_TEXTS(:targets) '
    "AND w.ended = '' AND NOT EXISTS (SELECT 1 FROM locks WHERE "
    'locks.target = w.blocked_on) GROUP BY w.blocked_on)'
)
#: Who is to share these targets, and comes before whoever is to have them alone.
SHARERS = (
    "blocked_on IN_TEXTS(:targets) AND ended = '' AND within = blocked_on "
    'AND NOT EXISTS (SELECT 1 FROM actions w WHERE w.blocked_on = actions.blocked_on '
    "AND w.ended = '' AND w.id < actions.id "
    'AND (w.within IS NULL OR w.within <> w.blocked_on))'
)
STALE = (
    "blocked_on IS NOT NULL AND ended = '' "
    'AND NOT EXISTS (SELECT 1 FROM locks WHERE locks.target = actions.blocked_on) '
    # What was derived waits for what derived it, as long as that is suspended.
    'AND NOT EXISTS (SELECT 1 FROM actions s WHERE s.uuid = actions.blocked_on '
    f"AND s.status = '{states.SUSPENDED}')"
)
UNBLOCK = (
    'claimable = CASE WHEN pending = 0 AND owner IS NULL AND (status IN '
    "('WAITING', 'READY') OR status = 'INIT' AND plan_id IS NOT NULL) THEN 1 END, "
    "status = CASE WHEN status = 'WAITING' AND pending = 0 THEN 'READY' "
    'ELSE status END, '
    'blocked_on = NULL'
)


class Targets(StatementGroup):
    """Taking and releasing locks."""

    def take_locks(self, targets: Mapping[str, int]) -> set[str]:
        held = self._held(targets)
        shared = [target for target in held if held[target] == SHARED]
        if shared:
            self._session.count(CLOSE, targets=self._session.dialect.texts(shared))
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
            self._insert(SHARE, new)
        sharing = {action_id for _, action_id in new}
        late = [i for target in held if held[target] == CLOSED for i in targets[target]]
        if late:
            ids = self._session.dialect.ids(late)
            sharing.update(row[0] for row in self._session.rows(SHARING, ids=ids))
        return sharing

    def _held(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Take the locks that are free; return what each of them has then."""
        held: dict[str, int] = {}
        wanted = dict(sorted(wanted.items()))
        while wanted:
            if self._take(list(wanted.items())):
                return {**held, **wanted}
            names = self._session.dialect.texts(wanted)
            # A row that is gone now was released in between: it is tried again.
            for target, action_id in self._session.rows(HOLD, targets=names):
                held[target] = action_id
                del wanted[target]
        return held

    def _take(self, wanted: Sequence[tuple[str, int]]) -> bool:
        """Store locks that nobody has; say whether these are all of them."""
        return self._insert(TAKE, wanted) == len(wanted)

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
            names = self._session.dialect.texts(sorted(free))
            self._session.rows(HOLD, targets=names)
        free.update(self._drop(action_ids))
        if left:
            self._session.count(LEAVE, ids=self._session.dialect.ids(action_ids))
            self._session.count(DROP_EMPTY, targets=self._session.dialect.texts(left))
        if not free:
            return []
        names = self._session.dialect.texts(sorted(free))
        woken = self._update(UNBLOCK, FIRST, targets=names)
        # Nearly always nobody: what plans wait for is never shared.
        ways = sorted({a.within for a in woken if a.within in free and a.within})
        if ways:
            names = self._session.dialect.texts(ways)
            by = 'BY(ix_actions_blocked_on)'
            woken += self._update(UNBLOCK, SHARERS, by, targets=names)
            woken.sort(key=lambda action: action.id)
        return woken

    def _drop(self, action_ids: Sequence[int]) -> list[str]:
        """Delete locks of actions; return their targets."""
        ids = self._session.dialect.ids(action_ids)
        return sorted(row[0] for row in self._session.rows(DROP, ids=ids))

    def unblock_stale(self) -> int:
        """Unblock actions whose target nobody has locked; return how many."""
        return len(self._update(UNBLOCK, STALE, 'BY(ix_actions_blocked_on)'))
