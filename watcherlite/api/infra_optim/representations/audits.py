"""How audits are shown."""

from typing import Any

from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import common, timestamps
from watcherlite.api.operation import Request, Version
from watcherlite.conf import masking
from watcherlite.db.listing import ListedAudit

#: The microversions from which on an audit has these.
START_AND_END: Version = (1, 1)
FORCE: Version = (1, 2)
STATUS_MESSAGE: Version = (1, 5)


def represent(request: Request, listed: ListedAudit, detail: bool) -> dict[str, Any]:
    """Return an audit; `detail` adds what the version has besides.

    Credentials among the parameters are masked.
    """
    audit = listed.audit
    shown: dict[str, Any] = {
        'uuid': audit.uuid,
        'name': audit.name,
        'audit_type': audit.audit_type,
        'state': common.DELETED if audit.deleted_at else audit.state,
        'goal_uuid': listed.goal_uuid,
        'goal_name': listed.goal_name,
        'strategy_uuid': listed.strategy_uuid,
        'strategy_name': listed.strategy_name,
        'interval': audit.interval,
        'scope': list(audit.scope),
        'auto_trigger': audit.auto_trigger,
        'next_run_time': common.naive_time(audit.next_run_time),
        'links': links.of(request, 'audits', audit.uuid),
    }
    if not detail:
        return shown
    shown['parameters'] = masking.mask_data(dict(audit.parameters))
    # Any engine may run it, and the next run may be elsewhere.
    shown['hostname'] = None
    if request.version >= START_AND_END:
        shown['start_time'] = common.naive_time(audit.start_time)
        shown['end_time'] = common.naive_time(audit.end_time)
    if request.version >= FORCE:
        shown['force'] = audit.force
    if request.version >= STATUS_MESSAGE:
        shown['status_message'] = audit.status_message
    shown.update(timestamps.of(audit))
    return shown
