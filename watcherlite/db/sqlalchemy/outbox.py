"""The events: stored with what they tell of, published later, kept as history."""

import datetime
from collections.abc import Sequence
from typing import Any

from watcherlite.db.sqlalchemy.cluster_events import (
    ADD_OF_CLUSTERS,
    FOUND_BY,
    SUBJECTS,
    found_by,
)
from watcherlite.db.sqlalchemy.columns import EVENT, named
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, insertion, to_text
from watcherlite.db.sqlalchemy.mappers import new_event
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.events import (
    RESOURCE,
    STACK,
    Event,
    StoredEvent,
    check_subject,
)

ADD = insertion('events', {**EVENT, 'pending': INTEGER})
# Most events are of plans, and each column of a row costs all of them.
ADD_OF_STACKS = insertion(
    'events', {**EVENT, 'pending': INTEGER, 'name': TEXT, 'type': TEXT}
)
_OF_ACTION = named(
    'actions', ('uuid', 'name', 'action_type', 'inputs', 'parents', 'created_at')
)
EVENT_COLUMNS = named('events', ('sequence', *EVENT))


def _events(where: str) -> str:
    # The limit inside, so that no more actions are looked up than there are rows.
    return (
        f'SELECT {EVENT_COLUMNS}, {_OF_ACTION} '
        f'FROM (SELECT * FROM events WHERE {where} '
        'ORDER BY sequence LIMIT :limit) AS events '
        'LEFT JOIN actions ON actions.id = events.action_id ORDER BY events.sequence'
    )


PENDING = _events('pending = 1')
PUBLISHED = _events('sequence > :after AND published_at >= :since')
HISTORY = _events('sequence > :after')
HISTORY_OF_PLAN = _events('plan_id = :plan_id AND sequence > :after')
HISTORY_OF_SUBJECT = _events(
    'subject_id = :subject_id AND subject = :subject AND sequence > :after'
)
MARK = (
    'UPDATE events SET pending = NULL, published_at = :now '
    'WHERE sequence IN_IDS(:sequences) AND pending = 1'
)
OLDEST = 'SELECT occurred_at FROM events WHERE pending = 1 ORDER BY sequence LIMIT 1'
EXISTS = 'SELECT 1 FROM events WHERE uuid = :uuid'


class EventWriting(StatementGroup):
    """The part of a transaction that stores events."""

    def add_events(self, events: Sequence[Event]) -> None:
        sealing = self._session.mapper.sealing
        if any(event.subject in SUBJECTS for event in events):
            wide = [
                (*new_event(event, sealing), 1, *_found_by(event)) for event in events
            ]
            self._insert(ADD_OF_CLUSTERS, wide)
        elif any(event.subject in (STACK, RESOURCE) for event in events):
            rows = [
                (*new_event(event, sealing), 1, *_of_resource(event))
                for event in events
            ]
            self._insert(ADD_OF_STACKS, rows)
        elif events:
            self._insert(ADD, [(*new_event(event, sealing), 1) for event in events])


def _found_by(event: Event) -> tuple[Any, ...]:
    """Return the values of FOUND_BY."""
    if event.subject in SUBJECTS:
        return found_by(event)
    rest = (None,) * (len(FOUND_BY) - 2)
    return (*_of_resource(event), *rest)


def _of_resource(event: Event) -> tuple[str | None, str | None]:
    """Return the name and type of the resource that an event is about."""
    if event.subject == RESOURCE and event.detail is not None:
        return event.detail.get('name'), event.detail.get('type')
    return '' if event.subject == STACK else None, None


class Outbox:
    """The part of the store that hands events to the relay and to readers."""

    _db: Database

    def pending_events(self, limit: int) -> list[StoredEvent]:
        rows = self._db.rows(PENDING, limit=limit)
        return [self._db.mapper.stored_event(row) for row in rows]

    def mark_published(self, sequences: Sequence[int], now: datetime.datetime) -> None:
        if sequences:
            ids = self._db.dialect.ids(sequences)
            self._db.change(MARK, sequences=ids, now=to_text(now))

    def published_events(
        self, after: int, since: datetime.datetime, limit: int
    ) -> list[StoredEvent]:
        since_text = to_text(since)
        rows = self._db.rows(PUBLISHED, after=after, since=since_text, limit=limit)
        return [self._db.mapper.stored_event(row) for row in rows]

    def event_exists(self, uuid: str) -> bool:
        return bool(self._db.rows(EXISTS, uuid=uuid))

    def oldest_pending_event(self) -> datetime.datetime | None:
        rows = self._db.rows(OLDEST)
        return self._db.mapper.time(rows[0][0]) if rows else None

    def list_events(
        self,
        *,
        plan_id: int | None = None,
        subject: str | None = None,
        subject_id: int | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[StoredEvent]:
        values: dict[str, Any] = {'after': after, 'limit': limit}
        check_subject(plan_id, subject, subject_id)
        if subject_id is not None:
            statement = HISTORY_OF_SUBJECT
            values |= {'subject': subject, 'subject_id': subject_id}
        elif plan_id is not None:
            statement = HISTORY_OF_PLAN
            values['plan_id'] = plan_id
        else:
            statement = HISTORY
        rows = self._db.rows(statement, **values)
        return [self._db.mapper.stored_event(row) for row in rows]
