"""What the payloads of stacks and resources are filled with.

States, reasons, times and what identifies a resource come from the event; so does
the level of a lock. The rest of a stack is read once a batch, for it may change.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.events import RESOURCE, STACK, StoredEvent
from watcherlite.domain.stacks import StackSurroundings
from watcherlite.notifications import payloads, serializer
from watcherlite.notifications.rules import Told
from watcherlite.notifications.serializer import Encoded
from watcherlite.states import stack as states

#: The state of what exists no more.
GONE = states.State(states.DELETE, states.COMPLETE).name


class StackPayloads:
    """A `payloads.Filler` for stacks and their resources.

    :param pinned: the version that payloads are to be written in, or 'latest'
    """

    subjects = frozenset({STACK, RESOURCE})

    def __init__(self, pinned: str, source: payloads.Source) -> None:
        self._source = source
        self._found: Mapping[int, StackSurroundings] = {}
        self._stacks: dict[int, dict[str, Any]] = {}
        self._terse: dict[int, Encoded] = {}
        self._encode = serializer.pinned_encoder('TerseStackPayload', pinned)

    def begin(self, batch: Sequence[StoredEvent]) -> None:
        self._found = {}
        self._stacks.clear()
        self._terse.clear()
        asked = {stored.event.subject_id or 0 for stored in batch}
        if asked:
            self._found = self._source.surroundings_of_stacks(sorted(asked))

    def fields(self, stored: StoredEvent, told: Told) -> dict[str, Any] | None:
        found = self._found.get(stored.event.subject_id or 0)
        if found is None:
            return None
        if stored.event.subject == RESOURCE:
            return self._of_resource(stored, told, found)
        return {
            **self._of_stack(found),
            'lock_level': (stored.event.detail or {}).get('lock_level'),
            **_of_change(stored, told),
        }

    def state_update(self, stored: StoredEvent, told: Told) -> dict[str, Any]:
        return {
            'old_state': told.old_state,
            'state': told.state,
            'status_reason': stored.event.message,
        }

    def _of_resource(
        self, stored: StoredEvent, told: Told, found: StackSurroundings
    ) -> dict[str, Any]:
        detail = stored.event.detail or {}
        stack_id = found.stack.id or 0
        terse = self._terse.get(stack_id)
        if terse is None:
            terse = self._terse[stack_id] = Encoded(self._encode(**_identity(found)))
        return {
            'uuid': detail.get('uuid'),
            'name': detail.get('name'),
            'resource_type': detail.get('type'),
            'physical_resource_id': detail.get('physical_id'),
            'stack_uuid': found.stack.uuid,
            'stack': terse,
            **_of_change(stored, told),
        }

    def _of_stack(self, found: StackSurroundings) -> dict[str, Any]:
        """Return the fields that are the same for all events of a batch."""
        stack = found.stack
        lasting = self._stacks.get(stack.id or 0)
        if lasting is None:
            lasting = self._stacks[stack.id or 0] = {
                **_identity(found),
                'username': stack.user,
                'description': stack.description,
                'tags': serializer.encoded_document(stack.tags),
                'created_at': serializer.encoded_time(stack.created_at),
            }
        return lasting


def _identity(found: StackSurroundings) -> dict[str, Any]:
    """Return what says which stack it is, and what it is part of."""
    around = [uuid for _, uuid in found.ancestry]
    return {
        'uuid': found.stack.uuid,
        'name': found.stack.name,
        'tenant_id': found.stack.tenant,
        'owner_uuid': around[-1] if around else None,
        'root_uuid': around[0] if around else found.stack.uuid,
    }


def _of_change(stored: StoredEvent, told: Told) -> dict[str, Any]:
    """Return the fields that the event itself knows."""
    at = serializer.encoded_time(stored.event.occurred_at)
    return {
        'state': told.state,
        'status_reason': stored.event.message,
        'updated_at': None if told.old_state is None else at,
        'deleted_at': at if told.state == GONE else None,
    }
