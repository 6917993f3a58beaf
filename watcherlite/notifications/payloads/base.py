"""The protocol of payload builders, and what they share.

An event is a small row. A PayloadBuilder reads the rest of a payload, for a whole batch
at once. There is one for each kind of object, in a module of its own.
"""

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from watcherlite.conf import masking
from watcherlite.domain.audits import Strategy
from watcherlite.domain.events import StoredEvent
from watcherlite.notifications import encoder
from watcherlite.notifications.encoder import Encoded
from watcherlite.notifications.rules.infra_optim import DELETED
from watcherlite.notifications.rules.subjects import MatchedNotifications


class PayloadBuilder(Protocol):
    """Fills the payloads of some subjects.

    :cvar subjects: of events, keys of `rules.SUBJECTS`
    """

    @property
    def subjects(self) -> Collection[str]:
        """Return the subjects whose payloads it fills."""

    def load(self, batch: Sequence[StoredEvent]) -> None:
        """Read the rows for the payloads of a batch, in one statement a kind of row.

        Errors of the source pass through.

        :param batch: events of `subjects` that have notifications
        """

    def fields(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any] | None:
        """Return the fields of all payloads of an event of the batch.

        None: the object of the event does not exist any more.
        """

    def state_update(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any]:
        """Return the fields of the state update of an event of the batch."""


def encode_strategy(pinned: str, strategy: Strategy | None) -> Encoded | None:
    """Return a StrategyPayload as JSON text, None for no strategy.

    :param pinned: its version, or 'latest'
    """
    if strategy is None:
        return None
    return encoder.encode('StrategyPayload', pinned, dataclasses.asdict(strategy))


class InfraOptimPayloads:
    """The state update of the infra-optim vocabulary."""

    def state_update(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any]:
        return {
            'old_state': matched.old_state,
            'state': matched.state,
            'status_message': stored.event.message,
        }


def fault(stored: StoredEvent) -> dict[str, Any] | None:
    """Return the fields of an ExceptionPayload, None when the event has no fault."""
    found: Mapping[str, Any] | None = (stored.event.detail or {}).get('fault')
    if not found:
        return None
    return {
        'module_name': found.get('module', ''),
        'function_name': found.get('function', ''),
        'exception': found.get('exception', ''),
        'exception_message': found.get('message', ''),
    }


def change_fields(stored: StoredEvent, matched: MatchedNotifications) -> dict[str, Any]:
    """Return the fields that come from the event."""
    event = stored.event
    at = encoder.encode_time(event.occurred_at)
    return {
        'state': matched.state,
        'status_message': event.message,
        'updated_at': None if matched.old_state is None else at,
        'deleted_at': at if matched.state == DELETED else None,
    }


def masked_document(text: str | None) -> Encoded | None:
    """Return a JSON document with its credentials masked.

    :param text: the document as it is stored, None for null
    """
    if text is None:
        return None
    # Parsing it costs more than all the rest, and few have anything to mask.
    if masking.is_suspicious(text):
        return encoder.encode_document(masking.mask_data(json.loads(text)))
    return Encoded(text)
