"""Clusters, and the actions that clients request on them."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api import timestamps
from watcherlite.api.clustering import caller, lookup, pages, responses
from watcherlite.api.clustering.handlers import nodes
from watcherlite.api.clustering.schemas import clusters as schemas
from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Bound, Cluster, Node, Profile
from watcherlite.engine.clusters.requests.clusters import ClusterOperations
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    ClusterRequest,
    RequestContext,
)


def represent(store: Store, rows: Sequence[Cluster]) -> list[dict[str, Any]]:
    """Return clusters with their nodes, profiles and policies, queried for all rows."""
    ids = [row.id for row in rows]
    profiles = store.objects_by_id(Profile, {row.profile_id for row in rows})
    bound = store.bindings_of_clusters(ids)
    nodes: dict[int | None, list[str]] = {}
    for node in store.nodes_of(ids):
        nodes.setdefault(node.cluster_id, []).append(node.uuid)
    return [
        _represent_row(
            row,
            profiles.get(row.profile_id),
            nodes.get(row.id, []),
            bound.get(row.id, []),
        )
        for row in rows
    ]


def _represent_row(
    row: Cluster, profile: Profile | None, nodes: list[str], bound: Sequence[Bound]
) -> dict[str, Any]:
    return {
        'id': row.uuid,
        'name': row.name,
        'profile_id': '' if profile is None else profile.uuid,
        **responses.owner_fields(row.owner),
        'init_at': timestamps.seconds(row.init_at),
        'created_at': timestamps.seconds(row.created_at),
        'updated_at': timestamps.seconds(row.updated_at),
        'min_size': row.min_size,
        'max_size': row.max_size,
        'desired_capacity': row.desired_capacity,
        'timeout': row.timeout,
        'status': row.status,
        'status_reason': row.status_reason,
        'metadata': masking.mask_data(dict(row.metadata)),
        'data': masking.mask_data(dict(row.data)),
        'dependents': dict(row.dependents),
        'config': masking.mask_data(dict(row.config)),
        'profile_name': None if profile is None else profile.name,
        'nodes': nodes,
        'policies': [one.binding.uuid for one in bound],
    }


_ALL = '/v1/clusters'
_ONE = f'{_ALL}/{{cluster}}'
ROUTES = RouteTable()


@ROUTES.route(
    f'GET {_ALL}',
    'clusters:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=caller.list_rules,
)
def index(request: Request) -> Response:
    """List clusters."""
    filters = pages.filters(request, 'name', 'status')
    store = request.services.store
    return pages.respond_objects(
        request, 'clusters', Cluster, filters, lambda rows: represent(store, rows)
    )


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created cluster, and the address of the action."""
    row = lookup.get(request, Cluster, created['cluster'])
    done = Accepted(created['action'], row)
    return responses.respond_accepted_with(request, done, _body(request, row))


@ROUTES.route(
    f'POST {_ALL}',
    'clusters:create',
    {202: schemas.CLUSTER, 409: None},
    restore=_restored,
    query=fragments.SCHEDULED,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create a cluster."""
    asked = dict(request.body['cluster'])
    new = ClusterRequest(profile=asked.pop('profile_id'), **asked)
    with caller.creating_context(request) as by:
        done = responses.scheduled_operations(request).create(new, by)
    return responses.respond_accepted_with(request, done, _body(request, done.row))


@ROUTES.route(f'GET {_ONE}', 'clusters:get', {200: schemas.CLUSTER})
def show(request: Request) -> Response:
    """Show a cluster."""
    return Response(
        _body(request, lookup.get(request, Cluster, request.path['cluster']))
    )


@ROUTES.route(
    f'PATCH {_ONE}',
    'clusters:update',
    {202: schemas.CLUSTER, 409: None},
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.CHANGED,
)
def update(request: Request) -> Response:
    """Update a cluster."""
    found, by = lookup.find(request, Cluster, request.path['cluster'])
    by = caller.authorized(request, by, found, renews=True)
    done = responses.scheduled_operations(request).update(
        found.uuid, by, request.body['cluster']
    )
    return responses.respond_accepted_with(request, done, _body(request, done.row))


@ROUTES.route(
    f'DELETE {_ONE}',
    'clusters:delete',
    {202: fragments.NULL, 409: None},
    query=schemas.DELETE,
    body=schemas.DELETE_BODY,
    needs_body=False,
)
def delete(request: Request) -> Response:
    """Delete a cluster and its nodes."""
    found, by = lookup.find(request, Cluster, request.path['cluster'])
    by = caller.authorized(request, by, found)
    forced = responses.is_forced(request)
    done = responses.scheduled_operations(request).delete(found.uuid, by, force=forced)
    return responses.respond_deletion(request, done)


@ROUTES.route(
    f'GET {_ONE}/attrs/{{path}}',
    'clusters:collect',
    {200: schemas.ATTRIBUTES},
    **since((1, 2)),
)
def collect(request: Request) -> Response:
    """Collect the value of a JSON path from each node of a cluster.

    :raises BadRequest: the path is invalid
    """
    found, by = lookup.find(request, Cluster, request.path['cluster'])
    members = request.services.store.nodes_of([found.id])
    listed = nodes.represent(request, members, details=True)
    shown = {one['id']: one for one in listed}

    def show(node: Node) -> dict[str, Any]:
        # A new node has no details yet.
        return shown.get(node.uuid, {})

    values = request.services.clusters.collect(
        found.uuid, by, request.path['path'], show
    )
    return Response(
        {'cluster_attributes': [{'id': uuid, 'value': value} for uuid, value in values]}
    )


def _body(request: Request, row: Cluster) -> dict[str, Any]:
    (shown,) = represent(request.services.store, [row])
    return {'cluster': shown}


COMPLETE = 'complete_lifecycle'


def _start(
    clusters: ClusterOperations,
    name: str,
    uuid: str,
    by: RequestContext,
    given: Mapping[str, Any],
) -> Accepted[Cluster]:
    """Start the action that a body names, except COMPLETE, which starts none."""
    match name:
        case 'add_nodes':
            return clusters.add_nodes(uuid, by, given['nodes'])
        case 'del_nodes':
            destroy = given.get('destroy_after_deletion')
            destroy = False if destroy is None else destroy
            return clusters.del_nodes(uuid, by, given['nodes'], destroy)
        case 'replace_nodes':
            return clusters.replace_nodes(uuid, by, given['nodes'])
        case 'resize':
            params = {key: value for key, value in given.items() if value is not None}
            return clusters.resize(uuid, by, params)
        case 'scale_in' | 'scale_out':
            kind = f'CLUSTER_{name.upper()}'
            return clusters.scale(uuid, by, kind, given.get('count'))
        case 'policy_attach' | 'policy_detach' | 'policy_update':
            return _bind(clusters, name, uuid, by, given)
        case 'check':
            return clusters.check(uuid, by, given)
    return clusters.recover(uuid, by, given)


def _bind(
    clusters: ClusterOperations,
    name: str,
    uuid: str,
    by: RequestContext,
    given: Mapping[str, Any],
) -> Accepted[Cluster]:
    """Start to change the binding of a cluster to a policy."""
    policy, enabled = given['policy_id'], given.get('enabled')
    if name == 'policy_attach':
        enabled = True if enabled is None else enabled
        return clusters.attach_policy(uuid, by, policy, enabled)
    if name == 'policy_detach':
        return clusters.detach_policy(uuid, by, policy)
    return clusters.update_policy(uuid, by, policy, enabled)


@ROUTES.route(
    f'POST {_ONE}/actions',
    'clusters:action',
    {202: fragments.ACTION, 409: None},
    restore=responses.respond_repeated,
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.ACTIONS,
)
def run_action(request: Request) -> Response:
    """Scale, resize, check or recover a cluster; change its nodes or policies.

    :raises ResourceIsLocked, ActionConflict: the cluster is locked, and the request is
        not queued
    """
    found, by = lookup.find(request, Cluster, request.path['cluster'])
    by = caller.authorized(request, by, found)
    ((name, given),) = request.body.items()
    if name == COMPLETE:
        responses.check_not_scheduled(request, name)
        token = given['lifecycle_action_token']
        ended = request.services.clusters.actions.complete_lifecycle(
            found.uuid, by, token
        )
        return responses.respond_accepted(request, Accepted(ended.uuid, found))
    done = _start(
        responses.scheduled_operations(request), name, found.uuid, by, given or {}
    )
    return responses.respond_accepted(request, done)


@ROUTES.route(
    f'POST {_ONE}/ops',
    'clusters:operation',
    {202: fragments.ACTION, 409: None},
    restore=responses.respond_repeated,
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.OPERATION,
    **since((1, 4)),
)
def operate(request: Request) -> Response:
    """Perform an operation of the profile on nodes of a cluster."""
    found, by = lookup.find(request, Cluster, request.path['cluster'])
    by = caller.authorized(request, by, found)
    ((name, given),) = request.body.items()
    # python-senlinclient sends parameters beside 'params', as those of a node.
    given = dict(given or {})
    filters, params = given.pop('filters', None), given.pop('params', None)
    done = responses.scheduled_operations(request).operate(
        found.uuid, by, name, {**given, **(params or {})}, filters
    )
    return responses.respond_accepted(request, done)
