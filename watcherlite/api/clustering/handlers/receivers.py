"""Receivers and their webhooks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib import parse

from watcherlite.api import links, timestamps
from watcherlite.api.clustering import caller, lookup, pages, responses
from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.clustering.schemas import receivers as schemas
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain import bearer_tokens
from watcherlite.domain.clusters import Cluster, Receiver
from watcherlite.engine.clusters.requests.receivers import RENEWAL
from watcherlite.engine.clusters.requests.values import IssuedReceiver, ReceiverRequest


def represent(store: Store, rows: Sequence[Receiver]) -> list[dict[str, Any]]:
    """Return receivers with their clusters, queried for all rows."""
    clusters = lookup.clusters_of(store, rows)
    return [
        _represent_row(row, cluster)
        for row, cluster in zip(rows, clusters, strict=True)
    ]


def represent_issued(store: Store, issued: IssuedReceiver) -> dict[str, Any]:
    """Return a receiver, whose URL has the token if it was just issued."""
    (shown,) = represent(store, [issued.receiver])
    if issued.token is not None:
        shown['channel'] = _channel(issued.receiver, issued.token)
    return shown


def _channel(row: Receiver, token: str = masking.MASK) -> dict[str, Any]:
    channel = dict(row.channel)
    if row.token_digest is None:
        # An old receiver without a token cannot be triggered.
        return {**channel, 'alarm_url': None}
    channel['alarm_url'] = f'{channel["alarm_url"]}&{bearer_tokens.ARGUMENT}={token}'
    return channel


def _represent_row(row: Receiver, cluster: Cluster | None) -> dict[str, Any]:
    return {
        'id': row.uuid,
        'name': row.name,
        'type': row.type,
        **responses.owner_fields(row.owner),
        'cluster_id': None if cluster is None else cluster.uuid,
        'action': row.action,
        'actor': masking.mask_data(dict(row.actor)),
        'params': masking.mask_data(dict(row.params)),
        'channel': _channel(row),
        'created_at': timestamps.seconds(row.created_at),
        'updated_at': timestamps.seconds(row.updated_at),
    }


#: The version of webhooks whose inputs are URL arguments.
_FIRST = '1'
#: URL arguments that are no inputs.
_OWN_ARGUMENTS = ('V', 'wait', bearer_tokens.ARGUMENT)


_ALL = '/v1/receivers'
_ONE = f'{_ALL}/{{receiver}}'
ROUTES = RouteTable()


@ROUTES.route(
    f'GET {_ALL}',
    'receivers:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=caller.list_rules,
)
def index(request: Request) -> Response:
    """List receivers."""
    filters: dict[str, Collection[Any]] = pages.filters(
        request, 'name', 'type', 'action', 'user'
    )
    if 'cluster_id' in request.query:
        filters['cluster_id'] = {
            lookup.get_referenced_cluster(request, name).id
            for name in request.query['cluster_id']
        }
    store = request.services.store
    return pages.respond_objects(
        request, 'receivers', Receiver, filters, lambda rows: represent(store, rows)
    )


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created receiver with a new token.

    The token of the lost response is not stored.
    """
    found, by = lookup.find(request, Receiver, created['receiver'])
    receivers = request.services.clusters.receivers
    renewed = receivers.update(found.uuid, by, {RENEWAL: True})
    headers = links.location(request, 'receivers', found.uuid)
    return _respond(request, renewed, 201, headers)


@ROUTES.route(
    f'POST {_ALL}',
    'receivers:create',
    {201: schemas.RECEIVER, 409: None},
    restore=_restored,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create a receiver.

    Its channel has the token only in this response.
    """
    asked = dict(request.body['receiver'])
    new = ReceiverRequest(cluster=asked.pop('cluster_id', None), **asked)
    base = f'{request.mount_url}/v1'
    receivers = request.services.clusters.receivers
    with caller.creating_context(request) as by:
        made = receivers.create(new, by, base)
    headers = links.location(request, 'receivers', made.receiver.uuid)
    return _respond(request, made, 201, headers)


@ROUTES.route(f'GET {_ONE}', 'receivers:get', {200: schemas.RECEIVER})
def show(request: Request) -> Response:
    """Show a receiver."""
    found = lookup.get(request, Receiver, request.path['receiver'])
    return _respond(request, IssuedReceiver(found))


@ROUTES.route(
    f'PATCH {_ONE}',
    'receivers:update',
    {200: schemas.RECEIVER, 409: None},
    body=schemas.CHANGED,
    **since((1, 7)),
)
def update(request: Request) -> Response:
    """Update the name, the action, the inputs or the token of a receiver."""
    found, by = lookup.find(request, Receiver, request.path['receiver'])
    receivers = request.services.clusters.receivers
    changed = receivers.update(found.uuid, by, request.body['receiver'])
    return _respond(request, changed)


@ROUTES.route(f'DELETE {_ONE}', 'receivers:delete', {204: None})
def delete(request: Request) -> Response:
    """Delete a receiver."""
    found, by = lookup.find(request, Receiver, request.path['receiver'])
    request.services.clusters.receivers.delete(found.uuid, by)
    return Response(status=204)


@ROUTES.route(f'POST {_ONE}/notify', 'receivers:notify', {204: None})
def notify(request: Request) -> Response:
    """Notify a receiver of a message.

    :raises BadRequest: always; receivers of messages are not supported
    """
    found, by = lookup.find(request, Receiver, request.path['receiver'])
    request.services.clusters.receivers.notify(found.uuid, by)
    return Response(status=204)


@ROUTES.route(
    'POST /v1/webhooks/{receiver}/trigger',
    None,
    {202: fragments.ACTION, 409: None},
    restore=responses.respond_repeated,
    query=schemas.TRIGGER,
    body=schemas.INPUTS,
    needs_body=False,
    public=True,
)
def trigger(request: Request) -> Response:
    """Request the action of a receiver, authorized by the token of its URL.

    :raises NotFound: no such receiver, or another token
    """
    inputs = request.body
    if request.query['V'] == _FIRST:
        inputs = dict(parse.parse_qsl(request.query_string))
        for name in _OWN_ARGUMENTS:
            inputs.pop(name, None)
    begun = request.services.clusters.receivers.trigger(
        request.path['receiver'],
        request.query.get(bearer_tokens.ARGUMENT),
        inputs,
        wait=bool(request.query.get('wait')),
    )
    return responses.respond_accepted(request, begun)


def _respond(
    request: Request,
    issued: IssuedReceiver,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Response:
    shown = represent_issued(request.services.store, issued)
    return Response({'receiver': shown}, status, headers or {})
