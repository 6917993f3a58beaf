"""What the payloads of plans and actions are filled with.

An event is a small row. The rest comes from what surrounds its plan: what never
changes of that is kept, ready to be put in; what may change, audit and strategy,
is read once a batch.
"""

import collections
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from watcherlite.domain.action_plans import PlanSurroundings
from watcherlite.domain.audits import Strategy
from watcherlite.domain.events import CREATED, StoredEvent
from watcherlite.notifications import serializer
from watcherlite.notifications.rules import DELETED, Told
from watcherlite.notifications.serializer import Encoded

#: How many plans the unchanging parts are kept of: some hundred kB.
KEPT_PLANS = 512


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What of a plan never changes."""

    uuid: str
    audit_uuid: str
    strategy_uuid: str | None
    global_efficacy: Encoded | None
    created_at: Encoded | None


class Payloads:
    """Fills payloads.

    :param pinned: the version that payloads are to be written in, or 'latest'
    :param surroundings: `Store.plan_surroundings`; its errors pass through
    """

    def __init__(
        self, pinned: str, surroundings: Callable[[int], PlanSurroundings | None]
    ) -> None:
        self._surroundings = surroundings
        self._plans: collections.OrderedDict[int, Plan] = collections.OrderedDict()
        self._documents: dict[int, tuple[Encoded, Encoded | None]] = {}
        self._terse_plan = serializer.pinned_encoder('TerseActionPlanPayload', pinned)
        self._audit = serializer.pinned_encoder('AuditPayload', pinned)
        self._strategy = serializer.pinned_encoder('StrategyPayload', pinned)

    def begin(self, batch: Iterable[StoredEvent]) -> None:
        """Begin a batch: audits and strategies may have changed since the last."""
        self._documents.clear()
        for stored in batch:
            # A database may give a purged plan's id to a new one.
            if stored.event.kind == CREATED and stored.event.action_id is None:
                self._plans.pop(stored.event.plan_id or 0, None)

    def plan(self, plan_id: int, with_documents: bool) -> Plan | None:
        """Return a plan, read when need be; None when there is none any more.

        :param with_documents: its audit and its strategy are needed too
        """
        plan = self._plans.get(plan_id)
        if plan is not None and (not with_documents or plan_id in self._documents):
            self._plans.move_to_end(plan_id)
            return plan
        found = self._surroundings(plan_id)
        if found is None:
            return None
        efficacy = found.plan.global_efficacy
        plan = Plan(
            uuid=found.plan.uuid,
            audit_uuid=found.audit.uuid,
            strategy_uuid=found.strategy.uuid if found.strategy else None,
            # The spec has room for one indicator; the API shows all of them.
            global_efficacy=serializer.encoded_document(
                efficacy[0] if efficacy else None
            ),
            created_at=serializer.encoded_time(found.plan.created_at),
        )
        self._plans[plan_id] = plan
        self._plans.move_to_end(plan_id)
        if len(self._plans) > KEPT_PLANS:
            self._plans.popitem(last=False)
        self._documents[plan_id] = self._document(found)
        return plan

    def of_plan(self, stored: StoredEvent, told: Told, plan: Plan) -> dict[str, Any]:
        """Return the fields of all payloads of an event of a plan.

        Call `plan` with its documents before.
        """
        event = stored.event
        audit, strategy = self._documents[event.plan_id or 0]
        return {
            'uuid': plan.uuid,
            'global_efficacy': plan.global_efficacy,
            'audit_uuid': plan.audit_uuid,
            'audit': audit,
            'strategy_uuid': plan.strategy_uuid,
            'strategy': strategy,
            'created_at': plan.created_at,
            **of_change(stored, told),
        }

    def of_action(self, stored: StoredEvent, told: Told, plan: Plan) -> dict[str, Any]:
        """Return the fields of all payloads of an event of an action.

        The nested plan is as the event saw it. That it changed at the same time
        is true of what changes its counters, and the rest comes close.
        """
        event = stored.event
        change = of_change(stored, told)
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
            'input_parameters': _spliced(stored.action_inputs),
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
            parameters=audit.parameters,
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
        of_strategy = self._strategy(**strategy_fields(strategy))
        return Encoded(of_audit), Encoded(of_strategy)


def strategy_fields(strategy: Strategy) -> dict[str, Any]:
    """Return the fields of a StrategyPayload."""
    return {
        'uuid': strategy.uuid,
        'name': strategy.name,
        'display_name': strategy.display_name,
        'parameters_spec': strategy.parameters_spec,
        'created_at': strategy.created_at,
        'updated_at': strategy.updated_at,
        'deleted_at': strategy.deleted_at,
    }


def state_update(stored: StoredEvent, told: Told) -> dict[str, Any]:
    """Return the fields of a state update."""
    return {
        'old_state': told.old_state,
        'state': told.state,
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


def of_change(stored: StoredEvent, told: Told) -> dict[str, Any]:
    """Return the fields that the event itself knows, of any subject."""
    event = stored.event
    at = serializer.encoded_time(event.occurred_at)
    return {
        'state': told.state,
        'status_message': event.message,
        'updated_at': None if told.old_state is None else at,
        'deleted_at': at if told.state == DELETED else None,
    }


def _spliced(text: str | None) -> Encoded | None:
    return None if text is None else Encoded(text)
