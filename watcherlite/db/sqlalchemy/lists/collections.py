"""The collections that can be listed: rows, references, sort keys and filters."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite.db import clusters as cluster_port
from watcherlite.db import query as queries
from watcherlite.db import software as software_port
from watcherlite.db import stacks as stack_port
from watcherlite.db.sqlalchemy import mappers
from watcherlite.db.sqlalchemy.constructs import EMPTY, constant, number
from watcherlite.db.sqlalchemy.lists.filters import (
    DELETED,
    LISTED,
    STATE,
    UNLISTED,
    ActionOfCluster,
    ActionState,
    ActionStatus,
    Equal,
    Expression,
    Filter,
    Limit,
    Named,
    OfCluster,
    OneOf,
    Tagged,
)
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.audits import (
    audit_templates,
    audits,
    goals,
    scoring_engines,
    strategies,
)
from watcherlite.db.sqlalchemy.tables.clusters import (
    clusters,
    nodes,
    policies,
    profiles,
    receivers,
)
from watcherlite.db.sqlalchemy.tables.software import (
    software_configs,
    software_deployments,
)
from watcherlite.db.sqlalchemy.tables.stacks import stacks
from watcherlite.db.sqlalchemy.tables.types import UtcTime


@dataclasses.dataclass(frozen=True, slots=True)
class SortKey:
    """A sort key.

    :param none: the value that replaces NULL where rows are sorted by several keys
    """

    column: Expression
    nullable: bool = False
    none: Expression = EMPTY


@dataclasses.dataclass(frozen=True)
class Collection:
    """A collection.

    :param title: its name in errors
    :param columns: the columns of a row, then those of referenced rows
    :param joins: (table, condition) of the tables it refers to; each condition matches
        at most one row
    :param order: the default sort keys
    :param hidden_values: the values of `hidden` in its rows, deleted rows included; ()
        for tables without this column
    :param scope: conditions of all its rows
    :param unnested: the condition of rows that are not nested in another one; None for
        collections without nested rows
    :param unindexed: sort keys whose column has no index
    :param id_ascends: rows that are equal in all keys are sorted by ascending id;
        otherwise by id in the direction of the last key
    """

    title: str
    table: sa.Table
    columns: tuple[Expression, ...]
    keys: Mapping[str, SortKey]
    filters: Mapping[str, Filter]
    order: tuple[tuple[str, bool], ...] = (('id', False),)
    joins: tuple[tuple[sa.FromClause, Expression], ...] = ()
    hidden_values: tuple[int, ...] = ()
    scope: tuple[Expression, ...] = ()
    unnested: Expression | None = None
    unindexed: frozenset[str] = frozenset()
    id_ascends: bool = False

    @property
    def is_softly_deleted(self) -> bool:
        """Return whether its rows are softly deleted, without a column `hidden`."""
        return 'deleted_at' in self.table.c and not self.hidden_values

    def joined(self, source: Any) -> Any:
        """Return a FROM clause with the tables that it refers to."""
        for table, condition in self.joins:
            source = source.outerjoin(table, condition)
        return source


_NO_TIME = constant('1970-01-01 00:00:00.000000')
#: Sort keys and filters whose column has another name.
_NAMES = {
    'interval': 'run_interval',
    'force': 'forced',
    'user': 'user_name',
    'index': 'node_index',
    'action': 'action_type',
}


def _column(table: sa.Table, name: str) -> sa.Column[Any]:
    return table.c[name if name in table.c else _NAMES[name]]


def _keys(table: sa.Table, names: tuple[str, ...]) -> dict[str, SortKey]:
    """Return sort keys: columns of a table, or of the tables that it refers to."""
    found = {}
    for name in names:
        of, _, what = name.partition('_')
        if of in _REFERENCES and what in ('uuid', 'name'):
            found[name] = SortKey(_REFERENCES[of].c[what], True)
        elif name == 'state' and table is actions:
            found[name] = SortKey(STATE)
        else:
            column = _column(table, name)
            none: Expression = EMPTY
            if isinstance(column.type, UtcTime):
                none = _NO_TIME
            elif isinstance(column.type, sa.Integer):
                none = number(0)
            found[name] = SortKey(column, bool(column.nullable), none)
    return found


_REFERENCES = {'goal': goals, 'strategy': strategies}
_GOAL = (goals.c.uuid, goals.c.name)
_STRATEGY = (strategies.c.uuid, strategies.c.name)


def _refers(table: sa.Table, *columns: str) -> tuple[tuple[sa.Table, Expression], ...]:
    others = {
        'goal_id': goals,
        'strategy_id': strategies,
        'audit_id': audits,
        'plan_id': action_plans,
        'config_id': software_configs,
    }
    return tuple((others[c], others[c].c.id == table.c[c]) for c in columns)


def _time_limits(column: Expression) -> Mapping[str, Filter]:
    """Return the filters by the limits of a time."""
    return {'since': Limit(column), 'until': Limit(column, is_upper=True)}


def _infra_optim(
    name: str,
    table: sa.Table,
    mapper: Any,
    shown: tuple[Expression, ...],
    refers: tuple[str, ...],
    **options: Any,
) -> Collection:
    comparisons: dict[str, Filter] = {}
    for of in queries.FILTERS[name]:
        if of in _REFERENCES:
            comparisons[of] = Named(table.c[f'{of}_id'], _REFERENCES[of])
        elif of == 'audit_uuid':
            comparisons[of] = Equal(table.c.audit_id, audits)
        elif of == 'action_plan_uuid':
            comparisons[of] = Equal(table.c.plan_id, action_plans)
        elif of == 'state' and table is actions:
            comparisons[of] = ActionState()
        else:
            comparisons[of] = Equal(table.c[of])
    if name in queries.TIMED:
        comparisons |= _time_limits(table.c.created_at)
    return Collection(
        name,
        table,
        (*mapper.columns, *shown),
        _keys(table, queries.SORT_KEYS[name]),
        comparisons,
        joins=_refers(table, *refers),
        **options,
    )


_WITH_DELETED = {'hidden_values': (LISTED, DELETED)}


def _cluster_collection(kind: type, table: sa.Table, mapper: Any) -> Collection:
    comparisons: dict[str, Filter] = {}
    for name in cluster_port.FILTERS[kind]:
        if table is actions and name == 'cluster_id':
            comparisons[name] = ActionOfCluster(actions.c.within)
        elif name == 'cluster_id':
            comparisons[name] = OfCluster(table.c.cluster_id)
        elif table is actions and name == 'status':
            comparisons[name] = ActionStatus(actions.c.status)
        else:
            comparisons[name] = OneOf(_column(table, name))
    if kind in cluster_port.TIMED:
        comparisons |= _time_limits(table.c[cluster_port.TIMED[kind]])
    if table is actions:
        options: dict[str, Any] = {
            'hidden_values': (UNLISTED,),
            'scope': (actions.c.tenant.is_not(None),),
            'unindexed': cluster_port.UNINDEXED,
        }
    else:
        options = {'hidden_values': (LISTED,)} if 'hidden' in table.c else {}
    return Collection(
        cluster_port.TITLES[kind],
        table,
        mapper.columns,
        _keys(table, cluster_port.SORT_KEYS[kind]),
        comparisons,
        ((cluster_port.DEFAULT_SORT[kind], False),),
        **options,
    )


_owners = stacks.alias('o')
COLLECTIONS: Mapping[str, Collection] = {
    'goals': _infra_optim('goals', goals, mappers.GOALS, (), ()),
    'strategies': _infra_optim(
        'strategies', strategies, mappers.STRATEGIES, _GOAL, ('goal_id',)
    ),
    'scoring_engines': _infra_optim(
        'scoring_engines', scoring_engines, mappers.SCORING_ENGINES, (), ()
    ),
    'audit_templates': _infra_optim(
        'audit_templates',
        audit_templates,
        mappers.AUDIT_TEMPLATES,
        (*_GOAL, *_STRATEGY),
        ('goal_id', 'strategy_id'),
    ),
    'audits': _infra_optim(
        'audits',
        audits,
        mappers.AUDITS,
        (*_GOAL, *_STRATEGY),
        ('goal_id', 'strategy_id'),
        **_WITH_DELETED,
    ),
    'action_plans': _infra_optim(
        'action_plans',
        action_plans,
        mappers.ACTION_PLANS,
        (audits.c.uuid, *_STRATEGY),
        ('audit_id', 'strategy_id'),
        **_WITH_DELETED,
    ),
    'actions': _infra_optim(
        'actions',
        actions,
        mappers.ACTIONS,
        (action_plans.c.uuid,),
        ('plan_id',),
        scope=(actions.c.plan_id.is_not(None),),
        **_WITH_DELETED,
    ),
    'profiles': _cluster_collection(cluster_port.Profile, profiles, mappers.PROFILES),
    'policies': _cluster_collection(
        cluster_port.PolicyObject, policies, mappers.POLICIES
    ),
    'clusters': _cluster_collection(cluster_port.Cluster, clusters, mappers.CLUSTERS),
    'nodes': _cluster_collection(cluster_port.Node, nodes, mappers.NODES),
    'receivers': _cluster_collection(
        cluster_port.Receiver, receivers, mappers.RECEIVERS
    ),
    'cluster_actions': _cluster_collection(
        cluster_port.Action, actions, mappers.ACTIONS
    ),
    'stacks': Collection(
        'stacks',
        stacks,
        (*mappers.STACKS.columns, _owners.c.uuid),
        _keys(stacks, stack_port.STACK_SORT_KEYS),
        {
            **{
                name: OneOf(_column(stacks, name))
                for name in ('name', 'uuid', 'action', 'status', 'user')
            },
            'owner_uuid': OneOf(stacks.c.owner_id, stacks),
            'tags': Tagged(),
            'tags_any': Tagged(any_of=True),
            'not_tags': Tagged(negated=True),
            'not_tags_any': Tagged(any_of=True, negated=True),
            **_time_limits(stacks.c.created_at),
        },
        (('created_at', True),),
        ((_owners, _owners.c.id == stacks.c.owner_id),),
        hidden_values=(LISTED, DELETED, UNLISTED),
        unnested=stacks.c.owner_id.is_(None),
        id_ascends=True,
    ),
    'software_configs': Collection(
        'software configs',
        software_configs,
        mappers.LISTED_SOFTWARE_CONFIGS.columns,
        _keys(software_configs, ('id',)),
        {},
        (('id', True),),
    ),
    'software_deployments': Collection(
        'software deployments',
        software_deployments,
        (*mappers.SOFTWARE_DEPLOYMENTS.columns, software_configs.c.uuid),
        _keys(software_deployments, ('id',)),
        {
            name: Equal(software_deployments.c[name])
            for name in software_port.DEPLOYMENT_FILTERS
        },
        joins=_refers(software_deployments, 'config_id'),
    ),
}
