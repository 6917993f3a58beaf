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
from watcherlite.api.operation import merge_routes

ROUTES = merge_routes(
    root.ROUTES,
    types.ROUTES,
    specs.ROUTES,
    clusters.ROUTES,
    cluster_policies.ROUTES,
    nodes.ROUTES,
    actions.ROUTES,
    events.ROUTES,
    receivers.ROUTES,
)
