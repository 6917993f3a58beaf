"""Shapes of pages: everything on which the text of a list statement depends.

Queries of one shape share one statement, which is compiled and prepared once. All other
values of a query are parameters.
"""

import dataclasses
import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.constructs import number
from watcherlite.db.sqlalchemy.lists.collections import COLLECTIONS, Collection
from watcherlite.db.sqlalchemy.lists.filters import DELETED
from watcherlite.db.sqlalchemy.tables.audits import goals, strategies
from watcherlite.states import action as action_states

#: Common limits, which are literals: a planner that does not know the limit of a
#: prepared statement assumes that it needs many rows.
COMMON_LIMITS = frozenset({1, 10, 20, 25, 50, 100, 200, 500, 1000})
#: The limit is a parameter.
ANY = -1
#: A page has an index scan for each referenced row; above this number of referenced
#: rows, it sorts all rows instead.
MAX_REFERENCES = 100
#: Sort keys that are columns of a referenced table -> this table, and the foreign key.
REFERENCES: Mapping[str, tuple[sa.Table, str]] = {
    'goal_uuid': (goals, 'goal_id'),
    'goal_name': (goals, 'goal_id'),
    'strategy_uuid': (strategies, 'strategy_id'),
    'strategy_name': (strategies, 'strategy_id'),
}
#: Filters, the most selective first. 'exception' is a state other than SUCCEEDED, which
#: few rows have.
_SELECTIVITY = (
    'action_plan_uuid',
    'audit_uuid',
    'target',
    'exception',
    'action_type',
    'strategy',
    'goal',
    'state',
)
#: Filter -> the sort keys in which all remaining rows are equal.
_CONSTANT_KEYS: Mapping[str, tuple[str, ...]] = {
    'goal': ('goal_uuid', 'goal_name'),
    'strategy': ('strategy_uuid', 'strategy_name'),
    'state': ('state',),
    'action_type': ('action_type',),
}
MARKER = sa.bindparam('after', type_=sa.String)


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a page.

    :param keys: (sort key, descending)
    :param filters: (name, first value returned by `Filter.parse`), the most selective
        filter first
    :param marked: the page begins after a marker
    :param limit: a literal, or ANY for a parameter; None: no limit
    :param ranks: of the referenced rows that decide the order: their ranks, in order;
        equal where the sort keys are equal
    :param marker_rank: the rank of the row that the marker refers to; None: it refers
        to none
    :param row_values: the database uses an index for a comparison of row values, and
        needs it, because it otherwise trusts its statistics more than the right index
    """

    collection: str
    keys: tuple[tuple[str, bool], ...]
    filters: tuple[tuple[str, Hashable], ...]
    tenant: bool
    marked: bool
    limit: int | None
    deleted: bool
    nested: bool
    ranks: tuple[int, ...] | None = None
    marker_rank: int | None = None
    row_values: bool = False


def parse(collection: str, query: Query, database: str) -> tuple[Shape, dict[str, Any]]:
    """Return the shape of a query, and the parameters of its statement.

    :raises ValueError: the collection does not have a sort key or filter of the query
    """
    of = COLLECTIONS[collection]
    queries.check(of.title, query, of.keys, of.filters)
    filters: list[tuple[str, Hashable]] = []
    values: dict[str, Any] = {}
    for name, value in sorted(
        {**query.filters, **query.times}.items(), key=_selectivity
    ):
        kind, parameters = of.filters[name].parse(name, value)
        filters.append((name, kind))
        values.update(parameters)
    limit = query.limit
    if limit is not None and limit not in COMMON_LIMITS:
        limit, values['limit'] = ANY, limit
    if query.after is not None:
        values['after'] = query.after
    if query.tenant is not None:
        values['tenant'] = query.tenant
    shape = Shape(
        collection,
        _effective_keys(of, query),
        tuple(filters),
        query.tenant is not None,
        query.after is not None,
        limit,
        query.deleted,
        query.nested,
        row_values=database == 'postgresql',
    )
    return shape, values


def _selectivity(item: tuple[str, Any]) -> int:
    name, value = item
    if name == 'state' and value != action_states.SUCCEEDED:
        name = 'exception'
    return _SELECTIVITY.index(name) if name in _SELECTIVITY else len(_SELECTIVITY)


def _effective_keys(of: Collection, query: Query) -> tuple[tuple[str, bool], ...]:
    """Return the sort keys, with `id` for a key in which all rows are equal."""
    keys = tuple(dict(query.sort or of.order).items())
    if 'id' in dict(keys):
        # The id is unique: the keys after it have no effect.
        keys = keys[: list(dict(keys)).index('id') + 1]
    if len(keys) == 1 and DELETED in of.hidden_values and not of.id_ascends:
        constant = {key for f in query.filters for key in _CONSTANT_KEYS.get(f, ())}
        if not query.deleted:
            constant.add('deleted_at')
        ((key, descending),) = keys
        return ((('id' if key in constant else key), descending),)
    if of.id_ascends and 'id' not in dict(keys):
        return (*keys, ('id', False))
    return keys


@functools.lru_cache(maxsize=64)
def references(collection: str, key: str, marked: bool) -> sa.Select[Any] | None:
    """Return the statement that reads the referenced rows in the order of a sort key.

    Its rows are (id, sort key, id of the row that the marker refers to). None if the
    sort key is a column of the table itself. Even a large table refers to few goals
    and strategies.
    """
    of = COLLECTIONS[collection]
    if DELETED not in of.hidden_values or key not in REFERENCES:
        return None
    table, column = REFERENCES[key]
    foreign_key = of.table.c[column]
    marker: Any = sa.null()
    if marked:
        marker = sa.select(foreign_key).where(of.table.c.uuid == MARKER)
        marker = marker.scalar_subquery()
    # Not EXISTS, for which MariaDB may first read all rows that refer to any.
    used = sa.select(number(1)).where(foreign_key == table.c.id).limit(number(1))
    sort_key = of.keys[key].column
    return (
        sa.select(table.c.id, sort_key, marker)
        .where(used.scalar_subquery() == number(1))
        .order_by(sort_key, table.c.id)
    )


def with_references(
    shape: Shape, rows: Sequence[Sequence[Any]]
) -> tuple[Shape, dict[str, Any]]:
    """Return a shape with the rows of `references`, and its further parameters."""
    if len(rows) > MAX_REFERENCES:
        return shape, {}
    ranks: list[int] = []
    marker_rank = last = None
    values = {}
    for position, (key, value, marker) in enumerate(rows):
        ranks.append((ranks[-1] + (value != last)) if ranks else 0)
        last = value
        values[f'reference_{position}'] = key
        if key == marker:
            marker_rank = ranks[-1]
    shape = dataclasses.replace(shape, ranks=tuple(ranks), marker_rank=marker_rank)
    return shape, values
