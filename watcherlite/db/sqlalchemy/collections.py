"""The collections that can be listed: rows, references, sort keys and filters."""

import dataclasses
from collections.abc import Hashable, Mapping
from typing import Any, Protocol

import sqlalchemy as sa

from watcherlite.db import clusters as cluster_port
from watcherlite.db import query as queries
from watcherlite.db import stacks as stack_port
from watcherlite.db.sqlalchemy import objects
from watcherlite.db.sqlalchemy.actions import COLUMNS
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    NEVER,
    constant,
    constant_in,
    id_in,
    meets,
    text_in,
)
from watcherlite.db.sqlalchemy.tables.actions import (
    action_plans,
    actions,
)
from watcherlite.db.sqlalchemy.tables.audits import (
    audit_templates,
    audits,
    goals,
    strategies,
)
from watcherlite.db.sqlalchemy.tables.clusters import (
    clusters,
    nodes,
    policies,
    profiles,
    receivers,
)
from watcherlite.db.sqlalchemy.tables.stacks import stacks
from watcherlite.db.sqlalchemy.tables.types import UtcTime
from watcherlite.db.sqlalchemy.text import can_be_stored, fold, name_text
from watcherlite.domain import readiness
from watcherlite.states import action as action_states

Expression = sa.ColumnElement[Any]
#: Values of `hidden`: what lists show, what is deleted, and what is of nothing that has
#: a list: actions of no plan; stacks that are nested.
SHOWN, DELETED, APART = 0, 1, 2


def number(value: int) -> sa.ColumnElement[int]:
    """Return a number that is in the words of a statement."""
    return sa.literal_column(str(value), sa.Integer)


# the state of an action, as users call it

ONGOING = sa.or_(
    constant_in(actions.c.status, action_states.STARTED),
    meets(readiness.UNDER_WAY, COLUMNS),
)
#: Of actions that have not ended.
PENDING = sa.not_(ONGOING)
STATE = sa.case(
    (actions.c.deleted_at.is_not(None), constant('DELETED')),
    (actions.c.ended != EMPTY, actions.c.ended),
    (ONGOING, constant('ONGOING')),
    else_=constant('PENDING'),
)
#: States of actions that are not final -> their condition, besides `ended` = ''.
OPEN: Mapping[str, Expression] = {'ONGOING': ONGOING, 'PENDING': PENDING}


# filters


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """What a filter comes to.

    :param lead: (column, value) that are equal, of a column with an index
    :param others: what holds besides
    :param hidden: the only values of `hidden` that rows can have, or None
    """

    lead: tuple[Expression, Expression] | None = None
    others: tuple[Expression, ...] = ()
    hidden: tuple[int, ...] | None = None


NOTHING = Comparison(others=(NEVER,))


class Filter(Protocol):
    """A filter: what its statement depends on, apart from its parameters."""

    def parse(self, name: str, value: Any) -> tuple[Hashable, Mapping[str, Any]]:
        """Return what the statement depends on, and the values of its parameters."""

    def compare(self, name: str, kind: Any) -> Comparison:
        """Return the comparison, of what `parse` has returned first."""


@dataclasses.dataclass(frozen=True)
class Equal:
    """A column has the value; what cannot be stored is found nowhere.

    :param of: the table in which the value is a uuid, and the column its id
    """

    column: Expression
    of: sa.Table | None = None

    def parse(self, name: str, value: Any) -> tuple[bool, Mapping[str, Any]]:
        text = str(value)
        return (True, {name: text}) if can_be_stored(text) else (False, {})

    def compare(self, name: str, kind: bool) -> Comparison:
        if not kind:
            return NOTHING
        value: Any = sa.bindparam(name, type_=sa.String)
        if self.of is not None:
            found = sa.select(self.of.c.id).where(self.of.c.uuid == value)
            value = found.correlate(None).scalar_subquery()
        return Comparison((self.column, value))


def name_values(name: str, prefix: str = '') -> dict[str, Any]:
    """Return the parameters of what finds a row by what users name."""
    return {
        f'{prefix}lower': name.lower(),
        f'{prefix}name': name,
        f'{prefix}folded': fold(name),
        f'{prefix}number': queries.as_id(name),
    }


@dataclasses.dataclass(frozen=True)
class Named:
    """A column has the id of what a value names: a uuid, a name or an id."""

    column: Expression
    table: sa.Table

    def parse(self, name: str, value: Any) -> tuple[bool, Mapping[str, Any]]:
        text = str(value)
        if not can_be_stored(text):
            return False, {}
        return True, name_values(text, f'{name}_')

    def compare(self, name: str, kind: bool) -> Comparison:
        if not kind:
            return NOTHING
        of = self.table.c

        def value(what: str, kind: Any = sa.String) -> sa.BindParameter[Any]:
            return sa.bindparam(f'{name}_{what}', type_=kind)

        folded = of.lower_name == value('folded')
        places = (
            (of.uuid == value('lower'),),
            (folded, of.name == value('name')),
            (folded,),
            (of.id == value('number', sa.BigInteger),),
        )
        # The likeliest first. MariaDB looks at the values of such simple questions,
        # and at those of no other, before it decides on a range.
        found = (
            sa.select(sa.func.max(of.id))
            .where(*place, gone)
            .correlate(None)
            .scalar_subquery()
            for gone in (of.deleted == number(0), of.deleted != number(0))
            for place in places
        )
        return Comparison((self.column, sa.func.coalesce(*found)))


class ActionState:
    """The state of an action."""

    def parse(self, name: str, value: Any) -> tuple[str, Mapping[str, Any]]:
        if value in action_states.FINAL:
            return 'final', {'ended': value}
        return (value if value in OPEN or value == 'DELETED' else ''), {}

    def compare(self, name: str, kind: str) -> Comparison:
        if kind == 'final':
            ended = sa.bindparam('ended', type_=sa.String)
            return Comparison((actions.c.ended, ended), (), (SHOWN,))
        if kind in OPEN:
            # In words: it is the condition of partial indexes.
            return Comparison((actions.c.ended, EMPTY), (OPEN[kind],), (SHOWN,))
        return Comparison(None, (), (DELETED,)) if kind else NOTHING


@dataclasses.dataclass(frozen=True)
class OneOf:
    """A column has one of some texts.

    :param of: the table in which these are uuids, and the column its id
    """

    column: Expression
    of: sa.Table | None = None

    def parse(self, name: str, value: Any) -> tuple[bool, Mapping[str, Any]]:
        values = sorted(map(str, value))
        return bool(values), {f'of_{name}': values} if values else {}

    def compare(self, name: str, kind: bool) -> Comparison:
        if not kind:
            return NOTHING
        if self.of is None:
            return Comparison(others=(text_in(self.column, f'of_{name}'),))
        other = self.of.alias('o')
        ids = sa.select(other.c.id).where(text_in(other.c.uuid, f'of_{name}'))
        return Comparison(others=(self.column.in_(ids),))


@dataclasses.dataclass(frozen=True)
class OfCluster:
    """A row is of one of some clusters (ids), or of none (None)."""

    column: Expression

    def parse(
        self, name: str, value: Any
    ) -> tuple[tuple[bool, bool], Mapping[str, Any]]:
        ids = sorted(key for key in value if key is not None)
        return (bool(ids), None in value), {f'of_{name}': ids} if ids else {}

    def compare(self, name: str, kind: tuple[bool, bool]) -> Comparison:
        ids, none = kind
        found = [id_in(self.column, f'of_{name}')] * ids
        found += [self.column.is_(None)] * none
        return Comparison(others=(sa.or_(*found),)) if found else NOTHING


class ActionStatus(OneOf):
    """An action has one of some statuses."""

    def parse(self, name: str, value: Any) -> tuple[bool, Mapping[str, Any]]:
        kind, values = super().parse(name, value)
        ended = {v if v in action_states.FINAL else '' for v in value}
        return kind, {**values, 'of_ended': sorted(ended)} if kind else {}

    def compare(self, name: str, kind: bool) -> Comparison:
        if not kind:
            return NOTHING
        # As the index has it, which does not change at every step.
        ended = text_in(actions.c.ended, 'of_ended')
        return Comparison(others=(*super().compare(name, kind).others, ended))


class ActionOfCluster(OneOf):
    """What an action is within, or itself about; or what it has a node join."""

    def compare(self, name: str, kind: bool) -> Comparison:
        if not kind:
            return NOTHING
        one, target, parent, joining = (actions.alias(a) for a in 'wtpj')
        parameter = f'of_{name}'
        ids = sa.union_all(
            sa.select(one.c.id).where(text_in(one.c.within, parameter)),
            sa.select(target.c.id).where(
                target.c.tenant.is_not(None),
                text_in(target.c.target, parameter),
                target.c.within.is_(None),
            ),
            sa.select(joining.c.id)
            .join_from(parent, joining, joining.c.derived_from == parent.c.id)
            .where(
                joining.c.action_type == constant('NODE_JOIN'),
                joining.c.within.is_(None),
                parent.c.tenant.is_not(None),
                text_in(parent.c.target, parameter),
                parent.c.action_type.in_(
                    [constant('CLUSTER_ADD_NODES'), constant('CLUSTER_REPLACE_NODES')]
                ),
            ),
        )
        return Comparison(others=(actions.c.id.in_(ids),))


@dataclasses.dataclass(frozen=True)
class Tagged:
    """A stack has all, or any, of some tags.

    :param any_of: any
    :param negated: it has not
    """

    any_of: bool = False
    negated: bool = False

    def parse(
        self, name: str, value: Any
    ) -> tuple[tuple[str | None, ...], Mapping[str, Any]]:
        # As it stands in the JSON text; what databases offer for JSON differs.
        # Only a comma between quotes is found between any two, and no tag has one.
        values = {
            f'{name}_{place}': name_text(tag)
            for place, tag in enumerate(value)
            if tag != ','
        }
        kind = tuple(
            None if tag == ',' else f'{name}_{place}' for place, tag in enumerate(value)
        )
        return kind, values

    def compare(self, name: str, kind: tuple[str | None, ...]) -> Comparison:
        if not kind:
            return Comparison()
        tags = stacks.c.tags
        parts: list[Any] = [
            NEVER
            if parameter is None
            else sa.func.replace(
                tags, sa.bindparam(parameter, type_=sa.Text), EMPTY, type_=sa.Text
            )
            != sa.type_coerce(tags, sa.Text)
            for parameter in kind
        ]
        found = sa.or_(*parts) if self.any_of else sa.and_(*parts)
        return Comparison(others=(sa.not_(found) if self.negated else found,))


# collections


@dataclasses.dataclass(frozen=True, slots=True)
class SortKey:
    """By what rows are sorted.

    :param none: what stands for no value where rows are sorted by several keys
    """

    column: Expression
    nullable: bool = False
    none: Expression = EMPTY


@dataclasses.dataclass(frozen=True)
class Collection:
    """A collection.

    :param title: for errors
    :param columns: of the SELECT: those of a row, then what is shown of others
    :param joins: (table, condition) of what it refers to; each finds one row or none
    :param order: the sort keys if none are asked for
    :param places: the values of `hidden` of what is listed, deleted rows included; ()
        in tables that have no such column
    :param scope: which rows it has at all
    :param unnested: which rows are part of no other one; None: none are
    :param unindexed: sort keys whose column has no index
    :param id_ascends: whether rows that are equal in all keys are in the order of their
        ids; otherwise they are in the direction of the last key
    """

    title: str
    table: sa.Table
    columns: tuple[Expression, ...]
    keys: Mapping[str, SortKey]
    filters: Mapping[str, Filter]
    order: tuple[tuple[str, bool], ...] = (('id', False),)
    joins: tuple[tuple[sa.FromClause, Expression], ...] = ()
    places: tuple[int, ...] = ()
    scope: tuple[Expression, ...] = ()
    unnested: Expression | None = None
    unindexed: frozenset[str] = frozenset()
    id_ascends: bool = False

    @property
    def softly_deleted(self) -> bool:
        """Return whether it is a small table with deleted rows."""
        return 'deleted_at' in self.table.c and not self.places


_NEVER = constant('1970-01-01 00:00:00.000000')
#: Sort keys and filters whose column is called differently.
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
    """Return the sort keys of a table's own columns, and of what it refers to."""
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
                none = _NEVER
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
    }
    return tuple((others[c], others[c].c.id == table.c[c]) for c in columns)


def _infra(
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
    return Collection(
        name,
        table,
        (*mapper.columns, *shown),
        _keys(table, queries.SORT_KEYS[name]),
        comparisons,
        joins=_refers(table, *refers),
        **options,
    )


_LISTED = {'places': (SHOWN, DELETED)}


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
    if table is actions:
        options: dict[str, Any] = {
            'places': (APART,),
            'scope': (actions.c.tenant.is_not(None),),
            'unindexed': cluster_port.UNINDEXED,
        }
    else:
        options = {'places': (SHOWN,)} if 'hidden' in table.c else {}
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
    'goals': _infra('goals', goals, objects.GOALS, (), ()),
    'strategies': _infra(
        'strategies', strategies, objects.STRATEGIES, _GOAL, ('goal_id',)
    ),
    'audit_templates': _infra(
        'audit_templates',
        audit_templates,
        objects.AUDIT_TEMPLATES,
        (*_GOAL, *_STRATEGY),
        ('goal_id', 'strategy_id'),
    ),
    'audits': _infra(
        'audits',
        audits,
        objects.AUDITS,
        (*_GOAL, *_STRATEGY),
        ('goal_id', 'strategy_id'),
        **_LISTED,
    ),
    'action_plans': _infra(
        'action_plans',
        action_plans,
        objects.ACTION_PLANS,
        (audits.c.uuid, *_STRATEGY),
        ('audit_id', 'strategy_id'),
        **_LISTED,
    ),
    'actions': _infra(
        'actions',
        actions,
        objects.ACTIONS,
        (action_plans.c.uuid,),
        ('plan_id',),
        scope=(actions.c.plan_id.is_not(None),),
        **_LISTED,
    ),
    'profiles': _cluster_collection(cluster_port.Profile, profiles, objects.PROFILES),
    'policies': _cluster_collection(
        cluster_port.PolicyObject, policies, objects.POLICIES
    ),
    'clusters': _cluster_collection(cluster_port.Cluster, clusters, objects.CLUSTERS),
    'nodes': _cluster_collection(cluster_port.Node, nodes, objects.NODES),
    'receivers': _cluster_collection(
        cluster_port.Receiver, receivers, objects.RECEIVERS
    ),
    'cluster_actions': _cluster_collection(
        cluster_port.Action, actions, objects.ACTIONS
    ),
    'stacks': Collection(
        'stacks',
        stacks,
        (*objects.STACKS.columns, _owners.c.uuid),
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
        },
        (('created_at', True),),
        ((_owners, _owners.c.id == stacks.c.owner_id),),
        places=(SHOWN, DELETED, APART),
        unnested=stacks.c.owner_id.is_(None),
        id_ascends=True,
    ),
}
