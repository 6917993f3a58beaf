"""Filters of collections: the conditions that they add to a statement."""

import dataclasses
from collections.abc import Hashable, Mapping
from typing import Any, Protocol

import sqlalchemy as sa

from watcherlite.db import query as queries
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    NEVER,
    ZERO,
    constant,
    constant_in,
    id_in,
    meets,
    text_in,
)
from watcherlite.db.sqlalchemy.statements.actions import COLUMNS
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.stacks import stacks
from watcherlite.db.sqlalchemy.text import can_be_stored, fold, name_text
from watcherlite.domain import readiness
from watcherlite.states import action as action_states

Expression = sa.ColumnElement[Any]
#: Values of `hidden`: of listed rows, of deleted rows, and of rows that the main list
#: of their table omits: actions without a plan, nested stacks.
LISTED, DELETED, UNLISTED = 0, 1, 2

ONGOING = sa.or_(
    constant_in(actions.c.status, action_states.STARTED),
    meets(readiness.UNDER_WAY, COLUMNS),
)
#: For actions that have not ended.
PENDING = sa.not_(ONGOING)
STATE = sa.case(
    (actions.c.deleted_at.is_not(None), constant('DELETED')),
    (actions.c.ended != EMPTY, actions.c.ended),
    (ONGOING, constant('ONGOING')),
    else_=constant('PENDING'),
)
#: States of unfinished actions -> the condition, in addition to `ended` = ''.
OPEN_STATES: Mapping[str, Expression] = {'ONGOING': ONGOING, 'PENDING': PENDING}


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """The conditions of a filter.

    :param equality: (column, value), of a column that has an index
    :param conditions: further conditions
    :param hidden: the only values of `hidden` in matching rows; None: any
    :param limit: (column, value, whether it is the upper one): the limit of a range of
        values, which is one of the conditions too
    """

    equality: tuple[Expression, Expression] | None = None
    conditions: tuple[Expression, ...] = ()
    hidden: tuple[int, ...] | None = None
    limit: tuple[Expression, Expression, bool] | None = None


NOTHING = Comparison(conditions=(NEVER,))


class Filter(Protocol):
    """A filter of a collection."""

    def parse(self, name: str, value: Any) -> tuple[Hashable, Mapping[str, Any]]:
        """Return the kind of the value, which decides the statement; parameters."""

    def compare(self, name: str, kind: Any) -> Comparison:
        """Return the comparison for a kind."""


@dataclasses.dataclass(frozen=True)
class Equal:
    """The rows in which a column has the value.

    A value that cannot be stored matches none.

    :param of: the table in which the value is a uuid; the column is its foreign key
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


@dataclasses.dataclass(frozen=True)
class Limit:
    """The rows in which a column is at least, or at most, the value."""

    column: Expression
    is_upper: bool = False

    def parse(self, name: str, value: Any) -> tuple[bool, Mapping[str, Any]]:
        return True, {name: value}

    def compare(self, name: str, kind: bool) -> Comparison:
        value: Any = sa.bindparam(name, type_=self.column.type)
        condition = self.column <= value if self.is_upper else self.column >= value
        limit = (self.column, value, self.is_upper)
        return Comparison(conditions=(condition,), limit=limit)


def name_values(name: str, prefix: str = '') -> dict[str, Any]:
    """Return the parameters of a search by uuid, name or id."""
    return {
        f'{prefix}lower': name.lower(),
        f'{prefix}name': name,
        f'{prefix}folded': fold(name),
        f'{prefix}number': queries.as_id(name),
    }


@dataclasses.dataclass(frozen=True)
class Named:
    """The rows that refer to the row with a uuid, name or id."""

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

        def parameter(what: str, kind: Any = sa.String) -> sa.BindParameter[Any]:
            return sa.bindparam(f'{name}_{what}', type_=kind)

        folded = of.lower_name == parameter('folded')
        matches = (
            (of.uuid == parameter('lower'),),
            (folded, of.name == parameter('name')),
            (folded,),
            (of.id == parameter('number', sa.BigInteger),),
        )
        # The most likely first. MariaDB evaluates only subqueries as simple as these
        # before it decides on a range of an index.
        found = (
            sa.select(sa.func.max(of.id))
            .where(*match, is_deleted)
            .correlate(None)
            .scalar_subquery()
            for is_deleted in (of.deleted == ZERO, of.deleted != ZERO)
            for match in matches
        )
        return Comparison((self.column, sa.func.coalesce(*found)))


class ActionState:
    """The actions in a state, as the API names it."""

    def parse(self, name: str, value: Any) -> tuple[str, Mapping[str, Any]]:
        if value in action_states.FINAL:
            return 'final', {'ended': value}
        return (value if value in OPEN_STATES or value == 'DELETED' else ''), {}

    def compare(self, name: str, kind: str) -> Comparison:
        if kind == 'final':
            ended = sa.bindparam('ended', type_=sa.String)
            return Comparison((actions.c.ended, ended), (), (LISTED,))
        if kind in OPEN_STATES:
            # A literal, as in the condition of partial indexes.
            return Comparison((actions.c.ended, EMPTY), (OPEN_STATES[kind],), (LISTED,))
        return Comparison(None, (), (DELETED,)) if kind else NOTHING


@dataclasses.dataclass(frozen=True)
class OneOf:
    """The rows in which a column has one of some texts.

    :param of: the table in which these are uuids; the column is its foreign key
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
            return Comparison(conditions=(text_in(self.column, f'of_{name}'),))
        other = self.of.alias('o')
        ids = sa.select(other.c.id).where(text_in(other.c.uuid, f'of_{name}'))
        return Comparison(conditions=(self.column.in_(ids),))


@dataclasses.dataclass(frozen=True)
class OfCluster:
    """The rows of some clusters (ids), or of no cluster (None)."""

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
        return Comparison(conditions=(sa.or_(*found),)) if found else NOTHING


class ActionStatus(OneOf):
    """The actions in one of some statuses."""

    def parse(self, name: str, value: Any) -> tuple[bool, Mapping[str, Any]]:
        kind, values = super().parse(name, value)
        ended = {v if v in action_states.FINAL else '' for v in value}
        return kind, {**values, 'of_ended': sorted(ended)} if kind else {}

    def compare(self, name: str, kind: bool) -> Comparison:
        if not kind:
            return NOTHING
        # The index has `ended`, which does not change with every step of an action.
        ended = text_in(actions.c.ended, 'of_ended')
        return Comparison(conditions=(*super().compare(name, kind).conditions, ended))


class ActionOfCluster(OneOf):
    """The actions of some clusters.

    They are within the cluster, have it as their target, or have a node join it.
    """

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
        return Comparison(conditions=(actions.c.id.in_(ids),))


@dataclasses.dataclass(frozen=True)
class Tagged:
    """The stacks that have all, or any, of some tags.

    :param any_of: any of them
    :param negated: the stacks that have not
    """

    any_of: bool = False
    negated: bool = False

    def parse(
        self, name: str, value: Any
    ) -> tuple[tuple[str | None, ...], Mapping[str, Any]]:
        # A search of the JSON text, as the JSON functions of databases differ. A
        # quoted comma would match between any two tags, and is no valid tag.
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
        return Comparison(conditions=(sa.not_(found) if self.negated else found,))
