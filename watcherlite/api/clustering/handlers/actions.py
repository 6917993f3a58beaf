"""Actions on clusters and nodes."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from watcherlite.api import arguments, links, timestamps
from watcherlite.api.clustering import caller, lookup, pages
from watcherlite.api.clustering.schemas import actions as schemas
from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.clustering.schemas.actions import CLUSTER, OURS
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Request, Response, RouteTable, Version
from watcherlite.clock import EPOCH
from watcherlite.conf import masking
from watcherlite.db.clusters import ListedClusterAction, not_found
from watcherlite.domain.actions import Action
from watcherlite.engine.clusters import status_reasons
from watcherlite.engine.clusters.action_types import NODE_JOIN
from watcherlite.engine.clusters.requests.values import NewClusterAction
from watcherlite.states import action as states

#: Prefix of action types on clusters.
_OF_CLUSTERS = 'CLUSTER_'
#: Prefix of action types on nodes.
_OF_NODES = 'NODE_'
#: Prefix of outputs that are internal to dependent actions.
_INNER = '_'


def represent(
    listed: ListedClusterAction, version: Version, clusters: Container[str | None] = ()
) -> dict[str, Any]:
    """Return an action as a version shows it; credentials are masked.

    :param clusters: the targets from `unresolved_targets` that are clusters
    """
    action = listed.action
    outputs = {
        name: value
        for name, value in (action.outputs or {}).items()
        if not name.startswith(_INNER)
    }
    if action.status == states.FAILED and action.status_message:
        # Third-party action types have the reason of a failure only in the message.
        outputs.setdefault('reason', action.status_message)
    shown: dict[str, Any] = {
        'id': action.uuid,
        'name': action.name,
        'action': action.action_type,
        'target': action.target,
        'cause': _cause(action),
        'owner': action.owner,
        'interval': action.interval,
        'start_time': timestamps.epoch(action.start_time),
        'end_time': timestamps.epoch(action.end_time),
        'timeout': action.timeout,
        'status': action.status,
        'status_reason': status_reasons.status_reason(action, listed.holders),
        'inputs': masking.mask_data(dict(action.inputs)),
        'outputs': masking.mask_data(outputs),
        'depends_on': [*listed.depends_on, *(uuid for _, uuid in listed.holders)],
        'depended_by': list(listed.depended_by),
        'created_at': timestamps.seconds(action.created_at),
        'updated_at': timestamps.seconds(action.updated_at),
        'data': masking.mask_data(_data(action)),
        'user': action.context.get('user_id'),
        'project': action.tenant or '',
    }
    if version >= CLUSTER:
        shown['cluster_id'] = cluster_of(action, clusters)
    if version >= OURS:
        at_once = action.not_before == EPOCH
        # An ended action has no pending signal.
        shown['control'] = None if action.finished else action.control
        shown['not_before'] = None if at_once else timestamps.seconds(action.not_before)
    return shown


def _cause(action: Action) -> str:
    """Return the cause of an action in the vocabulary of Senlin.

    The stored cause decides which action holds the lock on the target: a derived action
    may hold its own.
    """
    is_derived = action.derived_from is not None
    return states.DERIVED_ACTION if is_derived else action.cause


def _data(action: Action) -> dict[str, Any]:
    """Return the decisions of policies, without internal keys."""
    data = dict(action.data)
    if action.derived_from is not None:
        data.pop('key', None)
    return data


def cluster_of(action: Action, clusters: Container[str | None] = ()) -> str:
    """Return the uuid of the cluster of an action, or ''."""
    if action.within is not None:
        return action.within
    if action.action_type == NODE_JOIN:
        # It locks only its node: its parent has locked the cluster.
        return str(action.inputs.get('cluster_id') or '')
    is_of_cluster = action.action_type.startswith(_OF_CLUSTERS)
    is_of_cluster = is_of_cluster or action.target in clusters
    return (action.target or '') if is_of_cluster else ''


def unresolved_targets(rows: Iterable[ListedClusterAction]) -> set[str]:
    """Return the targets that may be clusters, or nodes without a cluster.

    Third-party action types can act on both.
    """
    return {
        row.action.target
        for row in rows
        if row.action.target is not None
        and row.action.within is None
        and not row.action.action_type.startswith((_OF_CLUSTERS, _OF_NODES))
    }


_ALL = '/v1/actions'
ROUTES = RouteTable()


@ROUTES.route(
    f'GET {_ALL}',
    'actions:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=caller.list_rules,
)
def index(request: Request) -> Response:
    """List the actions of clusters and nodes."""
    filters: dict[str, Collection[Any]] = pages.filters(
        request, 'name', 'target', 'action', 'status'
    )
    if 'cluster_id' in request.query:
        names = request.query['cluster_id']
        filters['cluster_id'] = {_cluster(request, name) for name in names}
    store = request.services.store
    return pages.respond(
        request,
        'actions',
        lambda limit: store.list_cluster_actions(
            pages.query(request, Action, filters, limit)
        ),
        lambda rows: _represent_rows(request, rows),
    )


def _cluster(request: Request, name: str) -> str:
    # Actions outlive their cluster.
    if arguments.is_uuid(name):
        return name.lower()
    return lookup.get_referenced_cluster(request, name).uuid


@ROUTES.route(f'GET {_ALL}/{{action}}', 'actions:get', {200: schemas.ACTION})
def show(request: Request) -> Response:
    """Show an action."""
    return _respond(request, lookup.get_action(request, request.path['action']))


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created action."""
    listed = request.services.store.find_cluster_action(created['action'], None)
    return _respond(request, listed, 202)


@ROUTES.route(
    f'POST {_ALL}',
    'actions:create',
    {202: schemas.ACTION, 409: None},
    restore=_restored,
    query=fragments.QUEUED,
    body=schemas.NEW,
    **since((1, 15)),
)
def create(request: Request) -> Response:
    """Request an action of any type on a cluster or node.

    :raises Invalid: the inputs are invalid for the type
    """
    new = NewClusterAction(**request.body['action'])
    done = request.services.clusters.actions.create(
        new, *lookup.search_contexts(request)
    )
    return _restored(request, {'action': done.action})


@ROUTES.route(
    f'PATCH {_ALL}/{{action}}',
    'actions:update',
    {202: schemas.ACTION, 409: None},
    query=schemas.SIGNAL_QUERY,
    body=schemas.SIGNAL,
    rules=caller.signal_rules,
    **since((1, 12)),
)
def signal(request: Request) -> Response:
    """Cancel, suspend or resume an action.

    :raises ActionImmutable: its status does not allow the signal
    """
    uuid = request.path['action']
    if not arguments.is_uuid(uuid):
        raise not_found(Action, uuid)
    listed = lookup.get_action(request, uuid)
    by = caller.admin_context(request) or caller.context_of(request)
    status = request.body['action']['status']
    forced = bool(request.query.get('force'))
    done = request.services.clusters.actions.update(
        listed.action.uuid, by, status, force=forced
    )
    return _respond(request, done, 202)


def _respond(
    request: Request, listed: ListedClusterAction, status: int = 200
) -> Response:
    headers = {}
    if status != 200:
        headers = links.location(request, 'actions', listed.action.uuid)
    (shown,) = _represent_rows(request, [listed])
    return Response({'action': shown}, status, headers)


def _represent_rows(
    request: Request, rows: Sequence[ListedClusterAction]
) -> list[dict[str, Any]]:
    targets = unresolved_targets(rows)
    clusters = request.services.store.clusters_by_uuid(targets)
    return [represent(row, request.version, clusters) for row in rows]
