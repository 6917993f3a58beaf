"""Filters of list queries, and the resolution of the names in them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.collections import (
    ACTIONS,
    DELETED,
    ONGOING,
    PENDING,
    SHOWN,
    Collection,
)
from watcherlite.db.sqlalchemy.mappers import folded
from watcherlite.states import action as action_states

#: States of actions that are not final -> their condition, besides `ended` = ''.
OPEN = {'ONGOING': ONGOING, 'PENDING': PENDING}
_NOTHING = '1 = 0'
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
        f'{prefix}number': queries.as_id(name),
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
class Conditions:
    """What the filters of a query come to.

    :param lead: (column, value) of one that is in an index with the id
    :param others: all that hold besides
    :param values: of their parameters
    :param hidden: the only values of `hidden` that rows can have, or None
    """

    lead: tuple[str, str] | None
    others: list[str]
    values: Mapping[str, Any]
    hidden: tuple[int, ...] | None = None


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


def conditions(noun: Collection, query: Query) -> Conditions:
    lead = hidden = None
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
        if noun is ACTIONS and name == 'state':
            hidden = (DELETED,) if value == 'DELETED' else (SHOWN,)
            others += [OPEN[value]] if value in OPEN else []
    return Conditions(lead, others, values, hidden)


def _compared(
    noun: Collection, name: str, value: str, values: dict[str, Any]
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
        if value in OPEN:
            # In words: it is the condition of partial indexes.
            return 'actions.ended', "''"
        return '', '1 = 1' if value == 'DELETED' else _NOTHING
    values[name] = value
    if name == 'action_plan_uuid':
        return 'actions.plan_id', f'(SELECT id FROM action_plans WHERE uuid = :{name})'
    if name == 'audit_uuid':
        return f'{noun.table}.audit_id', _AUDIT
    return noun.plain[name], f':{name}'
