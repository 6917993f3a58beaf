"""Resources: the members of a stack."""

from collections.abc import Collection, Mapping
from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.operation import NULL, Request, Response, RouteTable
from watcherlite.api.orchestration import software, stack_requests
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import resources as schemas
from watcherlite.conf import masking
from watcherlite.domain import bearer_tokens
from watcherlite.engine.stacks.queries import ResourceView


def represent(request: Request, view: ResourceView) -> dict[str, Any]:
    """Return a resource for lists."""
    row, stack = view.row, view.stack
    shown: dict[str, Any] = {
        'resource_name': row.name,
        'logical_resource_id': row.name,
        'physical_resource_id': row.physical_id or '',
        'resource_type': row.type,
        'resource_status': row.state.name,
        'resource_status_reason': row.status_reason,
        'resource_base_status': row.base.name,
        'hook': row.hook,
        'creation_time': timestamps.seconds(row.created_at),
        'updated_time': timestamps.seconds(row.updated_at or row.created_at),
        'required_by': list(view.required_by),
        'links': [
            links.resource_link(request, stack, row.name),
            links.stack_link(request, stack, 'stack'),
        ],
    }
    if view.nested is not None:
        shown['links'].append(links.stack_link(request, view.nested, 'nested'))
    if view.parent is not None:
        shown['parent_resource'] = view.parent
    return shown


def detailed(
    request: Request, view: ResourceView, attributes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a resource with its description and its attributes.

    Credentials in the attributes are masked.
    """
    return {
        **represent(request, view),
        'description': view.description,
        'attributes': masking.mask_data(dict(attributes)),
        'protected': view.row.protected,
    }


#: Filter of clients -> attribute.
_FILTERS = ('name', 'type', 'action', 'status', 'id', 'physical_resource_id')


_ALL = '/v1/{tenant}/stacks/{stack_name}/{stack_id}/resources'
_ONE = f'{_ALL}/{{resource_name}}'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


@ROUTES.route(
    f'GET {_ALL}', 'resource:index', {200: schemas.COLLECTION}, query=schemas.INDEX
)
def index(request: Request) -> Response:
    """List the resources of a stack."""
    stack = stack_requests.get_stack(request, deleted=True)
    asked, reading = request.query, request.services.reading
    detail = asked.get('with_detail', False)
    desired = {name: asked[name] for name in _FILTERS if asked.get(name)}
    return Response(
        {
            'resources': [
                detailed(request, found, reading.attributes(found))
                if detail
                else represent(request, found)
                for found in reading.resources(stack, asked.get('nested_depth', 0))
                if _matches(found, desired)
            ]
        }
    )


def _matches(found: ResourceView, desired: Mapping[str, Collection[str]]) -> bool:
    """Return whether a resource passes the filters."""
    if not desired:
        return True
    row = found.row
    seen = {
        'name': row.name,
        'type': row.type,
        'action': row.action,
        'status': row.status,
        'id': row.uuid,
        'physical_resource_id': row.physical_id or '',
    }
    return all(seen[name] in values for name, values in desired.items())


@ROUTES.route(
    f'GET {_ONE}', 'resource:show', {200: schemas.RESOURCE}, query=schemas.SHOW
)
def show(request: Request) -> Response:
    """Show a resource."""
    found = _find(request)
    attributes = request.services.reading.attributes(
        found, request.query.get('with_attr', ())
    )
    return Response({'resource': detailed(request, found, attributes)})


@ROUTES.route(f'GET {_ONE}/metadata', 'resource:metadata', {200: schemas.METADATA})
def metadata(request: Request) -> Response:
    """Show the metadata of a resource, that of a server with its deployments."""
    found = _find(request)
    known = request.services.reading.metadata(
        found.stack, found.row.name, request.root_url
    )
    return Response({'metadata': software.mask_metadata(known)})


@ROUTES.route(
    'GET /v1/metadata/{stack_id}/{resource_name}',
    None,
    {200: schemas.SERVER_METADATA},
    query=schemas.METADATA_TOKEN,
    public=True,
)
def metadata_with_token(request: Request) -> Response:
    """Show the metadata of a server, authorized by the token of its URL.

    :raises NotFound: no such resource, or another token
    """
    known = request.services.reading.metadata_with_token(
        request.path['stack_id'],
        request.path['resource_name'],
        request.query.get(bearer_tokens.ARGUMENT),
        request.root_url,
    )
    return Response(known)


@ROUTES.route(
    f'POST {_ONE}/signal',
    'resource:signal',
    {200: fragments.NULL, 409: None},
    restore=lambda request, created: NULL,
    body=schemas.SIGNAL,
    needs_body=False,
)
def signal(request: Request) -> Response:
    """Signal a resource.

    A body `{"unset_hook": HOOK}` clears a hook.

    :raises ResourceActionNotSupported, NotSupported: it accepts no signals, or not in
        its state
    :raises InvalidBreakPointHook: it does not wait at this hook
    """
    stack = stack_requests.get_stack(request)
    request.services.stacks.signal(
        stack.uuid,
        stack.tenant,
        request.path['resource_name'],
        request.body,
        request.context,
    )
    return NULL


@ROUTES.route(
    'POST /v1/signals/{stack_id}/{resource_name}',
    None,
    {200: fragments.NULL, 409: None},
    restore=lambda request, created: NULL,
    query=schemas.SIGNAL_TOKEN,
    body=schemas.SIGNAL,
    needs_body=False,
    public=True,
)
def signal_with_token(request: Request) -> Response:
    """Signal a resource, authorized by the token of its signal_url.

    :raises NotFound: no such resource, or another token
    """
    request.services.stacks.signal_with_token(
        request.path['stack_id'],
        request.path['resource_name'],
        request.query.get(bearer_tokens.ARGUMENT),
        request.body,
    )
    return NULL


@ROUTES.route(
    'PUT /v1/signals/{stack_id}/{resource_name}',
    None,
    {200: fragments.NULL, 409: None},
    restore=lambda request, created: NULL,
    query=schemas.SIGNAL_TOKEN,
    body=schemas.SIGNAL,
    needs_body=False,
    public=True,
)
def put_signal_with_token(request: Request) -> Response:
    """Signal a resource as cfn-signal does, with PUT.

    :raises NotFound: no such resource, or another token
    """
    return signal_with_token(request)


@ROUTES.route(
    f'PATCH {_ONE}',
    'resource:mark_unhealthy',
    {200: fragments.NULL, 409: None},
    body=schemas.MARK,
)
def mark(request: Request) -> Response:
    """Set or remove the health mark of a resource."""
    stack = stack_requests.get_stack(request)
    given = request.body['mark_unhealthy']
    unhealthy = given.lower() == 'true' if isinstance(given, str) else given
    request.services.stacks.mark_unhealthy(
        stack.uuid,
        stack.tenant,
        request.path['resource_name'],
        unhealthy,
        request.body.get('resource_status_reason'),
    )
    return NULL


def _find(request: Request) -> ResourceView:
    stack = stack_requests.get_stack(request, deleted=True)
    return request.services.reading.resource(stack, request.path['resource_name'])
