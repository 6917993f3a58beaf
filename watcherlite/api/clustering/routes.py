"""The routes of the clustering API: what every noun brings, in one table."""

from watcherlite.api.clustering.handlers import (
    actions,
    cluster_actions,
    cluster_policies,
    clusters,
    events,
    node_actions,
    nodes,
    policies,
    profiles,
    receivers,
    root,
    types,
)
from watcherlite.api.operation import Routes, merged

_NOUNS = (
    root,
    types,
    profiles,
    policies,
    clusters,
    cluster_actions,
    cluster_policies,
    nodes,
    node_actions,
    actions,
    events,
    receivers,
)

ROUTES: Routes = merged(*(noun.ROUTES for noun in _NOUNS))
