"""Rules of a purge: the rows to delete, and the rows that are deleted with them."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    LIMIT,
    ONE,
    constant,
    from_now,
    id_in,
    text_in,
    use_index,
)
from watcherlite.db.sqlalchemy.tables.actions import (
    action_dependencies,
    action_log_entries,
    action_plans,
    actions,
)
from watcherlite.db.sqlalchemy.tables.audits import (
    audit_templates,
    audits,
    goals,
    strategies,
)
from watcherlite.db.sqlalchemy.tables.clusters import bindings, clusters, nodes
from watcherlite.db.sqlalchemy.tables.coordination import locks
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.tables.stacks import definitions, resources, stacks

Condition = sa.ColumnElement[bool]
#: Rows deleted in one transaction, for which other transactions may wait.
BATCH = 2000
#: Stacks deleted in one transaction, each with many rows.
STACK_BATCH = 100

_BEFORE: Any = sa.bindparam('before')
_KEY: Any = sa.bindparam('key', type_=sa.BigInteger)
_AFTER: Any = sa.bindparam('after', type_=sa.BigInteger)


def _none(*where: Any) -> Condition:
    """Return the condition that no row meets some conditions."""
    return ~sa.select(ONE).where(*where).exists()


def _one_of(column: Any, *texts: str) -> Condition:
    """Return the condition that a column has one of some text literals."""
    found: Condition = column.in_([constant(text) for text in texts])
    return found


_OF_STACKS = _one_of(events.c.subject, 'stack', 'resource')


def _published(*of: Any) -> Condition:
    """Return the condition that no unpublished event refers to a row."""
    return _none(events.c.pending == ONE, *of)


def _unreferenced(table: sa.Table, *by: sa.Column[Any]) -> Condition:
    """Return the condition that no foreign key refers to a row."""
    return sa.and_(*(_none(column == table.c.id) for column in by))


_origin = actions.alias('origin')
#: The condition that no action waits for a derived action. An action reads the results
#: of the actions that it derived in its current run, after the last of them has ended.
_NOT_AWAITED = _none(
    _origin.c.id == actions.c.derived_from,
    _origin.c.ended == EMPTY,
    _origin.c.end_time.is_(None),
    sa.func.coalesce(_origin.c.start_time, actions.c.created_at)
    <= actions.c.created_at,
)
_PLAN_ENDED = sa.and_(
    _one_of(
        action_plans.c.state,
        'SUCCEEDED',
        'FAILED',
        'CANCELLED',
        'SUPERSEDED',
        'DELETED',
    ),
    sa.func.coalesce(action_plans.c.updated_at, action_plans.c.created_at) < _BEFORE,
    _published(events.c.plan_id == action_plans.c.id),
)
# A webhook may run a succeeded EVENT audit again.
_AUDIT_ENDED = sa.and_(
    sa.or_(
        _one_of(audits.c.state, 'FAILED', 'CANCELLED', 'DELETED'),
        sa.and_(
            audits.c.state == constant('SUCCEEDED'),
            audits.c.audit_type != constant('EVENT'),
        ),
    ),
    _published(
        events.c.subject_id == audits.c.id, events.c.subject == constant('audit')
    ),
)
_WITHOUT_PLANS = _unreferenced(audits, action_plans.c.audit_id)
_ACTION_WITHOUT_PLAN = sa.and_(
    actions.c.plan_id.is_(None),
    actions.c.ended != EMPTY,
    actions.c.updated_at < _BEFORE,
    _published(events.c.action_id == actions.c.id),
    _NOT_AWAITED,
)
_EVENT_WITHOUT_PLAN = sa.and_(
    events.c.plan_id.is_(None),
    events.c.pending.is_(None),
    events.c.occurred_at < _BEFORE,
)
_pending, _nested = stacks.alias('unpublished'), stacks.alias('nested')
# The relay reads the stack of an unpublished event, and its ancestors.
_STACK_DELETED = sa.and_(
    stacks.c.deleted_at < _BEFORE,
    stacks.c.root_id.not_in(
        sa.select(_pending.c.root_id)
        .join_from(events, _pending, _pending.c.id == events.c.subject_id)
        .where(events.c.pending == ONE, _OF_STACKS)
    ),
    _none(
        _nested.c.owner_id == stacks.c.id,
        sa.or_(_nested.c.deleted_at.is_(None), _nested.c.deleted_at >= _BEFORE),
    ),
)
_OLD_RESOURCE = resources.c.deleted_at < _BEFORE
_DEFINITION_UNUSED = sa.and_(
    definitions.c.used_at < _BEFORE,
    sa.or_(
        definitions.c.used_at < from_now(sa.bindparam('longest', type_=sa.Float)),
        _none(
            actions.c.plan_id.is_(None),
            actions.c.ended == EMPTY,
            actions.c.action_type == constant('stack'),
        ),
    ),
)


def _member_deleted(table: sa.Table, subject: str) -> Condition:
    """Return the condition of old deleted clusters or nodes that are not in use.

    They have neither unpublished events nor unfinished actions.
    """
    busy = actions.alias('busy')
    return sa.and_(
        table.c.deleted_at < _BEFORE,
        _published(
            events.c.subject == constant(subject), events.c.subject_id == table.c.id
        ),
        _none(
            busy.c.tenant == table.c.tenant,
            busy.c.ended == EMPTY,
            sa.or_(busy.c.target == table.c.uuid, busy.c.within == table.c.uuid),
        ),
    )


_NODE_DELETED = _member_deleted(nodes, 'node')
_CLUSTER_DELETED = sa.and_(
    _member_deleted(clusters, 'cluster'),
    _none(
        nodes.c.cluster_id == clusters.c.id,
        sa.or_(nodes.c.deleted_at.is_(None), sa.not_(_NODE_DELETED)),
    ),
)


@dataclasses.dataclass(frozen=True)
class OwnedRows:
    """Rows that are deleted in batches.

    :param where: their condition; rows that belong to other rows are found by the
        parameters `ids`, `uuids` and `tenants` of these
    """

    table: sa.Table
    where: Condition

    @property
    def key(self) -> sa.Column[Any]:
        """Return the primary key."""
        return self.table.c.sequence if self.table is events else self.table.c.id

    @functools.cached_property
    def find(self) -> sa.Select[Any]:
        """Return the statement of the keys of a batch, the lowest first."""
        return sa.select(self.key).where(self.where).order_by(self.key).limit(LIMIT)

    @functools.cached_property
    def delete(self) -> tuple[sa.Delete, ...]:
        """Return the statements that delete rows by their keys, parameter `ids`."""
        found = [sa.delete(self.table).where(id_in(self.key, 'ids'))]
        if self.table is actions:
            found = [*_DELETE_OF_ACTIONS, *found]
        return tuple(found)

    @functools.cached_property
    def count(self) -> sa.Select[Any]:
        """Return the statement that counts the rows."""
        return sa.select(sa.func.count()).select_from(self.table).where(self.where)

    @functools.cached_property
    def count_recent(self) -> sa.Select[Any]:
        """Return the statement that counts the rows changed since `before`."""
        changed = events.c.occurred_at if self.table is events else actions.c.updated_at
        return self.count.where(changed >= _BEFORE)


_DELETE_OF_ACTIONS = (
    sa.delete(action_dependencies).where(id_in(action_dependencies.c.parent_id, 'ids')),
    sa.delete(action_dependencies).where(id_in(action_dependencies.c.child_id, 'ids')),
    sa.delete(locks).where(id_in(locks.c.action_id, 'ids')),
    sa.delete(action_log_entries).where(id_in(action_log_entries.c.action_id, 'ids')),
)


@dataclasses.dataclass(frozen=True)
class PurgeRule:
    """The condition under which rows of a table are deleted, and their owned rows.

    Rows are deleted in batches, each in a transaction of its own, and after their owned
    rows, so that the next purge continues an interrupted one.

    :param condition: the condition of the rows
    :param unreferenced: the condition that no row refers to them; it is tested again by
        the DELETE, for references added before the rows were locked
    :param owned: rows that are deleted before them
    :param bound: statements that delete further rows in the same transaction
    :param batch: the number of rows deleted in one transaction
    """

    table: sa.Table
    condition: Condition
    unreferenced: Condition | None = None
    owned: tuple[OwnedRows, ...] = ()
    bound: tuple[sa.Delete, ...] = ()
    batch: int = BATCH

    @functools.cached_property
    def _rows(self) -> sa.Select[Any]:
        columns = [
            self.table.c[name]
            for name in ('id', 'uuid', 'tenant')
            if name in self.table.c
        ]
        return sa.select(*columns).where(self.condition).order_by(self.table.c.id)

    @functools.cached_property
    def find(self) -> sa.Select[Any]:
        """Return the statement of a batch of rows after an id."""
        found = self._rows.where(self.table.c.id > _AFTER).limit(LIMIT)
        return found if self.unreferenced is None else found.where(self.unreferenced)

    @functools.cached_property
    def lock(self) -> sa.Select[Any]:
        """Return the statement that locks rows that still meet the condition."""
        found = self._rows.where(id_in(self.table.c.id, 'ids')).with_for_update()
        return use_index(found, self.table, 'PRIMARY', 'mysql')

    @functools.cached_property
    def delete(self) -> sa.Delete:
        """Return the statement that deletes rows."""
        found = sa.delete(self.table).where(id_in(self.table.c.id, 'ids'))
        return found if self.unreferenced is None else found.where(self.unreferenced)


def row_parameters(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the parameters of statements on rows and their owned rows."""
    values: dict[str, Any] = {'ids': [row.id for row in rows]}
    if rows and 'tenant' in rows[0]._fields:
        values['uuids'] = [row.uuid for row in rows]
        values['tenants'] = sorted({row.tenant for row in rows})
    return values


def _owned_by_members(subject: str) -> tuple[OwnedRows, ...]:
    """Return the owned rows of clusters or nodes."""
    return (
        OwnedRows(
            actions,
            sa.and_(
                actions.c.tenant.is_not(None),
                actions.c.ended != EMPTY,
                text_in(actions.c.tenant, 'tenants'),
                text_in(actions.c.target, 'uuids'),
                _published(events.c.action_id == actions.c.id),
                _NOT_AWAITED,
            ),
        ),
        OwnedRows(
            events,
            sa.and_(
                id_in(events.c.subject_id, 'ids'), events.c.subject == constant(subject)
            ),
        ),
    )


_DELETED_BEFORE = {
    table: table.c.deleted_at < _BEFORE
    for table in (goals, strategies, audit_templates)
}
#: Referring tables come last, so that references before the purge count.
UNREFERENCED = (
    PurgeRule(
        goals,
        _DELETED_BEFORE[goals],
        _unreferenced(
            goals, strategies.c.goal_id, audit_templates.c.goal_id, audits.c.goal_id
        ),
    ),
    PurgeRule(
        strategies,
        _DELETED_BEFORE[strategies],
        _unreferenced(
            strategies,
            audit_templates.c.strategy_id,
            audits.c.strategy_id,
            action_plans.c.strategy_id,
        ),
    ),
    PurgeRule(audit_templates, _DELETED_BEFORE[audit_templates]),
    PurgeRule(
        audits,
        sa.and_(
            _AUDIT_ENDED,
            sa.func.coalesce(audits.c.updated_at, audits.c.created_at) < _BEFORE,
        ),
        _WITHOUT_PLANS,
    ),
)
STACKS = PurgeRule(
    stacks,
    _STACK_DELETED,
    owned=(
        OwnedRows(events, sa.and_(id_in(events.c.subject_id, 'ids'), _OF_STACKS)),
        OwnedRows(resources, id_in(resources.c.stack_id, 'ids')),
    ),
    batch=STACK_BATCH,
)
DEFINITIONS = PurgeRule(
    definitions,
    _DEFINITION_UNUSED,
    _unreferenced(
        definitions,
        stacks.c.definition_id,
        stacks.c.previous_id,
        resources.c.definition_id,
    ),
)
NODES = PurgeRule(nodes, _NODE_DELETED, owned=_owned_by_members('node'))
CLUSTERS = PurgeRule(
    clusters,
    _CLUSTER_DELETED,
    owned=_owned_by_members('cluster'),
    bound=(sa.delete(bindings).where(id_in(bindings.c.cluster_id, 'ids')),),
)
OLD_RESOURCES = OwnedRows(resources, _OLD_RESOURCE)
WITHOUT_PLAN = (
    OwnedRows(actions, _ACTION_WITHOUT_PLAN),
    OwnedRows(events, _EVENT_WITHOUT_PLAN),
)
OF_PLAN = (
    OwnedRows(actions, actions.c.plan_id == _KEY),
    OwnedRows(events, events.c.plan_id == _KEY),
)
OF_PLANS = (
    OwnedRows(actions, id_in(actions.c.plan_id, 'ids')),
    OwnedRows(events, id_in(events.c.plan_id, 'ids')),
)
PLANS = (
    sa.select(action_plans.c.id, action_plans.c.audit_id)
    .where(_PLAN_ENDED)
    .order_by(action_plans.c.id)
    .limit(LIMIT)
)
LOCK_PLAN = (
    sa.select(action_plans.c.id)
    .where(action_plans.c.id == _KEY, _PLAN_ENDED)
    .with_for_update()
)
DELETE_PLAN = sa.delete(action_plans).where(action_plans.c.id == _KEY)
# Serializes purges of plans of one audit, so that the last one deletes the audit.
LOCK_AUDIT = sa.select(audits.c.id).where(audits.c.id == _KEY).with_for_update()
DELETE_AUDIT = sa.delete(audits).where(
    audits.c.id == _KEY, _AUDIT_ENDED, _WITHOUT_PLANS
)
PLANS_OF_AUDITS = (
    sa.select(audits.c.id, sa.func.count())
    .join_from(audits, action_plans, action_plans.c.audit_id == audits.c.id)
    .where(_AUDIT_ENDED, id_in(audits.c.id, 'ids'))
    .group_by(audits.c.id)
)
# For a purge that deletes the stacks `ids`.
COUNT_DEFINITIONS = (
    sa.select(sa.func.count())
    .select_from(definitions)
    .where(
        _DEFINITION_UNUSED,
        *(
            _none(column == definitions.c.id, ~id_in(stacks.c.id, 'ids'))
            for column in (stacks.c.definition_id, stacks.c.previous_id)
        ),
        _none(
            resources.c.definition_id == definitions.c.id,
            ~id_in(resources.c.stack_id, 'ids'),
            sa.or_(resources.c.deleted_at.is_(None), resources.c.deleted_at >= _BEFORE),
        ),
    )
)
COUNT_OLD_RESOURCES = OLD_RESOURCES.count.where(~id_in(resources.c.stack_id, 'ids'))
