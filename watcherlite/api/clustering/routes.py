"""The routes of the clustering API: the tables of all nouns, merged."""

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
