"""The collections that can be listed: rows, references, sort keys and filters."""

import dataclasses
from collections.abc import Mapping

from watcherlite.db.sqlalchemy.columns import (
    ACTION_COLUMNS,
    AUDIT_COLUMNS,
    AUDIT_TEMPLATE_COLUMNS,
    GOAL_COLUMNS,
    PLAN_COLUMNS,
    STRATEGY_COLUMNS,
)

_TIMES = ('created_at', 'updated_at', 'deleted_at')
#: The columns that may be NULL and that something can be sorted by.
_NULLABLE = frozenset(
    {
        *(*_TIMES, 'description', 'run_interval'),
        *('next_run_time', 'start_time', 'end_time'),
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class Collection:
    """A collection.

    :param columns: of the SELECT: those of a row, then what is shown of others
    :param joins: with what it refers to; each finds one row or none
    :param keys: sort key -> (expression, whether it may be NULL)
    :param plain: filter -> column that is compared with its value
    :param hidden: the values of its column `hidden`; () in small tables, which have
        neither that nor an index for any order
    """

    table: str
    columns: str
    joins: str
    keys: Mapping[str, tuple[str, bool]]
    plain: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hidden: tuple[int, ...] = ()

    @property
    def shown(self) -> str:
        """Return the condition for what lists show."""
        if self.hidden:
            return f'{self.table}.hidden = 0'
        return f'{self.table}.deleted_at IS NULL'


#: Values of `hidden`: what lists show, and what is deleted. Actions of no plan have
#: another one, and are on no list.
SHOWN, DELETED = 0, 1


def _join(kind: str, table: str, source: str, column: str) -> str:
    return f' {kind} {table} ON {table}.id = {source}.{column}'


def _keys(table: str, *columns: str, **joined: str) -> dict[str, tuple[str, bool]]:
    """Return the sort keys of a table's own columns, and of joined ones."""
    own = {
        _KEYS.get(column, column): (f'{table}.{column}', column in _NULLABLE)
        for column in columns
    }
    return own | {key: (expression, True) for key, expression in joined.items()}


#: Columns whose sort key is called differently.
_KEYS = {'run_interval': 'interval', 'forced': 'force'}
_GOAL = {'goal_uuid': 'goals.uuid', 'goal_name': 'goals.name'}
_STRATEGY = {'strategy_uuid': 'strategies.uuid', 'strategy_name': 'strategies.name'}
_BOTH = ', goals.uuid, goals.name, strategies.uuid, strategies.name'

GOALS = Collection(
    'goals',
    GOAL_COLUMNS,
    '',
    _keys('goals', 'id', 'uuid', 'name', 'display_name', *_TIMES),
)
STRATEGIES = Collection(
    'strategies',
    f'{STRATEGY_COLUMNS}, goals.uuid, goals.name',
    _join('LEFT JOIN', 'goals', 'strategies', 'goal_id'),
    _keys('strategies', 'id', 'uuid', 'name', 'display_name', *_TIMES, **_GOAL),
)
AUDIT_TEMPLATES = Collection(
    'audit_templates',
    AUDIT_TEMPLATE_COLUMNS + _BOTH,
    _join('LEFT JOIN', 'goals', 'audit_templates', 'goal_id')
    + _join('LEFT JOIN', 'strategies', 'audit_templates', 'strategy_id'),
    _keys(
        'audit_templates',
        *('id', 'uuid', 'name', 'description', *_TIMES),
        **_GOAL,
        **_STRATEGY,
    ),
)
AUDITS = Collection(
    'audits',
    AUDIT_COLUMNS + _BOTH,
    _join('LEFT JOIN', 'goals', 'audits', 'goal_id')
    + _join('LEFT JOIN', 'strategies', 'audits', 'strategy_id'),
    _keys(
        'audits',
        *('id', 'uuid', 'name', 'audit_type', 'state', 'run_interval', 'auto_trigger'),
        *('next_run_time', 'start_time', 'end_time', 'forced', *_TIMES),
        **_GOAL,
        **_STRATEGY,
    ),
    {'state': 'audits.state'},
    (SHOWN, DELETED),
)
ACTION_PLANS = Collection(
    'action_plans',
    f'{PLAN_COLUMNS}, audits.uuid, strategies.uuid, strategies.name',
    _join('LEFT JOIN', 'audits', 'action_plans', 'audit_id')
    + _join('LEFT JOIN', 'strategies', 'action_plans', 'strategy_id'),
    _keys('action_plans', 'id', 'uuid', 'state', *_TIMES, **_STRATEGY),
    {'state': 'action_plans.state'},
    (SHOWN, DELETED),
)

# See `Action.under_way`.
ONGOING = (
    "(actions.status IN ('RUNNING', 'SUSPENDED') "
    "OR actions.start_time IS NOT NULL AND (actions.status = 'WAITING' "
    "OR actions.status = 'READY' AND actions.phase = 'complete'))"
)
PENDING = (
    "(actions.status = 'INIT' "
    "OR actions.status = 'READY' AND actions.phase <> 'complete' "
    "OR actions.status IN ('READY', 'WAITING') AND actions.start_time IS NULL)"
)
#: What users call the state of an action, as a column.
STATE = (
    "CASE WHEN actions.deleted_at IS NOT NULL THEN 'DELETED' "
    "WHEN actions.ended <> '' THEN actions.ended "
    f"WHEN {ONGOING} THEN 'ONGOING' ELSE 'PENDING' END"
)
ACTIONS = Collection(
    'actions',
    f'{ACTION_COLUMNS}, action_plans.uuid',
    _join('LEFT JOIN', 'action_plans', 'actions', 'plan_id'),
    {
        **_keys('actions', 'id', 'uuid', 'action_type', 'created_at'),
        'state': (STATE, False),
    },
    {'action_type': 'actions.action_type', 'target': 'actions.target'},
    (SHOWN, DELETED),
)
#: By the names that `db.query` has for them.
COLLECTIONS: Mapping[str, Collection] = {
    noun.table: noun
    for noun in (GOALS, STRATEGIES, AUDIT_TEMPLATES, AUDITS, ACTION_PLANS, ACTIONS)
}
