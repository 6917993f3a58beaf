"""The payloads of stacks and resources.

States, reasons, times, the level of a lock and the identity of a resource come from the
event. The other fields of a stack may change, and are read once a batch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.api import Store
from watcherlite.domain.events import RESOURCE, STACK, StoredEvent
from watcherlite.domain.stacks import StackAncestry
from watcherlite.notifications import encoder
from watcherlite.notifications.encoder import Encoded
from watcherlite.notifications.rules.subjects import MatchedNotifications
from watcherlite.states import stack as states

#: The state of a deleted stack or resource.
GONE = states.State(states.DELETE, states.COMPLETE).name


class StackPayloadBuilder:
    """A `base.PayloadBuilder` for stacks and their resources.

    :param pinned: the version of the payloads, or 'latest'
    """

    subjects = frozenset({STACK, RESOURCE})

    def __init__(self, pinned: str, source: Store) -> None:
        self._source = source
        self._ancestry: Mapping[int, StackAncestry] = {}
        self._stacks: dict[int, dict[str, Any]] = {}
        self._terse: dict[int, Encoded] = {}
        self._pinned = pinned

    def load(self, batch: Sequence[StoredEvent]) -> None:
        self._ancestry = {}
        self._stacks.clear()
        self._terse.clear()
        asked = {stored.event.key for stored in batch}
        if asked:
            self._ancestry = self._source.ancestry_of_stacks(sorted(asked))

    def fields(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any] | None:
        found = self._ancestry.get(stored.event.key)
        if found is None:
            return None
        if stored.event.subject == RESOURCE:
            return self._resource_fields(stored, matched, found)
        return {
            **self._stack_fields(found),
            'lock_level': (stored.event.detail or {}).get('lock_level'),
            **_change_fields(stored, matched),
        }

    def state_update(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any]:
        return {
            'old_state': matched.old_state,
            'state': matched.state,
            'status_reason': stored.event.message,
        }

    def _resource_fields(
        self,
        stored: StoredEvent,
        matched: MatchedNotifications,
        ancestry: StackAncestry,
    ) -> dict[str, Any]:
        detail = stored.event.detail or {}
        stack_id = ancestry.stack.id
        terse = self._terse.get(stack_id)
        if terse is None:
            terse = self._terse[stack_id] = encoder.encode(
                'TerseStackPayload', self._pinned, _identity(ancestry)
            )
        return {
            'uuid': detail.get('uuid'),
            'name': detail.get('name'),
            'resource_type': detail.get('type'),
            'physical_resource_id': detail.get('physical_id'),
            'stack_uuid': ancestry.stack.uuid,
            'stack': terse,
            **_change_fields(stored, matched),
        }

    def _stack_fields(self, ancestry: StackAncestry) -> dict[str, Any]:
        """Return the fields that are the same for all events of a batch."""
        stack = ancestry.stack
        lasting = self._stacks.get(stack.id)
        if lasting is None:
            lasting = self._stacks[stack.id] = {
                **_identity(ancestry),
                'username': stack.user,
                'description': stack.description,
                'tags': encoder.encode_document(stack.tags),
                'created_at': encoder.encode_time(stack.created_at),
            }
        return lasting


def _identity(ancestry: StackAncestry) -> dict[str, Any]:
    """Return the fields that identify a stack and its ancestors."""
    ancestors = [uuid for _, uuid in ancestry.ancestors]
    return {
        'uuid': ancestry.stack.uuid,
        'name': ancestry.stack.name,
        'tenant_id': ancestry.stack.tenant,
        'owner_uuid': ancestors[-1] if ancestors else None,
        'root_uuid': ancestors[0] if ancestors else ancestry.stack.uuid,
    }


def _change_fields(
    stored: StoredEvent, matched: MatchedNotifications
) -> dict[str, Any]:
    """Return the fields that come from the event."""
    at = encoder.encode_time(stored.event.occurred_at)
    return {
        'state': matched.state,
        'status_reason': stored.event.message,
        'updated_at': None if matched.old_state is None else at,
        'deleted_at': at if matched.state == GONE else None,
    }
