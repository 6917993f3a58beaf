"""The messages of a batch of events."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.notifications import encoder, envelope
from watcherlite.notifications.payloads import base
from watcherlite.notifications.payloads.action_plans import PlanPayloadBuilder
from watcherlite.notifications.payloads.audits import AuditPayloadBuilder
from watcherlite.notifications.payloads.clusters import ClusterPayloadBuilder
from watcherlite.notifications.payloads.stacks import StackPayloadBuilder
from watcherlite.notifications.rules import subjects
from watcherlite.notifications.rules.notification import Notification
from watcherlite.notifications.settings import NotificationSettings

#: The routing key and the body.
Message = tuple[str, bytes]


@dataclasses.dataclass(frozen=True, slots=True)
class BuildFailure:
    """An event of which no message can be built.

    :param error: the cause; None when the object of the event does not exist any more
    """

    stored: events.StoredEvent
    error: Exception | None


@dataclasses.dataclass(frozen=True, slots=True)
class MessageBatch:
    """The messages of a batch of events, in the order of the events."""

    messages: list[Message]
    build_failures: list[BuildFailure]


@dataclasses.dataclass(frozen=True, slots=True)
class _Route:
    """The constant parts of all messages of one kind of notification.

    :param extra: the one field that it has and others of its subject do not have
    """

    envelope: envelope.Envelope
    event_type: str
    priority: str
    routing_keys: tuple[str, ...]
    payload: encoder.PayloadEncoder
    extra: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Match:
    """An event with notifications to send.

    :param routes: each with its index within the event. The index also counts the
        notifications below the level, so that the id of a message does not depend on
        the level.
    """

    stored: events.StoredEvent
    matched: subjects.MatchedNotifications
    routes: list[tuple[int, _Route]]


class MessageBuilder:
    """Builds the messages of events; used by one thread.

    :param source: the store; its errors pass through
    """

    def __init__(self, settings: NotificationSettings, source: Store) -> None:
        self._source = source
        self._settings = settings
        self._apply(settings)

    def configure(self, settings: NotificationSettings) -> None:
        """Use other settings, from the next batch on; any thread may call it."""
        self._settings = settings

    def build(self, batch: Sequence[events.StoredEvent]) -> MessageBatch:
        """Return the messages of events, in their order.

        An event of which no message can be built is in `build_failures`, and the others
        are built. Errors of the store pass through, and the whole batch can be built
        again.
        """
        settings = self._settings
        if settings is not self._applied:
            self._apply(settings)
        matches = list(self._matches(batch))
        for builder in self._builders:
            builder.load(
                [
                    found.stored
                    for found in matches
                    if isinstance(found, _Match)
                    and found.stored.event.subject in builder.subjects
                ]
            )
        result = MessageBatch([], [])
        for found in matches:
            built = self._build(found) if isinstance(found, _Match) else found
            if isinstance(built, BuildFailure):
                result.build_failures.append(built)
            else:
                result.messages.extend(built)
        return result

    def _apply(self, settings: NotificationSettings) -> None:
        self._applied = settings
        pinned = settings.payload_version
        self._builders: tuple[base.PayloadBuilder, ...] = (
            PlanPayloadBuilder(pinned, self._source),
            AuditPayloadBuilder(pinned, self._source),
            StackPayloadBuilder(pinned, self._source),
            ClusterPayloadBuilder(pinned, self._source),
        )
        self._builder_of = {
            subject: builder
            for builder in self._builders
            for subject in builder.subjects
        }
        self._sent = frozenset(
            notification
            for row in subjects.SUBJECTS.values()
            for notification in row.notifications.values()
            if settings.is_enabled(notification.priority)
        )
        self._routes: dict[Notification, _Route] = {}

    def _matches(
        self, batch: Iterable[events.StoredEvent]
    ) -> Iterator[_Match | BuildFailure]:
        """Yield the events with notifications to send, or that match no rule."""
        for stored in batch:
            try:
                matched = subjects.match(stored.event)
            except Exception as error:
                yield BuildFailure(stored, error)
                continue
            if matched is None:
                continue
            routes = [
                (index, self._route(stored.event.subject, notification))
                for index, notification in enumerate(matched.notifications)
                if notification in self._sent
            ]
            if routes:
                yield _Match(stored, matched, routes)

    def _route(self, subject: str, notification: Notification) -> _Route:
        """Return the route of a notification, which is made when it is first sent."""
        route = self._routes.get(notification)
        if route is None:
            route = self._routes[notification] = _route(
                subject, notification, self._applied
            )
        return route

    def _build(self, match: _Match) -> list[Message] | BuildFailure:
        builder = self._builder_of[match.stored.event.subject]
        try:
            fields = builder.fields(match.stored, match.matched)
            if fields is None:
                return BuildFailure(match.stored, None)
            return self._messages(match, builder, fields)
        except Exception as error:
            return BuildFailure(match.stored, error)

    def _messages(
        self, match: _Match, builder: base.PayloadBuilder, fields: Mapping[str, Any]
    ) -> list[Message]:
        stored = match.stored
        messages: list[Message] = []
        for index, route in match.routes:
            values = fields
            if route.extra == 'state_update':
                update = builder.state_update(stored, match.matched)
                values = {**fields, 'state_update': update}
            elif route.extra == 'fault':
                values = {**fields, 'fault': base.fault(stored)}
            elif route.extra == 'hook':
                values = {**fields, 'hook': (stored.event.detail or {})['hook']}
            body = route.envelope.body(
                route.event_type,
                route.priority,
                events.message_id(stored.event.uuid, index),
                stored.event.occurred_at,
                route.payload.encode(values),
            )
            messages.extend((key, body) for key in route.routing_keys)
        return messages


def _route(
    subject: str, notification: Notification, settings: NotificationSettings
) -> _Route:
    payload = encoder.payload_encoder(notification.payload, settings.payload_version)
    row = subjects.SUBJECTS[subject]
    prefix = settings.event_prefix if subject == events.ACTION_PLAN else row.prefix
    extra = {'state_update', 'fault', 'hook'}.intersection(payload.names)
    return _Route(
        envelope=envelope.Envelope(row.publisher, settings.host),
        event_type=f'{prefix}.{notification.name}',
        priority=notification.priority,
        routing_keys=envelope.routing_keys(settings.topics, notification.priority),
        payload=payload,
        extra=next(iter(extra), None),
    )
