"""The part of the store about workers; every time is the database's."""

import datetime

from watcherlite.db.api import Worker
from watcherlite.db.sqlalchemy.columns import WORKER_COLUMNS
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dialects import dumps
from watcherlite.db.sqlalchemy.mappers import time_or_null

NOW = 'SELECT NOW()'
REGISTER = (
    'INSERT INTO workers (uuid, host, identity, lanes, started_at, lease_until) '
    'VALUES (:uuid, :host, :identity, :lanes, COALESCE(:started_at, NOW()), '
    'FROM_NOW(:lease))'
)
GET = f'SELECT {WORKER_COLUMNS} FROM workers WHERE uuid = :worker'
RENEW = (
    'UPDATE workers SET lease_until = FROM_NOW(:lease) '
    'WHERE uuid = :worker AND lease_until > NOW()'
)
END = (
    'UPDATE workers SET lease_until = NOW() '
    'WHERE uuid = :worker AND lease_until > NOW()'
)
_LIST = f'SELECT {WORKER_COLUMNS} FROM workers WHERE '
EXPIRED = f'{_LIST} lease_until <= NOW() ORDER BY started_at, uuid'
LIVE = f'{_LIST} lease_until > NOW() ORDER BY started_at, uuid'
NEXT_END = (
    'SELECT MIN(lease_until), NOW() FROM workers '
    'WHERE lease_until > NOW() AND uuid <> :worker'
)
FORGOTTEN = (
    'SELECT DISTINCT owner FROM actions '
    "WHERE owner IS NOT NULL AND ended = '' "
    'AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.uuid = actions.owner)'
)
REMOVE = (
    'DELETE FROM workers WHERE uuid = :worker AND lease_until <= NOW() '
    'AND NOT EXISTS (SELECT 1 FROM actions '
    "WHERE actions.owner = :worker AND actions.ended = '')"
)
STAY = (
    'UPDATE roles SET worker = :worker, lease_until = FROM_NOW(:lease) '
    'WHERE role = :role AND (worker = :worker OR lease_until <= NOW())'
)
TAKE = (
    'INSERT NEW INTO roles (role, worker, lease_until) '
    'VALUES (:role, :worker, FROM_NOW(:lease)) OR NOTHING'
)
DROP = 'DELETE FROM roles WHERE role = :role AND worker = :worker'


class Leases:
    """Workers, their leases and their roles."""

    _db: Database

    def now(self) -> datetime.datetime:
        return self._db.dialect.to_time(self._db.rows(NOW)[0][0])

    def register_worker(self, worker: Worker, lease: float) -> Worker:
        with self._db.transaction() as session:
            session.count(
                REGISTER,
                uuid=worker.uuid,
                host=worker.host,
                identity=worker.identity,
                lanes=dumps(worker.lanes),
                started_at=time_or_null(worker.started_at),
                lease=float(lease),
            )
            return session.mapper.worker(session.rows(GET, worker=worker.uuid)[0])

    def renew_lease(self, worker: str, lease: float) -> bool:
        return self._db.change(RENEW, worker=worker, lease=float(lease)) > 0

    def end_lease(self, worker: str) -> None:
        self._db.change(END, worker=worker)

    def expired_workers(self) -> list[Worker]:
        return [self._db.mapper.worker(row) for row in self._db.rows(EXPIRED)]

    def next_lease_end(self, worker: str) -> float | None:
        ((until, now),) = self._db.rows(NEXT_END, worker=worker)
        end, read_at = self._db.mapper.time(until), self._db.mapper.time(now)
        if end is None or read_at is None:
            return None
        return max(0.0, (end - read_at).total_seconds())

    def forgotten_owners(self) -> list[str]:
        return [row[0] for row in self._db.rows(FORGOTTEN)]

    def live_workers(self, lane: str | None = None) -> list[Worker]:
        workers = [self._db.mapper.worker(row) for row in self._db.rows(LIVE)]
        return [w for w in workers if lane is None or lane in w.lanes]

    def remove_worker(self, worker: str) -> bool:
        return self._db.change(REMOVE, worker=worker) > 0

    def take_role(self, role: str, worker: str, lease: float) -> bool:
        values = {'role': role, 'worker': worker, 'lease': float(lease)}
        return (
            self._db.change(STAY, **values) > 0 or self._db.change(TAKE, **values) > 0
        )

    def drop_role(self, role: str, worker: str) -> None:
        self._db.change(DROP, role=role, worker=worker)
