"""What the payloads of audits are filled with.

States, status message and the time of the change come from the event, and so are
as the change made them. The rest is read once a batch, for all of it may change.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.conf import masking
from watcherlite.domain.audits import AuditSurroundings, Goal
from watcherlite.domain.events import AUDIT, StoredEvent
from watcherlite.notifications import payloads, serializer
from watcherlite.notifications.rules import Told
from watcherlite.notifications.serializer import Encoded


class AuditPayloads(payloads.OfInfraOptim):
    """A `payloads.Filler` for audits.

    :param pinned: the version that payloads are to be written in, or 'latest'
    """

    subjects = frozenset({AUDIT})

    def __init__(self, pinned: str, source: payloads.Source) -> None:
        self._source = source
        self._found: Mapping[int, AuditSurroundings] = {}
        self._fields: dict[int, dict[str, Any]] = {}
        self._goal = serializer.pinned_encoder('GoalPayload', pinned)
        self._strategy = serializer.pinned_encoder('StrategyPayload', pinned)

    def begin(self, batch: Sequence[StoredEvent]) -> None:
        self._found = {}
        self._fields.clear()
        asked = {stored.event.subject_id or 0 for stored in batch}
        if asked:
            self._found = self._source.surroundings_of_audits(sorted(asked))

    def fields(self, stored: StoredEvent, told: Told) -> dict[str, Any] | None:
        audit_id = stored.event.subject_id or 0
        found = self._found.get(audit_id)
        if found is None:
            return None
        lasting = self._fields.get(audit_id)
        if lasting is None:
            lasting = self._fields[audit_id] = self._lasting(found)
        return {**lasting, **payloads.of_change(stored, told)}

    def _lasting(self, found: AuditSurroundings) -> dict[str, Any]:
        """Return the fields that are the same for all events of a batch."""
        audit, strategy = found.audit, found.strategy
        return {
            'uuid': audit.uuid,
            'name': audit.name,
            'audit_type': audit.audit_type,
            'parameters': serializer.encoded_document(
                masking.mask_data(audit.parameters)
            ),
            'interval': audit.interval,
            'scope': serializer.encoded_document(audit.scope),
            'goal_uuid': found.goal.uuid,
            'strategy_uuid': strategy.uuid if strategy else None,
            'goal': Encoded(self._goal(**_goal_fields(found.goal))),
            'strategy': (
                Encoded(self._strategy(**payloads.strategy_fields(strategy)))
                if strategy
                else None
            ),
            'auto_trigger': audit.auto_trigger,
            'next_run_time': serializer.encoded_time(audit.next_run_time),
            'created_at': serializer.encoded_time(audit.created_at),
        }


def _goal_fields(goal: Goal) -> dict[str, Any]:
    return {
        'uuid': goal.uuid,
        'name': goal.name,
        'display_name': goal.display_name,
        'efficacy_specification': goal.efficacy_specification,
        'created_at': goal.created_at,
        'updated_at': goal.updated_at,
        'deleted_at': goal.deleted_at,
    }
