"""The statement of a page.

A page is put together of walks along indexes, each from where the last page ended,
so that it costs the same wherever it is and however many rows there are: one for
rows that have a value in the sort key and one for those that have none, and each
of them for rows that are shown and for deleted ones. What rows refer to is joined
to those of the page only.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.collections import (
    ACTION_PLANS,
    ACTIONS,
    COLLECTIONS,
    DELETED,
    SHOWN,
    STATE,
)
from watcherlite.db.sqlalchemy.dialects import Dialect
from watcherlite.db.sqlalchemy.filters import OPEN, conditions
from watcherlite.db.sqlalchemy.tables.actions import ACTIVE_PLANS
from watcherlite.states import action as action_states

#: No id is above it, on any database.
LAST_ID = 2**63 - 1
#: Limits that are asked for often: a database that is told one by name does not
#: know how few rows it has to find.
COMMON_LIMITS = frozenset({1, 10, 20, 25, 50, 100, 200, 500, 1000})
#: Columns that come before `hidden` in their index, as foreign keys need it.
_FIRST = frozenset(
    {
        *('audits.goal_id', 'audits.strategy_id'),
        *('action_plans.audit_id', 'action_plans.strategy_id', 'actions.audit_id'),
    }
)
#: Indexes that are not called after their columns.
_INDEXES: Mapping[str, str] = {
    'actions.plan_id': 'ix_actions_plan_id',
    'actions.audit_id': 'ix_actions_audit_id',
    'actions.target': 'ix_actions_target',
}
# Not in the words of an index, which is not the one to be used.
_LISTED = f'(actions.hidden IN ({SHOWN}, {DELETED})) IS TRUE'
_UNFINISHED = "actions.ended = ''"
_ACTIVE = f'action_plans.{ACTIVE_PLANS}'
#: What stands for the column of the index of active plans, which are few.
_FEW = 'action_plans.active'
_STATES = sorted({*action_states.FINAL, *OPEN})
#: Sort keys that belong to what rows refer to -> its table, and the column for that.
_REFERENCES: Mapping[str, tuple[str, str]] = {
    'goal_uuid': ('goals', 'goal_id'),
    'goal_name': ('goals', 'goal_id'),
    'strategy_uuid': ('strategies', 'strategy_id'),
    'strategy_name': ('strategies', 'strategy_id'),
}
#: A statement has a walk for each of them; if there are more, all rows are sorted.
MOST_REFERENCES = 100


def references(noun: str, query: Query) -> str:
    """Return the statement that finds what rows are sorted by, in order, or ''.

    Its rows are (id, sort key, id of what the marker refers to). Rows of a very large
    table can refer to few others only: to goals and strategies.
    """
    of, key = COLLECTIONS[noun], queries.deciding_key(query)
    if not of.hidden or key not in _REFERENCES:
        return ''
    table, column = _REFERENCES[key]
    marker = 'NULL'
    if query.after is not None:
        marker = f'(SELECT {column} FROM {of.table} WHERE uuid = :after)'
    # With EXISTS, MariaDB might first read all that refer to any.
    used = f'(SELECT 1 FROM {of.table} WHERE {of.table}.{column} = {table}.id LIMIT 1)'
    expression = of.keys[key][0]
    return (
        f'SELECT {table}.id, {expression}, {marker} FROM {table} WHERE {used} = 1 '
        f'ORDER BY {expression}, {table}.id'
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Reference:
    """One of what rows are sorted by.

    :param name: of the parameter that is its id
    :param rank: its place; the same where the sort keys are equal
    """

    name: str
    rank: int


class Page:
    """The statement of a page, and the values of its parameters.

    :ivar template: its first column is the id of a row, NULL in the only row of an
        empty page after a marker; no row at all: there is no such marker
    :param found: what `references` has found
    """

    def __init__(
        self,
        noun: str,
        query: Query,
        dialect: Dialect,
        found: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        queries.check(noun, query)
        self._noun = COLLECTIONS[noun]
        self._query = query
        self._dialect = dialect
        self._descending = query.sort_dir == queries.DESCENDING
        self._begin = '<' if self._descending else '>'
        self._id = f'{self._noun.table}.id'
        self._sort_key = queries.deciding_key(query)
        self._key, self._nullable = self._noun.keys[self._sort_key]
        self._conditions = conditions(self._noun, query)
        self.values = dict(self._conditions.values)
        self._limit = f'LIMIT {query.limit}'
        if query.limit not in COMMON_LIMITS:
            self._limit = 'LIMIT :limit'
            self.values['limit'] = query.limit
        if query.after is not None:
            self.values['after'] = query.after
        self._references: list[_Reference] | None = None
        self._marked: int | None = None
        if found is not None and len(found) <= MOST_REFERENCES:
            self._references = self._ranked(found)
        self.template = self._template()

    def _ranked(self, found: Sequence[Sequence[Any]]) -> list[_Reference]:
        """Take over what rows are sorted by, and which of it the marker refers to."""
        ranked: list[_Reference] = []
        last = None
        for number, (key, value, marker) in enumerate(found):
            rank = ranked[-1].rank if ranked else 0
            if ranked and value != last:
                rank += 1
            last = value
            ranked.append(_Reference(f'reference_{"x" * number}', rank))
            self.values[ranked[-1].name] = key
            if key == marker:
                self._marked = rank
        return ranked

    def _template(self) -> str:
        table = self._noun.table
        source = f'({self._page()}) AS page'
        if self._query.after is not None:
            known = ' AND plan_id IS NOT NULL' if self._noun is ACTIONS else ''
            marker = f'(SELECT id FROM {table} WHERE uuid = :after{known}) AS marker'
            source = f'{marker} LEFT JOIN {source} ON 1 = 1'
        return (
            f'SELECT page.id, {self._noun.columns} FROM {source} '
            f'LEFT JOIN {table} ON {table}.id = page.id{self._noun.joins} '
            f'ORDER BY page.missing, {self._order("page.sort_key", "page.id")}'
        )

    def _page(self) -> str:
        """Return (id, sort_key, missing) of the rows of the page."""
        walks = [walk for place in self._places() for walk in self._walks(place)]
        if not walks:
            return self._walk(None, [self._id], [], '1 = 0')
        if len(walks) == 1:
            return walks[0]
        parts = ' UNION ALL '.join(
            f'SELECT * FROM ({walk}) AS walk_{n}' for n, walk in enumerate(walks)
        )
        return (
            f'SELECT id, sort_key, missing FROM ({parts}) AS parts '
            f'ORDER BY missing, {self._order("sort_key", "id")} {self._limit}'
        )

    def _places(self) -> Sequence[int | None]:
        """Return the values of `hidden` that are walked through; None for any."""
        wanted = self._noun.hidden
        if not wanted:
            return (None,)
        if not self._query.deleted:
            wanted = (SHOWN,)
        possible = self._conditions.hidden
        if possible is None and self._query.deleted and self._sort_key == 'uuid':
            # Two walks along the uuids would each pass by all rows of the other.
            return (None,)
        # Some actions are listed nowhere.
        whole = self._noun is not ACTIONS
        plain = whole and possible is None and self._conditions.lead is None
        if plain and self._query.deleted and self._sort_key == 'id':
            return (None,)
        return [place for place in wanted if possible is None or place in possible]

    def _walks(self, place: int | None) -> list[str]:
        """Return the parts of the page in one place, each in the order of an index."""
        if self._references is not None:
            return self._by_reference(place, self._references)
        if self._sort_key in ('id', 'uuid'):
            # What is unique needs no second key.
            return [self._walk(place, [self._key], self._last(self._key))]
        if self._noun is ACTIONS and self._sort_key == 'state':
            return self._by_state(place)
        if self._noun is ACTION_PLANS and self._sort_key == 'updated_at':
            settled = 'action_plans.settled_at'
            return [
                *self._by_column(place, settled, settled, f'NOT {_ACTIVE}'),
                # They are few, and sorted.
                *self._by_column(place, self._key, _FEW, _ACTIVE),
            ]
        return self._by_column(place, self._key, self._key)

    def _by_column(
        self, place: int | None, column: str, along: str, *where: str
    ) -> list[str]:
        """Return the walks in the order of a column, and in that of the ids.

        :param column: which has the value of the sort key, if any
        :param along: the column of the index
        :param where: what holds besides
        """
        key, number = self._key, self._id
        order = [column, number]
        walks = []
        present = [*where, f'{column} IS NOT NULL'] if self._nullable else [*where]
        if self._query.after is None or self._dialect.compares_rows:
            last = self._last(key, number)
            walks.append(self._walk(place, order, last, *present, along=along))
        else:
            # A range of pairs would be one of the first of them only.
            (value,) = self._last(key)
            same = (*where, f'{column} = {value}')
            last = self._last(number)
            walks.append(
                self._walk(place, [number], last, *same, along=along, key=column)
            )
            walks.append(self._walk(place, order, [value], *present, along=along))
        if self._nullable:
            # Where the marker has a value, all that have none come after it.
            zero = LAST_ID if self._descending else 0
            after = self._last(f'CASE WHEN {key} IS NULL THEN {number} ELSE {zero} END')
            absent = [*where, f'{column} IS NULL']
            absent += [f'{number} {self._begin} {a}' for a in after]
            # PostgreSQL does not see that the key is one. MariaDB would sort for it.
            order = order if self._dialect.guesses else [number]
            walks.append(
                self._walk(
                    place, order, [], *absent, along=along, key=column, missing=1
                )
            )
        return walks

    def _by_state(self, place: int | None) -> list[str]:
        """Return a walk for each state of actions."""
        if place == DELETED:
            return [self._walk(place, [self._id], self._in('DELETED'), key="'DELETED'")]
        walks = []
        for state in _STATES:
            where = [OPEN[state]] if state in OPEN else []
            ended = ('actions.ended', "''" if state in OPEN else f"'{state}'")
            last = self._in(state)
            walks.append(
                self._walk(
                    place, [self._id], last, *where, lead=ended, key=f"'{state}'"
                )
            )
        return walks

    def _in(self, state: str) -> list[str]:
        """Return after which id the rows of a state come after the marker."""
        first, last = (LAST_ID, 0) if self._descending else (0, LAST_ID)
        return self._last(
            f"CASE WHEN '{state}' {self._begin} {STATE} THEN {first} "
            f"WHEN {STATE} = '{state}' THEN {self._id} ELSE {last} END"
        )

    def _by_reference(
        self, place: int | None, references: Sequence[_Reference]
    ) -> list[str]:
        """Return a walk for each of what rows refer to, and one for those without."""
        column = f'{self._noun.table}.{_REFERENCES[self._sort_key][1]}'
        begin = None
        if self._query.after is not None:
            begin = self._marked
        walks = []
        for reference in references:
            last: list[str] = []
            if self._query.after is not None:
                if begin is None or reference.rank != begin:
                    if begin is None or (reference.rank < begin) != self._descending:
                        continue
                else:
                    last = self._last(self._id)
            walks.append(
                self._walk(
                    place,
                    [self._id],
                    last,
                    lead=(column, f':{reference.name}'),
                    key=str(reference.rank),
                )
            )
        last = self._last(self._id) if begin is None else []
        where = [f'{column} IS NULL']
        where += [f'{self._id} {self._begin} {value}' for value in last]
        order = [column, self._id] if self._dialect.guesses else [self._id]
        walks.append(
            self._walk(place, order, [], *where, along=column, key='0', missing=1)
        )
        return walks

    def _order(self, *expressions: str) -> str:
        direction = 'DESC' if self._descending else 'ASC'
        return ', '.join(f'{expression} {direction}' for expression in expressions)

    def _walk(
        self,
        place: int | None,
        order: list[str],
        last: list[str],
        *where: str,
        lead: tuple[str, str] | None = None,
        along: str = '',
        key: str = '',
        missing: int = 0,
    ) -> str:
        """Return the first rows in an order.

        :param last: beyond these values of the order; [] from the begin
        :param where: what holds besides
        :param lead: (column, value) that all have; that of the filters if None
        :param along: the column of an index, if it is not that of the order
        :param key: the value of the sort key
        """
        noun, filtered = self._noun, self._conditions.lead
        found = [*self._conditions.others, *where]
        hint, key = self._hint(place, order, lead, along), key or order[0]
        hidden = (f'{noun.table}.hidden', f'{place}')
        if lead is not None and filtered is not None:
            found.append(f'{filtered[0]} = {filtered[1]}')
        lead = lead or filtered
        prefix = [lead] if lead is not None else []
        if order == [self._id] and not along and self._dialect.guesses:
            if place is not None and (lead is None or lead[0] in _FIRST):
                prefix.append(hidden)
                place = None
            elif place is not None:
                found.append(self._hidden(place, order, lead, along))
            if len(prefix) > 1:
                found += _pinned(*prefix)
                if last:
                    found.append(_compared_rows(order, self._begin, last))
                order, last = [prefix[0][0], *order], []
            elif prefix:
                found += self._along(prefix, last)
                order, last = [*(column for column, _ in prefix), *order], []
        else:
            found += [f'{column} = {value}' for column, value in prefix]
            if place is not None:
                found.append(self._hidden(place, order, lead, along))
        if noun is ACTIONS and place is None:
            found.append(_LISTED)
        if not noun.hidden and not self._query.deleted:
            found.append(noun.shown)
        if last:
            found.append(_compared_rows(order, self._begin, last))
        joins = noun.joins if self._needs_joins(found) else ''
        return (
            f'SELECT {self._id} AS id, {key} AS sort_key, '
            f'{missing} AS missing FROM {noun.table}{hint}{joins} '
            f'WHERE {" AND ".join(found or ["1 = 1"])} '
            f'ORDER BY {self._order(*order)} {self._limit}'
        )

    def _hidden(
        self,
        place: int,
        order: list[str],
        lead: tuple[str, str] | None,
        along: str,
    ) -> str:
        """Return that `hidden` has a value."""
        condition = f'{self._noun.table}.hidden = {place}'
        column = lead[0] if lead is not None and not along else along or order[0]
        if column in (f'{self._noun.table}.uuid', 'actions.plan_id', _FEW):
            # Not in the words of an index, which is not the one to be used: without
            # statistics it looks better to PostgreSQL than the one in the order.
            return f'({condition}) IS TRUE'
        return condition

    def _hint(
        self,
        place: int | None,
        order: list[str],
        lead: tuple[str, str] | None,
        along: str,
    ) -> str:
        """Return which index to walk along, '' where it is for the database to say."""
        table, filtered = self._noun.table, self._conditions.lead
        if not self._noun.hidden:
            return ''
        if lead is None and filtered is not None:
            if order != [self._id] or along:
                return ''
            lead = filtered
        column = lead[0] if lead is not None else along or order[0]
        if column == f'{table}.uuid':
            return f' BY(uq_{table}_uuid)'
        if column == self._id:
            return '' if place is None else f' ALONG(ix_{table}_hidden_id)'
        if column == _FEW:
            return ' ALONG(ix_action_plans_active)'
        if column == 'actions.plan_id' and _UNFINISHED in self._conditions.others:
            return ' BY(ix_actions_unfinished)'
        name = column.partition('.')[2]
        if '.' not in column or not column.startswith(f'{table}.'):
            return ''
        plain = f'{name}_hidden' if column in _FIRST else f'hidden_{name}'
        return f' ALONG({_INDEXES.get(column, f"ix_{table}_{plain}_id")})'

    def _needs_joins(self, found: Sequence[str]) -> bool:
        text = ' '.join([self._key, *found])
        return self._references is None and any(
            f'{table}.' in text
            for table in ('goals', 'strategies', 'audits', 'action_plans')
            if table != self._noun.table
        )

    def _last(self, *expressions: str) -> list[str]:
        """Return the values of the marker; [] without one."""
        if self._query.after is None:
            return []
        noun = self._noun
        joins = noun.joins if self._needs_joins(expressions) else ''
        return [
            f'(SELECT {expression} FROM {noun.table}{joins} '
            f'WHERE {noun.table}.uuid = :after)'
            for expression in expressions
        ]

    def _along(self, prefix: list[tuple[str, str]], last: list[str]) -> list[str]:
        """Return the range of an index in which columns have these values.

        Told that a column has one value, PostgreSQL might walk along the ids of all
        rows, because it takes every value for equally frequent. So it is told of a
        range, in which the column is a part of the order.
        """
        columns = [column for column, _ in prefix]
        values = [value for _, value in prefix]
        end = '>=' if self._descending else '<='
        begin = _compared_rows(columns, f'{self._begin}=', values)
        if last:
            begin = _compared_rows([*columns, self._id], self._begin, [*values, *last])
        within = _compared_rows(columns, end, values)
        # One column apart as well: that says that it is not NULL, as some indexes do.
        alone = f'{columns[0]} {end} {values[0]}'
        return [begin, within, *[alone] * (alone != within)]


def _pinned(first: tuple[str, str], second: tuple[str, str]) -> list[str]:
    """Return that the first columns of an index have these values.

    The first as one of several, of which there is one: told so, PostgreSQL keeps to
    the index, see `_along`. A range of both columns would not do: it goes on beyond
    its end as long as the first one has its value, through all rows that are shown to
    find no more deleted ones.
    """
    return [f'{first[0]} = ANY(ARRAY[{first[1]}])', f'{second[0]} = {second[1]}']


def _compared_rows(columns: list[str], sign: str, values: list[str]) -> str:
    columns = columns[: len(values)]
    if len(columns) == 1:
        return f'{columns[0]} {sign} {values[0]}'
    return f'({", ".join(columns)}) {sign} ({", ".join(values)})'
