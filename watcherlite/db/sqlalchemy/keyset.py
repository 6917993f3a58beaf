"""The statement of a page of a collection.

A page is put together of walks along indexes, each from where the last page ended, so
that it costs the same wherever it is and however many rows there are: one for rows that
have a value in the sort key and one for those that have none, and each of them for rows
that are shown and for deleted ones. What rows refer to is joined to those of the page
only.
"""

import dataclasses
import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.collections import (
    APART,
    COLLECTIONS,
    DELETED,
    OPEN,
    SHOWN,
    STATE,
    Collection,
    Expression,
    SortKey,
    number,
)
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    LIMIT,
    NEVER,
    constant,
    is_only,
    use_index,
)
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.audits import audits, goals, strategies
from watcherlite.states import action as action_states

#: No id is above it, on any database.
LAST_ID = 2**63 - 1
#: Limits that are asked for often: a database that is told one by name does not know
#: how few rows it has to find.
COMMON_LIMITS = frozenset({1, 10, 20, 25, 50, 100, 200, 500, 1000})
ANY = -1
#: Most statements that are kept: each kind of question has its own.
MOST_STATEMENTS = 1000
#: Columns that come before `hidden` in their index, as foreign keys need it.
_FIRST = frozenset(
    {
        *(audits.c.goal_id, audits.c.strategy_id),
        *(action_plans.c.audit_id, action_plans.c.strategy_id, actions.c.audit_id),
    }
)
#: Indexes that are not called after their columns.
_INDEXES: Mapping[Any, str] = {
    actions.c.plan_id: 'ix_actions_plan_id',
    actions.c.audit_id: 'ix_actions_audit_id',
    actions.c.target: 'ix_actions_target',
    actions.c.name: 'ix_actions_name_id',
}
# As the partial index says it.
_ACTIVE = action_plans.c.state.in_(
    [constant(state) for state in ('PENDING', 'ONGOING', 'CANCELLING')]
)
_STATES = {*action_states.FINAL, *OPEN}
#: What stands for the column of the index of active plans, which are few.
_FEW: Expression = sa.literal_column('active')
#: Sort keys that belong to what rows refer to -> its table, and the column for that.
_REFERENCES: Mapping[str, tuple[sa.Table, str]] = {
    'goal_uuid': (goals, 'goal_id'),
    'goal_name': (goals, 'goal_id'),
    'strategy_uuid': (strategies, 'strategy_id'),
    'strategy_name': (strategies, 'strategy_id'),
}
#: A statement has a walk for each of them; if there are more, all rows are sorted.
MOST_REFERENCES = 100
#: Filters by what they leave over, the least first; what did not succeed is less.
_LEADS = (
    *('action_plan_uuid', 'audit_uuid', 'target', 'exception'),
    *('action_type', 'strategy', 'goal', 'state'),
)
#: Filters that leave rows which are all equal in these sort keys.
_DECIDED: Mapping[str, tuple[str, ...]] = {
    'goal': ('goal_uuid', 'goal_name'),
    'strategy': ('strategy_uuid', 'strategy_name'),
    'state': ('state',),
    'action_type': ('action_type',),
}
_AFTER = sa.bindparam('after', type_=sa.String)
_TENANT = sa.bindparam('tenant', type_=sa.String)

Order = Sequence[tuple[Expression, bool]]


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What the statement of a page depends on; all else are its parameters.

    :param keys: (sort key, descending)
    :param filters: (name, what `Filter.parse` has returned first), the lead first
    :param limit: a number in the words of the statement, or ANY: a parameter
    :param references: of what rows are sorted by: the ranks, in order; the same where
        the sort keys are equal
    :param begin: the rank of what the marker refers to; None: nothing
    :param ranges: whether the database takes a comparison of rows for a range of an
        index, and trusts statistics more than the right index
    """

    collection: str
    keys: tuple[tuple[str, bool], ...]
    filters: tuple[tuple[str, Hashable], ...]
    tenant: bool
    marked: bool
    limit: int | None
    deleted: bool
    nested: bool
    references: tuple[int, ...] | None = None
    begin: int | None = None
    ranges: bool = False


def read(collection: str, query: Query, database: str) -> tuple[Shape, dict[str, Any]]:
    """Return what the statement of a query depends on, and its parameters."""
    of = COLLECTIONS[collection]
    queries.check(of.title, query, of.keys, of.filters)
    filters: list[tuple[str, Hashable]] = []
    values: dict[str, Any] = {}
    for name, value in sorted(query.filters.items(), key=_place):
        kind, found = of.filters[name].parse(name, value)
        filters.append((name, kind))
        values.update(found)
    limit = query.limit
    if limit is not None and limit not in COMMON_LIMITS:
        limit, values['limit'] = ANY, limit
    if query.after is not None:
        values['after'] = query.after
    if query.tenant is not None:
        values['tenant'] = query.tenant
    shape = Shape(
        collection,
        _deciding_keys(of, query),
        tuple(filters),
        query.tenant is not None,
        query.after is not None,
        limit,
        query.deleted,
        query.nested,
        ranges=database == 'postgresql',
    )
    return shape, values


def _place(item: tuple[str, Any]) -> int:
    name, value = item
    unusual = name == 'state' and value != action_states.SUCCEEDED
    name = 'exception' if unusual else name
    return _LEADS.index(name) if name in _LEADS else len(_LEADS)


def _deciding_keys(of: Collection, query: Query) -> tuple[tuple[str, bool], ...]:
    """Return the sort keys, `id` instead of one in which all rows are equal."""
    keys = tuple(dict(query.sort or of.order).items())
    if 'id' in dict(keys):
        # What is unique needs no further key.
        keys = keys[: list(dict(keys)).index('id') + 1]
    if len(keys) == 1 and DELETED in of.places and not of.id_ascends:
        decided = {key for name in query.filters for key in _DECIDED.get(name, ())}
        if not query.deleted:
            decided.add('deleted_at')
        ((key, descending),) = keys
        return ((('id' if key in decided else key), descending),)
    if of.id_ascends and 'id' not in dict(keys):
        return (*keys, ('id', False))
    return keys


# what rows are sorted by that belongs to others


@functools.lru_cache(maxsize=64)
def references(collection: str, key: str, marked: bool) -> sa.Select[Any] | None:
    """Return the statement that finds what rows are sorted by, in order, if any.

    Its rows are (id, sort key, id of what the marker refers to). Rows of a very large
    table can refer to few others only: to goals and strategies.
    """
    of = COLLECTIONS[collection]
    if DELETED not in of.places or key not in _REFERENCES:
        return None
    table, column = _REFERENCES[key]
    refers = of.table.c[column]
    marker: Any = sa.null()
    if marked:
        marker = sa.select(refers).where(of.table.c.uuid == _AFTER).scalar_subquery()
    # With EXISTS, MariaDB might first read all that refer to any.
    used = sa.select(number(1)).where(refers == table.c.id).limit(number(1))
    expression = of.keys[key].column
    return (
        sa.select(table.c.id, expression, marker)
        .where(used.scalar_subquery() == number(1))
        .order_by(expression, table.c.id)
    )


def with_references(
    shape: Shape, found: Sequence[Sequence[Any]]
) -> tuple[Shape, dict[str, Any]]:
    """Return a shape with what `references` has found, and its parameters."""
    if len(found) > MOST_REFERENCES:
        return shape, {}
    ranks: list[int] = []
    begin = last = None
    values = {}
    for place, (key, value, marker) in enumerate(found):
        ranks.append((ranks[-1] + (value != last)) if ranks else 0)
        last = value
        values[f'reference_{place}'] = key
        if key == marker:
            begin = ranks[-1]
    return dataclasses.replace(shape, references=tuple(ranks), begin=begin), values


# statements


@functools.lru_cache(maxsize=MOST_STATEMENTS)
def page(shape: Shape) -> sa.Select[Any]:
    """Return the statement of a page.

    Its first column is the id of a row, NULL in the only row of an empty page after a
    marker; no row at all: there is no such marker.
    """
    return _Page(shape).statement()


@functools.lru_cache(maxsize=MOST_STATEMENTS)
def count(shape: Shape) -> sa.Select[Any]:
    """Return the statement that counts the rows, whatever the marker and the limit."""
    found = _Page(shape)
    (place,) = found.places()
    where = found.conditions()
    where += [found.hidden == number(place)] if place is not None else []
    return sa.select(sa.func.count()).select_from(found.table).where(*where)


class _Page:
    """The statement of a page, while it is made."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._of = COLLECTIONS[shape.collection]
        self.table = self._of.table
        self._id: Expression = self.table.c.id
        (self._key, self._descending), *self._rest = shape.keys
        self._sort: SortKey = self._of.keys.get(self._key, SortKey(self._id))
        self._limit: Any = None
        if shape.limit is not None:
            self._limit = LIMIT if shape.limit == ANY else number(shape.limit)
        self._read_filters()

    def _read_filters(self) -> None:
        self._lead: tuple[Expression, Expression] | None = None
        self._others: list[Expression] = []
        self._possible: tuple[int, ...] | None = None
        #: Whether only actions are wanted that have not ended.
        self._unfinished = False
        for name, kind in self._shape.filters:
            found = self._of.filters[name].compare(name, kind)
            if found.lead is not None and self._lead is None:
                self._lead = found.lead
            elif found.lead is not None:
                self._others.append(found.lead[0] == found.lead[1])
                self._unfinished = found.lead[1] is EMPTY
            self._others += found.others
            self._possible = found.hidden or self._possible

    @property
    def hidden(self) -> Expression:
        """Return the column by which rows are on a list or not."""
        return self.table.c.hidden

    def conditions(self) -> list[Expression]:
        """Return what holds of all rows, `hidden` apart."""
        shape, of = self._shape, self._of
        found = list(self._others)
        if self._lead is not None:
            found.append(self._lead[0] == self._lead[1])
        if shape.tenant:
            found.append(self.table.c.tenant == _TENANT)
        return [*found, *self._scope()] if of.unnested is not None else found

    def _scope(self) -> list[Expression]:
        """Return which rows the collection has, `hidden` apart."""
        shape, of = self._shape, self._of
        found = list(of.scope) if DELETED not in of.places else []
        if of.unnested is not None and shape.deleted and not shape.nested:
            found.append(of.unnested)
        if of.unnested is not None and shape.nested and not shape.deleted:
            found.append(self.hidden.in_([number(SHOWN), number(APART)]))
        if of.softly_deleted and not shape.deleted:
            found.append(self.table.c.deleted_at.is_(None))
        return found

    def places(self) -> Sequence[int | None]:
        """Return the values of `hidden` that are walked through; None for any."""
        shape, of = self._shape, self._of
        if not of.places or (of.places == (APART,) and shape.tenant):
            return (None,)
        if of.unnested is not None:
            return (None,) if shape.deleted or shape.nested else (SHOWN,)
        possible = self._possible
        wanted = of.places if shape.deleted or DELETED not in of.places else (SHOWN,)
        if shape.deleted and possible is None and self._key == 'uuid':
            # Two walks along the uuids would each pass by all rows of the other.
            return (None,)
        # Some actions are listed nowhere.
        plain = not of.scope and possible is None and self._lead is None
        if plain and shape.deleted and self._key == 'id':
            return (None,)
        return [place for place in wanted if possible is None or place in possible]

    # the whole

    def statement(self) -> sa.Select[Any]:
        walks = [walk for place in self.places() for walk in self._walks(place)]
        if not walks:
            walks = [self._walk(None, self._by_id(), [], NEVER)]
        order = self._terms()
        if len(walks) == 1:
            page = walks[0].subquery('page')
        else:
            parts = sa.union_all(
                *(
                    sa.select(walk.subquery(f'walk_{place}'))
                    for place, walk in enumerate(walks)
                )
            ).subquery('parts')
            page = (
                sa.select(parts)
                .order_by(*self._ordered(parts, order))
                .limit(self._limit)
                .subquery('page')
            )
        source: Any = page
        if self._shape.marked:
            source = self._marker().outerjoin(page, sa.true())
            source = source.outerjoin(self.table, self._id == page.c.id)
        else:
            source = source.join(self.table, self._id == page.c.id)
        return (
            sa.select(page.c.id, *self._of.columns)
            .select_from(self._joined(source))
            .order_by(*self._ordered(page, order))
        )

    def _joined(self, source: Any) -> Any:
        for table, condition in self._of.joins:
            source = source.outerjoin(table, condition)
        return source

    def _marker(self) -> sa.Subquery:
        table = self.table
        known = [table.c.uuid == _AFTER, *self._of.scope]
        if self._shape.tenant:
            # What others have does not exist.
            known.append(table.c.tenant == _TENANT)
        return sa.select(table.c.id.label('marked')).where(*known).subquery('marker')

    def _terms(self) -> list[tuple[Expression, bool]]:
        """Return what rows are sorted by, without the id."""
        if not self._rest:
            # Whether there is no value, and the value.
            return [(number(0), False), (self._sort.column, self._descending)]
        found: list[tuple[Expression, bool]] = []
        for key, descending in self._shape.keys:
            if key == 'id':
                continue
            sort = self._of.keys[key]
            column = sort.column
            if sort.nullable:
                missing = sa.case((column.is_(None), number(1)), else_=number(0))
                found.append((missing, False))
                column = sa.func.coalesce(column, sort.none)
            found.append((column, descending))
        return found

    @property
    def _id_descends(self) -> bool:
        return dict(self._shape.keys).get('id', self._shape.keys[-1][1])

    def _by_id(self) -> Order:
        return [(self._id, self._id_descends)]

    def _ordered(self, source: Any, order: Order) -> list[Expression]:
        found: list[tuple[Expression, bool]] = [
            (source.c[f's{place}'], descending)
            for place, (_, descending) in enumerate(order)
        ]
        return _directed([*found, (source.c.id, self._id_descends)])

    # walks

    def _walks(self, place: int | None) -> list[sa.Select[Any]]:
        """Return the parts of the page in one place, each in the order of an index."""
        shape = self._shape
        if self._rest:
            return self._by_terms(place)
        if shape.references is not None:
            return self._by_reference(place, shape.references)
        if self._key in ('id', 'uuid'):
            # What is unique needs no second key.
            order = [(self._sort.column, self._descending)]
            return [self._walk(place, order, self._last(self._sort.column))]
        if self.table is actions and self._key in ('state', 'status'):
            return self._by_state(place)
        if shape.collection == 'action_plans' and self._key == 'updated_at':
            settled = action_plans.c.settled_at
            return [
                *self._by_column(place, settled, settled, sa.not_(_ACTIVE)),
                # They are few, and sorted.
                *self._by_column(place, self._sort.column, _FEW, _ACTIVE),
            ]
        return self._by_column(place, self._sort.column, self._sort.column)

    def _by_column(
        self, place: int | None, column: Expression, along: Expression, *where: Any
    ) -> list[sa.Select[Any]]:
        """Return the walks in the order of a column, and in that of the ids.

        :param column: which has the value of the sort key, if any
        :param along: the column of the index
        :param where: what holds besides
        """
        key, row_id, shape = self._sort.column, self._id, self._shape
        order = [(column, self._descending), (row_id, self._descending)]
        walks = []
        present = [*where, column.is_not(None)] if self._sort.nullable else [*where]
        if not shape.marked or shape.ranges:
            last = self._last(key, row_id)
            walks.append(
                self._walk(place, order, last, *present, along=along, ranged=True)
            )
        else:
            # A range of pairs would be one of the first of them only.
            (value,) = self._last(key)
            walks.append(
                self._walk(
                    place,
                    order[1:],
                    self._last(row_id),
                    *where,
                    column == value,
                    along=along,
                    value=column,
                )
            )
            walks.append(self._walk(place, order, [value], *present, along=along))
        if self._sort.nullable:
            # Where the marker has a value, all that have none come after it.
            begin = self._last(
                sa.case((key.is_(None), row_id), else_=number(self._before))
            )
            absent = [*where, column.is_(None)]
            absent += [self._beyond(row_id, value) for value in begin]
            walks.append(self._without_value(place, column, along, absent))
        return walks

    def _without_value(
        self,
        place: int | None,
        column: Expression,
        along: Expression,
        where: list[Any],
        value: Expression | None = None,
    ) -> sa.Select[Any]:
        """Return the walk of the rows that have no value in the sort key."""
        order = self._by_id()
        if self._shape.ranges:
            # PostgreSQL does not see that the key is one. MariaDB would sort for it.
            order = [(column, self._descending), *order]
        value = column if value is None else value
        return self._walk(place, order, [], *where, along=along, value=value, missing=1)

    @property
    def _before(self) -> int:
        """Return the id that all come after."""
        return LAST_ID if self._descending else 0

    def _beyond(self, column: Expression, value: Any) -> Any:
        return column < value if self._descending else column > value

    def _by_terms(self, place: int | None) -> list[sa.Select[Any]]:
        """Return the walks of rows that are sorted by several keys."""
        terms = [*self._terms(), (self._id, self._id_descends)]
        column, descending = self._sort.column, self._descending
        nullable = self._sort.nullable
        present: list[Any] = [column.is_not(None)] if nullable else []
        # Without what is the same in all of a walk.
        order = terms[1:] if nullable else terms
        rest = order[1:]
        absent: list[Any] = [column.is_(None)]
        if self._shape.marked:
            (value,) = self._last(column)
            present.append(column <= value if descending else column >= value)
            present.append(self._after(terms))
            absent.append(self._after(terms))
        walks = [
            self._walk(place, [(column, descending), *rest], [], *present, along=column)
        ]
        if nullable:
            first = [(column, descending)] if self._shape.ranges else []
            walks.append(self._walk(place, [*first, *rest], [], *absent, along=column))
        return walks

    def _after(self, terms: Order) -> Expression:
        """Return that a row comes after the marker."""
        alternatives: list[Expression] = []
        same: list[Expression] = []
        for expression, descending in terms:
            (value,) = self._last(expression)
            beyond = expression < value if descending else expression > value
            alternatives.append(sa.and_(*same, beyond))
            same.append(expression == value)
        return sa.or_(*alternatives)

    def _by_state(self, place: int | None) -> list[sa.Select[Any]]:
        """Return a walk for each state of actions: no index has all of them."""
        order, plain = self._by_id(), self._shape.collection == 'cluster_actions'
        if place == DELETED:
            last = self._in('DELETED', STATE)
            return [self._walk(place, order, last, value=constant('DELETED'))]
        column = actions.c.status if plain else STATE
        walks = []
        for state in sorted(action_states.STATES if plain else _STATES):
            final = state in action_states.FINAL
            ended = (actions.c.ended, constant(state) if final else EMPTY)
            here = column == constant(state) if plain else OPEN.get(state)
            where = [] if final else [here]
            last, value = self._in(state, column), constant(state)
            walks.append(
                self._walk(place, order, last, *where, lead=ended, value=value)
            )
        return walks

    def _in(self, state: str, column: Expression) -> list[Expression]:
        """Return after which id the rows of a state come after the marker."""
        first, last = (LAST_ID, 0) if self._descending else (0, LAST_ID)
        return self._last(
            sa.case(
                (self._beyond(constant(state), column), number(first)),
                (column == constant(state), self._id),
                else_=number(last),
            )
        )

    def _by_reference(
        self, place: int | None, ranks: Sequence[int]
    ) -> list[sa.Select[Any]]:
        """Return a walk for each of what rows refer to, and one for those without."""
        column = self.table.c[_REFERENCES[self._key][1]]
        marked, begin = self._shape.marked, self._shape.begin
        walks = []
        for reference, rank in enumerate(ranks):
            last: list[Expression] = []
            if marked and begin is not None and rank == begin:
                last = self._last(self._id)
            elif marked and (begin is None or (rank < begin) != self._descending):
                continue
            parameter = sa.bindparam(f'reference_{reference}', type_=sa.BigInteger)
            walks.append(
                self._walk(
                    place,
                    self._by_id(),
                    last,
                    lead=(column, parameter),
                    value=number(rank),
                )
            )
        where: list[Any] = [column.is_(None)]
        if begin is None:
            where += [self._beyond(self._id, value) for value in self._last(self._id)]
        walks.append(self._without_value(place, column, column, where, number(0)))
        return walks

    def _last(self, *expressions: Expression) -> list[Expression]:
        """Return the values of the marker; [] without one."""
        if not self._shape.marked:
            return []
        source: Any = self.table
        if self._needs_joins(expressions):
            source = self._joined(source)
        return [
            sa.select(expression)
            .select_from(source)
            .where(self.table.c.uuid == _AFTER)
            .correlate(None)
            .scalar_subquery()
            for expression in expressions
        ]

    def _needs_joins(self, expressions: Iterable[Any]) -> bool:
        joined = {table for table, _ in self._of.joins}
        return self._shape.references is None and any(
            table in joined
            for expression in expressions
            for table in getattr(expression, '_from_objects', ())
        )

    # one walk

    def _walk(
        self,
        place: int | None,
        order: Order,
        last: Sequence[Any],
        *where: Any,
        lead: tuple[Expression, Expression] | None = None,
        along: Expression | None = None,
        value: Expression | None = None,
        missing: int = 0,
        ranged: bool = False,
    ) -> sa.Select[Any]:
        """Return the first rows in an order.

        :param last: beyond these values of the order; [] from the begin
        :param where: what holds besides
        :param lead: (column, value) that all have; that of the filters if None
        :param along: the column of an index, if it is not that of the order
        :param value: that of the sort key
        :param ranged: whether the order is that of an index after what all have
        """
        shape, filtered = self._shape, self._lead
        columns = [column for column, _ in order]
        found: list[Any] = [*self._others, *self._scope(), *where]
        index = self._index(place, columns, lead, along)
        value = columns[0] if value is None else value
        if lead is not None and filtered is not None:
            found.append(filtered[0] == filtered[1])
        lead = lead or filtered
        prefix = [lead] if lead is not None else []
        if shape.tenant:
            prefix.insert(0, (self.table.c.tenant, _TENANT))
        shown = (self.hidden, number(place)) if place is not None else None
        along_id = len(columns) == 1 and columns[0] is self._id and along is None
        if shape.ranges and ranged and shape.tenant and not shape.filters:
            prefix += [shown] if shown is not None else []
            found += self._range(prefix, columns, last)
            order = [(c, self._descending) for c in _first(prefix)] + list(order)
            last = []
        elif shape.ranges and along_id and self._is_indexed() and not shape.tenant:
            first = lead is None or lead[0] in _FIRST
            if shown is not None and first:
                prefix.append(shown)
            elif shown is not None:
                found.append(self._is_hidden(shown, columns, lead, along))
            if len(prefix) > 1:
                found += self._pinned(prefix)
                found += self._compared(columns, last)
                order = [(prefix[0][0], self._descending), *order]
                last = []
            elif prefix:
                found += self._range(prefix, columns, last)
                order = [(c, self._descending) for c in _first(prefix)] + list(order)
                last = []
        else:
            found += [column == equal for column, equal in prefix]
            if shown is not None:
                found.append(self._is_hidden(shown, columns, lead, along))
        if shape.collection == 'actions' and place is None:
            # Not in the words of an index, which is not the one to be used.
            listed = actions.c.hidden.in_([number(SHOWN), number(DELETED)])
            found.append(listed.is_(sa.true()))
        found += self._compared(columns, last)
        return self._select(found, order, value, missing, index)

    def _select(
        self,
        where: list[Any],
        order: Order,
        value: Expression,
        missing: int,
        index: tuple[str, ...],
    ) -> sa.Select[Any]:
        terms = [number(missing), value]
        if self._rest:
            terms = [expression for expression, _ in self._terms()]
        sorted_by = [term.label(f's{place}') for place, term in enumerate(terms)]
        source: Any = self.table
        if self._needs_joins([value, *where, *(column for column, _ in order)]):
            source = self._joined(source)
        found = (
            sa.select(self._id.label('id'), *sorted_by)
            .select_from(source)
            .where(*where)
            .order_by(*_directed(order))
            .limit(self._limit)
        )
        return use_index(found, self.table, *index) if index else found

    def _is_hidden(
        self,
        shown: tuple[Expression, Expression],
        columns: Sequence[Expression],
        lead: tuple[Expression, Expression] | None,
        along: Expression | None,
    ) -> Any:
        """Return that `hidden` has a value."""
        condition = shown[0] == shown[1]
        first = along if along is not None else columns[0]
        column = lead[0] if lead is not None and along is None else first
        if column is self.table.c.uuid or column is actions.c.plan_id or column is _FEW:
            # Not in the words of an index, which is not the one to be used: without
            # statistics it looks better to PostgreSQL than the one in the order.
            return condition.is_(sa.true())
        return condition

    def _compared(
        self, columns: Sequence[Expression], last: Sequence[Any]
    ) -> list[Any]:
        """Return that columns are beyond values."""
        columns = columns[: len(last)]
        if len(columns) < 2:
            return [self._beyond(c, v) for c, v in zip(columns, last, strict=True)]
        return [self._beyond(sa.tuple_(*columns), sa.tuple_(*last))]

    def _range(
        self,
        prefix: Sequence[tuple[Expression, Expression]],
        columns: Sequence[Expression],
        last: Sequence[Any],
    ) -> list[Any]:
        """Return the range of an index in which its first columns have these values.

        Told that a column has one value, PostgreSQL might walk along the ids of all
        rows, because it takes every value for equally frequent. So it is told of a
        range, in which the column is a part of the order.
        """
        first, values = _first(prefix), [value for _, value in prefix]
        one, all_of = first[0], len(first) == 1
        whole: Any = one if all_of else sa.tuple_(*first)
        equal: Any = values[0] if all_of else sa.tuple_(*values)
        down = self._descending
        within = whole >= equal if down else whole <= equal
        begin = whole <= equal if down else whole >= equal
        if last:
            begin = self._beyond(sa.tuple_(*first, *columns), sa.tuple_(*values, *last))
        found = [begin, within]
        if not all_of:
            # Says that it is not NULL, as some indexes do.
            found.append(one >= values[0] if down else one <= values[0])
        return found

    def _pinned(self, prefix: Sequence[tuple[Expression, Expression]]) -> list[Any]:
        """Return that the first columns of an index have these values.

        The first as one of several, of which there is one: told so, PostgreSQL keeps
        to the index, see `_range`. A range of both columns would not do: it goes on
        beyond its end as long as the first one has its value, through all rows that
        are shown to find no more deleted ones.
        """
        (column, value), (other, equal) = prefix
        return [is_only(column, value), other == equal]

    def _index(
        self,
        place: int | None,
        columns: Sequence[Expression],
        lead: tuple[Expression, Expression] | None,
        along: Expression | None,
    ) -> tuple[str, ...]:
        """Return which index to walk along, and the databases that are told it."""
        table, shape, filtered = self.table, self._shape, self._lead
        both = ('mysql', 'sqlite')
        if not self._is_indexed():
            return ()
        if lead is None and filtered is not None:
            if columns[0] is not self._id or along is not None:
                return ()
            lead = filtered
        column = along if along is not None else columns[0]
        if lead is not None:
            column = lead[0]
        if column is table.c.uuid:
            return (f'uq_{table.name}_uuid', 'mysql')
        if column is self._id:
            return () if place is None else (f'ix_{table.name}_hidden_id', *both)
        if column is _FEW:
            return ('ix_action_plans_active', *both)
        if column is actions.c.plan_id and self._unfinished:
            return ('ix_actions_unfinished', 'mysql')
        if getattr(column, 'table', None) is not table:
            return ()
        if column in _INDEXES and not shape.tenant:
            return (_INDEXES[column], *both)
        return (self._index_of(column), *both)

    def _is_indexed(self) -> bool:
        """Return whether there is an index for the order."""
        of = self._of
        if DELETED in of.places:
            return of.unnested is None
        if of.softly_deleted or self._shape.filters:
            return False
        if self.table is actions:
            none = self._key == 'target' and not self._shape.tenant
            several = bool(self._rest) and self._key == 'status'
            return not (none or several or self._key in of.unindexed)
        return True

    def _index_of(self, column: Any) -> str:
        if DELETED not in self._of.places:
            first = ['tenant'] * self._shape.tenant
            if self.table is not actions or not self._shape.tenant:
                first += ['hidden'] * bool(self._of.places)
        else:
            first = [] if column in _FIRST else ['hidden']
        last = ['hidden'] * (column in _FIRST)
        names = [self.table.name, *first, column.name, *last, 'id']
        return f'ix_{"_".join(names)}'


def _first(prefix: Sequence[tuple[Expression, Expression]]) -> list[Expression]:
    return [column for column, _ in prefix]


def _directed(order: Order) -> list[Expression]:
    return [column.desc() if down else column.asc() for column, down in order]
