"""Bindings of clusters to policies."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.api import timestamps
from watcherlite.api.clustering import lookup, pages
from watcherlite.api.clustering.schemas import clusters as schemas
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.conf import masking
from watcherlite.domain.clusters import Bound, Cluster

_NEVER = datetime.datetime.min.replace(tzinfo=datetime.UTC)
#: Sort keys.
_KEYS: Mapping[str, Callable[[Bound], Any]] = {
    'enabled': lambda one: one.binding.enabled,
    'policy_name': lambda one: one.policy.name,
    'policy_type': lambda one: one.policy.type,
    'priority': lambda one: one.binding.priority,
    'last_op': lambda one: one.binding.last_op or _NEVER,
}


def represent(row: Cluster, bound: Bound) -> dict[str, Any]:
    """Return the binding of a cluster to a policy."""
    return {
        'id': bound.binding.uuid,
        'cluster_id': row.uuid,
        'cluster_name': row.name,
        'policy_id': bound.policy.uuid,
        'policy_name': bound.policy.name,
        'policy_type': bound.policy.type,
        'enabled': bound.binding.enabled,
        'priority': bound.binding.priority,
        'data': masking.mask_data(dict(bound.binding.data)),
        'last_op': timestamps.seconds(bound.binding.last_op),
    }


_ALL = '/v1/clusters/{cluster}/policies'
ROUTES = RouteTable()


@ROUTES.route(
    f'GET {_ALL}',
    'cluster_policies:index',
    {200: schemas.BINDINGS},
    query=schemas.BINDINGS_QUERY,
)
def index(request: Request) -> Response:
    """List the policy bindings of a cluster.

    They are sorted by priority by default.
    """
    asked = request.query
    cluster = lookup.get(request, Cluster, request.path['cluster'])
    key = cluster.id
    found = request.services.store.bindings_of_clusters([key]).get(key, [])
    for name, descending in reversed(pages.parse_sort(asked.get('sort', ''), _KEYS)):
        found = sorted(found, key=_KEYS[name], reverse=descending)
    shown = [represent(cluster, one) for one in found if _matches(one, asked)]
    return Response({'cluster_policies': shown})


def _matches(one: Bound, asked: Mapping[str, Any]) -> bool:
    return (
        asked.get('enabled', one.binding.enabled) == one.binding.enabled
        and one.policy.name in asked.get('policy_name', [one.policy.name])
        and one.policy.type in asked.get('policy_type', [one.policy.type])
    )


@ROUTES.route(f'GET {_ALL}/{{policy}}', 'cluster_policies:get', {200: schemas.BINDING})
def show(request: Request) -> Response:
    """Show a policy binding of a cluster."""
    found, by = lookup.find(request, Cluster, request.path['cluster'])
    clusters = request.services.clusters
    cluster, bound = clusters.binding(found.uuid, by, request.path['policy'])
    return Response({'cluster_policy': represent(cluster, bound)})
