"""Events of stacks and resources."""

import dataclasses
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.api.orchestration import stack_requests
from watcherlite.api.orchestration.schemas import events as schemas
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.db.query import EventQuery
from watcherlite.domain.events import INITIATOR
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.queries import EventView


def represent(
    request: Request, view: EventView, root: Stack | None = None
) -> dict[str, Any]:
    """Return an event for lists.

    :param root: the outermost stack around it, if requested
    """
    event, stack = view.stored.event, view.stack
    name = str(view.resource.get('name') or '')
    shown: dict[str, Any] = {
        'id': event.uuid,
        'event_time': timestamps.seconds(event.occurred_at),
        'resource_name': name,
        'logical_resource_id': name,
        'physical_resource_id': view.resource.get('physical_id'),
        'resource_status': event.new_status or '',
        'resource_status_reason': event.message or '',
        'links': [
            links.resource_link(request, stack, name, 'events', event.uuid),
            links.resource_link(request, stack, name, rel='resource'),
            links.stack_link(request, stack, 'stack'),
        ],
        'initiator': (event.detail or {}).get(INITIATOR),
    }
    if root is not None:
        shown['links'].append(links.stack_link(request, root, 'root_stack'))
    return shown


def detailed(request: Request, view: EventView) -> dict[str, Any]:
    """Return an event with the type of its resource."""
    return {
        **represent(request, view),
        'resource_type': str(view.resource.get('type') or ''),
        # Properties at the time of the event are not stored.
        'resource_properties': {},
    }


#: Filter of clients -> attribute.
_FILTERS = {
    'resource_action': 'action',
    'resource_status': 'status',
    'resource_name': 'name',
    'resource_type': 'type',
}
#: The stored resource name of events of a stack itself.
_ITSELF = ''


_ONE = '/v1/{tenant}/stacks/{stack_name}/{stack_id}'
_RESOURCE = f'{_ONE}/resources/{{resource_name}}'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


@ROUTES.route(
    f'GET {_ONE}/events', 'events:index', {200: schemas.COLLECTION}, query=schemas.INDEX
)
def stack_events(request: Request) -> Response:
    """List the events of a stack and its resources."""
    stack = stack_requests.get_stack(request, deleted=True)
    return _page(request, stack, None)


@ROUTES.route(
    f'GET {_RESOURCE}/events',
    'events:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
)
def resource_events(request: Request) -> Response:
    """List the events of a resource.

    For the name of the stack, these are its own events.

    :raises NotFound: no events of such a resource
    """
    stack = stack_requests.get_stack(request, deleted=True)
    name = request.path['resource_name']
    known = _stored_name(request, stack, name)
    if known is None:
        raise exceptions.NotFound(f'No events found for resource {name}')
    return _page(request, stack, known)


@ROUTES.route(
    f'GET {_RESOURCE}/events/{{event_id}}', 'events:show', {200: schemas.EVENT}
)
def show(request: Request) -> Response:
    """Show an event of a resource."""
    stack = stack_requests.get_stack(request, deleted=True)
    name, uuid = request.path['resource_name'], request.path['event_id']
    known = _stored_name(request, stack, name)
    view = None if known is None else _event(request, stack, known, uuid)
    if view is None:
        raise exceptions.NotFound(f'No event {uuid} found')
    return Response({'event': detailed(request, view)})


def _page(request: Request, stack: Stack, resource: str | None) -> Response:
    asked = request.query
    limit = request.page_size
    depth = asked.get('nested_depth', 0)
    filters: dict[str, frozenset[str]] = {
        inner: frozenset(asked[name])
        for name, inner in _FILTERS.items()
        if asked.get(name)
    }
    if stack.name in filters.get('name', ()):
        filters['name'] |= {_ITSELF}
    if resource is not None:
        filters['resource'] = frozenset({resource})
    query = EventQuery(
        filters,
        descending=asked.get('sort_dir', 'desc') == 'desc',
        after=asked.get('marker') or None,
        limit=limit,
    )
    reading = request.services.reading
    found = [] if limit == 0 else reading.events(stack, query, depth)
    root = reading.root(stack) if depth else None
    return Response({'events': [represent(request, one, root) for one in found]})


def _stored_name(request: Request, stack: Stack, name: str) -> str | None:
    """Return the filter for the events of a resource name; None: no such resource."""
    desired = [name, _ITSELF] if name == stack.name else [name]
    reading = request.services.reading
    for known in desired:
        if reading.events(stack, EventQuery({'resource': {known}}, limit=1)):
            return known
    return None


def _event(
    request: Request, stack: Stack, resource: str, uuid: str
) -> EventView | None:
    """Return one event: the last one before its successor, or the last of all."""
    reading = request.services.reading
    last = EventQuery({'resource': {resource}}, limit=1)
    following = reading.events(
        stack, dataclasses.replace(last, after=uuid, descending=False)
    )
    if following:
        after = following[0].stored.event.uuid
        last = dataclasses.replace(last, after=after)
    for view in reading.events(stack, last):
        if view.stored.event.uuid == uuid:
            return view
    return None
