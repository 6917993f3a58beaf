"""Nodes, and the actions that clients request on them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.clustering import caller, lookup, pages, responses
from watcherlite.api.clustering.schemas import clusters as cluster_schemas
from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.clustering.schemas import nodes as schemas
from watcherlite.api.clustering.schemas.nodes import TAINTED
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.conf import masking
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.engine.clusters.requests import values


def represent(
    request: Request, rows: Sequence[Node], details: bool = False
) -> list[dict[str, Any]]:
    """Return nodes with their clusters and profiles, queried for all rows.

    :param details: include the details from the profile types
    """
    store = request.services.store
    profiles = store.objects_by_id(Profile, {row.profile_id for row in rows})
    found = []
    for row, cluster in zip(rows, lookup.clusters_of(store, rows), strict=True):
        shown = _represent_row(row, cluster, profiles.get(row.profile_id))
        if request.version >= TAINTED:
            shown['tainted'] = row.tainted
        if details:
            shown['details'] = masking.mask_data(dict(row.attributes))
        found.append(shown)
    return found


def _represent_row(
    row: Node, cluster: Cluster | None, profile: Profile | None
) -> dict[str, Any]:
    return {
        'id': row.uuid,
        'name': row.name,
        'cluster_id': '' if cluster is None else cluster.uuid,
        'physical_id': row.physical_id,
        'profile_id': '' if profile is None else profile.uuid,
        **responses.owner_fields(row.owner),
        'index': row.index,
        'role': row.role,
        'init_at': timestamps.seconds(row.init_at),
        'created_at': timestamps.seconds(row.created_at),
        'updated_at': timestamps.seconds(row.updated_at),
        'status': row.status,
        'status_reason': row.status_reason,
        'data': masking.mask_data(dict(row.data)),
        'metadata': masking.mask_data(dict(row.metadata)),
        'dependents': dict(row.dependents),
        'profile_name': None if profile is None else profile.name,
    }


_ALL = '/v1/nodes'
_ONE = f'{_ALL}/{{node}}'
ROUTES = RouteTable()


@ROUTES.route(
    f'GET {_ALL}',
    'nodes:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=caller.list_rules,
)
def index(request: Request) -> Response:
    """List nodes."""
    filters: dict[str, Collection[Any]] = pages.filters(request, 'name', 'status')
    if 'cluster_id' in request.query:
        cluster = lookup.get_referenced_cluster(request, request.query['cluster_id'])
        filters['cluster_id'] = {cluster.id}
    return pages.respond_objects(
        request, 'nodes', Node, filters, lambda rows: represent(request, rows)
    )


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created node, and the address of the action."""
    row = lookup.get(request, Node, created['node'])
    done = values.Accepted(created['action'], row)
    return responses.respond_accepted_with(request, done, _body(request, row))


@ROUTES.route(
    f'POST {_ALL}',
    'nodes:create',
    {202: schemas.NODE, 409: None},
    restore=_restored,
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create a node."""
    asked = dict(request.body['node'])
    new = values.NodeRequest(
        profile=asked.pop('profile_id'),
        cluster=asked.pop('cluster_id', None) or None,
        **asked,
    )
    with caller.creating_context(request) as by:
        done = responses.scheduled_operations(request).nodes.create(new, by)
    return responses.respond_accepted_with(request, done, _body(request, done.row))


def _adopted(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created node."""
    row = lookup.get(request, Node, created['node'])
    headers = links.location(request, 'nodes', row.uuid)
    return Response(_body(request, row), headers=headers)


@ROUTES.route(
    f'POST {_ALL}/adopt',
    'nodes:adopt',
    {200: schemas.NODE, 409: None},
    restore=_adopted,
    body=schemas.ADOPT,
    **since((1, 7)),
)
def adopt(request: Request) -> Response:
    """Create a node from an existing resource."""
    nodes = request.services.clusters.nodes
    with caller.creating_context(request) as by:
        made = nodes.adopt(_adoption(request), by)
    return _adopted(request, {'node': made.uuid})


@ROUTES.route(
    f'POST {_ALL}/adopt-preview',
    'nodes:adopt-preview',
    {200: schemas.PREVIEWED, 409: None},
    body=schemas.PREVIEW,
    **since((1, 7)),
)
def preview(request: Request) -> Response:
    """Preview the profile of an adoption."""
    nodes = request.services.clusters.nodes
    found = nodes.preview(_adoption(request), caller.connected_context(request))
    return Response({'node_profile': {'node_preview': masking.mask_data(found)}})


@ROUTES.route(f'GET {_ONE}', 'nodes:get', {200: schemas.NODE}, query=schemas.SHOW)
def show(request: Request) -> Response:
    """Show a node."""
    details = bool(request.query.get('show_details'))
    return Response(
        _body(request, lookup.get(request, Node, request.path['node']), details)
    )


@ROUTES.route(
    f'PATCH {_ONE}',
    'nodes:update',
    {202: schemas.NODE, 409: None},
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.CHANGED,
)
def update(request: Request) -> Response:
    """Update a node."""
    found, by = lookup.find(request, Node, request.path['node'])
    by = caller.authorized(request, by, found, renews=True)
    done = responses.scheduled_operations(request).nodes.update(
        found.uuid, by, request.body['node']
    )
    return responses.respond_accepted_with(request, done, _body(request, done.row))


@ROUTES.route(
    f'DELETE {_ONE}',
    'nodes:delete',
    {202: fragments.NULL, 409: None},
    query=cluster_schemas.DELETE,
    body=cluster_schemas.DELETE_BODY,
    needs_body=False,
)
def delete(request: Request) -> Response:
    """Delete a node."""
    found, by = lookup.find(request, Node, request.path['node'])
    by = caller.authorized(request, by, found)
    forced = responses.is_forced(request)
    nodes = responses.scheduled_operations(request).nodes
    done = nodes.delete(found.uuid, by, force=forced)
    return responses.respond_deletion(request, done)


def _adoption(request: Request) -> values.AdoptionRequest:
    asked = dict(request.body)
    snapshot = asked.pop('snapshot', None)
    if isinstance(snapshot, str):
        snapshot = snapshot.lower() == 'true'
    return values.AdoptionRequest(snapshot=bool(snapshot), **asked)


def _body(request: Request, row: Node, details: bool = False) -> dict[str, Any]:
    (shown,) = represent(request, [row], details)
    return {'node': shown}


_MARK = 'mark_unhealthy'


@ROUTES.route(
    f'POST {_ONE}/actions',
    'nodes:action',
    {202: schemas.ACTED, 409: None},
    restore=responses.respond_repeated,
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.ACTIONS,
)
def run_action(request: Request) -> Response:
    """Check or recover a node, or mark it unhealthy.

    Marking as unhealthy is synchronous.

    :raises ResourceIsLocked, ActionConflict: the node or its cluster is locked, and the
        request is not queued
    """
    found, by = lookup.find(request, Node, request.path['node'])
    by = caller.authorized(request, by, found)
    ((name, given),) = request.body.items()
    given = given or {}
    nodes = responses.scheduled_operations(request).nodes
    if name == _MARK:
        responses.check_not_scheduled(request, name)
        unhealthy, reason = given.get(_MARK, True), given.get('reason')
        row = nodes.mark_unhealthy(found.uuid, by, unhealthy, reason)
        (shown,) = represent(request, [row])
        return Response({'node': shown}, 202)
    begin = nodes.check if name == 'check' else nodes.recover
    done = begin(found.uuid, by, given)
    return responses.respond_accepted(request, done)


@ROUTES.route(
    f'POST {_ONE}/ops',
    'nodes:operation',
    {202: fragments.ACTION, 409: None},
    restore=responses.respond_repeated,
    query=fragments.QUEUED_OR_SCHEDULED,
    body=schemas.OPERATION,
    **since((1, 4)),
)
def operate(request: Request) -> Response:
    """Perform an operation of the profile on a node."""
    found, by = lookup.find(request, Node, request.path['node'])
    by = caller.authorized(request, by, found)
    ((name, given),) = request.body.items()
    done = responses.scheduled_operations(request).nodes.operate(
        found.uuid, by, name, given
    )
    return responses.respond_accepted(request, done)
