"""Queries for lists, and for single objects by uuid, name or id."""

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
    ListedScoringEngine,
    ListedStrategy,
    ListedTemplate,
    ListedWorker,
    Query,
)
from watcherlite.db.sqlalchemy import mappers
from watcherlite.db.sqlalchemy.constructs import (
    ONE,
    ZERO,
    now,
    number,
    union_of_selects,
)
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.lists import keyset, shapes
from watcherlite.db.sqlalchemy.lists.collections import COLLECTIONS
from watcherlite.db.sqlalchemy.lists.filters import LISTED, name_values
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
    sa.type_coerce(sa.case((workers.c.lease_until > now(), ONE), else_=ZERO), Flag()),
).order_by(workers.c.id)
#: Collection -> the mapper of its rows, and the class of its items.
_KINDS: dict[str, tuple[RowMapper[Any], Callable[..., Any]]] = {
    'goals': (mappers.GOALS, ListedGoal),
    'strategies': (mappers.STRATEGIES, ListedStrategy),
    'scoring_engines': (mappers.SCORING_ENGINES, ListedScoringEngine),
    'audit_templates': (mappers.AUDIT_TEMPLATES, ListedTemplate),
    'audits': (mappers.AUDITS, ListedAudit),
    'action_plans': (mappers.ACTION_PLANS, ListedPlan),
    'actions': (mappers.ACTIONS, ListedAction),
}


def fetch_page(
    db: Database,
    collection: str,
    query: Query,
    not_found: Callable[[str], exceptions.NotFound],
) -> list[Row]:
    """Return the rows of a page of a collection.

    :param not_found: returns the error for a marker that does not exist
    """
    if query.after is not None and not can_be_stored(query.after):
        raise not_found(query.after)
    shape, values = shapes.parse(collection, query, db.database)
    references = shapes.references(collection, shape.keys[0][0], shape.marked)
    if references is not None:
        marker = {} if query.after is None else {'after': query.after}
        found = db.rows(references, **marker)
        shape, parameters = shapes.with_references(shape, found)
        values.update(parameters)
    rows = db.rows(keyset.page(shape), **values)
    if query.after is not None and not rows:
        raise not_found(query.after)
    return [row[1:] for row in rows if row[0] is not None]


def count_rows(session: Session | Database, collection: str, query: Query) -> int:
    """Return the number of rows of a query, regardless of its marker and limit."""
    shape, values = shapes.parse(collection, query, session.database)
    return int(session.rows(keyset.count(shape), **values)[0][0])


@functools.cache
def _by_name(collection: str, deleted: bool) -> sa.Select[Any]:
    """Return the statement that finds a row by uuid, name or id."""
    of = COLLECTIONS[collection]
    row = of.table.c

    def value(name: str, kind: Any = sa.String) -> sa.BindParameter[Any]:
        return sa.bindparam(name, type_=kind)

    by_name = sa.case((row.name == value('name'), ONE), else_=number(2))
    # A UNION, because no database uses three indexes for an OR.
    matches = sa.union_all(
        sa.select(row.id, ZERO.label('rank')).where(row.uuid == value('lower')),
        sa.select(row.id, by_name).where(row.lower_name == value('folded')),
        sa.select(row.id, number(3)).where(row.id == value('number', sa.BigInteger)),
    ).subquery('matches')
    # Rows that are not deleted come first.
    is_deleted = sa.case((row.deleted == ZERO, ZERO), else_=ONE)
    found = (
        sa.select(*of.columns)
        .select_from(of.joined(matches.join(of.table, row.id == matches.c.id)))
        .order_by(is_deleted, matches.c.rank, row.id.desc())
        .limit(ONE)
    )
    return found if deleted else found.where(row.deleted_at.is_(None))


@functools.cache
def _by_uuid(collection: str, deleted: bool) -> sa.Select[Any]:
    """Return the statement that finds a row by uuid."""
    of = COLLECTIONS[collection]
    found = sa.select(*of.columns).select_from(of.joined(of.table))
    found = found.where(of.table.c.uuid == sa.bindparam('uuid', type_=sa.String))
    return found if deleted else found.where(of.table.c.deleted_at.is_(None))


@functools.cache
def _matches(collection: str, of_tenant: bool, short: bool) -> sa.CompoundSelect[Any]:
    """Return the statement that finds the rows that a name matches.

    Each row has its columns, and the kind of the match: 1 by uuid, 2 by name, 3 by the
    first characters of its uuid.
    """
    of = COLLECTIONS[collection]
    row = of.table.c
    scope = list(of.scope)
    if LISTED in of.hidden_values:
        scope.append(row.hidden == number(LISTED))
    if of_tenant:
        scope.append(row.tenant == sa.bindparam('tenant', type_=sa.String))
    uuid, name, first, end = (
        sa.bindparam(parameter, type_=sa.String)
        for parameter in ('uuid', 'name', 'short', 'above')
    )
    conditions: list[tuple[Any, ...]] = [(row.uuid == uuid,), (row.name == name,)]
    if short:
        # A range, so that no character is a wildcard; `g` follows the hex digits.
        conditions.append((row.uuid >= first, row.uuid < end))
    return union_of_selects(
        sa.select(*of.columns, number(kind).label('kind'))
        .where(*where, *scope)
        .order_by(row.id)
        .limit(number(cluster_port.LISTED + 1))
        for kind, where in enumerate(conditions, start=1)
    )


def fetch_matches(
    db: Database, collection: str, name: str, tenant: str | None
) -> Sequence[Row]:
    """Return the rows that a name matches, each with the kind of the match."""
    values = {'uuid': name.lower(), 'name': name}
    short = cluster_port.short_id(name)
    if short is not None:
        values |= {'short': short, 'above': f'{short}g'}
    if tenant is not None:
        values['tenant'] = tenant
    return db.rows(
        _matches(collection, tenant is not None, short is not None), **values
    )


class SqlListStore:
    """Implementation of `db.query.ListStore`."""

    _db: Database

    def list_goals(self, query: Query) -> list[ListedGoal]:
        return self._list('goals', query)

    def list_strategies(self, query: Query) -> list[ListedStrategy]:
        return self._list('strategies', query)

    def list_scoring_engines(self, query: Query) -> list[ListedScoringEngine]:
        return self._list('scoring_engines', query)

    def list_audit_templates(self, query: Query) -> list[ListedTemplate]:
        return self._list('audit_templates', query)

    def list_audits(self, query: Query) -> list[ListedAudit]:
        return self._list('audits', query)

    def list_action_plans(self, query: Query) -> list[ListedPlan]:
        return self._list('action_plans', query)

    def page_of_actions(self, query: Query) -> list[ListedAction]:
        return self._list('actions', query)

    def list_workers(self) -> list[ListedWorker]:
        return [ListedWorker(*row) for row in self._db.rows(WORKERS)]

    def find_goal(self, name: str, deleted: bool = False) -> ListedGoal:
        return self._find('goals', name, deleted)

    def find_strategy(self, name: str, deleted: bool = False) -> ListedStrategy:
        return self._find('strategies', name, deleted)

    def find_scoring_engine(
        self, name: str, deleted: bool = False
    ) -> ListedScoringEngine:
        return self._find('scoring_engines', name, deleted)

    def find_audit_template(self, name: str, deleted: bool = False) -> ListedTemplate:
        return self._find('audit_templates', name, deleted)

    def find_audit(self, name: str, deleted: bool = False) -> ListedAudit:
        return self._find('audits', name, deleted)

    def find_action_plan(self, uuid: str, deleted: bool = False) -> ListedPlan:
        return self._find_uuid('action_plans', uuid, deleted)

    def find_action(self, uuid: str, deleted: bool = False) -> ListedAction:
        found: ListedAction = self._find_uuid('actions', uuid, deleted)
        if found.plan_uuid is None:
            # An action of an audit or a stack, which may be of another project.
            raise queries.not_found('actions', uuid)
        return found

    def _list(self, collection: str, query: Query) -> list[Any]:
        not_found = functools.partial(queries.not_found, collection)
        return _to_listed(
            collection, fetch_page(self._db, collection, query, not_found)
        )

    def _find(self, collection: str, name: str, deleted: bool) -> Any:
        if not can_be_stored(name):
            raise queries.not_found(collection, name)
        rows = self._db.rows(_by_name(collection, deleted), **name_values(name))
        return self._single(collection, rows, name)

    def _find_uuid(self, collection: str, uuid: str, deleted: bool) -> Any:
        if not can_be_stored(uuid):
            raise queries.not_found(collection, uuid)
        rows = self._db.rows(_by_uuid(collection, deleted), uuid=uuid)
        return self._single(collection, rows, uuid)

    def _single(self, collection: str, rows: Sequence[Row], name: str) -> Any:
        for one in _to_listed(collection, rows):
            return one
        raise queries.not_found(collection, name)


def _to_listed(collection: str, rows: Sequence[Row]) -> list[Any]:
    mapper, kind = _KINDS[collection]
    width = len(mapper.columns)
    return [kind(mapper.read(row[:width]), *row[width:]) for row in rows]
