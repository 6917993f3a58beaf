"""The part of the store for operators: purging, and figures."""

import collections
import dataclasses
import datetime
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    LIMIT,
    ONE,
    constant,
    from_now,
    id_in,
    now,
    text_in,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.tables.actions import (
    action_dependencies,
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
from watcherlite.db.sqlalchemy.tables.coordination import locks, workers
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.tables.stacks import definitions, resources, stacks

Condition = sa.ColumnElement[bool]
#: A limit that is none.
ALL = 2**31 - 1
#: Rows that are deleted in one transaction, which others may have to wait for.
BLOCK = 2000
#: Likewise stacks, each of which has many of them.
STACKS_IN_BLOCK = 100
#: Seconds for which an operation may know of a definition that no row refers to yet:
#: longer than any of them takes.
LONGEST = 2 * 24 * 3600

_BEFORE: Any = sa.bindparam('before')
_KEY: Any = sa.bindparam('key', type_=sa.BigInteger)
_AFTER: Any = sa.bindparam('after', type_=sa.BigInteger)


def _none(*where: Any) -> Condition:
    """Return that there is no row for which conditions hold."""
    return ~sa.select(ONE).where(*where).exists()


def _words(column: Any, *texts: str) -> Condition:
    """Return that a column has one of some texts, which are in the statement."""
    found: Condition = column.in_([constant(text) for text in texts])
    return found


# which rows go

_OF_STACKS = _words(events.c.subject, 'stack', 'resource')


def _published(*of: Any) -> Condition:
    """Return that the relay needs nothing of rows any more."""
    return _none(events.c.pending == ONE, *of)


def _unreferred(table: sa.Table, *by: sa.Column[Any]) -> Condition:
    return sa.and_(*(_none(column == table.c.id) for column in by))


_origin = actions.alias('origin')
#: That nobody waits for an action any more: who waits for derived actions looks at how
#: they ended when the last of them has, and at those of this run alone.
_NOT_AWAITED = _none(
    _origin.c.id == actions.c.derived_from,
    _origin.c.ended == EMPTY,
    _origin.c.end_time.is_(None),
    sa.func.coalesce(_origin.c.start_time, actions.c.created_at)
    <= actions.c.created_at,
)
_PLAN_OVER = sa.and_(
    _words(
        action_plans.c.state,
        *('SUCCEEDED', 'FAILED', 'CANCELLED', 'SUPERSEDED', 'DELETED'),
    ),
    sa.func.coalesce(action_plans.c.updated_at, action_plans.c.created_at) < _BEFORE,
    _published(events.c.plan_id == action_plans.c.id),
)
# A webhook may run an EVENT audit again that has succeeded.
_AUDIT_ENDED = sa.and_(
    sa.or_(
        _words(audits.c.state, 'FAILED', 'CANCELLED', 'DELETED'),
        sa.and_(
            audits.c.state == constant('SUCCEEDED'),
            audits.c.audit_type != constant('EVENT'),
        ),
    ),
    _published(
        events.c.subject_id == audits.c.id, events.c.subject == constant('audit')
    ),
)
_WITHOUT_PLANS = _unreferred(audits, action_plans.c.audit_id)
_LONE_ACTION = sa.and_(
    actions.c.plan_id.is_(None),
    actions.c.ended != EMPTY,
    actions.c.updated_at < _BEFORE,
    _published(events.c.action_id == actions.c.id),
    _NOT_AWAITED,
)
_LONE_EVENT = sa.and_(
    events.c.plan_id.is_(None),
    events.c.pending.is_(None),
    events.c.occurred_at < _BEFORE,
)
_told, _nested = stacks.alias('told'), stacks.alias('nested')
# The relay still reads the stack of what it has to publish, and those around it.
_STACK_GONE = sa.and_(
    stacks.c.deleted_at < _BEFORE,
    stacks.c.root_id.not_in(
        sa.select(_told.c.root_id)
        .join_from(events, _told, _told.c.id == events.c.subject_id)
        .where(events.c.pending == ONE, _OF_STACKS)
    ),
    _none(
        _nested.c.owner_id == stacks.c.id,
        sa.or_(_nested.c.deleted_at.is_(None), _nested.c.deleted_at >= _BEFORE),
    ),
)
_OLD_RESOURCE = resources.c.deleted_at < _BEFORE
_FORGOTTEN = sa.and_(
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


def _member_gone(table: sa.Table, subject: str) -> Condition:
    """Return that nobody works on a cluster or node, or has to tell of it."""
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


_NODE_GONE = _member_gone(nodes, 'node')
_CLUSTER_GONE = sa.and_(
    _member_gone(clusters, 'cluster'),
    _none(
        nodes.c.cluster_id == clusters.c.id,
        sa.or_(nodes.c.deleted_at.is_(None), sa.not_(_NODE_GONE)),
    ),
)


# what goes with them


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows that are deleted in blocks.

    :param where: which; of what belongs to others, by `ids`, `uuids` and `tenants`
    """

    table: sa.Table
    where: Condition

    @property
    def key(self) -> sa.Column[Any]:
        """Return the primary key."""
        return self.table.c.sequence if self.table is events else self.table.c.id

    @functools.cached_property
    def find(self) -> sa.Select[Any]:
        """Return the statement of the keys of a block of them, the lowest first."""
        return sa.select(self.key).where(self.where).order_by(self.key).limit(LIMIT)

    @functools.cached_property
    def delete(self) -> tuple[sa.Delete, ...]:
        """Return the statements that delete rows by their keys, `ids`."""
        found = [sa.delete(self.table).where(id_in(self.key, 'ids'))]
        if self.table is actions:
            found = [*_DELETE_OF_ACTIONS, *found]
        return tuple(found)

    @functools.cached_property
    def count(self) -> sa.Select[Any]:
        """Return the statement that counts them."""
        return sa.select(sa.func.count()).select_from(self.table).where(self.where)

    @functools.cached_property
    def count_young(self) -> sa.Select[Any]:
        """Return the statement that counts those that did not change before."""
        changed = events.c.occurred_at if self.table is events else actions.c.updated_at
        return self.count.where(changed >= _BEFORE)


_DELETE_OF_ACTIONS = (
    sa.delete(action_dependencies).where(id_in(action_dependencies.c.parent_id, 'ids')),
    sa.delete(action_dependencies).where(id_in(action_dependencies.c.child_id, 'ids')),
    sa.delete(locks).where(id_in(locks.c.action_id, 'ids')),
)


@dataclasses.dataclass(frozen=True)
class Rule:
    """When the rows of a table are deleted, and what is deleted with them.

    In blocks, each a transaction of its own: a row is the last of what is its own to
    go, so that a purge that is interrupted is continued by the next one.

    :param gone: which rows can go
    :param unreferred: that nothing refers to them; whoever came to refer to one
        before it was locked is seen when it is deleted
    :param owned: what is deleted before them
    :param bound: what is deleted with the last of them
    :param block: how many of them are deleted in one transaction
    """

    table: sa.Table
    gone: Condition
    unreferred: Condition | None = None
    owned: tuple[Rows, ...] = ()
    bound: tuple[sa.Delete, ...] = ()
    block: int = BLOCK

    @functools.cached_property
    def _rows(self) -> sa.Select[Any]:
        columns = [
            self.table.c[name]
            for name in ('id', 'uuid', 'tenant')
            if name in self.table.c
        ]
        return sa.select(*columns).where(self.gone).order_by(self.table.c.id)

    @functools.cached_property
    def find(self) -> sa.Select[Any]:
        """Return the statement of a block of rows that come after an id."""
        found = self._rows.where(self.table.c.id > _AFTER).limit(LIMIT)
        return found if self.unreferred is None else found.where(self.unreferred)

    @functools.cached_property
    def lock(self) -> sa.Select[Any]:
        """Return the statement that locks those of some rows that still can go."""
        found = self._rows.where(id_in(self.table.c.id, 'ids')).with_for_update()
        return use_index(found, self.table, 'PRIMARY', 'mysql')

    @functools.cached_property
    def delete(self) -> sa.Delete:
        """Return the statement that deletes rows."""
        found = sa.delete(self.table).where(id_in(self.table.c.id, 'ids'))
        return found if self.unreferred is None else found.where(self.unreferred)


def _values(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the parameters by which rows are found, and what is theirs."""
    values: dict[str, Any] = {'ids': [row.id for row in rows]}
    if rows and 'tenant' in rows[0]._fields:
        values['uuids'] = [row.uuid for row in rows]
        values['tenants'] = sorted({row.tenant for row in rows})
    return values


def _of_members(subject: str) -> tuple[Rows, ...]:
    """Return what is deleted before clusters, or nodes."""
    return (
        Rows(
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
        Rows(
            events,
            sa.and_(
                id_in(events.c.subject_id, 'ids'),
                events.c.subject == constant(subject),
            ),
        ),
    )


_DELETED_BEFORE = {
    table: table.c.deleted_at < _BEFORE
    for table in (goals, strategies, audit_templates)
}
#: What refers to others comes after them, so that each is judged as it was before the
#: purge.
UNREFERRED = (
    Rule(
        goals,
        _DELETED_BEFORE[goals],
        _unreferred(
            goals, strategies.c.goal_id, audit_templates.c.goal_id, audits.c.goal_id
        ),
    ),
    Rule(
        strategies,
        _DELETED_BEFORE[strategies],
        _unreferred(
            strategies,
            audit_templates.c.strategy_id,
            audits.c.strategy_id,
            action_plans.c.strategy_id,
        ),
    ),
    Rule(audit_templates, _DELETED_BEFORE[audit_templates]),
    Rule(
        audits,
        sa.and_(
            _AUDIT_ENDED,
            sa.func.coalesce(audits.c.updated_at, audits.c.created_at) < _BEFORE,
        ),
        _WITHOUT_PLANS,
    ),
)
STACKS = Rule(
    stacks,
    _STACK_GONE,
    owned=(
        Rows(events, sa.and_(id_in(events.c.subject_id, 'ids'), _OF_STACKS)),
        Rows(resources, id_in(resources.c.stack_id, 'ids')),
    ),
    block=STACKS_IN_BLOCK,
)
DEFINITIONS = Rule(
    definitions,
    _FORGOTTEN,
    _unreferred(
        definitions,
        *(stacks.c.definition_id, stacks.c.previous_id, resources.c.definition_id),
    ),
)
NODES = Rule(nodes, _NODE_GONE, owned=_of_members('node'))
CLUSTERS = Rule(
    clusters,
    _CLUSTER_GONE,
    owned=_of_members('cluster'),
    bound=(sa.delete(bindings).where(id_in(bindings.c.cluster_id, 'ids')),),
)
OLD_RESOURCES = Rows(resources, _OLD_RESOURCE)
LONE = (Rows(actions, _LONE_ACTION), Rows(events, _LONE_EVENT))
OF_PLAN = (
    Rows(actions, actions.c.plan_id == _KEY),
    Rows(events, events.c.plan_id == _KEY),
)
OF_PLANS = (
    Rows(actions, id_in(actions.c.plan_id, 'ids')),
    Rows(events, id_in(events.c.plan_id, 'ids')),
)
PLANS = (
    sa.select(action_plans.c.id, action_plans.c.audit_id)
    .where(_PLAN_OVER)
    .order_by(action_plans.c.id)
    .limit(LIMIT)
)
LOCK_PLAN = (
    sa.select(action_plans.c.id)
    .where(action_plans.c.id == _KEY, _PLAN_OVER)
    .with_for_update()
)
DELETE_PLAN = sa.delete(action_plans).where(action_plans.c.id == _KEY)
# Of two that delete plans of one audit, the second sees that it deletes the last.
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
# Of a purge that deletes stacks `ids`.
COUNT_DEFINITIONS = (
    sa.select(sa.func.count())
    .select_from(definitions)
    .where(
        _FORGOTTEN,
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

Counts = dict[str, int]


class Purge:
    """Deletes in blocks, each a transaction of its own; see `Rule`."""

    _db: Database

    def purge(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, int]:
        counts = {'action_plans': 0, 'audits': 0, 'actions': 0, 'events': 0}
        plans = self._db.rows(PLANS, before=before, limit=limit)
        # All audits are looked at, which is for the last call of many.
        if len(plans) < limit:
            found: collections.Counter[str] = collections.Counter()
            for rule in UNREFERRED:
                found.update(self._purge_rule(rule, before, ALL, dry_run))
            # Of old events and actions it is counted below that they go.
            for purge in (self._purge_stacks, self._purge_clusters):
                found.update(purge(before, ALL, dry_run, young=True))
            for table, count in found.items():
                if count or table in counts:
                    counts[table] = count
        if dry_run:
            self._count_plans(counts, [key for key, _ in plans])
            self._count_audits(counts, [audit for _, audit in plans if audit])
            self._count(counts, LONE, before=before)
            return counts
        for key, audit in plans:
            self._purge_plan(counts, key, audit, before)
        while self._purge_block(counts, LONE, before=before):
            continue
        return counts

    def purge_stacks(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        return self._purge_stacks(before, limit, dry_run)

    def purge_clusters(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        return self._purge_clusters(before, limit, dry_run)

    def _purge_stacks(
        self, before: datetime.datetime, limit: int, dry_run: bool, young: bool = False
    ) -> Counts:
        if not dry_run:
            counts = self._purge_rule(STACKS, before, limit)
            while self._purge_block(counts, (OLD_RESOURCES,), before=before):
                continue
            return counts | self._purge_rule(DEFINITIONS, before, ALL)
        counts = self._purge_rule(STACKS, before, limit, True, young)
        blocks = self._blocks(STACKS, before, limit)
        # No row has the id 0, and MySQL has no empty lists.
        ids = [row[0] for rows in blocks for row in rows] or [0]
        values = {'ids': ids, 'before': before, 'longest': -LONGEST}
        counts['resources'] += self._db.rows(COUNT_OLD_RESOURCES, **values)[0][0]
        counts['definitions'] = self._db.rows(COUNT_DEFINITIONS, **values)[0][0]
        return counts

    def _purge_clusters(
        self, before: datetime.datetime, limit: int, dry_run: bool, young: bool = False
    ) -> Counts:
        found = collections.Counter(
            self._purge_rule(NODES, before, ALL, dry_run, young)
        )
        found.update(self._purge_rule(CLUSTERS, before, limit, dry_run, young))
        return dict(found)

    def _purge_rule(
        self,
        rule: Rule,
        before: datetime.datetime,
        limit: int,
        dry_run: bool = False,
        young: bool = False,
    ) -> Counts:
        """Delete the rows of a rule, or count them; return how many of each table.

        :param young: count of events and actions only those that changed since
        """
        counts = {rule.table.name: 0, **{rows.table.name: 0 for rows in rule.owned}}
        for rows in self._blocks(rule, before, limit):
            if dry_run:
                counts[rule.table.name] += len(rows)
                values = {**_values(rows), 'before': before}
                self._count(counts, rule.owned, young, **values)
                continue
            while self._purge_rows(rule, counts, rows, before):
                continue
        return counts

    def _blocks(
        self, rule: Rule, before: datetime.datetime, limit: int
    ) -> Iterator[Sequence[Any]]:
        """Yield the rows of a rule, by id, as many at once as are deleted at once."""
        after = 0
        while limit > 0:
            rows = self._db.rows(
                rule.find,
                before=before,
                after=after,
                limit=min(limit, rule.block),
                longest=-LONGEST,
            )
            if not rows:
                return
            yield rows
            after, limit = rows[-1][0], limit - len(rows)

    def _purge_rows(
        self, rule: Rule, counts: Counts, rows: Sequence[Any], before: datetime.datetime
    ) -> bool:
        """Delete some of what belongs to rows, or them; return whether more is left."""
        with self._db.transaction() as session:
            ids = [row.id for row in rows]
            locked = session.rows(rule.lock, before=before, ids=ids, longest=-LONGEST)
            if not locked:
                return False
            values = _values(locked)
            if _delete_block(session, counts, rule.owned, **values):
                return True
            for statement in rule.bound:
                session.count(statement, ids=values['ids'])
            counts[rule.table.name] += session.count(rule.delete, ids=values['ids'])
            return False

    def _purge_block(
        self, counts: Counts, owned: Sequence[Rows], **values: Any
    ) -> bool:
        """Delete a block of each of some rows; return whether there may be more."""
        with self._db.transaction() as session:
            return _delete_block(session, counts, owned, **values)

    def _purge_plan(
        self, counts: Counts, key: int, audit: int | None, before: datetime.datetime
    ) -> None:
        more = True
        while more:
            with self._db.transaction() as session:
                if audit is not None:
                    # First, as whoever changes an audit and its plans does.
                    session.rows(LOCK_AUDIT, key=audit)
                if not session.rows(LOCK_PLAN, key=key, before=before):
                    return
                more = _delete_block(session, counts, OF_PLAN, key=key)
                if not more:
                    counts['action_plans'] += session.count(DELETE_PLAN, key=key)
                    if audit is not None:
                        counts['audits'] += session.count(DELETE_AUDIT, key=audit)

    # counting

    def _count(
        self, counts: Counts, owned: Sequence[Rows], young: bool = False, **values: Any
    ) -> None:
        for rows in owned:
            dated = young and rows.table is not resources
            statement = rows.count_young if dated else rows.count
            counts[rows.table.name] += self._db.rows(statement, **values)[0][0]

    def _count_plans(self, counts: Counts, keys: Sequence[int]) -> None:
        counts['action_plans'] = len(keys)
        for begin in range(0, len(keys), BLOCK):
            self._count(counts, OF_PLANS, ids=keys[begin : begin + BLOCK])

    def _count_audits(self, counts: Counts, audits: Sequence[int]) -> None:
        """Count the audits of which no plan would be left.

        :param audits: of the plans that would be deleted, one for each
        """
        gone = collections.Counter(audits)
        keys = list(gone)
        with self._db.transaction() as session:
            for begin in range(0, len(keys), BLOCK):
                ids = keys[begin : begin + BLOCK]
                for key, plans in session.rows(PLANS_OF_AUDITS, ids=ids):
                    counts['audits'] += plans == gone[key]


def _delete_block(
    session: Session, counts: Counts, owned: Sequence[Rows], **values: Any
) -> bool:
    """Delete a block of each of some rows; return whether there may be more.

    :param counts: grow by how many went
    """
    full = False
    for rows in owned:
        found = session.rows(rows.find, limit=BLOCK, **values)
        if found:
            ids = [row[0] for row in found]
            for statement in rows.delete:
                session.count(statement, ids=ids)
            counts[rows.table.name] += len(ids)
        full = full or len(found) == BLOCK
    return full


# figures

_ACTIVE = _words(action_plans.c.state, 'PENDING', 'ONGOING', 'CANCELLING')


def _counted_by(column: sa.Column[Any], *where: Any) -> sa.Select[Any]:
    return sa.select(column, sa.func.count()).where(*where).group_by(column)


def _counted(table: sa.Table, *where: Any) -> sa.Select[Any]:
    return sa.select(sa.func.count()).select_from(table).where(*where)


#: What is counted by a state, and what is counted alone.
_STATES = {
    'action_plans': _counted_by(action_plans.c.state, _ACTIVE),
    'actions': _counted_by(actions.c.status, actions.c.ended == EMPTY),
    'stacks': _counted_by(
        stacks.c.status, stacks.c.hidden.in_([sa.literal_column(n) for n in '02'])
    ),
}
_FIGURES = {
    'pending_events': _counted(events, events.c.pending == ONE),
    'resources_in_progress': _counted(
        resources,
        resources.c.status == constant('IN_PROGRESS'),
        resources.c.deleted_at.is_(None),
    ),
    'workers': _counted(workers, workers.c.lease_until > now()),
}


class Figures:
    """What operators watch."""

    _db: Database

    def statistics(self) -> Mapping[str, Any]:
        states = {
            name: {row[0]: row[1] for row in self._db.rows(statement)}
            for name, statement in _STATES.items()
        }
        return states | {
            name: self._db.rows(statement)[0][0] for name, statement in _FIGURES.items()
        }
