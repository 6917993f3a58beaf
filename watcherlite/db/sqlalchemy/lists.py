"""The part of the store that lists, and that finds one by what users name."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db import clusters as cluster_port
from watcherlite.db import query as queries
from watcherlite.db.query import (
    ListedAction,
    ListedAudit,
    ListedGoal,
    ListedPlan,
    ListedStrategy,
    ListedTemplate,
    ListedWorker,
    Query,
)
from watcherlite.db.sqlalchemy import keyset, objects
from watcherlite.db.sqlalchemy.collections import (
    COLLECTIONS,
    DELETED,
    SHOWN,
    name_values,
    number,
)
from watcherlite.db.sqlalchemy.constructs import ONE, now
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.rows import RowMapper
from watcherlite.db.sqlalchemy.tables.coordination import workers
from watcherlite.db.sqlalchemy.tables.types import Flag
from watcherlite.db.sqlalchemy.text import can_be_stored

Row = Sequence[Any]

WORKERS = sa.select(
    workers.c.id,
    workers.c.uuid,
    workers.c.host,
    workers.c.lanes,
    workers.c.started_at,
    workers.c.lease_until,
    sa.type_coerce(
        sa.case((workers.c.lease_until > now(), number(1)), else_=number(0)), Flag()
    ),
).order_by(workers.c.id)
#: Collection -> what reads a row of it, and what is listed of it.
_KINDS: dict[str, tuple[RowMapper[Any], Callable[..., Any]]] = {
    'goals': (objects.GOALS, ListedGoal),
    'strategies': (objects.STRATEGIES, ListedStrategy),
    'audit_templates': (objects.AUDIT_TEMPLATES, ListedTemplate),
    'audits': (objects.AUDITS, ListedAudit),
    'action_plans': (objects.ACTION_PLANS, ListedPlan),
    'actions': (objects.ACTIONS, ListedAction),
}


def page(
    db: Database,
    collection: str,
    query: Query,
    not_found: Callable[[str], exceptions.NotFound],
) -> list[Row]:
    """Return a page of rows of the columns of a collection.

    :param not_found: makes the error for a marker that is not there
    """
    if query.after is not None and not can_be_stored(query.after):
        raise not_found(query.after)
    shape, values = keyset.read(collection, query, db.engine.dialect.name)
    of = keyset.references(collection, shape.keys[0][0], shape.marked)
    if of is not None:
        marker = {} if query.after is None else {'after': query.after}
        shape, found = keyset.with_references(shape, db.rows(of, **marker))
        values.update(found)
    rows = db.rows(keyset.page(shape), **values)
    if query.after is not None and not rows:
        raise not_found(query.after)
    return [row[1:] for row in rows if row[0] is not None]


@functools.cache
def _by_name(collection: str, deleted: bool) -> sa.Select[Any]:
    """Return the statement for what a name stands for: a uuid, a name or an id."""
    of = COLLECTIONS[collection]
    row = of.table.c

    def value(name: str, kind: Any = sa.String) -> sa.BindParameter[Any]:
        return sa.bindparam(name, type_=kind)

    called = sa.case((row.name == value('name'), number(1)), else_=number(2))
    # Three walks along three indexes: no database takes them at once for an OR.
    matches = sa.union_all(
        sa.select(row.id, number(0).label('place')).where(row.uuid == value('lower')),
        sa.select(row.id, called).where(row.lower_name == value('folded')),
        sa.select(row.id, number(3)).where(row.id == value('number', sa.BigInteger)),
    ).subquery('matches')
    source: Any = matches.join(of.table, row.id == matches.c.id)
    for table, condition in of.joins:
        source = source.outerjoin(table, condition)
    # What is not deleted first.
    gone = sa.case((row.deleted == number(SHOWN), number(0)), else_=number(DELETED))
    found = (
        sa.select(*of.columns)
        .select_from(source)
        .order_by(gone, matches.c.place, row.id.desc())
        .limit(ONE)
    )
    return found if deleted else found.where(row.deleted_at.is_(None))


@functools.cache
def _by_uuid(collection: str, deleted: bool) -> sa.Select[Any]:
    of = COLLECTIONS[collection]
    source: Any = of.table
    for table, condition in of.joins:
        source = source.outerjoin(table, condition)
    found = sa.select(*of.columns).select_from(source)
    found = found.where(of.table.c.uuid == sa.bindparam('uuid', type_=sa.String))
    return found if deleted else found.where(of.table.c.deleted_at.is_(None))


@functools.cache
def _named(collection: str, of_tenant: bool, short: bool) -> sa.CompoundSelect[Any]:
    """Return the statement that finds what a name may mean.

    A row has the columns, and in which way it was found: 1 by uuid, 2 by name, 3 by
    the beginning of its uuid.
    """
    of = COLLECTIONS[collection]
    row = of.table.c
    shown = list(of.scope)
    if SHOWN in of.places:
        shown.append(row.hidden == number(SHOWN))
    if of_tenant:
        shown.append(row.tenant == sa.bindparam('tenant', type_=sa.String))
    uuid, name, begin, above = (
        sa.bindparam(parameter, type_=sa.String)
        for parameter in ('uuid', 'name', 'short', 'above')
    )
    ways: list[tuple[Any, ...]] = [(row.uuid == uuid,), (row.name == name,)]
    if short:
        # A range: nothing in it is taken for a wildcard, and `g` is above each digit.
        ways.append((row.uuid >= begin, row.uuid < above))
    return sa.union_all(
        *(
            sa.select(
                sa.select(*of.columns, number(place).label('way'))
                .where(*way, *shown)
                .order_by(row.id)
                .limit(number(cluster_port.LISTED + 1))
                .subquery(f'way_{place}')
            )
            for place, way in enumerate(ways, start=1)
        )
    )


def named(
    db: Database, collection: str, name: str, tenant: str | None
) -> Sequence[Row]:
    """Return the rows that a name may mean, each with the way it was found."""
    values = {'uuid': name.lower(), 'name': name}
    short = cluster_port.short_id(name)
    if short is not None:
        values |= {'short': short, 'above': f'{short}g'}
    if tenant is not None:
        values['tenant'] = tenant
    return db.rows(_named(collection, tenant is not None, short is not None), **values)


class Lists(queries.Finders):
    """`db.query.ListStore`."""

    _db: Database

    def list_goals(self, query: Query) -> list[ListedGoal]:
        return self._list('goals', query)

    def list_strategies(self, query: Query) -> list[ListedStrategy]:
        return self._list('strategies', query)

    def list_audit_templates(self, query: Query) -> list[ListedTemplate]:
        return self._list('audit_templates', query)

    def list_audits(self, query: Query) -> list[ListedAudit]:
        return self._list('audits', query)

    def list_action_plans(self, query: Query) -> list[ListedPlan]:
        return self._list('action_plans', query)

    def page_of_actions(self, query: Query) -> list[ListedAction]:
        return self._list('actions', query)

    def list_workers(self) -> list[ListedWorker]:
        found = self._db.rows(WORKERS)
        return [ListedWorker(*row) for row in found]

    # what these share

    def _list(self, collection: str, query: Query) -> list[Any]:
        not_found = functools.partial(queries.not_found, collection)
        return _listed(collection, page(self._db, collection, query, not_found))

    def _find(self, collection: str, name: str, deleted: bool) -> Any:
        if not can_be_stored(name):
            raise queries.not_found(collection, name)
        rows = self._db.rows(_by_name(collection, deleted), **name_values(name))
        return self._only(collection, rows, name)

    def _find_uuid(self, collection: str, uuid: str, deleted: bool) -> Any:
        if not can_be_stored(uuid):
            raise queries.not_found(collection, uuid)
        rows = self._db.rows(_by_uuid(collection, deleted), uuid=uuid)
        return self._only(collection, rows, uuid)

    def _only(self, collection: str, rows: Sequence[Row], name: str) -> Any:
        for one in _listed(collection, rows):
            return one
        raise queries.not_found(collection, name)


def _listed(collection: str, rows: Sequence[Row]) -> list[Any]:
    mapper, kind = _KINDS[collection]
    width = len(mapper.columns)
    return [kind(mapper.read(row[:width]), *row[width:]) for row in rows]
