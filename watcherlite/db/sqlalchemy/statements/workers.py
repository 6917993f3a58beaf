"""Statements on workers, their leases and roles, and their pending work.

Leases end by the clock of the database.
"""

import datetime
from typing import Any

import sqlalchemy as sa

from watcherlite.db.api import Worker
from watcherlite.db.sqlalchemy.constructs import (
    LIMIT,
    ONE,
    constant,
    constant_in,
    from_now,
    insert_ignore,
    now,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import ACTION_PLANS, WORKERS
from watcherlite.db.sqlalchemy.statements.actions import UNFINISHED
from watcherlite.db.sqlalchemy.statements.claims import IS_CLAIMABLE, NEVER_SCHEDULED
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.coordination import roles, workers
from watcherlite.db.sqlalchemy.tables.types import TIME, UUID
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

# Leases and roles. No parameter has the name of a column: an UPDATE would write it.

_WORKER: sa.BindParameter[Any] = sa.bindparam('who', type_=UUID)
_LEASE = from_now(sa.bindparam('lease', type_=sa.Float))
_HAS_LEASE = workers.c.lease_until > now()
_IS_EXPIRED = workers.c.lease_until <= now()
NOW = sa.select(now())
REGISTER = sa.insert(workers).values(
    started_at=sa.func.coalesce(sa.bindparam('since', type_=TIME), now()),
    lease_until=_LEASE,
)
GET = WORKERS.select().where(workers.c.uuid == _WORKER)
RENEW = (
    sa.update(workers)
    .where(workers.c.uuid == _WORKER, _HAS_LEASE)
    .values(lease_until=_LEASE)
)
END = RENEW.values(lease_until=now())
_LIST = WORKERS.select().order_by(workers.c.started_at, workers.c.uuid)
EXPIRED = _LIST.where(_IS_EXPIRED)
LIVE = _LIST.where(_HAS_LEASE)
NEXT_END = sa.select(sa.func.min(workers.c.lease_until, type_=TIME), now()).where(
    _HAS_LEASE, workers.c.uuid != _WORKER
)
FORGOTTEN = (
    sa.select(actions.c.owner)
    .distinct()
    .where(
        actions.c.owner.is_not(None),
        UNFINISHED,
        ~sa.exists().where(workers.c.uuid == actions.c.owner),
    )
)
REMOVE = sa.delete(workers).where(
    workers.c.uuid == _WORKER,
    _IS_EXPIRED,
    ~sa.exists().where(actions.c.owner == _WORKER, UNFINISHED),
)
KEEP_ROLE = (
    sa.update(roles)
    .where(
        roles.c.role == sa.bindparam('which'),
        sa.or_(roles.c.worker == _WORKER, roles.c.lease_until <= now()),
    )
    .values(worker=_WORKER, lease_until=_LEASE)
)
TAKE_ROLE = insert_ignore(roles).values(
    role=sa.bindparam('which'), worker=_WORKER, lease_until=_LEASE
)
DROP_ROLE = sa.delete(roles).where(
    roles.c.role == sa.bindparam('which'), roles.c.worker == _WORKER
)

# Pending work. The conditions are those of partial indexes, in the same words.

_OF_LANE = actions.c.lane == sa.bindparam('lane')
ACTIVE = (
    ACTION_PLANS.select()
    .where(constant_in(action_plans.c.state, plan_states.ACTIVE))
    .order_by(action_plans.c.id)
    .limit(LIMIT)
)
SCHEDULED = (
    sa.select(actions.c.not_before)
    .where(
        _OF_LANE,
        IS_CLAIMABLE,
        actions.c.not_before > NEVER_SCHEDULED,
        actions.c.not_before > sa.bindparam('after'),
    )
    .order_by(actions.c.not_before)
    .limit(ONE)
)
CLAIMABLE = use_index(
    sa.select(ONE)
    .select_from(actions)
    .where(
        _OF_LANE,
        IS_CLAIMABLE,
        actions.c.plan_id.is_(None),
        actions.c.not_before <= sa.bindparam('now'),
    )
    .limit(ONE),
    actions,
    'ix_actions_claimable_of_plan',
    'mysql',
)
# In the order of the index; SUSPENDED actions have no deadline.
DEADLINES = use_index(
    sa.select(actions.c.uuid, actions.c.deadline)
    .where(
        _OF_LANE,
        actions.c.deadline > NEVER_SCHEDULED,
        actions.c.deadline <= sa.bindparam('until'),
        actions.c.status == constant(states.WAITING),
    )
    .order_by(actions.c.deadline)
    .limit(LIMIT),
    actions,
    'ix_actions_deadline',
    'mysql',
)
_OWNED = sa.and_(actions.c.owner == _WORKER, UNFINISHED)
CONTROLS = sa.select(actions.c.id, actions.c.control).where(
    actions.c.control.is_not(None), _OWNED
)
OWNED = sa.select(actions.c.id, actions.c.attempt).where(_OWNED).order_by(actions.c.id)


class SqlWorkerStore:
    """The methods of `db.api.Store` for workers."""

    _db: Database

    def now(self) -> datetime.datetime:
        time: datetime.datetime = self._db.rows(NOW)[0][0]
        return time

    def register_worker(self, worker: Worker, lease: float) -> Worker:
        values = WORKERS.by_column(worker)
        del values['lease_until']
        values['since'] = values.pop('started_at')
        with self._db.transaction() as session:
            session.count(REGISTER, lease=lease, **values)
            return WORKERS.read(session.rows(GET, who=worker.uuid)[0])

    def renew_lease(self, worker: str, lease: float) -> bool:
        return self._db.change(RENEW, who=worker, lease=lease) > 0

    def end_lease(self, worker: str) -> None:
        self._db.change(END, who=worker)

    def expired_workers(self) -> list[Worker]:
        return [WORKERS.read(row) for row in self._db.rows(EXPIRED)]

    def next_lease_end(self, worker: str) -> float | None:
        ((end, read_at),) = self._db.rows(NEXT_END, who=worker)
        return None if end is None else max(0.0, (end - read_at).total_seconds())

    def unregistered_owners(self) -> list[str]:
        return [row[0] for row in self._db.rows(FORGOTTEN)]

    def live_workers(self, lane: str | None = None) -> list[Worker]:
        found = [WORKERS.read(row) for row in self._db.rows(LIVE)]
        return [worker for worker in found if lane is None or lane in worker.lanes]

    def remove_worker(self, worker: str) -> bool:
        return self._db.change(REMOVE, who=worker) > 0

    def acquire_role(self, role: str, worker: str, lease: float) -> bool:
        values = {'which': role, 'who': worker, 'lease': lease}
        kept = self._db.change(KEEP_ROLE, **values) > 0
        return kept or self._db.change(TAKE_ROLE, **values) > 0

    def release_role(self, role: str, worker: str) -> None:
        self._db.change(DROP_ROLE, which=role, who=worker)

    def active_plans(self, limit: int) -> list[ActionPlan]:
        return [ACTION_PLANS.read(row) for row in self._db.rows(ACTIVE, limit=limit)]

    def next_not_before(
        self, lane: str, after: datetime.datetime
    ) -> datetime.datetime | None:
        rows = self._db.rows(SCHEDULED, lane=lane, after=after)
        return rows[0][0] if rows else None

    def deadlines(
        self, lane: str, until: datetime.datetime, limit: int
    ) -> list[tuple[str, datetime.datetime]]:
        rows = self._db.rows(DEADLINES, lane=lane, until=until, limit=limit)
        return [(row[0], row[1]) for row in rows]

    def has_claimable(self, lane: str, now: datetime.datetime) -> bool:
        return bool(self._db.rows(CLAIMABLE, lane=lane, now=now))

    def controls(self, worker: str) -> dict[int, str]:
        return {row[0]: row[1] for row in self._db.rows(CONTROLS, who=worker)}

    def owned_ids(self, worker: str) -> list[tuple[int, int]]:
        return [(row[0], row[1]) for row in self._db.rows(OWNED, who=worker)]
