"""The part of a transaction that locks targets.

Somebody who finds a lock taken holds its row until the end of the transaction,
in which it writes `blocked_on`. Who releases the lock waits for that row, and so
sees everybody who waits; without that a waiter could be forgotten for ever.
"""

from collections.abc import Iterable, Mapping, Sequence

from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, insertion
from watcherlite.db.sqlalchemy.part import Part
from watcherlite.domain.actions import Action

TAKE = insertion('locks', {'target': TEXT, 'action_id': INTEGER}, new=True)
HOLD = (
    'SELECT target, action_id FROM locks WHERE target IN_TEXTS(:targets) '
    'ORDER BY target FOR UPDATE'
)
DROP = 'DELETE FROM locks WHERE action_id IN_IDS(:ids) RETURNING target'
#: The first who waits for each of these targets, unless somebody has it.
FIRST = (
    'id IN (SELECT min(w.id) FROM actions w WHERE w.blocked_on IN_TEXTS(:targets) '
    "AND w.ended = '' AND NOT EXISTS (SELECT 1 FROM locks WHERE "
    'locks.target = w.blocked_on) GROUP BY w.blocked_on)'
)
STALE = (
    "blocked_on IS NOT NULL AND ended = '' "
    'AND NOT EXISTS (SELECT 1 FROM locks WHERE locks.target = actions.blocked_on)'
)
UNBLOCK = (
    'claimable = CASE WHEN pending = 0 AND owner IS NULL AND (status IN '
    "('WAITING', 'READY') OR status = 'INIT' AND plan_id IS NOT NULL) THEN 1 END, "
    "status = CASE WHEN status = 'WAITING' THEN 'READY' ELSE status END, "
    'blocked_on = NULL'
)


class Targets(Part):
    """Taking and releasing locks."""

    def take_locks(self, targets: Mapping[str, int]) -> set[str]:
        free: set[str] = set()
        wanted = dict(sorted(targets.items()))
        while wanted:
            if self._take(list(wanted.items())):
                return free.union(wanted)
            names = self._session.dialect.texts(wanted)
            # A row that is gone now was released in between: it is tried again.
            for target, action_id in self._session.rows(HOLD, targets=names):
                if wanted.pop(target) == action_id:
                    free.add(target)
        return free

    def _take(self, wanted: Sequence[tuple[str, int]]) -> bool:
        """Store locks that nobody has; say whether these are all of them."""
        return self._insert(TAKE, wanted) == len(wanted)

    def release_locks(
        self, action_ids: Sequence[int], targets: Iterable[str] = ()
    ) -> list[Action]:
        if not action_ids:
            return []
        free = sorted({*self._drop(action_ids), *targets})
        if not free:
            return []
        return self._update(UNBLOCK, FIRST, targets=self._session.dialect.texts(free))

    def _drop(self, action_ids: Sequence[int]) -> list[str]:
        """Delete locks of actions; return their targets."""
        ids = self._session.dialect.ids(action_ids)
        return sorted(row[0] for row in self._session.rows(DROP, ids=ids))

    def unblock_stale(self) -> int:
        """Unblock actions whose target nobody has locked; return how many."""
        return len(self._update(UNBLOCK, STALE))
