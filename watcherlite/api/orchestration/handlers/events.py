"""What happened to a stack and to its resources."""

import dataclasses

from watcherlite import exceptions
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.api.orchestration import finding
from watcherlite.api.orchestration.representations import events as representations
from watcherlite.api.orchestration.schemas import events as schemas
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.db.stacking import StackEventQuery
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.reading import ToldEvent

#: As clients name what can be filtered by.
_FILTERS = {
    'resource_action': 'action',
    'resource_status': 'status',
    'resource_name': 'name',
    'resource_type': 'type',
}
#: What stands in the store for the name of a stack in events of its own.
_ITSELF = ''


def of_stack(request: Request) -> Answer:
    """Answer events of a stack and of its resources."""
    stack = finding.stack(request, deleted=True)
    return _page(request, stack, None)


def of_resource(request: Request) -> Answer:
    """Answer events of a resource; under the name of the stack, those of itself.

    :raises NotFound: nothing has ever happened to a resource of that name
    """
    stack = finding.stack(request, deleted=True)
    name = request.path['resource_name']
    known = _named(request, stack, name)
    if known is None:
        raise exceptions.NotFound(f'No events found for resource {name}')
    return _page(request, stack, known)


def show(request: Request) -> Answer:
    """Answer one event of a resource; NotFound."""
    stack = finding.stack(request, deleted=True)
    name, uuid = request.path['resource_name'], request.path['event_id']
    known = _named(request, stack, name)
    told = None if known is None else _event(request, stack, known, uuid)
    if told is None:
        raise exceptions.NotFound(f'No event {uuid} found')
    return Answer({'event': representations.detailed(request, told)})


def _page(request: Request, stack: Stack, resource: str | None) -> Answer:
    asked = request.query
    limit = asked.get('limit')
    depth = asked.get('nested_depth', 0)
    filters = {
        inner: frozenset(asked[name])
        for name, inner in _FILTERS.items()
        if asked.get(name)
    }
    if stack.name in filters.get('name', ()):
        filters['name'] |= {_ITSELF}
    query = StackEventQuery(
        (),
        resource=resource,
        filters=filters,
        descending=asked.get('sort_dir', 'desc') == 'desc',
        after=asked.get('marker') or None,
        limit=None if limit is None else min(limit, request.services.max_limit),
    )
    reading = request.services.reading
    found = [] if limit == 0 else reading.events(stack, query, depth)
    root = reading.root(stack) if depth else None
    return Answer(
        {'events': [representations.represent(request, one, root) for one in found]}
    )


def _named(request: Request, stack: Stack, name: str) -> str | None:
    """Return what the store finds the events of a name by; None: there are none."""
    wanted = [name, _ITSELF] if name == stack.name else [name]
    reading = request.services.reading
    for known in wanted:
        if reading.events(stack, StackEventQuery((), resource=known, limit=1)):
            return known
    return None


def _event(
    request: Request, stack: Stack, resource: str, uuid: str
) -> ToldEvent | None:
    """Return one event: the one before what follows it, or the last of all."""
    reading = request.services.reading
    last = StackEventQuery((), resource=resource, limit=1)
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
            answers={200: schemas.COLLECTION},
        )
    },
    f'{_RESOURCE}/events': {
        'GET': Operation(
            of_resource,
            'events:index',
            'List what happened to a resource.',
            query=schemas.INDEX,
            answers={200: schemas.COLLECTION},
        )
    },
    f'{_RESOURCE}/events/{{event_id}}': {
        'GET': Operation(
            show,
            'events:show',
            'Show one event of a resource.',
            query=root_schemas.NO_ARGUMENTS,
            answers={200: schemas.EVENT},
        )
    },
}
