"""Software configs that belong to no stack."""

from collections.abc import Mapping
from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.api.orchestration import software
from watcherlite.api.orchestration.handlers.stacks import ADMINISTRATORS
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import software_configs as schemas
from watcherlite.db.query import Query
from watcherlite.db.software import ListedConfig
from watcherlite.domain.software import SoftwareConfig

_ALL = '/v1/{tenant}/software_configs'
_ONE = f'{_ALL}/{{config_id}}'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


def _listed(request: Request, config: ListedConfig) -> dict[str, Any]:
    shown: dict[str, Any] = {
        'id': config.uuid,
        'name': config.name,
        'group': config.group,
        'creation_time': timestamps.seconds(config.created_at),
    }
    if request.caller.roles & ADMINISTRATORS:
        shown['project'] = config.tenant
    return shown


def _represent(request: Request, config: SoftwareConfig) -> Response:
    shown = software.represent_config(config)
    if not request.allows('software_configs:create'):
        shown = software.mask_config(shown)
    return Response({'software_config': shown})


def index_rules(request: Request) -> list[str]:
    """Return the additional rules of a list, which may be of all projects."""
    if request.query.get('global_tenant'):
        return ['software_configs:global_index']
    return []


@ROUTES.route(
    f'GET {_ALL}',
    'software_configs:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=index_rules,
)
def index(request: Request) -> Response:
    """List software configs, the newest first.

    :raises NotFound: no config has the id of the marker
    """
    asked, limit = request.query, request.page_size
    tenant = None if asked.get('global_tenant') else request.path['tenant']
    query = Query(tenant=tenant, after=asked.get('marker') or None, limit=limit)
    rows = request.services.store.list_software_configs(query) if limit else []
    body: dict[str, Any] = {'software_configs': [_listed(request, r) for r in rows]}
    if limit and len(rows) == limit:
        body['links'] = [links.next_page(request, rows[-1].uuid)]
    return Response(body)


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created config."""
    return _find(request, created['software_config'])


@ROUTES.route(
    f'POST {_ALL}',
    'software_configs:create',
    {200: schemas.CONFIG},
    restore=_restored,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create a software config."""
    config = request.services.software.create_config(
        request.path['tenant'], request.body
    )
    return _represent(request, config)


@ROUTES.route(f'GET {_ONE}', 'software_configs:show', {200: schemas.CONFIG})
def show(request: Request) -> Response:
    """Show a software config.

    Credentials in it are masked for callers who cannot create configs.
    """
    return _find(request, request.path['config_id'])


def _find(request: Request, uuid: str) -> Response:
    store = request.services.store
    return _represent(request, store.find_software_config(uuid, request.path['tenant']))


@ROUTES.route(f'DELETE {_ONE}', 'software_configs:delete', {204: None, 409: None})
def delete(request: Request) -> Response:
    """Delete a software config without deployments."""
    request.services.software.delete_config(
        request.path['config_id'], request.path['tenant']
    )
    return Response(status=204)
