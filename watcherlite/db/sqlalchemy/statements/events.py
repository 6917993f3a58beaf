"""Statements on events: the transactional outbox, and the history."""

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db import clusters as port
from watcherlite.db.query import EventQuery
from watcherlite.db.sqlalchemy.constructs import (
    LIMIT,
    ONE,
    RowSource,
    constant,
    id_in,
    insert_rows,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.lists import events as lists
from watcherlite.db.sqlalchemy.mappers import EVENTS
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.clusters import clusters, nodes
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.tables.types import TEXT, EncryptedText
from watcherlite.domain.events import (
    CLUSTER,
    NODE,
    RESOURCE,
    STACK,
    Event,
    StoredEvent,
    check_subject,
)

Expression = sa.ColumnElement[Any]


def _tenant(source: RowSource) -> Expression:
    """Return the project of the cluster or node that an event is about."""

    def owner(table: sa.Table) -> Any:
        of = sa.select(table.c.tenant).where(table.c.id == source.c.subject_id)
        return of.correlate(source).scalar_subquery()

    return sa.case(
        (source.c.subject == constant(CLUSTER), owner(clusters)),
        (source.c.subject == constant(NODE), owner(nodes)),
    )


# Most events are of plans. A source of all columns would cost them time for columns
# that only events of stacks and clusters have.
NEW = RowSource(*EVENTS.columns)
ADD = insert_rows(events, NEW, pending=ONE)
NEW_OF_STACKS = RowSource(*EVENTS.columns, events.c.name, events.c.type)
ADD_OF_STACKS = insert_rows(events, NEW_OF_STACKS, pending=ONE)
NEW_OF_CLUSTERS = RowSource(
    *EVENTS.columns, events.c.name, events.c.type, events.c.within, events.c.level
)
#: The project of an event is that of its cluster or node.
ADD_OF_CLUSTERS = insert_rows(
    events, NEW_OF_CLUSTERS, pending=ONE, tenant=_tenant(NEW_OF_CLUSTERS)
)


class EventStatements(StatementGroup):
    """The methods of `db.api.Transaction` that store events."""

    def add_events(self, events: Sequence[Event]) -> None:
        subjects = {event.subject for event in events}
        rows: list[tuple[Any, ...]]
        if subjects & {CLUSTER, NODE}:
            rows = [(*EVENTS.values(e), *_search_columns(e)) for e in events]
            self._session.write_rows(ADD_OF_CLUSTERS, NEW_OF_CLUSTERS, rows)
        elif subjects & {STACK, RESOURCE}:
            rows = [(*EVENTS.values(e), *_resource_columns(e)) for e in events]
            self._session.write_rows(ADD_OF_STACKS, NEW_OF_STACKS, rows)
        else:
            self._insert_new(list(map(EVENTS.values, events)))

    def _insert_new(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows of NEW."""
        self._session.write_rows(ADD, NEW, rows)


def _search_columns(event: Event) -> tuple[Any, ...]:
    """Return the name, type, cluster and level of an event, for searches."""
    if event.subject not in (CLUSTER, NODE):
        return (*_resource_columns(event), None, None)
    detail = event.detail or {}
    action = detail.get('action') or {}
    return (
        detail.get('name'),
        action.get('type'),
        port.is_within(event),
        port.level_of(event),
    )


def _resource_columns(event: Event) -> tuple[str | None, str | None]:
    """Return the name and type of the resource of an event."""
    if event.subject == RESOURCE and event.detail is not None:
        return event.detail.get('name'), event.detail.get('type')
    return '' if event.subject == STACK else None, None


def _events(*where: Expression, latest_first: bool = False) -> sa.Select[Any]:
    """Return the statement of events with the constant columns of their actions."""
    order: Any = sa.desc if latest_first else sa.asc
    # The limit is in the subquery, so that no more actions are joined than needed.
    some = (
        sa.select(events.c.sequence, *EVENTS.columns)
        .where(*where)
        .order_by(order(events.c.sequence))
        .limit(LIMIT)
        .subquery('some')
    )
    return (
        sa.select(
            *some.c,
            actions.c.uuid,
            actions.c.name,
            actions.c.action_type,
            # As text, which the publisher puts into a message unparsed.
            sa.type_coerce(actions.c.inputs, EncryptedText(always=False)),
            sa.type_coerce(actions.c.parents, TEXT),
            actions.c.created_at,
        )
        .join_from(some, actions, actions.c.id == some.c.action_id, isouter=True)
        .order_by(order(some.c.sequence))
    )


_PENDING = events.c.pending == ONE
_LATER = events.c.sequence > sa.bindparam('after', type_=sa.BigInteger)
PENDING = _events(_PENDING)
PUBLISHED = _events(_LATER, events.c.published_at >= sa.bindparam('since'))
_EARLIER = events.c.sequence < sa.bindparam('before', type_=sa.BigInteger)
_Pages = tuple[sa.Select[Any], sa.Select[Any]]


def _history(*of: Expression) -> _Pages:
    """Return the statements of the events after one, and of those before one."""
    return _events(*of, _LATER), _events(*of, _EARLIER, latest_first=True)


HISTORY = _history()
HISTORY_OF_PLAN = _history(events.c.plan_id == sa.bindparam('plan_id'))
# By the index of the plan: one of actions would be written with every event.
HISTORY_OF_ACTION = _history(
    events.c.plan_id == sa.bindparam('plan_id'),
    events.c.action_id == sa.bindparam('action_id', type_=sa.BigInteger),
)
HISTORY_OF_SUBJECT = _history(
    events.c.subject_id == sa.bindparam('subject_id'),
    events.c.subject == sa.bindparam('subject'),
)
MARK = (
    sa.update(events)
    .where(id_in(events.c.sequence, 'sequences'), _PENDING)
    .values(pending=sa.null(), published_at=sa.bindparam('now'))
)
OLDEST = (
    sa.select(events.c.occurred_at)
    .where(_PENDING)
    .order_by(events.c.sequence)
    .limit(ONE)
)
EXISTS = sa.select(ONE).where(events.c.uuid == sa.bindparam('uuid'))
_WIDTH = 1 + len(EVENTS.columns)


def _read(row: Sequence[Any]) -> StoredEvent:
    return StoredEvent(row[0], EVENTS.read(row[1:_WIDTH]), *row[_WIDTH:])


class SqlEventStore:
    """The methods of `db.api.Store` for the notification relay and for readers."""

    _db: Database

    def pending_events(self, limit: int) -> list[StoredEvent]:
        return self._read_events(PENDING, limit=limit)

    def mark_published(self, sequences: Sequence[int], now: datetime.datetime) -> None:
        if sequences:
            self._db.change(MARK, sequences=sequences, now=now)

    def published_events(
        self, after: int, since: datetime.datetime, limit: int
    ) -> list[StoredEvent]:
        return self._read_events(PUBLISHED, after=after, since=since, limit=limit)

    def event_exists(self, uuid: str) -> bool:
        return bool(self._db.rows(EXISTS, uuid=uuid))

    def oldest_pending_event(self) -> datetime.datetime | None:
        rows = self._db.rows(OLDEST)
        return rows[0][0] if rows else None

    def list_events(
        self,
        *,
        plan_id: int | None = None,
        action_id: int | None = None,
        subject: str | None = None,
        subject_id: int | None = None,
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[StoredEvent]:
        check_subject(plan_id, subject, subject_id)
        if action_id is not None and plan_id is None:
            raise ValueError('the history of an action requires its plan')
        pages: _Pages = HISTORY
        values: dict[str, Any] = {'limit': limit}
        if subject_id is not None:
            pages = HISTORY_OF_SUBJECT
            values.update(subject=subject, subject_id=subject_id)
        elif plan_id is not None:
            pages = HISTORY_OF_PLAN
            values.update(plan_id=plan_id)
            if action_id is not None:
                pages = HISTORY_OF_ACTION
                values.update(action_id=action_id)
        if before is None:
            return self._read_events(pages[0], after=after, **values)
        return self._read_events(pages[1], before=before, **values)

    def list_stack_events(self, query: EventQuery) -> list[StoredEvent]:
        if not query.filters.get('stack_id') and query.after is None:
            return []
        return self._event_page(lists.STACKS, query)

    def list_cluster_events(self, query: EventQuery) -> list[StoredEvent]:
        return self._event_page(lists.CLUSTERS, query)

    def _event_page(
        self, subjects: tuple[str, ...], query: EventQuery
    ) -> list[StoredEvent]:
        shape, values = lists.parse(subjects, query, self._db.database)
        rows = self._db.rows(lists.page(shape), **values)
        if not rows and query.after is not None:
            raise exceptions.NotFound(f'Event {query.after} could not be found.')
        return [_read(row) for row in rows if row[0] is not None]

    def _read_events(
        self, statement: sa.Select[Any], **values: Any
    ) -> list[StoredEvent]:
        return list(map(_read, self._db.rows(statement, **values)))
