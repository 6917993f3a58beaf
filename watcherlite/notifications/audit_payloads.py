"""What the payloads of audits are filled with.

States, status message and the time of the change come from the event, and so are
as the change made them. The rest is read once a batch, for all of it may change.
"""

from collections.abc import Callable
from typing import Any

from watcherlite.domain.audits import AuditSurroundings, Goal
from watcherlite.domain.events import StoredEvent
from watcherlite.notifications import payloads, serializer
from watcherlite.notifications.rules import Told
from watcherlite.notifications.serializer import Encoded


class AuditPayloads:
    """Fills payloads of audits.

    :param pinned: the version that payloads are to be written in, or 'latest'
    :param surroundings: `Store.audit_surroundings`; its errors pass through
    """

    def __init__(
        self, pinned: str, surroundings: Callable[[int], AuditSurroundings | None]
    ) -> None:
        self._surroundings = surroundings
        self._found: dict[int, AuditSurroundings] = {}
        self._fields: dict[int, dict[str, Any]] = {}
        self._goal = serializer.pinned_encoder('GoalPayload', pinned)
        self._strategy = serializer.pinned_encoder('StrategyPayload', pinned)

    def begin(self) -> None:
        """Begin a batch: audits may have changed since the last."""
        self._found.clear()
        self._fields.clear()

    def audit(self, audit_id: int) -> AuditSurroundings | None:
        """Return an audit, read when need be; None when there is none any more."""
        found = self._found.get(audit_id)
        if found is None:
            found = self._surroundings(audit_id)
            if found is not None:
                self._found[audit_id] = found
        return found

    def of_audit(
        self, stored: StoredEvent, told: Told, found: AuditSurroundings
    ) -> dict[str, Any]:
        """Return the fields of all payloads of an event of an audit.

        :param found: what `audit` returned for it
        """
        key = stored.event.subject_id or 0
        fields = self._fields.get(key)
        if fields is None:
            fields = self._fields[key] = self._lasting(found)
        return {**fields, **payloads.of_change(stored, told)}

    def _lasting(self, found: AuditSurroundings) -> dict[str, Any]:
        """Return the fields that are the same for all events of a batch."""
        audit, strategy = found.audit, found.strategy
        return {
            'uuid': audit.uuid,
            'name': audit.name,
            'audit_type': audit.audit_type,
            'parameters': serializer.encoded_document(audit.parameters),
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
