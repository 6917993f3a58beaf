"""Keyset pagination: the statement of one page of a collection.

A page is the union of index scans, each of which begins after the marker and ends at
the limit. Its cost therefore depends neither on its position nor on the number of
rows. There are separate scans for rows with and without a value in the sort key, and
for listed and deleted rows. Referenced tables are joined to the rows of the page only.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    LAST_ID,
    LIMIT,
    NEVER,
    constant,
    is_only,
    number,
    ordered,
    union_of_selects,
    use_index,
)
from watcherlite.db.sqlalchemy.lists.collections import COLLECTIONS, SortKey
from watcherlite.db.sqlalchemy.lists.filters import (
    DELETED,
    LISTED,
    OPEN_STATES,
    STATE,
    UNLISTED,
    Expression,
)
from watcherlite.db.sqlalchemy.lists.shapes import ANY, MARKER, REFERENCES, Shape
from watcherlite.db.sqlalchemy.statements.plans import ACTIVE
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.audits import audits
from watcherlite.states import action as action_states

#: The size of the cache of statements; each shape has a statement of its own.
MAX_STATEMENTS = 1000
#: Foreign keys that precede `hidden` in their index.
_BEFORE_HIDDEN = frozenset(
    {
        audits.c.goal_id,
        audits.c.strategy_id,
        action_plans.c.audit_id,
        action_plans.c.strategy_id,
        actions.c.audit_id,
    }
)
#: Indexes whose names are not derived from their columns.
_INDEXES: Mapping[Any, str] = {
    actions.c.plan_id: 'ix_actions_plan_id',
    actions.c.audit_id: 'ix_actions_audit_id',
    actions.c.target: 'ix_actions_target',
    actions.c.name: 'ix_actions_name_id',
}
_STATES = {*action_states.FINAL, *OPEN_STATES}
#: Represents the column of the partial index of active plans.
_ACTIVE_PLANS: Expression = sa.literal_column('active')
_TENANT = sa.bindparam('tenant', type_=sa.String)

Order = Sequence[tuple[Expression, bool]]
#: A column and the value that it has in all rows of a scan.
Equality = tuple[Expression, Expression]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """One index scan of a page.

    :param hidden: the value of `hidden` in its rows; None: any
    :param order: (column, descending)
    :param after: the values of the columns of `order` after which the scan begins; ():
        at the start of the index
    :param where: further conditions
    :param equality: the column and value that precede `order` in the index; None: those
        of the filters
    :param index_column: the column of the index; None: the first of `order`
    :param value: the value of the sort key; None: the first column of `order`
    :param missing: 1 if the rows have no value in the sort key
    :param is_index_order: `order` is the order of the index after the equality columns
    """

    hidden: int | None
    order: Order
    after: Sequence[Any] = ()
    where: Sequence[Any] = ()
    equality: Equality | None = None
    index_column: Expression | None = None
    value: Expression | None = None
    missing: int = 0
    is_index_order: bool = False

    @property
    def columns(self) -> list[Expression]:
        """Return the columns of the order."""
        return [column for column, _ in self.order]


@functools.lru_cache(maxsize=MAX_STATEMENTS)
def page(shape: Shape) -> sa.Select[Any]:
    """Return the statement of a page.

    Its first column is the id of a row, NULL in the single row of an empty page after a
    marker. It returns no row if the marker does not exist.
    """
    return _Page(shape).statement()


@functools.lru_cache(maxsize=MAX_STATEMENTS)
def count(shape: Shape) -> sa.Select[Any]:
    """Return the statement that counts the rows, regardless of marker and limit."""
    found = _Page(shape)
    (hidden,) = found.hidden_values()
    where = found.conditions()
    where += [found.hidden == number(hidden)] if hidden is not None else []
    return sa.select(sa.func.count()).select_from(found.table).where(*where)


class _Page:
    """The builder of the statement of one shape."""

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
        self._equality: Equality | None = None
        self._conditions: list[Expression] = []
        self._possible: tuple[int, ...] | None = None
        #: The filters leave unfinished actions only.
        self._unfinished = False
        #: The limits of the sort key: whether it is the upper one -> value.
        self._limits: dict[bool, Expression] = {}
        for name, kind in self._shape.filters:
            found = self._of.filters[name].compare(name, kind)
            if found.equality is not None and self._equality is None:
                self._equality = found.equality
            elif found.equality is not None:
                self._conditions.append(found.equality[0] == found.equality[1])
                self._unfinished = found.equality[1] is EMPTY
            if found.limit is not None and found.limit[0] is self._sort.column:
                self._limits[found.limit[2]] = found.limit[1]
            self._conditions += found.conditions
            self._possible = found.hidden or self._possible

    @property
    def hidden(self) -> Expression:
        """Return the column `hidden`."""
        return self.table.c.hidden

    def conditions(self) -> list[Expression]:
        """Return the conditions of all rows, except that on `hidden`."""
        found = list(self._conditions)
        if self._equality is not None:
            found.append(self._equality[0] == self._equality[1])
        if self._shape.tenant:
            found.append(self.table.c.tenant == _TENANT)
        return [*found, *self._scope()] if self._of.unnested is not None else found

    def _scope(self) -> list[Expression]:
        """Return the conditions of the collection, except that on `hidden`."""
        shape, of = self._shape, self._of
        found = list(of.scope) if DELETED not in of.hidden_values else []
        if of.unnested is not None and shape.deleted and not shape.nested:
            found.append(of.unnested)
        if of.unnested is not None and shape.nested and not shape.deleted:
            found.append(self.hidden.in_([number(LISTED), number(UNLISTED)]))
        if of.is_softly_deleted and not shape.deleted:
            found.append(self.table.c.deleted_at.is_(None))
        return found

    def hidden_values(self) -> Sequence[int | None]:
        """Return the values of `hidden`, each of which has scans; None: any value."""
        shape, of = self._shape, self._of
        listed, possible = of.hidden_values, self._possible
        if not listed or (listed == (UNLISTED,) and shape.tenant):
            return (None,)
        if of.unnested is not None:
            return (None,) if shape.deleted or shape.nested else (LISTED,)
        if shape.deleted and possible is None:
            # Of two scans of uuids, each would pass all rows of the other one.
            if self._key == 'uuid':
                return (None,)
            # Not for actions, some of which have no list.
            if self._key == 'id' and not of.scope and self._equality is None:
                return (None,)
        if DELETED in listed and not shape.deleted:
            listed = (LISTED,)
        return [value for value in listed if possible is None or value in possible]

    # the statement

    def statement(self) -> sa.Select[Any]:
        """Return the statement of the page."""
        scans = [scan for value in self.hidden_values() for scan in self._scans(value)]
        if not scans:
            scans = [Scan(hidden=None, order=self._by_id(), where=[NEVER])]
        selects = [self._select(scan) for scan in scans]
        if len(selects) == 1:
            page = selects[0].subquery('page')
        else:
            parts = union_of_selects(selects).subquery('parts')
            page = (
                sa.select(parts)
                .order_by(*self._page_order(parts))
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
            .select_from(self._of.joined(source))
            .order_by(*self._page_order(page))
        )

    def _marker(self) -> sa.Subquery:
        table = self.table
        where = [table.c.uuid == MARKER, *self._of.scope]
        if self._shape.tenant:
            # A marker of another project must look as if it did not exist.
            where.append(table.c.tenant == _TENANT)
        return sa.select(table.c.id.label('marked')).where(*where).subquery('marker')

    def _sort_terms(self) -> list[tuple[Expression, bool]]:
        """Return the terms by which rows are sorted, without the id."""
        if not self._rest:
            # Whether the value is missing, and the value.
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

    def _page_order(self, source: Any) -> list[Expression]:
        """Return the order of a subquery whose columns are the sort terms."""
        terms = enumerate(self._sort_terms())
        found = [(source.c[f's{position}'], down) for position, (_, down) in terms]
        return ordered([*found, (source.c.id, self._id_descends)])

    # the scans

    def _scans(self, hidden: int | None) -> list[Scan]:
        """Return the scans of the rows with one value of `hidden`."""
        shape, key = self._shape, self._sort.column
        if self._rest:
            return self._scans_by_terms(hidden)
        if shape.ranks is not None:
            return self._scans_by_reference(hidden, shape.ranks)
        if self._key in ('id', 'uuid'):
            # These are unique: there is no second term.
            order = [(key, self._descending)]
            return [Scan(hidden=hidden, order=order, after=self._marker_values(key))]
        if self.table is actions and self._key in ('state', 'status'):
            return self._scans_by_state(hidden)
        if shape.collection == 'action_plans' and self._key == 'updated_at':
            settled = action_plans.c.settled_at
            return [
                *self._scans_by_column(hidden, settled, settled, sa.not_(ACTIVE)),
                # Active plans are few; they are sorted.
                *self._scans_by_column(hidden, key, _ACTIVE_PLANS, ACTIVE),
            ]
        return self._scans_by_column(hidden, key, key)

    def _scans_by_column(
        self,
        hidden: int | None,
        column: Expression,
        index_column: Expression,
        *where: Any,
    ) -> list[Scan]:
        """Return the scans in the order of a column and the id.

        :param column: the column with the value of the sort key
        """
        key, row_id, shape = self._sort.column, self._id, self._shape
        order = [(column, self._descending), (row_id, self._descending)]
        scan = Scan(hidden=hidden, order=order, index_column=index_column)
        present = [*where, column.is_not(None)] if self._sort.nullable else [*where]
        scans = []
        if not shape.marked or shape.row_values:
            after = self._marker_values(key, row_id)
            scans.append(
                dataclasses.replace(
                    scan, after=after, where=present, is_index_order=True
                )
            )
        else:
            # MariaDB and SQLite use only the first column of a row value: the rows with
            # the value of the marker have a scan of their own.
            (value,) = self._marker_values(key)
            scans += [
                dataclasses.replace(
                    scan,
                    order=order[1:],
                    after=self._marker_values(row_id),
                    where=[*where, column == value],
                    value=column,
                ),
                dataclasses.replace(scan, after=[value], where=present),
            ]
        if self._sort.nullable and not self._limits:
            # All rows without a value come after a marker that has a value.
            before_all = number(LAST_ID if self._descending else 0)
            begin = self._marker_values(
                sa.case((key.is_(None), row_id), else_=before_all)
            )
            absent = [*where, column.is_(None)]
            absent += [self._is_beyond(row_id, value) for value in begin]
            scans.append(self._scan_of_absent(hidden, column, index_column, absent))
        return scans

    def _scan_of_absent(
        self,
        hidden: int | None,
        column: Expression,
        index_column: Expression,
        where: list[Any],
        value: Expression | None = None,
    ) -> Scan:
        """Return the scan of the rows that have no value in the sort key."""
        order = self._by_id()
        if self._shape.row_values:
            # PostgreSQL does not derive from IS NULL that the column is constant.
            # MariaDB would sort the rows for it.
            order = [(column, self._descending), *order]
        return Scan(
            hidden=hidden,
            order=order,
            where=where,
            index_column=index_column,
            value=column if value is None else value,
            missing=1,
        )

    def _is_beyond(self, column: Expression, value: Any) -> Any:
        return column < value if self._descending else column > value

    def _scans_by_terms(self, hidden: int | None) -> list[Scan]:
        """Return the scans for several sort keys: along an index of the first."""
        terms = [*self._sort_terms(), (self._id, self._id_descends)]
        column, descending = self._sort.column, self._descending
        nullable = self._sort.nullable
        present: list[Any] = [column.is_not(None)] if nullable else []
        absent: list[Any] = [column.is_(None)]
        # Without the term that is the same in all rows of a scan.
        rest = terms[2:] if nullable else terms[1:]
        if self._shape.marked:
            (value,) = self._marker_values(column)
            present.append(column <= value if descending else column >= value)
            present.append(self._is_after_marker(terms))
            absent.append(self._is_after_marker(terms))
        first = [(column, descending)]
        scan = Scan(
            hidden=hidden, order=[*first, *rest], where=present, index_column=column
        )
        if not nullable:
            return [scan]
        order = [*first, *rest] if self._shape.row_values else rest
        return [scan, dataclasses.replace(scan, order=order, where=absent)]

    def _is_after_marker(self, terms: Order) -> Expression:
        """Return the condition that a row comes after the marker."""
        alternatives: list[Expression] = []
        equal: list[Expression] = []
        for expression, descending in terms:
            (value,) = self._marker_values(expression)
            beyond = expression < value if descending else expression > value
            alternatives.append(sa.and_(*equal, beyond))
            equal.append(expression == value)
        return sa.or_(*alternatives)

    def _scans_by_state(self, hidden: int | None) -> list[Scan]:
        """Return one scan for each state of actions, as no index has the state."""
        order = self._by_id()
        by_status = self._shape.collection == 'cluster_actions'
        if hidden == DELETED:
            after = self._marker_id_in('DELETED', STATE)
            value = constant('DELETED')
            return [Scan(hidden=hidden, order=order, after=after, value=value)]
        column = actions.c.status if by_status else STATE
        scans = []
        for state in sorted(action_states.STATES if by_status else _STATES):
            is_final = state in action_states.FINAL
            is_state = OPEN_STATES.get(state)
            if by_status:
                is_state = column == constant(state)
            scan = Scan(
                hidden=hidden,
                order=order,
                after=self._marker_id_in(state, column),
                where=[] if is_final else [is_state],
                equality=(actions.c.ended, constant(state) if is_final else EMPTY),
                value=constant(state),
            )
            scans.append(scan)
        return scans

    def _marker_id_in(self, state: str, column: Expression) -> list[Expression]:
        """Return the id after which the rows of a state come after the marker."""
        first, last = (LAST_ID, 0) if self._descending else (0, LAST_ID)
        return self._marker_values(
            sa.case(
                (self._is_beyond(constant(state), column), number(first)),
                (column == constant(state), self._id),
                else_=number(last),
            )
        )

    def _scans_by_reference(
        self, hidden: int | None, ranks: Sequence[int]
    ) -> list[Scan]:
        """Return one scan for each referenced row, and one for rows without any."""
        column = self.table.c[REFERENCES[self._key][1]]
        marked, begin = self._shape.marked, self._shape.marker_rank
        scans = []
        for reference, rank in enumerate(ranks):
            after: list[Expression] = []
            if marked and begin is not None and rank == begin:
                after = self._marker_values(self._id)
            elif marked and (begin is None or (rank < begin) != self._descending):
                # All of its rows come before the marker.
                continue
            parameter = sa.bindparam(f'reference_{reference}', type_=sa.BigInteger)
            scan = Scan(
                hidden=hidden,
                order=self._by_id(),
                after=after,
                equality=(column, parameter),
                value=number(rank),
            )
            scans.append(scan)
        where: list[Any] = [column.is_(None)]
        if begin is None:
            values = self._marker_values(self._id)
            where += [self._is_beyond(self._id, value) for value in values]
        scans.append(self._scan_of_absent(hidden, column, column, where, number(0)))
        return scans

    def _marker_values(self, *expressions: Expression) -> list[Expression]:
        """Return the values of expressions in the marker; [] without a marker."""
        if not self._shape.marked:
            return []
        source: Any = self.table
        if self._needs_joins(expressions):
            source = self._of.joined(source)
        return [
            sa.select(expression)
            .select_from(source)
            .where(self.table.c.uuid == MARKER)
            .correlate(None)
            .scalar_subquery()
            for expression in expressions
        ]

    def _needs_joins(self, expressions: Iterable[Any]) -> bool:
        joined = {table for table, _ in self._of.joins}
        return self._shape.ranks is None and any(
            table in joined
            for expression in expressions
            for table in getattr(expression, '_from_objects', ())
        )

    # one scan

    def _select(self, scan: Scan) -> sa.Select[Any]:
        """Return the SELECT of the first rows of a scan."""
        bounds, order = self._bounds(scan)
        where = [*self._conditions, *self._scope(), *scan.where, *bounds]
        terms = [number(scan.missing), scan.columns[0]]
        if scan.value is not None:
            terms[1] = scan.value
        columns = [*where, terms[1], *(column for column, _ in order)]
        if self._rest:
            terms = [expression for expression, _ in self._sort_terms()]
        source: Any = self.table
        if self._needs_joins(columns):
            source = self._of.joined(source)
        labels = [term.label(f's{position}') for position, term in enumerate(terms)]
        found = (
            sa.select(self._id.label('id'), *labels)
            .select_from(source)
            .where(*where)
            .order_by(*ordered(order))
            .limit(self._limit)
        )
        index = self._index(scan)
        return use_index(found, self.table, *index) if index else found

    def _bounds(self, scan: Scan) -> tuple[list[Any], Order]:
        """Return the conditions that bound a scan in its index, and its order."""
        shape, columns = self._shape, scan.columns
        found: list[Any] = []
        equality = scan.equality or self._equality
        if scan.equality is not None and self._equality is not None:
            found.append(self._equality[0] == self._equality[1])
        prefix = [equality] if equality is not None else []
        if shape.tenant:
            prefix.insert(0, (self.table.c.tenant, _TENANT))
        if shape.collection == 'actions' and scan.hidden is None:
            listed = actions.c.hidden.in_([number(LISTED), number(DELETED)])
            # IS TRUE keeps the planner from using an index of this condition.
            found.append(listed.is_(sa.true()))
        hidden = [] if scan.hidden is None else [(self.hidden, number(scan.hidden))]
        by_id = scan.order[0][0] is self._id and len(columns) == 1
        by_id = by_id and scan.index_column is None and self._is_indexed()
        is_unfiltered = len(shape.filters) == len(self._limits)
        if not shape.row_values:
            by_range = False
        elif scan.is_index_order and shape.tenant and is_unfiltered:
            by_range = True
        else:
            by_range = by_id and not shape.tenant
            if by_range and prefix and prefix[0][0] not in _BEFORE_HIDDEN:
                found += self._hidden_condition(scan)
                hidden = []
        if by_range:
            prefix += hidden
        else:
            found += [column == value for column, value in prefix]
            found += self._hidden_condition(scan)
            prefix = []
        if not prefix:
            return [*found, *self._beyond_condition(columns, scan.after)], scan.order
        if shape.tenant or len(prefix) == 1:
            found += self._range(prefix, columns, scan.after)
            first = [column for column, _ in prefix]
        else:
            found += self._prefix_condition(prefix) + self._beyond_condition(
                columns, scan.after
            )
            first = [prefix[0][0]]
        return found, [*((column, self._descending) for column in first), *scan.order]

    def _hidden_condition(self, scan: Scan) -> list[Any]:
        """Return the condition on `hidden`, if the scan has one."""
        if scan.hidden is None:
            return []
        condition = self.hidden == number(scan.hidden)
        equality = scan.equality or self._equality
        column = scan.columns[0] if scan.index_column is None else scan.index_column
        if equality is not None and scan.index_column is None:
            column = equality[0]
        others = (self.table.c.uuid, actions.c.plan_id, _ACTIVE_PLANS)
        if any(column is other for other in others):
            # IS TRUE keeps PostgreSQL from using an index of this condition, which
            # looks better to it, without statistics, than the index in the order.
            return [condition.is_(sa.true())]
        return [condition]

    def _beyond_condition(
        self, columns: Sequence[Expression], values: Sequence[Any]
    ) -> list[Any]:
        """Return the condition that columns are beyond values."""
        columns = columns[: len(values)]
        if len(columns) < 2:
            pairs = zip(columns, values, strict=True)
            return [self._is_beyond(column, value) for column, value in pairs]
        return [self._is_beyond(sa.tuple_(*columns), sa.tuple_(*values))]

    def _range(
        self,
        prefix: Sequence[Equality],
        columns: Sequence[Expression],
        after: Sequence[Any],
    ) -> list[Any]:
        """Return the range of an index in which its first columns have some values.

        For an equality PostgreSQL might scan the ids of all rows, because it assumes
        that every value is equally frequent. In a range, the column is a part of the
        order.
        """
        first = [column for column, _ in prefix]
        values = [value for _, value in prefix]
        column, descending = first[0], self._descending
        found = [self._limit_of_range(prefix, columns, is_upper=not descending)]
        if after:
            begin = self._is_beyond(
                sa.tuple_(*first, *columns), sa.tuple_(*values, *after)
            )
        else:
            begin = self._limit_of_range(prefix, columns, is_upper=descending)
        found.insert(0, begin)
        if len(prefix) > 1:
            # Implies that it is not NULL, which is the condition of some indexes.
            found.append(column >= values[0] if descending else column <= values[0])
        return found

    def _limit_of_range(
        self, prefix: Sequence[Equality], columns: Sequence[Expression], is_upper: bool
    ) -> Any:
        """Return one limit of the range in which columns have some values.

        It includes the limit of the sort key, if this is the next column.
        """
        pairs = list(prefix)
        if is_upper in self._limits and columns[0] is self._sort.column:
            pairs.append((columns[0], self._limits[is_upper]))
        row: Any = pairs[0][0]
        limit: Any = pairs[0][1]
        if len(pairs) > 1:
            row = sa.tuple_(*(column for column, _ in pairs))
            limit = sa.tuple_(*(value for _, value in pairs))
        return row <= limit if is_upper else row >= limit

    def _prefix_condition(self, prefix: Sequence[Equality]) -> list[Any]:
        """Return the condition that the first two columns of an index have some values.

        The first is compared with an array of one element, for which PostgreSQL stays
        with the index, see `_range`. A range of both columns would continue beyond its
        end while the first column has its value: past all listed rows, to find no
        further deleted row.
        """
        (column, value), (other, equal) = prefix
        return [is_only(column, value), other == equal]

    def _index(self, scan: Scan) -> tuple[str, ...]:
        """Return the name of the index of a scan, and the databases that need it."""
        table, equality = self.table, scan.equality
        hinted = ('mysql', 'sqlite')
        if not self._is_indexed():
            return ()
        column = scan.columns[0] if scan.index_column is None else scan.index_column
        if equality is None and self._equality is not None:
            if scan.columns[0] is not self._id or scan.index_column is not None:
                return ()
            equality = self._equality
        if equality is not None:
            column = equality[0]
        if column is table.c.uuid:
            return (f'uq_{table.name}_uuid', 'mysql')
        if column is self._id:
            name = f'ix_{table.name}_hidden_id'
            return () if scan.hidden is None else (name, *hinted)
        if column is _ACTIVE_PLANS:
            return ('ix_action_plans_active', *hinted)
        if column is actions.c.plan_id and self._unfinished:
            return ('ix_actions_unfinished', 'mysql')
        if getattr(column, 'table', None) is not table:
            return ()
        if column in _INDEXES and not self._shape.tenant:
            return (_INDEXES[column], *hinted)
        return (self._index_name(column), *hinted)

    def _is_indexed(self) -> bool:
        """Return whether an index has the order of the page."""
        of = self._of
        if DELETED in of.hidden_values:
            return of.unnested is None
        if of.is_softly_deleted or self._shape.filters:
            return False
        if self.table is actions:
            none = self._key == 'target' and not self._shape.tenant
            several = bool(self._rest) and self._key == 'status'
            return not (none or several or self._key in of.unindexed)
        return True

    def _index_name(self, column: Any) -> str:
        of, tenant = self._of, self._shape.tenant
        first, last = [], []
        if column in _BEFORE_HIDDEN:
            last = ['hidden']
        elif DELETED in of.hidden_values:
            first = ['hidden']
        else:
            first = ['tenant'] * tenant
            if of.hidden_values and not (self.table is actions and tenant):
                first.append('hidden')
        names = [self.table.name, *first, column.name, *last, 'id']
        return f'ix_{"_".join(names)}'
