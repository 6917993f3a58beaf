"""The routes of the infra-optim API: what every noun brings, in one table."""

from watcherlite.api.infra_optim.handlers import (
    action_plans,
    actions,
    audit_templates,
    audits,
    data_model,
    events,
    goals,
    root,
    scoring_engines,
    services,
    strategies,
    webhooks,
)
from watcherlite.api.operation import Operation, Routes

_NOUNS = (
    root,
    goals,
    strategies,
    audit_templates,
    audits,
    action_plans,
    actions,
    events,
    services,
    scoring_engines,
    data_model,
    webhooks,
)


def merged(*tables: Routes) -> dict[str, dict[str, Operation]]:
    """Return one table of several; ValueError for what two of them have."""
    found: dict[str, dict[str, Operation]] = {}
    for table in tables:
        for template, operations in table.items():
            there = found.setdefault(template, {})
            for method, operation in operations.items():
                if method in there:
                    raise ValueError(f'{method} {template} is there twice')
                there[method] = operation
    return found


ROUTES: Routes = merged(*(noun.ROUTES for noun in _NOUNS))
