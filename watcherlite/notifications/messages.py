"""From a batch of events to the messages that go on the wire."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from watcherlite.domain import events
from watcherlite.notifications import envelope, payloads, rules, serializer
from watcherlite.notifications.audit_payloads import AuditPayloads
from watcherlite.notifications.cluster_payloads import ClusterPayloads
from watcherlite.notifications.notification import Notification
from watcherlite.notifications.plan_payloads import PlanPayloads
from watcherlite.notifications.settings import NotificationSettings
from watcherlite.notifications.stack_payloads import StackPayloads

#: The routing key and the body.
Message = tuple[str, bytes]


@dataclasses.dataclass(frozen=True, slots=True)
class Unbuildable:
    """An event that no message can be made of.

    :param error: why; None when what it is about is not there any more
    """

    stored: events.StoredEvent
    error: Exception | None


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """What came of a batch of events: the messages in the order of the events."""

    messages: list[Message]
    unbuildable: list[Unbuildable]


@dataclasses.dataclass(frozen=True, slots=True)
class _Outlet:
    """Where one kind of notification goes, and how it is written.

    :param extra: the one field that it has and others of its subject have not
    """

    envelope: envelope.Envelope
    event_type: str
    priority: str
    routing_keys: tuple[str, ...]
    encode: serializer.Encoder
    extra: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Telling:
    """An event of which something is to be sent.

    :param outlets: each with its index within the event. The index counts what is
        not sent too, so that the id of a message does not depend on the level.
    """

    stored: events.StoredEvent
    told: rules.Told
    outlets: list[tuple[int, _Outlet]]


class MessageBuilder:
    """Makes messages of events. Not for several threads at once.

    :param source: the store; its errors pass through
    """

    def __init__(self, settings: NotificationSettings, source: payloads.Source) -> None:
        self._source = source
        self._settings = settings
        self._apply(settings)

    def configure(self, settings: NotificationSettings) -> None:
        """Take other settings, from the next batch on; any thread may call it."""
        self._settings = settings

    def _apply(self, settings: NotificationSettings) -> None:
        self._applied = settings
        pinned = settings.payload_version
        self._fillers: tuple[payloads.Filler, ...] = (
            PlanPayloads(pinned, self._source),
            AuditPayloads(pinned, self._source),
            StackPayloads(pinned, self._source),
            ClusterPayloads(pinned, self._source),
        )
        self._filler_of = {
            subject: filler for filler in self._fillers for subject in filler.subjects
        }
        # What is not in here is below the level.
        self._outlets = {
            notification: _outlet(subject, notification, settings)
            for subject, row in rules.SUBJECTS.items()
            for notification in row.notifications.values()
            if settings.sends(notification.priority)
        }

    def build(self, batch: Sequence[events.StoredEvent]) -> Batch:
        """Return the messages of events, in their order.

        An event that cannot be told of is in `unbuildable` and holds up nothing.
        Errors of the store are not taken for that: they pass through, and the
        whole batch can be built again.
        """
        settings = self._settings
        if settings is not self._applied:
            self._apply(settings)
        telling = list(self._telling(batch))
        for filler in self._fillers:
            filler.begin(
                [
                    found.stored
                    for found in telling
                    if isinstance(found, _Telling)
                    and found.stored.event.subject in filler.subjects
                ]
            )
        result = Batch([], [])
        for found in telling:
            made = self._made(found) if isinstance(found, _Telling) else found
            if isinstance(made, Unbuildable):
                result.unbuildable.append(made)
            else:
                result.messages.extend(made)
        return result

    def _telling(
        self, batch: Iterable[events.StoredEvent]
    ) -> Iterator[_Telling | Unbuildable]:
        """Yield the events of which something is to be sent, or cannot be told."""
        for stored in batch:
            try:
                told = rules.told_of(stored.event)
            except Exception as error:
                yield Unbuildable(stored, error)
                continue
            outlets = [
                (index, self._outlets[notification])
                for index, notification in enumerate(told.notifications if told else ())
                if notification in self._outlets
            ]
            if told is not None and outlets:
                yield _Telling(stored, told, outlets)

    def _made(self, telling: _Telling) -> list[Message] | Unbuildable:
        stored, told = telling.stored, telling.told
        filler = self._filler_of[stored.event.subject]
        try:
            fields = filler.fields(stored, told)
            if fields is None:
                return Unbuildable(stored, None)
            return self._messages(telling, filler, fields)
        except Exception as error:
            return Unbuildable(stored, error)

    def _messages(
        self, telling: _Telling, filler: payloads.Filler, fields: dict[str, Any]
    ) -> list[Message]:
        stored, told = telling.stored, telling.told
        messages: list[Message] = []
        for index, outlet in telling.outlets:
            if outlet.extra == 'state_update':
                payload = outlet.encode(
                    **fields, state_update=filler.state_update(stored, told)
                )
            elif outlet.extra == 'fault':
                payload = outlet.encode(**fields, fault=payloads.fault(stored))
            else:
                payload = outlet.encode(**fields)
            body = outlet.envelope.body(
                outlet.event_type,
                outlet.priority,
                events.message_id(stored.event.uuid, index),
                stored.event.occurred_at,
                payload,
            )
            messages.extend((key, body) for key in outlet.routing_keys)
        return messages


def _prefix(subject: str, settings: NotificationSettings) -> str:
    """Return how the event types of a subject begin."""
    if subject == events.ACTION_PLAN:
        return settings.event_prefix
    return rules.SUBJECTS[subject].prefix


def _outlet(
    subject: str, notification: Notification, settings: NotificationSettings
) -> _Outlet:
    payload = notification.payload
    version = serializer.version_of(payload, settings.payload_version)
    extra = serializer.field_names(payload) & {'state_update', 'fault'}
    return _Outlet(
        envelope=envelope.Envelope(rules.SUBJECTS[subject].publisher, settings.host),
        event_type=f'{_prefix(subject, settings)}.{notification.name}',
        priority=notification.priority,
        routing_keys=envelope.routing_keys(settings.topics, notification.priority),
        encode=serializer.encoder(payload, version),
        extra=next(iter(extra), None),
    )
