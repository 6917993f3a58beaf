"""The routes of the orchestration API: what every noun brings, in one table."""

from watcherlite.api.operation import Routes, merged
from watcherlite.api.orchestration.handlers import (
    actions,
    contents,
    events,
    lookup,
    resource_types,
    resources,
    root,
    services,
    snapshots,
    stacks,
    validation,
)

_NOUNS = (
    root,
    stacks,
    lookup,
    actions,
    contents,
    resources,
    events,
    snapshots,
    validation,
    resource_types,
    services,
)

ROUTES: Routes = merged(*(noun.ROUTES for noun in _NOUNS))
