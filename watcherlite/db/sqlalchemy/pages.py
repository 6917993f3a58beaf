"""The statement of a page.

Rows that have a value in the sort key and those that have none are two walks along
an index, each from where the last page ended, so that a page costs the same
wherever it is. What rows refer to is joined to those of the page only.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.db import listing
from watcherlite.db.listing import Query
from watcherlite.db.sqlalchemy.dialects import Dialect
from watcherlite.db.sqlalchemy.mappers import folded
from watcherlite.db.sqlalchemy.nouns import ACTIONS, NOUNS, ONGOING, PENDING, Noun
from watcherlite.states import action as action_states

#: No id is above it, on any database.
LAST_ID = 2**63 - 1
_OPEN = {'PENDING': PENDING, 'ONGOING': ONGOING}
_NOTHING = '1 = 0'
_UNFINISHED = "actions.ended = ''"
#: table -> column -> the index of both it and the id, for who does not find it.
_WALKS: Mapping[str, Mapping[str, str]] = {
    'audits': {
        'audits.uuid': 'uq_audits_uuid',
        'audits.state': 'ix_audits_state_id',
        'audits.created_at': 'ix_audits_created_at_id',
        'audits.goal_id': 'ix_audits_goal_id_id',
        'audits.strategy_id': 'ix_audits_strategy_id_id',
    },
    'action_plans': {
        'action_plans.uuid': 'uq_action_plans_uuid',
        'action_plans.state': 'ix_action_plans_state_id',
        'action_plans.created_at': 'ix_action_plans_created_at_id',
        'action_plans.audit_id': 'ix_action_plans_audit_id_id',
        'action_plans.strategy_id': 'ix_action_plans_strategy_id_id',
    },
    'actions': {
        'actions.uuid': 'uq_actions_uuid',
        'actions.plan_id': 'ix_actions_plan_id',
        'actions.audit_id': 'ix_actions_audit_id',
        'actions.ended': 'ix_actions_ended_id',
        'actions.action_type': 'ix_actions_action_type_id',
        'actions.target': 'ix_actions_target',
    },
}
#: Those of rows that are not deleted, in the order of their ids.
_VISIBLE: Mapping[str, str] = {
    table: f'ix_{table}_visible' for table in ('audits', 'action_plans', 'actions')
}
_AUDIT = '(SELECT id FROM audits WHERE uuid = :audit_uuid)'


def can_be_stored(text: str) -> bool:
    """Say whether a database can hold a text at all, and be asked for it."""
    return '\x00' not in text and not any('\ud800' <= c <= '\udfff' for c in text)


def matches(table: str, prefix: str = '') -> str:
    """Return a table of (id, place): what a name stands for, the likeliest first.

    Parameters: those of `name_values`.
    """
    # Three walks along three indexes: no database takes them at once for an OR.
    return (
        f'(SELECT id, 0 AS place FROM {table} WHERE uuid = :{prefix}lower '
        f'UNION ALL SELECT id, CASE WHEN name = :{prefix}name THEN 1 ELSE 2 END '
        f'FROM {table} WHERE lower_name = :{prefix}folded '
        f'UNION ALL SELECT id, 3 FROM {table} WHERE id = :{prefix}number) AS matches'
    )


def name_values(name: str, prefix: str = '') -> dict[str, Any]:
    """Return the parameters of `matches`."""
    return {
        f'{prefix}lower': name.lower(),
        f'{prefix}name': name,
        f'{prefix}folded': folded(name),
        f'{prefix}number': listing.as_id(name),
    }


def likeliest(table: str) -> str:
    """Return the order in which matches are taken: what is not deleted first."""
    gone = f'CASE WHEN {table}.deleted = 0 THEN 0 ELSE 1 END'
    return f'ORDER BY {gone}, matches.place, {table}.id DESC LIMIT 1'


def _reference(table: str, prefix: str) -> str:
    """Return the id of what a filter names, with the parameters of `name_values`.

    That of `matches` which is the likeliest. MariaDB looks at the values of such
    simple questions, and at those of no other, before it decides on a range.
    """
    places = (
        f'uuid = :{prefix}lower',
        f'lower_name = :{prefix}folded AND name = :{prefix}name',
        f'lower_name = :{prefix}folded',
        f'id = :{prefix}number',
    )
    found = ', '.join(
        f'(SELECT max(id) FROM {table} WHERE {place} AND deleted {gone})'
        for gone in ('= 0', '<> 0')
        for place in places
    )
    return f'COALESCE({found})'


@dataclasses.dataclass(frozen=True, slots=True)
class _Conditions:
    """What the filters of a query come to.

    :param lead: (column, value) of one that is the begin of an index with the id
    :param others: all that hold besides
    :param values: of their parameters
    """

    lead: tuple[str, str] | None
    others: list[str]
    values: Mapping[str, Any]


#: Limits that are asked for often: a database that is told one by name does not
#: know how few rows it has to find.
COMMON_LIMITS = frozenset({1, 10, 20, 25, 50, 100, 200, 500, 1000})
#: Filters by what they leave over, the least first; what did not succeed is less.
_LEADS = (
    *('action_plan_uuid', 'audit_uuid', 'target', 'exception'),
    *('action_type', 'strategy', 'goal', 'state'),
)
_USUAL_STATES = frozenset({action_states.SUCCEEDED})


def _place(item: tuple[str, Any]) -> int:
    name, value = item
    unusual = name == 'state' and value not in _USUAL_STATES
    return _LEADS.index('exception' if unusual else name)


def _conditions(noun: Noun, query: Query) -> _Conditions:
    lead = None
    others: list[str] = []
    values: dict[str, Any] = {}
    for name, value in sorted(query.filters.items(), key=_place):
        column, expression = _compared(noun, name, str(value), values)
        if column and lead is None:
            lead = (column, expression)
        elif column:
            others.append(f'{column} = {expression}')
        else:
            others.append(expression)
        if noun is ACTIONS and name == 'state' and column:
            others += _of_state(str(value))
    return _Conditions(lead, others, values)


def _compared(
    noun: Noun, name: str, value: str, values: dict[str, Any]
) -> tuple[str, str]:
    """Return a column and what it is equal to, or '' and a condition."""
    if not can_be_stored(value):
        return '', _NOTHING
    if name in ('goal', 'strategy'):
        of = 'goals' if name == 'goal' else 'strategies'
        values |= name_values(value, f'{name}_')
        return f'{noun.table}.{name}_id', _reference(of, f'{name}_')
    if noun is ACTIONS and name == 'state':
        if value in action_states.FINAL:
            values['ended'] = value
            return 'actions.ended', ':ended'
        if value in _OPEN:
            # In words: it is the condition of partial indexes.
            return 'actions.ended', "''"
        deleted = noun.keys['deleted_at'][0]
        return '', f'{deleted} IS NOT NULL' if value == 'DELETED' else _NOTHING
    values[name] = value
    if name == 'action_plan_uuid':
        return 'actions.plan_id', f'(SELECT id FROM action_plans WHERE uuid = :{name})'
    if name == 'audit_uuid':
        return f'{noun.table}.audit_id', _AUDIT
    return noun.plain[name], f':{name}'


def _of_state(state: str) -> list[str]:
    """Return what else holds for actions of an infra-optim state."""
    conditions = [f'{ACTIONS.keys["deleted_at"][0]} IS NULL']
    if state in _OPEN:
        conditions.append(_OPEN[state])
    return conditions


class Page:
    """The statement of a page, and the values of its parameters.

    :ivar template: its first column is the id of a row, NULL in the only row of an
        empty page after a marker; no row at all: there is no such marker
    """

    def __init__(self, noun: str, query: Query, dialect: Dialect) -> None:
        listing.check(noun, query)
        self._noun = NOUNS[noun]
        self._query = query
        self._dialect = dialect
        self._descending = query.sort_dir == listing.DESCENDING
        self._begin = '<' if self._descending else '>'
        self._id = f'{self._noun.table}.id'
        self._key, self._nullable = self._noun.keys[query.sort_key]
        #: What is unique needs no second key.
        self._unique = query.sort_key in ('id', 'uuid')
        self._conditions = _conditions(self._noun, query)
        self.values = dict(self._conditions.values)
        self._limit = f'LIMIT {query.limit}'
        if query.limit not in COMMON_LIMITS:
            self._limit = 'LIMIT :limit'
            self.values['limit'] = query.limit
        if query.after is not None:
            self.values['after'] = query.after
        self.template = self._template()

    def _template(self) -> str:
        table = self._noun.table
        source = f'({self._page()}) AS page'
        if self._query.after is not None:
            marker = f'(SELECT id FROM {table} WHERE uuid = :after) AS marker'
            source = f'{marker} LEFT JOIN {source} ON 1 = 1'
        return (
            f'SELECT page.id, {self._noun.columns} FROM {source} '
            f'LEFT JOIN {table} ON {table}.id = page.id{self._noun.joins} '
            f'ORDER BY page.missing, {self._order("page.sort_key", "page.id")}'
        )

    def _page(self) -> str:
        """Return (id, sort_key, missing) of the rows of the page."""
        walks = self._walks()
        if len(walks) == 1:
            return walks[0]
        parts = ' UNION ALL '.join(
            f'SELECT * FROM ({walk}) AS walk_{n}' for n, walk in enumerate(walks)
        )
        return (
            f'SELECT id, sort_key, missing FROM ({parts}) AS parts '
            f'ORDER BY missing, {self._order("sort_key", "id")} {self._limit}'
        )

    def _walks(self) -> list[str]:
        """Return the parts of the page, each in the order of some index."""
        key, number = self._key, self._id
        if self._unique:
            return [self._walk([key], self._last(key))]
        walks = []
        present = [f'{key} IS NOT NULL'] if self._nullable else []
        if self._query.after is None or self._dialect.compares_rows:
            last = self._last(key, number)
            walks.append(self._walk([key, number], last, *present))
        else:
            # A range of pairs would be one of the first of them only.
            (value,) = self._last(key)
            walks.append(self._walk([number], self._last(number), f'{key} = {value}'))
            walks.append(self._walk([key, number], [value], *present))
        if self._nullable:
            # Where the marker has a value, all that have none come after it.
            zero = LAST_ID if self._descending else 0
            after = self._last(f'CASE WHEN {key} IS NULL THEN {number} ELSE {zero} END')
            where = [f'{key} IS NULL', *(f'{number} {self._begin} {a}' for a in after)]
            # In the order of the key as well: PostgreSQL does not see that it is one.
            walks.append(self._walk([key, number], [], *where, missing=1))
        return walks

    def _order(self, *expressions: str) -> str:
        direction = 'DESC' if self._descending else 'ASC'
        return ', '.join(f'{expression} {direction}' for expression in expressions)

    def _walk(
        self, order: list[str], last: list[str], *where: str, missing: int = 0
    ) -> str:
        """Return the first rows in an order.

        :param last: beyond these values of the order; [] from the begin
        :param where: what holds besides
        """
        noun, lead = self._noun, self._conditions.lead
        conditions = [*self._conditions.others, *where]
        follows_lead = lead is not None and order == [self._id] and not where
        hint = self._hint(follows_lead)
        along = hint.startswith(' ALONG')
        if not self._query.deleted:
            conditions.append(noun.visible if along else noun.visible_apart)
        if lead is not None and follows_lead and self._dialect.guesses:
            conditions += self._along(lead, order, last)
            order = [lead[0], *order]
        else:
            if lead is not None:
                conditions.append(f'{lead[0]} = {lead[1]}')
            if last:
                conditions.append(_compared_rows(order, self._begin, last))
        if along and self._dialect.guesses:
            # It is NULL in all, which PostgreSQL does not make use of. MariaDB would
            # sort all rows for it.
            order = [f'{noun.table}.deleted_at', *order]
        joins = noun.joins if self._needs_joins(conditions) else ''
        return (
            f'SELECT {self._id} AS id, {self._key} AS sort_key, {missing} AS missing '
            f'FROM {noun.table}{hint}{joins} '
            f'WHERE {" AND ".join(conditions or ["1 = 1"])} '
            f'ORDER BY {self._order(*order)} {self._limit}'
        )

    def _hint(self, follows_lead: bool) -> str:
        """Return which index to walk along, '' where it is for the database to say."""
        table = self._noun.table
        indexes = _WALKS.get(table, {})
        lead = self._conditions.lead
        column = self._key
        if lead is not None:
            column = lead[0] if follows_lead else ''
        if column == self._id and not self._query.deleted and table in _VISIBLE:
            return f' ALONG({_VISIBLE[table]})'
        if column == 'actions.plan_id' and _UNFINISHED in self._conditions.others:
            return ' BY(ix_actions_unfinished)'
        return f' BY({indexes[column]})' if column in indexes else ''

    def _needs_joins(self, conditions: list[str]) -> bool:
        text = ' '.join([self._key, *conditions])
        return any(
            f'{table}.' in text
            for table in ('goals', 'strategies', 'audits', 'action_plans')
            if table != self._noun.table
        )

    def _last(self, *expressions: str) -> list[str]:
        """Return the values of the marker; [] without one."""
        if self._query.after is None:
            return []
        noun = self._noun
        return [
            f'(SELECT {expression} FROM {noun.table}{noun.joins} '
            f'WHERE {noun.table}.uuid = :after)'
            for expression in expressions
        ]

    def _along(
        self, lead: tuple[str, str], order: list[str], last: list[str]
    ) -> list[str]:
        """Return the range of an index that begins with the filter.

        Told that the column has one value, PostgreSQL might walk along the ids of
        all rows, because it takes every value for equally frequent. So it is told
        of a range, in which the column is a part of the order.
        """
        column, value = lead
        end = '>' if self._descending else '<'
        begin = f'{column} {self._begin}= {value}'
        if last:
            begin = _compared_rows([column, *order], self._begin, [value, *last])
        return [begin, f'{column} {end}= {value}']


def _compared_rows(columns: list[str], sign: str, values: list[str]) -> str:
    columns = columns[: len(values)]
    if len(columns) == 1:
        return f'{columns[0]} {sign} {values[0]}'
    return f'({", ".join(columns)}) {sign} ({", ".join(values)})'
