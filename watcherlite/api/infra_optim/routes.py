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
from watcherlite.api.operation import Routes, merged

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

ROUTES: Routes = merged(*(noun.ROUTES for noun in _NOUNS))
