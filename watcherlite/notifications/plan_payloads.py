"""What the payloads of plans and actions are filled with.

States, messages and times come from the event. What never changes of a plan is kept,
ready to be put in; what may change, its audit and strategy, is read once a batch.
"""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

from watcherlite.conf import masking
from watcherlite.domain.action_plans import PlanSurroundings
from watcherlite.domain.events import ACTION, ACTION_PLAN, StoredEvent
from watcherlite.notifications import payloads, serializer
from watcherlite.notifications.rules import DELETED, Told
from watcherlite.notifications.serializer import Encoded

#: How many plans the unchanging parts are kept of between two batches: some
#: hundred kB.
KEPT_PLANS = 512


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What of a plan never changes."""

    uuid: str
    audit_uuid: str
    strategy_uuid: str | None
    global_efficacy: Encoded | None
    created_at: Encoded | None


class PlanPayloads(payloads.OfInfraOptim):
    """A `payloads.Filler` for plans and their actions.

    :param pinned: the version that payloads are to be written in, or 'latest'
    """

    subjects = frozenset({ACTION_PLAN, ACTION})

    def __init__(self, pinned: str, source: payloads.Source) -> None:
        self._source = source
        self._plans: collections.OrderedDict[int, Plan] = collections.OrderedDict()
        #: Of the plans that the batch tells of: their audit and strategy.
        self._documents: dict[int, tuple[Encoded, Encoded | None]] = {}
        self._terse_plan = serializer.pinned_encoder('TerseActionPlanPayload', pinned)
        self._audit = serializer.pinned_encoder('AuditPayload', pinned)
        self._strategy = serializer.pinned_encoder('StrategyPayload', pinned)

    def begin(self, batch: Sequence[StoredEvent]) -> None:
        self._documents.clear()
        # Not while a batch is built: it may have more plans than are kept.
        while len(self._plans) > KEPT_PLANS:
            self._plans.popitem(last=False)
        asked = set()
        for stored in batch:
            plan_id = stored.event.plan_id or 0
            if stored.event.subject == ACTION_PLAN or plan_id not in self._plans:
                asked.add(plan_id)
            else:
                self._plans.move_to_end(plan_id)
        if not asked:
            return
        for plan_id, found in self._source.surroundings_of_plans(sorted(asked)).items():
            self._plans[plan_id] = _plan(found)
            self._plans.move_to_end(plan_id)
            self._documents[plan_id] = self._document(found)

    def fields(self, stored: StoredEvent, told: Told) -> dict[str, Any] | None:
        plan_id = stored.event.plan_id or 0
        plan = self._plans.get(plan_id)
        if plan is None:
            return None
        if stored.event.subject == ACTION:
            return self._of_action(stored, told, plan)
        documents = self._documents.get(plan_id)
        return None if documents is None else _of_plan(stored, told, plan, documents)

    def _of_action(self, stored: StoredEvent, told: Told, plan: Plan) -> dict[str, Any]:
        """Return the fields of all payloads of an event of an action.

        The nested plan is as the event saw it. That it changed at the same time
        is true of what changes its counters, and the rest comes close.
        """
        event = stored.event
        change = payloads.of_change(stored, told)
        gone = event.plan_state == DELETED
        terse_plan = self._terse_plan(
            uuid=plan.uuid,
            state=event.plan_state,
            global_efficacy=plan.global_efficacy,
            audit_uuid=plan.audit_uuid,
            strategy_uuid=plan.strategy_uuid,
            created_at=plan.created_at,
            updated_at=change['updated_at'],
            deleted_at=change['updated_at'] if gone else None,
            status_message=event.plan_message,
        )
        return {
            'uuid': stored.action_uuid,
            'action_type': stored.action_type,
            'input_parameters': payloads.without_credentials(stored.action_inputs),
            'parents': _spliced(stored.action_parents),
            'action_plan_uuid': plan.uuid,
            'action_plan': Encoded(terse_plan),
            'created_at': stored.action_created_at,
            **change,
        }

    def _document(self, found: PlanSurroundings) -> tuple[Encoded, Encoded | None]:
        audit, strategy = found.audit, found.strategy
        of_audit = self._audit(
            uuid=audit.uuid,
            audit_type=audit.audit_type,
            state=audit.state,
            parameters=masking.mask_data(audit.parameters),
            interval=audit.interval,
            scope=audit.scope,
            goal_uuid=found.goal.uuid,
            # An audit may name none, and leave the choice to its goal.
            strategy_uuid=strategy.uuid if strategy and audit.strategy_id else None,
            fault=None,
            created_at=audit.created_at,
            updated_at=audit.updated_at,
            deleted_at=audit.deleted_at,
            status_message=audit.status_message,
        )
        if strategy is None:
            return Encoded(of_audit), None
        of_strategy = self._strategy(**payloads.strategy_fields(strategy))
        return Encoded(of_audit), Encoded(of_strategy)


def _plan(found: PlanSurroundings) -> Plan:
    efficacy = found.plan.global_efficacy
    return Plan(
        uuid=found.plan.uuid,
        audit_uuid=found.audit.uuid,
        strategy_uuid=found.strategy.uuid if found.strategy else None,
        # The spec has room for one indicator; the API shows all of them.
        global_efficacy=serializer.encoded_document(efficacy[0] if efficacy else None),
        created_at=serializer.encoded_time(found.plan.created_at),
    )


def _of_plan(
    stored: StoredEvent,
    told: Told,
    plan: Plan,
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
        **payloads.of_change(stored, told),
    }


def _spliced(text: str | None) -> Encoded | None:
    return None if text is None else Encoded(text)
