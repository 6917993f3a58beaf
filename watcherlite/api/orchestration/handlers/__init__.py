"""The handlers of the orchestration API: a module for each noun, and all routes."""

from watcherlite.api.operation import Routes, merge_routes
from watcherlite.api.orchestration.handlers import (
    events,
    redirects,
    resource_types,
    resources,
    root,
    software_configs,
    software_deployments,
    stack_contents,
    stacks,
)

_NOUNS = (
    root,
    stacks,
    redirects,
    stack_contents,
    resources,
    events,
    resource_types,
    software_configs,
    software_deployments,
)

ROUTES: Routes = merge_routes(*(noun.ROUTES for noun in _NOUNS))
