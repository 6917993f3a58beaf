"""Events of stacks and resources."""

import dataclasses
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.operation import Operation, Request, Response, Routes
from watcherlite.api.orchestration import stack_requests
from watcherlite.api.orchestration.schemas import events as schemas
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.db.query import EventQuery
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.queries import EventView


def represent(
    request: Request, told: EventView, root: Stack | None = None
) -> dict[str, Any]:
    """Return an event as it stands in lists.

    :param root: the outermost stack around it, where that is asked for
    """
    event, stack = told.stored.event, told.stack
    name = str(told.resource.get('name') or '')
    shown: dict[str, Any] = {
        'id': event.uuid,
        'event_time': timestamps.seconds(event.occurred_at),
        'resource_name': name,
        'logical_resource_id': name,
        'physical_resource_id': told.resource.get('physical_id'),
        'resource_status': event.new_status or '',
        'resource_status_reason': event.message or '',
        'links': [
            links.resource_link(request, stack, name, 'events', event.uuid),
            links.resource_link(request, stack, name, rel='resource'),
            links.stack_link(request, stack, 'stack'),
        ],
    }
    if root is not None:
        shown['links'].append(links.stack_link(request, root, 'root_stack'))
    return shown


def detailed(request: Request, told: EventView) -> dict[str, Any]:
    """Return an event with the type of what it is about."""
    return {
        **represent(request, told),
        'resource_type': str(told.resource.get('type') or ''),
        # As they were then, they are not kept.
        'resource_properties': {},
    }


#: As clients name what can be filtered by.
_FILTERS = {
    'resource_action': 'action',
    'resource_status': 'status',
    'resource_name': 'name',
    'resource_type': 'type',
}
#: What stands in the store for the name of a stack in events of its own.
_ITSELF = ''


def of_stack(request: Request) -> Response:
    """Return events of a stack and of its resources."""
    stack = stack_requests.get_stack(request, deleted=True)
    return _page(request, stack, None)


def of_resource(request: Request) -> Response:
    """Return events of a resource; under the name of the stack, those of itself.

    :raises NotFound: nothing has ever happened to a resource of that name
    """
    stack = stack_requests.get_stack(request, deleted=True)
    name = request.path['resource_name']
    known = _named(request, stack, name)
    if known is None:
        raise exceptions.NotFound(f'No events found for resource {name}')
    return _page(request, stack, known)


def show(request: Request) -> Response:
    """Return one event of a resource; NotFound."""
    stack = stack_requests.get_stack(request, deleted=True)
    name, uuid = request.path['resource_name'], request.path['event_id']
    known = _named(request, stack, name)
    told = None if known is None else _event(request, stack, known, uuid)
    if told is None:
        raise exceptions.NotFound(f'No event {uuid} found')
    return Response({'event': detailed(request, told)})


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


def _named(request: Request, stack: Stack, name: str) -> str | None:
    """Return what the store finds the events of a name by; None: there are none."""
    wanted = [name, _ITSELF] if name == stack.name else [name]
    reading = request.services.reading
    for known in wanted:
        if reading.events(stack, EventQuery({'resource': {known}}, limit=1)):
            return known
    return None


def _event(
    request: Request, stack: Stack, resource: str, uuid: str
) -> EventView | None:
    """Return one event: the one before what follows it, or the last of all."""
    reading = request.services.reading
    last = EventQuery({'resource': {resource}}, limit=1)
    following = reading.events(
        stack, dataclasses.replace(last, after=uuid, descending=False)
    )
    if following:
        after = following[0].stored.event.uuid
        last = dataclasses.replace(last, after=after)
    for told in reading.events(stack, last):
        if told.stored.event.uuid == uuid:
            return told
    return None


_ONE = '/v1/{tenant}/stacks/{stack_name}/{stack_id}'
_RESOURCE = f'{_ONE}/resources/{{resource_name}}'

ROUTES: Routes = {
    f'{_ONE}/events': {
        'GET': Operation(
            of_stack,
            'events:index',
            'List what happened to a stack and to its resources.',
            query=schemas.INDEX,
            responses={200: schemas.COLLECTION},
        )
    },
    f'{_RESOURCE}/events': {
        'GET': Operation(
            of_resource,
            'events:index',
            'List what happened to a resource.',
            query=schemas.INDEX,
            responses={200: schemas.COLLECTION},
        )
    },
    f'{_RESOURCE}/events/{{event_id}}': {
        'GET': Operation(
            show,
            'events:show',
            'Show one event of a resource.',
            query=fragments.ANY_ARGUMENTS,
            responses={200: schemas.EVENT},
        )
    },
}
