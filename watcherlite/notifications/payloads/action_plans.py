"""The payloads of action plans and actions.

States, messages and times come from the event. The constant fields of a plan are cached
in encoded form. Its audit and strategy may change, and are read once a batch.
"""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.action_plans import PlanRelations
from watcherlite.domain.events import ACTION, ACTION_PLAN, StoredEvent
from watcherlite.notifications import encoder
from watcherlite.notifications.encoder import Encoded, SharedPayload
from watcherlite.notifications.payloads import base
from watcherlite.notifications.rules.infra_optim import DELETED
from watcherlite.notifications.rules.subjects import MatchedNotifications

#: The number of plans that are cached between two batches: some hundred kB.
CACHED_PLANS = 512


@dataclasses.dataclass(frozen=True, slots=True)
class CachedPlan:
    """The fields of a plan that never change."""

    uuid: str
    audit_uuid: str
    strategy_uuid: str | None
    global_efficacy: Encoded | None
    created_at: Encoded | None


class PlanPayloadBuilder(base.InfraOptimPayloads):
    """A `base.PayloadBuilder` for plans and their actions.

    :param pinned: the version of the payloads, or 'latest'
    """

    subjects = frozenset({ACTION_PLAN, ACTION})

    def __init__(self, pinned: str, source: Store) -> None:
        self._source = source
        self._plans: collections.OrderedDict[int, CachedPlan] = (
            collections.OrderedDict()
        )
        #: The audits and strategies of the plans with events in the batch.
        self._documents: dict[int, tuple[Encoded, Encoded | None]] = {}
        self._pinned = pinned

    def load(self, batch: Sequence[StoredEvent]) -> None:
        self._documents.clear()
        # Not while a batch is built: it may have more plans than are cached.
        while len(self._plans) > CACHED_PLANS:
            self._plans.popitem(last=False)
        asked = set()
        for stored in batch:
            plan_id = stored.event.plan_id
            if plan_id is None:
                continue
            if stored.event.subject == ACTION_PLAN or plan_id not in self._plans:
                asked.add(plan_id)
            else:
                self._plans.move_to_end(plan_id)
        if not asked:
            return
        for plan_id, found in self._source.relations_of_plans(sorted(asked)).items():
            self._plans[plan_id] = _plan(found)
            self._plans.move_to_end(plan_id)
            self._documents[plan_id] = self._document(found)

    def fields(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any] | None:
        plan_id = stored.event.plan_id
        if plan_id is None or (plan := self._plans.get(plan_id)) is None:
            return None
        if stored.event.subject == ACTION:
            return self._action_fields(stored, matched, plan)
        documents = self._documents.get(plan_id)
        return (
            None
            if documents is None
            else _plan_fields(stored, matched, plan, documents)
        )

    def _action_fields(
        self, stored: StoredEvent, matched: MatchedNotifications, plan: CachedPlan
    ) -> dict[str, Any]:
        """Return the fields of all payloads of an event of an action.

        The nested plan has the state of the moment of the event. Its time of change is
        that of the event, which is exact for changes of its counters, and close for
        others.
        """
        event = stored.event
        change = base.change_fields(stored, matched)
        gone = event.plan_state == DELETED
        parents = stored.action_parents
        terse_plan = SharedPayload(
            {
                'uuid': plan.uuid,
                'state': event.plan_state,
                'global_efficacy': plan.global_efficacy,
                'audit_uuid': plan.audit_uuid,
                'strategy_uuid': plan.strategy_uuid,
                'created_at': plan.created_at,
                'updated_at': change['updated_at'],
                'deleted_at': change['updated_at'] if gone else None,
                'status_message': event.plan_message,
            }
        )
        return {
            'uuid': stored.action_uuid,
            'action_type': stored.action_type,
            'input_parameters': base.masked_document(stored.action_inputs),
            'parents': None if parents is None else Encoded(parents),
            'action_plan_uuid': plan.uuid,
            'action_plan': terse_plan,
            'created_at': stored.action_created_at,
            **change,
        }

    def _document(self, relations: PlanRelations) -> tuple[Encoded, Encoded | None]:
        audit, strategy = relations.audit, relations.strategy
        of_audit = {
            'uuid': audit.uuid,
            'audit_type': audit.audit_type,
            'state': audit.state,
            'parameters': masking.mask_data(audit.parameters),
            'interval': audit.interval,
            'scope': audit.scope,
            'goal_uuid': relations.goal.uuid,
            # An audit without a strategy leaves the choice to its goal.
            'strategy_uuid': strategy.uuid if strategy and audit.strategy_id else None,
            'fault': None,
            'created_at': audit.created_at,
            'updated_at': audit.updated_at,
            'deleted_at': audit.deleted_at,
            'status_message': audit.status_message,
        }
        return (
            encoder.encode('AuditPayload', self._pinned, of_audit),
            base.encode_strategy(self._pinned, strategy),
        )


def _plan(relations: PlanRelations) -> CachedPlan:
    efficacy = relations.plan.global_efficacy
    return CachedPlan(
        uuid=relations.plan.uuid,
        audit_uuid=relations.audit.uuid,
        strategy_uuid=relations.strategy.uuid if relations.strategy else None,
        # The spec has room for one indicator; the API shows all of them.
        global_efficacy=encoder.encode_document(efficacy[0] if efficacy else None),
        created_at=encoder.encode_time(relations.plan.created_at),
    )


def _plan_fields(
    stored: StoredEvent,
    matched: MatchedNotifications,
    plan: CachedPlan,
    documents: tuple[Encoded, Encoded | None],
) -> dict[str, Any]:
    """Return the fields of all payloads of an event of a plan."""
    audit, strategy = documents
    return {
        'uuid': plan.uuid,
        'global_efficacy': plan.global_efficacy,
        'audit_uuid': plan.audit_uuid,
        'audit': audit,
        'strategy_uuid': plan.strategy_uuid,
        'strategy': strategy,
        'created_at': plan.created_at,
        **base.change_fields(stored, matched),
    }
