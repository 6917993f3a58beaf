"""The part of the store that tells workers what there is to do."""

import datetime

from watcherlite.db.sqlalchemy.columns import PLAN_COLUMNS
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dialects import to_text
from watcherlite.db.sqlalchemy.tables.actions import ACTIVE_PLANS, NEVER_SCHEDULED
from watcherlite.domain.action_plans import ActionPlan

# The conditions are those of partial indexes, word for word.
ACTIVE = (
    f'SELECT {PLAN_COLUMNS} FROM action_plans WHERE {ACTIVE_PLANS} '
    'ORDER BY id LIMIT :limit'
)
SCHEDULED = (
    'SELECT not_before FROM actions WHERE lane = :lane AND claimable = 1 '
    f'AND not_before > {NEVER_SCHEDULED} AND not_before > :after '
    'ORDER BY not_before LIMIT 1'
)
CLAIMABLE = (
    'SELECT 1 FROM actions BY(ix_actions_claimable_of_plan) WHERE lane = :lane '
    'AND claimable = 1 AND plan_id IS NULL AND not_before <= :now LIMIT 1'
)
# In the order of the index, and without those that are SUSPENDED.
DEADLINES = (
    'SELECT uuid, deadline FROM actions BY(ix_actions_deadline) WHERE lane = :lane '
    f'AND deadline > {NEVER_SCHEDULED} AND deadline <= :until '
    "AND status = 'WAITING' ORDER BY deadline LIMIT :limit"
)
CONTROLS = (
    'SELECT id, control FROM actions '
    "WHERE control IS NOT NULL AND owner = :worker AND ended = ''"
)
OWNED = (
    "SELECT id, attempt FROM actions WHERE owner = :worker AND ended = '' ORDER BY id"
)


class WorkerQueries:
    """Questions of daemons."""

    _db: Database

    def active_plans(self, limit: int) -> list[ActionPlan]:
        return [self._db.mapper.plan(row) for row in self._db.rows(ACTIVE, limit=limit)]

    def next_not_before(
        self, lane: str, after: datetime.datetime
    ) -> datetime.datetime | None:
        rows = self._db.rows(SCHEDULED, lane=lane, after=to_text(after))
        return self._db.mapper.time(rows[0][0]) if rows else None

    def deadlines(
        self, lane: str, until: datetime.datetime, limit: int
    ) -> list[tuple[str, datetime.datetime]]:
        rows = self._db.rows(DEADLINES, lane=lane, until=to_text(until), limit=limit)
        to_time = self._db.dialect.to_time
        return [(row[0], to_time(row[1])) for row in rows]

    def has_claimable(self, lane: str, now: datetime.datetime) -> bool:
        return bool(self._db.rows(CLAIMABLE, lane=lane, now=to_text(now)))

    def controls(self, worker: str) -> dict[int, str]:
        return {row[0]: row[1] for row in self._db.rows(CONTROLS, worker=worker)}

    def owned_ids(self, worker: str) -> list[tuple[int, int]]:
        return [(row[0], row[1]) for row in self._db.rows(OWNED, worker=worker)]
