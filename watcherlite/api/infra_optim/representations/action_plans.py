"""How action plans are shown."""

from typing import Any

from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import common, timestamps
from watcherlite.api.operation import Request, Version
from watcherlite.db.listing import ListedPlan

#: The microversion from which on a plan has it (spec 000).
STATUS_MESSAGE: Version = (1, 5)


def represent(request: Request, listed: ListedPlan, detail: bool) -> dict[str, Any]:
    """Return a plan; `detail` adds all its times and its status message."""
    plan = listed.plan
    shown: dict[str, Any] = {
        'uuid': plan.uuid,
        'state': common.DELETED if plan.deleted_at else plan.state,
        'audit_uuid': listed.audit_uuid,
        'strategy_uuid': listed.strategy_uuid,
        'strategy_name': listed.strategy_name,
        'efficacy_indicators': [dict(one) for one in plan.efficacy_indicators],
        'global_efficacy': [dict(one) for one in plan.global_efficacy],
        'updated_at': common.time(plan.updated_at),
        'links': links.of(request, 'action_plans', plan.uuid),
    }
    if not detail:
        return shown
    shown |= {
        # Any worker may take it, and the next action of it may be elsewhere.
        'hostname': None,
        'name': plan.name,
        **timestamps.of(plan),
    }
    if request.version >= STATUS_MESSAGE:
        shown['status_message'] = plan.status_message
    return shown
