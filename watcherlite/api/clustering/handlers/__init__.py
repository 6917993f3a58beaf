"""The handlers of the clustering API: a module for each noun, and all routes."""

from watcherlite.api.clustering.handlers import (
    actions,
    cluster_policies,
    clusters,
    events,
    nodes,
    receivers,
    root,
    specs,
    types,
)
from watcherlite.api.operation import Routes, merge_routes

_NOUNS = (
    root,
    types,
    specs,
    clusters,
    cluster_policies,
    nodes,
    actions,
    events,
    receivers,
)

ROUTES: Routes = merge_routes(*(noun.ROUTES for noun in _NOUNS))
