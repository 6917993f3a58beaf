"""Pages of events: those of stacks and resources, and those of clusters and nodes."""

import dataclasses
import functools
import itertools
from collections.abc import Collection, Hashable, Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite.db import clusters as port
from watcherlite.db.query import EventQuery
from watcherlite.db.sqlalchemy import constructs
from watcherlite.db.sqlalchemy.lists.filters import Expression
from watcherlite.db.sqlalchemy.mappers import EVENTS
from watcherlite.db.sqlalchemy.tables.clusters import clusters
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.domain.events import CLUSTER, NODE, RESOURCE, STACK
from watcherlite.states import stack as states

#: Subjects of events, in the order of the condition of the partial index.
STACKS = (STACK, RESOURCE)
CLUSTERS = (CLUSTER, NODE)
_FILTERS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    STACKS: ('stack_id', 'resource', 'name', 'type', 'action', 'status'),
    CLUSTERS: ('uuid', 'subject', 'about', 'cluster_id', 'name', 'action', 'level'),
}
_AFTER = sa.bindparam('after', type_=sa.String)
_TENANT = sa.bindparam('tenant', type_=sa.String)
_STACK = sa.bindparam('stack', type_=sa.BigInteger)
_ACTIONS = sorted({*states.STACK_ACTIONS, *states.RESOURCE_ACTIONS, states.SIGNAL})
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
#: Key of a scan -> the first column of its index, whose second is the sequence; its
#: value; the index. Each level has a scan of its own.
_SCANS: Mapping[str, tuple[Expression, Any, str]] = {
    'stack': (events.c.subject_id, _STACK, 'ix_events_of_stack'),
    'within': (
        events.c.within,
        sa.select(clusters.c.uuid)
        .where(clusters.c.id == sa.bindparam('cluster', type_=sa.BigInteger))
        .scalar_subquery(),
        'ix_events_within',
    ),
    'tenant': (events.c.tenant, _TENANT, 'ix_events_tenant'),
    **{
        level: (events.c.level, constructs.constant(level), 'ix_events_level')
        for level in port.LEVELS
    },
}


@dataclasses.dataclass(frozen=True, slots=True)
class EventShape:
    """Everything on which the text of the statement of a page depends.

    :param scans: keys of _SCANS, which together cover all matching events; (None,):
        the filters leave few events
    :param filters: (name, kind of its condition)
    :param row_values: the database uses an index for a comparison of row values
    """

    subjects: tuple[str, ...]
    scans: tuple[str | None, ...]
    filters: tuple[tuple[str, Hashable], ...]
    tenant: bool
    descending: bool
    marked: bool
    limited: bool
    row_values: bool


def parse(
    subjects: tuple[str, ...], query: EventQuery, database: str
) -> tuple[EventShape, dict[str, Any]]:
    """Return the shape of a query, and the parameters of its statement.

    :raises ValueError: events do not have a filter of the query
    """
    for name in query.filters:
        if name not in _FILTERS[subjects]:
            raise ValueError(f'an event has no filter {name}')
    desired = {name: sorted(values) for name, values in query.filters.items()}
    options = {'tenant': query.tenant, 'after': query.after, 'limit': query.limit}
    values = {name: value for name, value in options.items() if value is not None}
    if subjects == STACKS:
        scans = _scans_of_stacks(desired, values)
    else:
        scans = _scans_of_clusters(desired, query, values)
    filters = [
        (name, _parse_filter(name, found, values)) for name, found in desired.items()
    ]
    shape = EventShape(
        subjects,
        scans,
        tuple(filters),
        query.tenant is not None,
        query.descending,
        query.after is not None,
        query.limit is not None,
        database == 'postgresql',
    )
    return shape, values


def _scans_of_stacks(
    desired: dict[str, list[Any]], values: dict[str, Any]
) -> tuple[str | None, ...]:
    if 'action' in desired or 'status' in desired:
        desired['state'] = [
            f'{action}_{status}'
            for action, status in itertools.product(
                desired.pop('action', _ACTIONS), desired.pop('status', states.STATUSES)
            )
            # A state is divided at its first underscore.
            if '_' not in action
        ]
    # Most queries are for one stack, whose events are a range of an index.
    if len(desired.get('stack_id', ())) == 1:
        (values['stack'],) = desired.pop('stack_id')
        return ('stack',)
    desired.setdefault('stack_id', [])
    return (None,)


def _scans_of_clusters(
    desired: dict[str, list[Any]], query: EventQuery, values: dict[str, Any]
) -> tuple[str | None, ...]:
    if 'action' in desired:
        desired['type'] = desired.pop('action')
    if len(desired.get('cluster_id', ())) == 1:
        (values['cluster'],) = desired.pop('cluster_id')
        return ('within',)
    if query.tenant is not None:
        return ('tenant',)
    if 'uuid' in desired or 'about' in desired:
        return (None,)
    # Only events of clusters have a level. Any number of other events may be between
    # them in the order of the sequence.
    levels = desired.get('level', port.LEVELS)
    return tuple(level for level in port.LEVELS if level in levels) or (None,)


def _parse_filter(
    name: str, found: Collection[Any], values: dict[str, Any]
) -> Hashable:
    """Return the kind of the condition of a filter; add its parameters to `values`."""
    if name != 'about':
        if found:
            values[f'of_{name}'] = found
        return bool(found)
    subjects = tuple(sorted({subject for subject, _ in found}))
    for subject in subjects:
        values[f'of_{subject}'] = [key for of, key in found if of == subject]
    return subjects


@functools.lru_cache(maxsize=256)
def page(shape: EventShape) -> sa.Select[Any]:
    """Return the statement of a page, whose rows are a sequence and an event.

    An empty page after a marker has one row of NULLs. The statement returns no row if
    the marker does not exist.
    """
    scans = [_scan(shape, key) for key in shape.scans]
    parts = scans[0] if len(scans) == 1 else constructs.union_of_selects(scans)
    found = parts.subquery('page')
    source: Any = found
    if shape.marked:
        marker = sa.select(events.c.sequence.label('marked')).where(
            events.c.uuid == _AFTER, *_scope(shape)
        )
        if shape.subjects == STACKS:
            marker = marker.where(_of_stacks(shape))
        source = marker.subquery('marker').outerjoin(found, sa.true())
    statement = sa.select(*found.c).select_from(source)
    statement = statement.order_by(
        *constructs.ordered([(found.c.sequence, shape.descending)])
    )
    return statement.limit(constructs.LIMIT) if shape.limited else statement


def _scope(shape: EventShape) -> list[Expression]:
    found: list[Expression] = [
        events.c.subject.in_(
            [constructs.constant(subject) for subject in shape.subjects]
        )
    ]
    if shape.tenant:
        found.append(events.c.tenant == _TENANT)
    return found


def _of_stacks(shape: EventShape) -> Expression:
    if shape.scans == ('stack',):
        return events.c.subject_id == _STACK
    return _condition('stack_id', dict(shape.filters)['stack_id'])


def _scan(shape: EventShape, key: str | None) -> sa.Select[Any]:
    """Return the SELECT of the events of one index scan."""
    where = _scope(shape)
    if shape.tenant and key not in ('tenant', None):
        # IS TRUE keeps the planner from using the index of the tenant.
        where[-1] = where[-1].is_(sa.true())
    order: list[Expression] = [events.c.sequence]
    index = 'ix_events_of_stack' if shape.subjects == STACKS else ''
    last = sa.select(events.c.sequence).where(events.c.uuid == _AFTER)
    marker = last.correlate(None).scalar_subquery()
    by_range = key is not None and shape.row_values
    if key is not None:
        column, value, index = _SCANS[key]
        if by_range:
            # For an equality PostgreSQL might scan the sequence of all events.
            order = [column, *order]
            row: Any = sa.tuple_(*order)
            where += [
                column.is_not(None),
                row >= sa.tuple_(value, constructs.ZERO),
                row <= sa.tuple_(value, constructs.number(constructs.LAST_ID)),
            ]
            if shape.marked:
                where.append(_is_beyond(shape, row, sa.tuple_(value, marker)))
        else:
            where.append(column == value)
    if shape.marked and not by_range:
        where.append(_is_beyond(shape, events.c.sequence, marker))
    where += [_condition(name, kind) for name, kind in shape.filters]
    found = sa.select(events.c.sequence, *EVENTS.columns).where(*where)
    found = found.order_by(
        *constructs.ordered((column, shape.descending) for column in order)
    )
    if shape.limited:
        found = found.limit(constructs.LIMIT)
    if index and not {'about', 'uuid'} & dict(shape.filters).keys():
        found = constructs.use_index(found, events, index, 'mysql', 'sqlite')
    return found


def _is_beyond(shape: EventShape, found: Any, last: Any) -> Any:
    return found < last if shape.descending else found > last


def _condition(name: str, kind: Any) -> Expression:
    """Return the condition of a filter; see `_parsed`."""
    if not kind:
        return constructs.NEVER
    parameter = f'of_{name}'
    if name == 'about':
        return sa.or_(
            *(
                sa.and_(
                    events.c.subject == constructs.constant(subject),
                    constructs.id_in(events.c.subject_id, f'of_{subject}'),
                )
                for subject in kind
            )
        )
    if name == 'stack_id':
        return constructs.id_in(events.c.subject_id, parameter)
    if name == 'cluster_id':
        of = sa.select(clusters.c.uuid).where(
            constructs.id_in(clusters.c.id, parameter)
        )
        return events.c.within.in_(of)
    return constructs.text_in(_COLUMNS[name], parameter)
