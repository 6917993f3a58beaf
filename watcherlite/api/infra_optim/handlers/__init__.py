"""The handlers of the infra-optim API: a module for each noun, and all routes."""

from watcherlite.api.infra_optim.handlers import (
    action_logs,
    action_plans,
    actions,
    audit_templates,
    audits,
    data_model,
    events,
    goals,
    notifications,
    plugins,
    requests,
    root,
    scoring_engines,
    services,
    strategies,
)
from watcherlite.api.operation import Routes, merge_routes

_ROUTES = merge_routes(
    root.ROUTES,
    goals.ROUTES,
    strategies.ROUTES,
    audit_templates.ROUTES,
    audits.ROUTES,
    action_plans.ROUTES,
    actions.ROUTES,
    action_logs.ROUTES,
    events.ROUTES,
    services.ROUTES,
    scoring_engines.ROUTES,
    notifications.ROUTES,
    plugins.ROUTES,
    requests.ROUTES,
    data_model.ROUTES,
)

PLANS = '/v1/action_plans'
#: Aliases of addresses, as spelled in the specification of skipped actions.
ALIAS_OF_PLANS = '/v1/actionplans'

ROUTES: Routes = {
    **_ROUTES,
    **{
        template.replace(PLANS, ALIAS_OF_PLANS, 1): operations
        for template, operations in _ROUTES.items()
        if template == PLANS or template.startswith(f'{PLANS}/')
    },
}
