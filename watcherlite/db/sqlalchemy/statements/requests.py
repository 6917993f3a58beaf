"""Statements on recorded requests; see `db.requests`."""

import dataclasses
import datetime
import functools
from typing import Any

import sqlalchemy as sa

from watcherlite.db.requests import RecordedRequest, RequestQuery, StoredRequest
from watcherlite.db.sqlalchemy.constructs import LIMIT, id_in
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import REQUESTS
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.coordination import requests

_C = requests.c
_ORDER = (_C.occurred_at.desc(), _C.sequence.desc())


def _time(name: str) -> sa.BindParameter[datetime.datetime]:
    return sa.bindparam(name, type_=_C.occurred_at.type)


#: Attribute of a query -> its condition.
_CONDITIONS = {
    'project_id': _C.project_id == sa.bindparam('project_id'),
    'object_uuid': _C.object_uuid == sa.bindparam('object_uuid'),
    'since': _C.occurred_at >= _time('since'),
    'until': _C.occurred_at <= _time('until'),
    'before': sa.or_(
        _C.occurred_at < _time('time'),
        sa.and_(_C.occurred_at == _time('time'), _C.sequence < sa.bindparam('last')),
    ),
}
# Bounds the index scan; databases do not derive it from the condition above.
_NOT_AFTER = _C.occurred_at <= _time('time')
OLD = (
    sa.select(_C.sequence)
    .where(_C.occurred_at < _time('before'))
    .order_by(_C.occurred_at)
    .limit(LIMIT)
)
DELETE = sa.delete(requests).where(id_in(_C.sequence, 'ids'))


@functools.cache
def page(filters: frozenset[str]) -> sa.Select[Any]:
    """Return the SELECT of a page with these attributes of the query.

    A user is found by id and by name, with an index scan for each.
    """
    conditions = [_CONDITIONS[name] for name in sorted(filters - {'user'})]
    if 'before' in filters:
        conditions.append(_NOT_AFTER)
    statement = sa.select(_C.sequence).where(*conditions).order_by(*_ORDER).limit(LIMIT)
    if 'user' in filters:
        scans = [
            sa.select(statement.where(name == sa.bindparam('user')).subquery().c[0])
            for name in (_C.user_id, _C.user_name)
        ]
        statement = (
            sa.select(_C.sequence)
            .where(_C.sequence.in_(sa.union(*scans).subquery().select()))
            .order_by(*_ORDER)
            .limit(LIMIT)
        )
    found = statement.subquery()
    return (
        sa.select(_C.sequence, *REQUESTS.columns)
        .join(found, found.c.sequence == _C.sequence)
        .order_by(*_ORDER)
    )


class SqlRequestStore:
    """Implementation of `db.requests.RequestStore`."""

    _db: Database

    def list_requests(self, query: RequestQuery) -> list[StoredRequest]:
        given = dataclasses.asdict(query)
        values = {name: value for name, value in given.items() if value is not None}
        statement = page(frozenset(values) - {'limit'})
        if query.before is not None:
            del values['before']
            values['time'], values['last'] = query.before
        rows = self._db.rows(statement, **values)
        return [StoredRequest(row[0], REQUESTS.read(row[1:])) for row in rows]

    def purge_requests(self, before: datetime.datetime) -> int:
        return self._db.delete_in_batches(OLD, DELETE, before=before)


class RequestStatements(StatementGroup):
    """Implementation of `db.requests.RequestTransaction`."""

    def insert_request(self, request: RecordedRequest) -> None:
        self._session.insert_row(requests, REQUESTS.by_column(request))
