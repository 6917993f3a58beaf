"""From a batch of events to the messages that go on the wire."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.action_plans import PlanSurroundings
from watcherlite.domain.audits import AuditSurroundings
from watcherlite.notifications import (
    audit_payloads,
    envelope,
    payloads,
    rules,
    serializer,
)
from watcherlite.notifications.settings import NotificationSettings

#: The routing key and the body.
Message = tuple[str, bytes]


@dataclasses.dataclass(frozen=True, slots=True)
class Unbuildable:
    """An event that no message can be made of.

    :param error: why; None when its plan, or its audit, is not there any more
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

    event_type: str
    priority: str
    routing_keys: tuple[str, ...]
    encode: serializer.Encoder
    extra: str | None


class MessageBuilder:
    """Makes messages of events. Not for several threads at once.

    :param plans: `Store.plan_surroundings`; its errors pass through
    :param audits: `Store.audit_surroundings`; likewise
    """

    def __init__(
        self,
        settings: NotificationSettings,
        plans: Callable[[int], PlanSurroundings | None],
        audits: Callable[[int], AuditSurroundings | None],
    ) -> None:
        self._read_plan = plans
        self._read_audit = audits
        self._settings = settings
        self._apply(settings)

    def configure(self, settings: NotificationSettings) -> None:
        """Take other settings, from the next batch on; any thread may call it."""
        self._settings = settings

    def _apply(self, settings: NotificationSettings) -> None:
        self._applied = settings
        self._envelope = envelope.Envelope(settings.host)
        pinned = settings.payload_version
        self._payloads = payloads.Payloads(pinned, self._read_plan)
        self._audits = audit_payloads.AuditPayloads(pinned, self._read_audit)
        # What is not in here is below the level.
        self._outlets = {
            notification: _outlet(prefix, notification, settings)
            for prefix, table in (
                ('action', rules.ACTION),
                (settings.event_prefix, rules.ACTION_PLAN),
                ('audit', rules.AUDIT),
            )
            for notification in table.values()
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
        result = Batch([], [])
        self._payloads.begin(batch)
        self._audits.begin()
        for stored in batch:
            try:
                told = rules.told_of(stored.event)
            except Exception as error:
                result.unbuildable.append(Unbuildable(stored, error))
                continue
            outlets = self._wanted(told)
            if told is None or not outlets:
                continue
            around = self._around(stored.event)
            if around is None:
                result.unbuildable.append(Unbuildable(stored, None))
                continue
            try:
                values = self._values(stored, told, around)
                messages = self._messages(stored, told, outlets, values)
            except Exception as error:
                result.unbuildable.append(Unbuildable(stored, error))
            else:
                result.messages.extend(messages)
        return result

    def _around(self, event: events.Event) -> payloads.Plan | AuditSurroundings | None:
        """Return what the event's payloads repeat; None when it is not there."""
        if event.subject == events.AUDIT:
            return self._audits.audit(event.subject_id or 0)
        of_plan = event.subject == events.ACTION_PLAN
        return self._payloads.plan(event.plan_id or 0, of_plan)

    def _values(
        self,
        stored: events.StoredEvent,
        told: rules.Told,
        around: payloads.Plan | AuditSurroundings,
    ) -> dict[str, Any]:
        """Return the fields of all payloads of an event."""
        if isinstance(around, AuditSurroundings):
            return self._audits.of_audit(stored, told, around)
        if stored.event.subject == events.ACTION_PLAN:
            return self._payloads.of_plan(stored, told, around)
        return self._payloads.of_action(stored, told, around)

    def _wanted(self, told: rules.Told | None) -> list[tuple[int, _Outlet]]:
        """Return (index within the event, outlet) of what is to be sent.

        The index counts what is not sent too, so that the id of a message does
        not depend on the level.
        """
        if told is None:
            return []
        return [
            (index, self._outlets[notification])
            for index, notification in enumerate(told.notifications)
            if notification in self._outlets
        ]

    def _messages(
        self,
        stored: events.StoredEvent,
        told: rules.Told,
        outlets: Sequence[tuple[int, _Outlet]],
        values: dict[str, Any],
    ) -> list[Message]:
        messages: list[Message] = []
        for index, outlet in outlets:
            if outlet.extra == 'state_update':
                payload = outlet.encode(
                    **values, state_update=payloads.state_update(stored, told)
                )
            elif outlet.extra == 'fault':
                payload = outlet.encode(**values, fault=payloads.fault(stored))
            else:
                payload = outlet.encode(**values)
            body = self._envelope.body(
                outlet.event_type,
                outlet.priority,
                events.message_id(stored.event.uuid, index),
                stored.event.occurred_at,
                payload,
            )
            messages.extend((key, body) for key in outlet.routing_keys)
        return messages


def _outlet(
    prefix: str, notification: rules.Notification, settings: NotificationSettings
) -> _Outlet:
    payload = notification.payload
    version = serializer.version_of(payload, settings.payload_version)
    extra = serializer.field_names(payload) & {'state_update', 'fault'}
    return _Outlet(
        event_type=f'{prefix}.{notification.name}',
        priority=notification.priority,
        routing_keys=envelope.routing_keys(settings.topics, notification.priority),
        encode=serializer.encoder(payload, version),
        extra=next(iter(extra), None),
    )
