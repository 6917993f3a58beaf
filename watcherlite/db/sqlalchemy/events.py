"""The events: stored with what they tell of, published later, kept as history."""

import dataclasses
import datetime
import functools
import itertools
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db import clusters as port
from watcherlite.db.query import EventQuery
from watcherlite.db.sqlalchemy.collections import number
from watcherlite.db.sqlalchemy.constructs import (
    LIMIT,
    NEVER,
    ONE,
    RowSource,
    constant,
    id_in,
    insert_rows,
    text_in,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.objects import EVENTS
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.clusters import clusters, nodes
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.tables.types import TEXT, EncryptedText
from watcherlite.domain.events import (
    CLUSTER,
    NODE,
    RESOURCE,
    STACK,
    Event,
    StoredEvent,
    check_subject,
)
from watcherlite.states import stack as states

Expression = sa.ColumnElement[Any]
#: No sequence is above it, on any database.
LAST = 2**63 - 1
_AFTER = sa.bindparam('after', type_=sa.String)

# storing


def _tenant(source: RowSource) -> Expression:
    """Return the project of the cluster or node that a row tells of."""

    def owner(table: sa.Table) -> Any:
        of = sa.select(table.c.tenant).where(table.c.id == source.c.subject_id)
        return of.correlate(source).scalar_subquery()

    return sa.case(
        (source.c.subject == constant(CLUSTER), owner(clusters)),
        (source.c.subject == constant(NODE), owner(nodes)),
    )


# Most events are of plans, and each column of a row costs all of them.
NEW = RowSource(*EVENTS.columns)
ADD = insert_rows(events, NEW, pending=ONE)
NEW_OF_STACKS = RowSource(*EVENTS.columns, events.c.name, events.c.type)
ADD_OF_STACKS = insert_rows(events, NEW_OF_STACKS, pending=ONE)
NEW_OF_CLUSTERS = RowSource(
    *EVENTS.columns, events.c.name, events.c.type, events.c.within, events.c.level
)
#: Whatever tells an event, its project is that of the cluster or node.
ADD_OF_CLUSTERS = insert_rows(
    events, NEW_OF_CLUSTERS, pending=ONE, tenant=_tenant(NEW_OF_CLUSTERS)
)


class EventWriting(StatementGroup):
    """The part of a transaction that stores events."""

    def add_events(self, events: Sequence[Event]) -> None:
        subjects = {event.subject for event in events}
        rows: list[tuple[Any, ...]]
        if subjects & {CLUSTER, NODE}:
            rows = [(*EVENTS.values(e), *_found_by(e)) for e in events]
            self._session.write_rows(ADD_OF_CLUSTERS, NEW_OF_CLUSTERS, rows)
        elif subjects & {STACK, RESOURCE}:
            rows = [(*EVENTS.values(e), *_of_resource(e)) for e in events]
            self._session.write_rows(ADD_OF_STACKS, NEW_OF_STACKS, rows)
        else:
            self._session.write_rows(ADD, NEW, list(map(EVENTS.values, events)))


def _found_by(event: Event) -> tuple[Any, ...]:
    """Return the name, type, cluster and level by which an event is found."""
    if event.subject not in (CLUSTER, NODE):
        return (*_of_resource(event), None, None)
    detail = event.detail or {}
    action = detail.get('action') or {}
    return (
        detail.get('name'),
        action.get('type'),
        port.is_within(event),
        port.level_of(event),
    )


def _of_resource(event: Event) -> tuple[str | None, str | None]:
    """Return the name and type of the resource that an event is about."""
    if event.subject == RESOURCE and event.detail is not None:
        return event.detail.get('name'), event.detail.get('type')
    return '' if event.subject == STACK else None, None


# the outbox, and the history of plans and audits


def _events(*where: Expression) -> sa.Select[Any]:
    """Return the statement of events and of what never changes of their actions."""
    # The limit inside, so that no more actions are looked up than there are rows.
    some = (
        sa.select(events.c.sequence, *EVENTS.columns)
        .where(*where)
        .order_by(events.c.sequence)
        .limit(LIMIT)
        .subquery('some')
    )
    return (
        sa.select(
            *some.c,
            actions.c.uuid,
            actions.c.name,
            actions.c.action_type,
            # As text: who publishes puts it into a message.
            sa.type_coerce(actions.c.inputs, EncryptedText(always=False)),
            sa.type_coerce(actions.c.parents, TEXT),
            actions.c.created_at,
        )
        .join_from(some, actions, actions.c.id == some.c.action_id, isouter=True)
        .order_by(some.c.sequence)
    )


_PENDING = events.c.pending == ONE
_LATER = events.c.sequence > sa.bindparam('after', type_=sa.BigInteger)
PENDING = _events(_PENDING)
PUBLISHED = _events(_LATER, events.c.published_at >= sa.bindparam('since'))
HISTORY = _events(_LATER)
HISTORY_OF_PLAN = _events(events.c.plan_id == sa.bindparam('plan_id'), _LATER)
HISTORY_OF_SUBJECT = _events(
    events.c.subject_id == sa.bindparam('subject_id'),
    events.c.subject == sa.bindparam('subject'),
    _LATER,
)
MARK = (
    sa.update(events)
    .where(id_in(events.c.sequence, 'sequences'), _PENDING)
    .values(pending=sa.null(), published_at=sa.bindparam('now'))
)
OLDEST = (
    sa.select(events.c.occurred_at)
    .where(_PENDING)
    .order_by(events.c.sequence)
    .limit(ONE)
)
EXISTS = sa.select(ONE).where(events.c.uuid == sa.bindparam('uuid'))
_WIDTH = 1 + len(EVENTS.columns)


def _read(row: Sequence[Any]) -> StoredEvent:
    return StoredEvent(row[0], EVENTS.read(row[1:_WIDTH]), *row[_WIDTH:])


class Outbox:
    """The part of the store that hands events to the relay and to readers."""

    _db: Database

    def pending_events(self, limit: int) -> list[StoredEvent]:
        return self._read_events(PENDING, limit=limit)

    def mark_published(self, sequences: Sequence[int], now: datetime.datetime) -> None:
        if sequences:
            self._db.change(MARK, sequences=sequences, now=now)

    def published_events(
        self, after: int, since: datetime.datetime, limit: int
    ) -> list[StoredEvent]:
        return self._read_events(PUBLISHED, after=after, since=since, limit=limit)

    def event_exists(self, uuid: str) -> bool:
        return bool(self._db.rows(EXISTS, uuid=uuid))

    def oldest_pending_event(self) -> datetime.datetime | None:
        rows = self._db.rows(OLDEST)
        return rows[0][0] if rows else None

    def list_events(
        self,
        *,
        plan_id: int | None = None,
        subject: str | None = None,
        subject_id: int | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[StoredEvent]:
        page = {'after': after, 'limit': limit}
        check_subject(plan_id, subject, subject_id)
        if subject_id is not None:
            of = {'subject': subject, 'subject_id': subject_id}
            return self._read_events(HISTORY_OF_SUBJECT, **of, **page)
        if plan_id is not None:
            return self._read_events(HISTORY_OF_PLAN, plan_id=plan_id, **page)
        return self._read_events(HISTORY, **page)

    def list_stack_events(self, query: EventQuery) -> list[StoredEvent]:
        if not query.filters.get('stack_id') and query.after is None:
            return []
        return self._event_page(STACKS, query)

    def list_cluster_events(self, query: EventQuery) -> list[StoredEvent]:
        return self._event_page(CLUSTERS, query)

    def _event_page(
        self, subjects: tuple[str, ...], query: EventQuery
    ) -> list[StoredEvent]:
        shape, values = read(subjects, query, self._db.engine.dialect.name)
        rows = self._db.rows(page(shape), **values)
        if not rows and query.after is not None:
            raise exceptions.NotFound(f'There is no event {query.after}.')
        return [_read(row) for row in rows if row[0] is not None]

    def _read_events(
        self, statement: sa.Select[Any], **values: Any
    ) -> list[StoredEvent]:
        return list(map(_read, self._db.rows(statement, **values)))


# pages of the events of stacks, and of those of clusters and nodes

#: In the order of the partial index.
STACKS = (STACK, RESOURCE)
CLUSTERS = (CLUSTER, NODE)
_STACK_FILTERS = ('stack_id', 'resource', 'name', 'type', 'action', 'status')
_CLUSTER_FILTERS = (
    *('uuid', 'subject', 'about', 'cluster_id'),
    *('name', 'action', 'level'),
)
_FILTERS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    STACKS: _STACK_FILTERS,
    CLUSTERS: _CLUSTER_FILTERS,
}
_TENANT = sa.bindparam('tenant', type_=sa.String)
_STATES = sorted({*states.STACK_ACTIONS, *states.RESOURCE_ACTIONS, states.SIGNAL})
#: Filter -> the column that has one of its values.
_COLUMNS: Mapping[str, Expression] = {
    'uuid': events.c.uuid,
    'subject': events.c.subject,
    'name': events.c.name,
    'resource': events.c.name,
    'type': events.c.type,
    'level': events.c.level,
    'state': events.c.new_status,
}
#: Columns that have the events that are equal in them in order: index, and value; of
#: `level` there is a walk for each value.
_INDEXES: Mapping[str, tuple[Expression, str]] = {
    'stack': (events.c.subject_id, 'ix_events_of_stack'),
    'within': (events.c.within, 'ix_events_within'),
    'tenant': (events.c.tenant, 'ix_events_tenant'),
    **dict.fromkeys(port.LEVELS, (events.c.level, 'ix_events_level')),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What the statement of a page depends on; all else are its parameters.

    :param leads: keys of _INDEXES; together these have all events that are wanted.
        None: by what else is asked for there are few
    :param filters: (name, what its condition depends on)
    :param ranges: whether the database takes a comparison of rows for a range of an
        index
    """

    subjects: tuple[str, ...]
    leads: tuple[str | None, ...]
    filters: tuple[tuple[str, Hashable], ...]
    tenant: bool
    descending: bool
    marked: bool
    limited: bool
    ranges: bool


def read(
    subjects: tuple[str, ...], query: EventQuery, database: str
) -> tuple[Shape, dict[str, Any]]:
    """Return what the statement of a query depends on, and its parameters."""
    for name in query.filters:
        if name not in _FILTERS[subjects]:
            raise ValueError(f'an event has no filter {name}')
    wanted = {name: sorted(values) for name, values in query.filters.items()}
    values: dict[str, Any] = {}
    if query.tenant is not None:
        values['tenant'] = query.tenant
    if query.after is not None:
        values['after'] = query.after
    if query.limit is not None:
        values['limit'] = query.limit
    leads: tuple[str | None, ...]
    if subjects == STACKS:
        leads = _leads_of_stacks(wanted, values)
    else:
        leads = _leads_of_clusters(wanted, query, values)
    filters = [(name, _parsed(name, found, values)) for name, found in wanted.items()]
    shape = Shape(
        subjects,
        leads,
        tuple(filters),
        query.tenant is not None,
        query.descending,
        query.after is not None,
        query.limit is not None,
        database == 'postgresql',
    )
    return shape, values


def _leads_of_stacks(
    wanted: dict[str, list[Any]], values: dict[str, Any]
) -> tuple[str | None, ...]:
    if 'action' in wanted or 'status' in wanted:
        wanted['state'] = [
            f'{action}_{status}'
            for action, status in itertools.product(
                wanted.pop('action', _STATES), wanted.pop('status', states.STATUSES)
            )
            # The word is divided at the first one.
            if '_' not in action
        ]
    # One stack, which is what is asked for most, is a range of an index.
    if len(wanted.get('stack_id', ())) == 1:
        (values['stack'],) = wanted.pop('stack_id')
        return ('stack',)
    wanted.setdefault('stack_id', [])
    return (None,)


def _leads_of_clusters(
    wanted: dict[str, list[Any]], query: EventQuery, values: dict[str, Any]
) -> tuple[str | None, ...]:
    if 'action' in wanted:
        wanted['type'] = wanted.pop('action')
    if len(wanted.get('cluster_id', ())) == 1:
        (values['cluster'],) = wanted.pop('cluster_id')
        return ('within',)
    if query.tenant is not None:
        return ('tenant',)
    if 'uuid' in wanted or 'about' in wanted:
        return (None,)
    # Between those of clusters there may be any number of others.
    levels = wanted.get('level', port.LEVELS)
    return tuple(level for level in port.LEVELS if level in levels) or (None,)


def _parsed(name: str, found: Collection[Any], values: dict[str, Any]) -> Hashable:
    """Return what the condition of a filter depends on; note its parameters."""
    if name != 'about':
        if found:
            values[f'of_{name}'] = found
        return bool(found)
    subjects = tuple(sorted({subject for subject, _ in found}))
    for subject in subjects:
        values[f'of_{subject}'] = [key for of, key in found if of == subject]
    return subjects


@functools.lru_cache(maxsize=256)
def page(shape: Shape) -> sa.Select[Any]:
    """Return the statement of a page, of rows of a sequence and an event.

    An empty page after a marker has one row of NULL; no row at all: there is no such
    marker.
    """
    walks = [_walk(shape, lead) for lead in shape.leads]
    parts: Any = walks[0]
    if len(walks) > 1:
        parts = sa.union_all(
            *(
                sa.select(walk.subquery(f'walk_{place}'))
                for place, walk in enumerate(walks)
            )
        )
    found = parts.subquery('page')
    source: Any = found
    if shape.marked:
        marker = sa.select(events.c.sequence.label('marked')).where(
            events.c.uuid == _AFTER, *_whose(shape)
        )
        if shape.subjects == STACKS:
            marker = marker.where(_of_stacks(shape))
        source = marker.subquery('marker').outerjoin(found, sa.true())
    sequence = found.c.sequence
    ordered = sequence.desc() if shape.descending else sequence.asc()
    statement = sa.select(*found.c).select_from(source).order_by(ordered)
    return statement.limit(LIMIT) if shape.limited else statement


def _whose(shape: Shape) -> list[Expression]:
    found: list[Expression] = [
        events.c.subject.in_([constant(subject) for subject in shape.subjects])
    ]
    if shape.tenant:
        found.append(events.c.tenant == _TENANT)
    return found


def _of_stacks(shape: Shape) -> Expression:
    if shape.leads == ('stack',):
        return events.c.subject_id == sa.bindparam('stack', type_=sa.BigInteger)
    return _condition('stack_id', dict(shape.filters)['stack_id'])


def _walk(shape: Shape, lead: str | None) -> sa.Select[Any]:
    """Return the statement of the events that an index leads to."""
    where = _whose(shape)
    if shape.tenant and lead not in ('tenant', None):
        # Not in the words of an index, which is not the one to walk along.
        where[-1] = where[-1].is_(sa.true())
    order: list[Expression] = [events.c.sequence]
    index = 'ix_events_of_stack' if shape.subjects == STACKS else ''
    last = sa.select(events.c.sequence).where(events.c.uuid == _AFTER)
    marker = last.correlate(None).scalar_subquery()
    if lead is not None:
        column, index = _INDEXES[lead]
        value = _value(lead)
        if shape.ranges:
            # Told that it is one, PostgreSQL might walk along the sequence of all
            # events.
            order = [column, *order]
            pair: Any = sa.tuple_(*order)
            where += [
                column.is_not(None),
                pair >= sa.tuple_(value, number(0)),
                pair <= sa.tuple_(value, number(LAST)),
            ]
            if shape.marked:
                where.append(_beyond(shape, pair, sa.tuple_(value, marker)))
        else:
            where.append(column == value)
    if shape.marked and (lead is None or not shape.ranges):
        where.append(_beyond(shape, events.c.sequence, marker))
    where += [_condition(name, kind) for name, kind in shape.filters]
    found = (
        sa.select(events.c.sequence, *EVENTS.columns)
        .where(*where)
        .order_by(*(c.desc() if shape.descending else c.asc() for c in order))
    )
    if shape.limited:
        found = found.limit(LIMIT)
    if index and not {'about', 'uuid'} & dict(shape.filters).keys():
        found = use_index(found, events, index, 'mysql', 'sqlite')
    return found


def _beyond(shape: Shape, found: Any, last: Any) -> Any:
    return found < last if shape.descending else found > last


def _value(lead: str) -> Any:
    """Return what the events have in common that an index leads to."""
    if lead == 'stack':
        return sa.bindparam('stack', type_=sa.BigInteger)
    if lead == 'tenant':
        return _TENANT
    if lead != 'within':
        return constant(lead)
    of = sa.select(clusters.c.uuid).where(
        clusters.c.id == sa.bindparam('cluster', type_=sa.BigInteger)
    )
    return of.scalar_subquery()


def _condition(name: str, kind: Any) -> Expression:
    """Return the condition of a filter; see `_parsed`."""
    if not kind:
        return NEVER
    parameter = f'of_{name}'
    if name == 'about':
        return sa.or_(
            *(
                sa.and_(
                    events.c.subject == constant(subject),
                    id_in(events.c.subject_id, f'of_{subject}'),
                )
                for subject in kind
            )
        )
    if name == 'stack_id':
        return id_in(events.c.subject_id, parameter)
    if name == 'cluster_id':
        of = sa.select(clusters.c.uuid).where(id_in(clusters.c.id, parameter))
        return events.c.within.in_(of)
    return text_in(_COLUMNS[name], parameter)
