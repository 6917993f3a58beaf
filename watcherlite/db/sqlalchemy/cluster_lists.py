"""The statement of a page of clusters, nodes, what they are made from, or actions.

A page is one or more walks, each the first rows in the order of an index, which are
then put in order together. A walk is of the rows that have a value of the first sort
key, or of those that have none, which come last.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from watcherlite.db import clusters
from watcherlite.db.clusters import ObjectQuery
from watcherlite.db.sqlalchemy.cluster_rows import PLACES
from watcherlite.db.sqlalchemy.dialects import Dialect
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

LAST_ID = 2**63 - 1
#: What the columns of sort keys and filters are called, where it is something else.
_COLUMNS = {'user': 'user_name', 'index': 'node_index'}
#: A value for those that have none, by sort key; those of text have ''.
_NONE = {
    **dict.fromkeys(('init_at', 'created_at', 'updated_at'), "'1970-01-01 00:00:00'"),
    **dict.fromkeys(('start_time', 'end_time'), "'1970-01-01 00:00:00'"),
    **dict.fromkeys(('index', 'cluster_id'), '0'),
}
#: Which keys may have no value.
_NULLABLE = frozenset(
    {
        'init_at',
        'created_at',
        'updated_at',
        'start_time',
        'end_time',
        'cluster_id',
        'target',
    }
)
#: What an action is within, or itself about; or what it has a node join.
_OF_CLUSTER = (
    'actions.id IN (SELECT w.id FROM actions AS w WHERE w.within IN_TEXTS(:of_cluster) '
    'UNION ALL SELECT t.id FROM actions AS t WHERE t.tenant IS NOT NULL '
    'AND t.target IN_TEXTS(:of_cluster) AND t.within IS NULL '
    'UNION ALL SELECT j.id FROM actions AS p '
    'JOIN actions AS j ON j.derived_from = p.id '
    "AND j.action_type = 'NODE_JOIN' AND j.within IS NULL "
    'WHERE p.tenant IS NOT NULL AND p.target IN_TEXTS(:of_cluster) '
    "AND p.action_type IN ('CLUSTER_ADD_NODES', 'CLUSTER_REPLACE_NODES'))"
)


class ObjectPage:
    """The statement for a query, and the values of its parameters.

    :ivar template: the columns asked for. An empty page after a marker has one row of
        NULL; no row at all: there is no such marker

    :param columns: for SELECT
    """

    def __init__(
        self, kind: type, query: ObjectQuery, dialect: Dialect, columns: str
    ) -> None:
        clusters.check(kind, query)
        self._kind, self._query, self._dialect = kind, query, dialect
        self._place = PLACES[kind]
        self._table = self._place.table
        keys = query.sort or ((clusters.DEFAULT_SORT[kind], False),)
        self._keys = list(dict(keys).items())
        #: The id comes last, in the direction of the last key.
        self._id_descends = self._keys[-1][1]
        self.values: dict[str, Any] = {}
        self._limit = ''
        if query.limit is not None:
            self._limit = ' LIMIT :limit'
            self.values['limit'] = query.limit
        self._conditions = self._filtered()
        if query.after is not None:
            self.values['after'] = query.after
        self.template = self._whole(columns)

    def _whole(self, columns: str) -> str:
        table = self._table
        walks = [
            f'SELECT * FROM ({walk}) AS walk{letter}'
            for letter, walk in zip('abcdefghijklmnop', self._walks(), strict=False)
        ]
        page = f'({" UNION ALL ".join(walks)}) AS page'
        source = f'{page} JOIN {table} ON {table}.id = page.id'
        if self._query.after is not None:
            # Of the same project: what others have does not exist.
            of = '' if self._query.tenant is None else ' AND tenant = :tenant'
            also = ' AND tenant IS NOT NULL' if self._kind is Action else ''
            marker = f'(SELECT id FROM {table} WHERE uuid = :after{of}{also}) AS marker'
            source = (
                f'{marker} LEFT JOIN {page} ON 1 = 1 '
                f'LEFT JOIN {table} ON {table}.id = page.id'
            )
        order = self._order(self._terms(), f'{table}.id')
        return f'SELECT {columns} FROM {source} ORDER BY {order}{self._limit}'

    # what is asked for

    def _filtered(self) -> list[str]:
        query, table = self._query, self._table
        found = []
        if query.tenant is not None:
            found.append(f'{table}.tenant = :tenant')
            self.values['tenant'] = query.tenant
        for name, values in query.filters.items():
            found += self._filter(name, values)
        return found

    def _filter(self, name: str, values: Collection[Any]) -> list[str]:
        if not values:
            return ['1 = 0']
        if self._kind is Action and name == 'cluster_id':
            self.values['of_cluster'] = self._dialect.texts(sorted(values))
            return [_OF_CLUSTER]
        column, parameter = self._column(name), f'of_{name}'
        if name == 'cluster_id':
            ids = [value for value in values if value is not None]
            of = [f'{column} IS NULL'] * (None in values)
            if ids:
                self.values[parameter] = self._dialect.ids(sorted(ids))
                of.append(f'{column} IN_IDS(:{parameter})')
            return [f'({" OR ".join(of)})']
        self.values[parameter] = self._dialect.texts(sorted(map(str, values)))
        found = [f'{column} IN_TEXTS(:{parameter})']
        if self._kind is Action and name == 'status':
            # As the index has it, which does not change at every step.
            words = {v if v in states.FINAL else '' for v in values}
            self.values['of_ended'] = self._dialect.texts(sorted(words))
            found.append('actions.ended IN_TEXTS(:of_ended)')
        return found

    def _column(self, name: str) -> str:
        if self._kind is Action and name == 'action':
            return 'actions.action_type'
        return f'{self._table}.{_COLUMNS.get(name, name)}'

    # the walks

    def _walks(self) -> Iterable[str]:
        (key, descending), *rest = self._keys
        if self._kind is Action and key == 'status' and not rest:
            return self._by_status(descending)
        column = self._column(key)
        walks = self._present(column, key, descending, rest)
        if self._is_nullable(key):
            walks.append(self._absent(column, key, rest))
        return walks

    def _present(
        self, column: str, key: str, descending: bool, rest: list[tuple[str, bool]]
    ) -> list[str]:
        """Return walks through the rows that have a value of the first key."""
        number, sign = f'{self._table}.id', '<' if descending else '>'
        where = [f'{column} IS NOT NULL'] if self._is_nullable(key) else []
        order = self._order([(column, descending), *self._terms(rest)], number)
        if self._is_ranged() and not rest and self._query.after is None:
            return [self._ranged(where, (column, ''), (number, ''), descending)]
        if self._query.after is None:
            return [self._walk(key, where, order)]
        value, same = self._marked(column), self._marked(number)
        if self._is_ranged() and not rest:
            return [self._ranged(where, (column, value), (number, same), descending)]
        if rest:
            where.append(f'{column} {sign}= {value}')
            terms = [(column, descending), *self._terms(rest)]
            where.append(self._beyond([*terms, (number, self._id_descends)]))
            return [self._walk(key, where, order)]
        if self._dialect.compares_rows:
            where.append(f'({column}, {number}) {sign} ({value}, {same})')
            return [self._walk(key, where, order)]
        # A range of pairs would be one of the first of them only.
        equal = [f'{column} = {value}', f'{number} {sign} {same}']
        return [
            self._walk(key, equal, self._order([], number)),
            self._walk(key, [*where, f'{column} {sign} {value}'], order),
        ]

    def _is_ranged(self) -> bool:
        """Say whether a project is asked for as a range of an index.

        Told that it is one, PostgreSQL might walk along an index of all projects,
        because it takes every value for equally frequent.
        """
        plain = self._query.tenant is not None and not self._query.filters
        if self._kind is Action and self._keys[0][0] in clusters.UNINDEXED:
            return False
        return self._dialect.guesses and plain

    def _ranged(
        self,
        where: list[str],
        key: tuple[str, str],
        number: tuple[str, str],
        descending: bool,
    ) -> str:
        """Return the walk through the rows of a project, in the order of a column.

        :param key: (column, value of the marker)
        :param number: likewise, of the id
        """
        table, sign = self._table, '<' if descending else '>'
        first = [(f'{table}.tenant', ':tenant')]
        first += [(f'{table}.hidden', '0')] * self._place.hidden
        columns = ', '.join(column for column, _ in first)
        values = ', '.join(value for _, value in first)
        found = [f'({columns}) {way}= ({values})' for way in ('>', '<')]
        if self._query.after is not None:
            pairs = [*first, key, number]
            begin = ', '.join(column for column, _ in pairs)
            last = ', '.join(value for _, value in pairs)
            found.append(f'({begin}) {sign} ({last})')
        # Indexes that are not of all rows say so.
        found += [f'{table}.tenant IS NOT NULL', *where]
        way = 'DESC' if descending else 'ASC'
        order = [*(column for column, _ in first), key[0], number[0]]
        return (
            f'SELECT {table}.id AS id FROM {table} WHERE {" AND ".join(found)} '
            f'ORDER BY {", ".join(f"{column} {way}" for column in order)}{self._limit}'
        )

    def _absent(self, column: str, key: str, rest: list[tuple[str, bool]]) -> str:
        """Return the walk through the rows that have none, which come last."""
        number = f'{self._table}.id'
        where, terms = [f'{column} IS NULL'], self._terms(rest)
        if self._query.after is not None and not rest:
            sign, zero = ('<', LAST_ID) if self._id_descends else ('>', 0)
            # Where the marker has a value, all that have none come after it.
            begin = self._marked(
                f'CASE WHEN {column} IS NULL THEN {number} ELSE {zero} END'
            )
            where.append(f'{number} {sign} {begin}')
        elif self._query.after is not None:
            here = self._beyond([*terms, (number, self._id_descends)])
            where.append(f'({self._marked(column)} IS NOT NULL OR {here})')
        # PostgreSQL does not see that the key is one.
        first = [(column, self._id_descends)] if self._dialect.guesses else []
        return self._walk(key, where, self._order([*first, *terms], number))

    def _by_status(self, descending: bool) -> list[str]:
        """Return a walk for each status of actions: no index has them all."""
        number, sign = 'actions.id', '<' if descending else '>'
        first, last = (LAST_ID, 0) if descending else (0, LAST_ID)
        walks = []
        for status in sorted(states.STATES):
            final = status in states.FINAL
            where = [f"actions.ended = '{status if final else ''}'"]
            where += [] if final else [f"actions.status = '{status}'"]
            if self._query.after is not None:
                begin = self._marked(
                    f"CASE WHEN '{status}' {sign} actions.status THEN {first} "
                    f"WHEN actions.status = '{status}' THEN actions.id ELSE {last} END"
                )
                where.append(f'{number} {sign} {begin}')
            order = self._order([], number)
            walks.append(self._walk('ended', where, order))
        return walks

    def _walk(self, key: str, where: list[str], order: str) -> str:
        table, place = self._table, self._place
        found = [*self._conditions, *where]
        found.append(place.shown)
        if self._kind is Action and self._query.tenant is None:
            # Those of no plan.
            found.append('actions.hidden = 2')
        hint = self._hint(key) if not self._query.filters else ''
        return (
            f'SELECT {table}.id AS id FROM {table}{hint} '
            f'WHERE {" AND ".join(found)} ORDER BY {order}{self._limit}'
        )

    def _hint(self, key: str) -> str:
        """Return along which index to walk."""
        column = 'ended' if key == 'ended' else self._column(key).partition('.')[2]
        whose = [] if self._query.tenant is None else ['tenant']
        if self._kind is Action:
            if column == 'status' or column in clusters.UNINDEXED:
                # No index has all of them, and there is another key to sort by; or
                # none at all.
                return ''
            if whose:
                return f' ALONG(ix_actions_tenant_{column}_id)'
            if column == 'target':
                return ''
            of = 'name_id' if column == 'name' else f'hidden_{column}_id'
            return f' ALONG(ix_actions_{of})'
        first = [*whose, *['hidden'] * self._place.hidden]
        return f' ALONG(ix_{self._table}_{"_".join([*first, column])}_id)'

    # orders

    def _is_nullable(self, key: str) -> bool:
        if key == 'name':
            return self._kind is Action
        if key == 'action':
            return self._kind is not Action
        return key in _NULLABLE

    def _terms(
        self, keys: list[tuple[str, bool]] | None = None
    ) -> list[tuple[str, bool]]:
        """Return what rows are sorted by, (expression, descending), without the id."""
        found: list[tuple[str, bool]] = []
        for key, descending in self._keys if keys is None else keys:
            column = self._column(key)
            if self._is_nullable(key):
                # Those without come last in both directions.
                found.append((f'CASE WHEN {column} IS NULL THEN 1 ELSE 0 END', False))
                none = _NONE.get(key, "''")
                column = f'COALESCE({column}, {none})'
            found.append((column, descending))
        return found

    def _order(self, terms: Iterable[tuple[str, bool]], number: str) -> str:
        found = [*terms, (number, self._id_descends)]
        return ', '.join(f'{e} {"DESC" if down else "ASC"}' for e, down in found)

    def _marked(self, expression: str) -> str:
        """Return the value that the marker has of an expression."""
        of = expression.replace(f'{self._table}.', 'm.')
        return f'(SELECT {of} FROM {self._table} AS m WHERE m.uuid = :after)'

    def _beyond(self, terms: Iterable[tuple[str, bool]]) -> str:
        """Return that a row comes after the marker."""
        alternatives: list[str] = []
        same: list[str] = []
        for expression, descending in terms:
            value = self._marked(expression)
            sign = '<' if descending else '>'
            here = [*same, f'{expression} {sign} {value}']
            alternatives.append(f'({" AND ".join(here)})')
            same.append(f'{expression} = {value}')
        return f'({" OR ".join(alternatives)})'


def named_rows(
    kind: type, columns: str, name: str, tenant: str | None
) -> tuple[str, Mapping[str, Any]]:
    """Return the statement that finds what a name may mean, and its values.

    A row has the columns, and in which way it was found: 1 by uuid, 2 by name, 3 by
    the beginning of its uuid.
    """
    place = PLACES[kind]
    table = place.table
    values: dict[str, Any] = {
        'uuid': name.lower(),
        'name': name,
        'most': clusters.LISTED + 1,
    }
    shown = [place.shown]
    if tenant is not None:
        shown.append(f'{table}.tenant = :tenant')
        values['tenant'] = tenant
    ways = [f'{table}.uuid = :uuid', f'{table}.name = :name']
    short = clusters.short_id(name)
    if short is not None:
        # A range: nothing in it is taken for a wildcard, and `g` is above each digit.
        ways.append(f'{table}.uuid >= :short AND {table}.uuid < :above')
        values |= {'short': short, 'above': f'{short}g'}
    parts = [
        f'SELECT * FROM (SELECT {columns}, {number} AS way FROM {table} '
        f'WHERE {way} AND {" AND ".join(shown)} ORDER BY {table}.id LIMIT :most) AS '
        f'way{letter}'
        for number, (way, letter) in enumerate(zip(ways, 'abc', strict=False), start=1)
    ]
    return ' UNION ALL '.join(parts), values
