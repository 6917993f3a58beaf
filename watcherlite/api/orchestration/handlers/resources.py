"""Resources: the members of a stack."""

from collections.abc import Collection, Mapping
from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.operation import NULL, Operation, Request, Response, Routes
from watcherlite.api.orchestration import stack_requests
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import resources as schemas
from watcherlite.conf import masking
from watcherlite.domain import bearer_tokens
from watcherlite.engine.stacks.queries import ResourceView


def represent(request: Request, found: ResourceView) -> dict[str, Any]:
    """Return a resource for lists."""
    row, stack = found.row, found.stack
    shown: dict[str, Any] = {
        'resource_name': row.name,
        'logical_resource_id': row.name,
        'physical_resource_id': row.physical_id or '',
        'resource_type': row.type,
        'resource_status': row.state.name,
        'resource_status_reason': row.status_reason,
        'resource_base_status': row.base.name,
        'creation_time': timestamps.seconds(row.created_at),
        'updated_time': timestamps.seconds(row.updated_at or row.created_at),
        'required_by': list(found.required_by),
        'links': [
            links.resource_link(request, stack, row.name),
            links.stack_link(request, stack, 'stack'),
        ],
    }
    if found.nested is not None:
        shown['links'].append(links.stack_link(request, found.nested, 'nested'))
    if found.parent is not None:
        shown['parent_resource'] = found.parent
    return shown


def detailed(
    request: Request, found: ResourceView, attributes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a resource with its description and its attributes.

    Credentials in the attributes are masked.
    """
    return {
        **represent(request, found),
        'description': found.description,
        'attributes': masking.mask_data(dict(attributes)),
        'protected': found.row.protected,
    }


#: Filter of clients -> attribute.
_FILTERS = ('name', 'type', 'action', 'status', 'id', 'physical_resource_id')


def index(request: Request) -> Response:
    """Return the resources of a stack, and of nested stacks to a requested depth."""
    stack = stack_requests.get_stack(request, deleted=True)
    asked, reading = request.query, request.services.reading
    detail = asked.get('with_detail', False)
    wanted = {name: asked[name] for name in _FILTERS if asked.get(name)}
    return Response(
        {
            'resources': [
                detailed(request, found, reading.attributes(found))
                if detail
                else represent(request, found)
                for found in reading.resources(stack, asked.get('nested_depth', 0))
                if _fits(found, wanted)
            ]
        }
    )


def _fits(found: ResourceView, wanted: Mapping[str, Collection[str]]) -> bool:
    """Return whether a resource passes the filters."""
    if not wanted:
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
    return all(seen[name] in values for name, values in wanted.items())


def show(request: Request) -> Response:
    """Return a resource, by name, physical id or reference; ResourceNotFound."""
    found = _found(request)
    attributes = request.services.reading.attributes(
        found, request.query.get('with_attr', ())
    )
    return Response({'resource': detailed(request, found, attributes)})


def metadata(request: Request) -> Response:
    """Return the metadata of a resource; credentials in it are masked."""
    return Response({'metadata': masking.mask_data(dict(_found(request).row.metadata))})


def signal(request: Request) -> Response:
    """Send a signal with the data in the body to a resource.

    :raises ResourceActionNotSupported, NotSupported: it accepts no signals, or not in
        its state
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


def signal_with_token(request: Request) -> Response:
    """Send a signal to a resource, authorized by the token of its signal_url.

    :raises NotFound: no such resource, or another token
    """
    request.services.stacks.signal_with_token(
        request.path['stack_id'],
        request.path['resource_name'],
        request.query.get(bearer_tokens.ARGUMENT),
        request.body,
    )
    return NULL


def mark(request: Request) -> Response:
    """Mark a resource as unhealthy, or remove the mark (spec 002)."""
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


def _found(request: Request) -> ResourceView:
    stack = stack_requests.get_stack(request, deleted=True)
    return request.services.reading.resource(stack, request.path['resource_name'])


_ALL = '/v1/{tenant}/stacks/{stack_name}/{stack_id}/resources'
_ONE = f'{_ALL}/{{resource_name}}'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'resource:index',
            'List the resources of a stack.',
            query=schemas.INDEX,
            responses={200: schemas.COLLECTION},
        )
    },
    _ONE: {
        'GET': Operation(
            show,
            'resource:show',
            'Show a resource.',
            query=schemas.SHOW,
            responses={200: schemas.RESOURCE},
        ),
        'PATCH': Operation(
            mark,
            'resource:mark_unhealthy',
            'Set or remove the health mark of a resource.',
            query=fragments.ANY_ARGUMENTS,
            body=schemas.MARK,
            responses={200: fragments.NULL, 409: None},
        ),
    },
    f'{_ONE}/metadata': {
        'GET': Operation(
            metadata,
            'resource:metadata',
            'Show the metadata of a resource.',
            query=fragments.ANY_ARGUMENTS,
            responses={200: schemas.METADATA},
        )
    },
    f'{_ONE}/signal': {
        'POST': Operation(
            signal,
            'resource:signal',
            'Signal a resource.',
            query=fragments.ANY_ARGUMENTS,
            restore=lambda request, created: NULL,
            body=schemas.SIGNAL,
            responses={200: fragments.NULL, 409: None},
            needs_body=False,
        )
    },
    '/v1/signals/{stack_id}/{resource_name}': {
        'POST': Operation(
            signal_with_token,
            None,
            'Signal a resource, authorized by the token of its signal_url.',
            restore=lambda request, created: NULL,
            query=schemas.SIGNAL_TOKEN,
            body=schemas.SIGNAL,
            responses={200: fragments.NULL, 409: None},
            needs_body=False,
            public=True,
        )
    },
}
