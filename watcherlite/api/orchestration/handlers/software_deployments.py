"""Software deployments that belong to no stack, and the signals of their servers."""

import logging
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.operation import NULL, Request, Response, RouteTable
from watcherlite.api.orchestration import software
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import software_deployments as schemas
from watcherlite.conf import masking
from watcherlite.db.query import Query
from watcherlite.db.software import ListedDeployment
from watcherlite.domain import bearer_tokens
from watcherlite.domain.software import IN_PROGRESS, deployed_inputs
from watcherlite.engine.software import read_deployments
from watcherlite.plugins.openstack.signal_sources import SignalSources

LOG = logging.getLogger(__name__)

_ALL = '/v1/{tenant}/software_deployments'
_ONE = f'{_ALL}/{{deployment_id}}'
_SIGNAL = '/v1/deployment_signals/{deployment_id}'
#: Callers whom this rule allows see credentials in values and configs.
_CHANGE = 'software_deployments:update'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


def represent(request: Request, found: ListedDeployment) -> dict[str, Any]:
    """Return a deployment; credentials are masked for callers who only read it."""
    deployment = found.deployment
    outputs = deployment.output_values
    documents: dict[str, Any] = {
        'status_reason': deployment.status_reason,
        'input_values': dict(deployment.input_values),
        'output_values': None if outputs is None else dict(outputs),
    }
    if not request.allows(_CHANGE):
        documents = masking.mask_data(documents)
    return {
        'id': deployment.uuid,
        'config_id': found.config_uuid,
        'server_id': deployment.server_id,
        'action': deployment.action,
        'status': deployment.status,
        **documents,
        'creation_time': timestamps.seconds(deployment.created_at),
        'updated_time': timestamps.seconds(deployment.updated_at),
    }


def _find(request: Request, uuid: str) -> Response:
    tenant = request.path['tenant']
    found = request.services.store.find_software_deployment(uuid, tenant)
    return Response({'software_deployment': represent(request, found)})


@ROUTES.route(
    f'GET {_ALL}',
    'software_deployments:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
)
def index(request: Request) -> Response:
    """List software deployments, the oldest first.

    :raises NotFound: no deployment has the id of the marker
    """
    asked, limit = request.query, request.page_size
    server = asked.get('server_id')
    query = Query(
        tenant=request.path['tenant'],
        filters={'server_id': server} if server else {},
        after=asked.get('marker') or None,
        limit=limit,
    )
    rows = request.services.store.list_software_deployments(query) if limit else []
    shown = [represent(request, row) for row in rows]
    body: dict[str, Any] = {'software_deployments': shown}
    if limit and len(rows) == limit:
        body['links'] = [links.next_page(request, rows[-1].deployment.uuid)]
    return Response(body)


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created deployment."""
    return _find(request, created['software_deployment'])


@ROUTES.route(
    f'POST {_ALL}',
    'software_deployments:create',
    {200: schemas.DEPLOYMENT},
    restore=_restored,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Deploy a software config to a server."""
    uuid = request.services.software.create_deployment(
        request.path['tenant'], request.body
    )
    return _find(request, uuid)


@ROUTES.route(
    f'GET {_ALL}/metadata/{{server_id}}',
    'software_deployments:metadata',
    {200: schemas.METADATA},
)
def metadata(request: Request) -> Response:
    """Show the configs that are deployed to a server, sorted by name.

    Credentials are masked for callers who cannot change deployments.
    """
    is_masked = not request.allows(_CHANGE)
    shown = []
    for config, found in read_deployments(
        request.services.store,
        request.path['server_id'],
        request.path['tenant'],
        request.root_url,
    ):
        time = timestamps.seconds(found.config.created_at)
        config['creation_time'] = time
        shown.append(software.mask_config(config) if is_masked else config)
    return Response({'metadata': shown})


@ROUTES.route(f'GET {_ONE}', 'software_deployments:show', {200: schemas.DEPLOYMENT})
def show(request: Request) -> Response:
    """Show a software deployment.

    Credentials in its values are masked for callers who cannot change deployments.
    Results that the server has stored in the cloud are stored before.
    """
    uuid = request.path['deployment_id']
    _fetch_results(request, uuid)
    return _find(request, uuid)


def _fetch_results(request: Request, uuid: str) -> None:
    """Store the results of a deployment in progress that are in swift or zaqar.

    If these services are not available the deployment is shown as it is.
    """
    services, tenant, token = (
        request.services,
        request.path['tenant'],
        request.caller.token,
    )
    if not token or not services.clouds.is_configured:
        return
    found = services.store.find_software_deployment(uuid, tenant)
    if found.deployment.status != IN_PROGRESS:
        return
    config = services.store.find_software_config(found.config_uuid, tenant)
    inputs = deployed_inputs(config, found.deployment, request.root_url)
    since = found.deployment.updated_at
    try:
        details = SignalSources(services.clouds).read(token, inputs, since)
        if details is not None:
            services.software.store_results(uuid, tenant, details)
    except exceptions.WatcherliteError as error:
        LOG.info('Deployment %s is shown without new results: %s', uuid, error)


@ROUTES.route(f'PUT {_ONE}', _CHANGE, {200: schemas.DEPLOYMENT}, body=schemas.CHANGE)
def update(request: Request) -> Response:
    """Change a software deployment, or store its results."""
    uuid = request.path['deployment_id']
    request.services.software.update_deployment(
        uuid, request.path['tenant'], request.body
    )
    return _find(request, uuid)


@ROUTES.route(f'DELETE {_ONE}', 'software_deployments:delete', {204: None})
def delete(request: Request) -> Response:
    """Delete a software deployment, and keep its config."""
    request.services.software.delete_deployment(
        request.path['deployment_id'], request.path['tenant']
    )
    return Response(status=204)


@ROUTES.route(
    f'POST {_SIGNAL}',
    None,
    {200: fragments.NULL},
    restore=lambda request, created: NULL,
    query=schemas.SIGNAL_TOKEN,
    body=schemas.RESULTS,
    needs_body=False,
    public=True,
)
def signal(request: Request) -> Response:
    """Store the results of a software deployment, authorized by a token.

    :raises NotFound: no such deployment, or another token
    """
    request.services.software.signal(
        request.path['deployment_id'],
        request.query.get(bearer_tokens.ARGUMENT),
        request.body,
    )
    return NULL


@ROUTES.route(
    f'PUT {_SIGNAL}',
    None,
    {200: fragments.NULL},
    query=schemas.SIGNAL_TOKEN,
    body=schemas.RESULTS,
    needs_body=False,
    public=True,
)
def put_signal(request: Request) -> Response:
    """Store the results of a software deployment as cfn-signal sends them, with PUT.

    :raises NotFound: no such deployment, or another token
    """
    return signal(request)
