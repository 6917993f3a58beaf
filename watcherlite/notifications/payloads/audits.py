"""The payloads of audits.

States, status message and the time of the change come from the event. All other fields
may change, and are read once a batch.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.audits import AuditRelations
from watcherlite.domain.events import AUDIT, StoredEvent
from watcherlite.notifications import encoder
from watcherlite.notifications.payloads import base
from watcherlite.notifications.rules.subjects import MatchedNotifications


class AuditPayloadBuilder(base.InfraOptimPayloads):
    """A `base.PayloadBuilder` for audits.

    :param pinned: the version of the payloads, or 'latest'
    """

    subjects = frozenset({AUDIT})

    def __init__(self, pinned: str, source: Store) -> None:
        self._source = source
        self._relations: Mapping[int, AuditRelations] = {}
        self._fields: dict[int, dict[str, Any]] = {}
        self._pinned = pinned

    def load(self, batch: Sequence[StoredEvent]) -> None:
        self._relations = {}
        self._fields.clear()
        asked = {stored.event.key for stored in batch}
        if asked:
            self._relations = self._source.relations_of_audits(sorted(asked))

    def fields(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any] | None:
        audit_id = stored.event.key
        found = self._relations.get(audit_id)
        if found is None:
            return None
        lasting = self._fields.get(audit_id)
        if lasting is None:
            lasting = self._fields[audit_id] = self._constant_fields(found)
        return {**lasting, **base.change_fields(stored, matched)}

    def _constant_fields(self, relations: AuditRelations) -> dict[str, Any]:
        """Return the fields that are the same for all events of a batch."""
        audit, strategy = relations.audit, relations.strategy
        return {
            'uuid': audit.uuid,
            'name': audit.name,
            'audit_type': audit.audit_type,
            'parameters': encoder.encode_document(masking.mask_data(audit.parameters)),
            'interval': audit.interval,
            'scope': encoder.encode_document(audit.scope),
            'goal_uuid': relations.goal.uuid,
            'strategy_uuid': strategy.uuid if strategy else None,
            'goal': encoder.encode(
                'GoalPayload', self._pinned, dataclasses.asdict(relations.goal)
            ),
            'strategy': base.encode_strategy(self._pinned, strategy),
            'auto_trigger': audit.auto_trigger,
            'next_run_time': encoder.encode_time(audit.next_run_time),
            'created_at': encoder.encode_time(audit.created_at),
        }
