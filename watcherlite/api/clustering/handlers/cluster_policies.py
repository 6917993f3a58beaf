"""What clusters are bound to: policies, and whether they are heeded."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.api.clustering import finding, pages
from watcherlite.api.clustering.representations import clusters as representations
from watcherlite.api.clustering.schemas import clusters as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain.clusters import Bound, Cluster

_NEVER = datetime.datetime.min.replace(tzinfo=datetime.UTC)
#: As clients name what can be sorted by.
_KEYS: Mapping[str, Callable[[Bound], Any]] = {
    'enabled': lambda one: one.binding.enabled,
    'policy_name': lambda one: one.policy.name,
    'policy_type': lambda one: one.policy.type,
    'priority': lambda one: one.binding.priority,
    'last_op': lambda one: one.binding.last_op or _NEVER,
}


def index(request: Request) -> Answer:
    """Answer what a cluster is bound to; by priority, unless it says otherwise."""
    asked = request.query
    cluster = finding.noun(request, Cluster, request.path['cluster'])
    key = cluster.id or 0
    found = request.services.store.bindings_of_clusters([key]).get(key, [])
    for name, descending in reversed(pages.order(asked.get('sort', ''), _KEYS)):
        found = sorted(found, key=_KEYS[name], reverse=descending)
    shown = [
        representations.binding(cluster, one) for one in found if _fits(one, asked)
    ]
    return Answer({'cluster_policies': shown})


def _fits(one: Bound, asked: Mapping[str, Any]) -> bool:
    return (
        asked.get('enabled', one.binding.enabled) == one.binding.enabled
        and one.policy.name in asked.get('policy_name', [one.policy.name])
        and one.policy.type in asked.get('policy_type', [one.policy.type])
    )


def show(request: Request) -> Answer:
    """Answer what binds a cluster to a policy; PolicyBindingNotFound."""
    found, by = finding.reached(request, Cluster, request.path['cluster'])
    clusters = request.services.clusters
    cluster, bound = clusters.binding(found.uuid, by, request.path['policy'])
    return Answer({'cluster_policy': representations.binding(cluster, bound)})


_ALL = '/v1/clusters/{cluster}/policies'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'cluster_policies:index',
            'List what a cluster is bound to.',
            query=schemas.BINDINGS_QUERY,
            answers={200: schemas.BINDINGS},
        )
    },
    f'{_ALL}/{{policy}}': {
        'GET': Operation(
            show,
            'cluster_policies:get',
            'Show what binds a cluster to a policy.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.BINDING},
        )
    },
}
