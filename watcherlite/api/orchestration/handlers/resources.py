"""Resources: the members of a stack."""

from collections.abc import Collection, Mapping

from watcherlite.api.operation import NULL, Answer, Operation, Request, Routes
from watcherlite.api.orchestration import finding
from watcherlite.api.orchestration.representations import resources as representations
from watcherlite.api.orchestration.schemas import resources as schemas
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.engine.stacks.reading import Seen

#: As clients name what can be filtered by.
_FILTERS = ('name', 'type', 'action', 'status', 'id', 'physical_resource_id')


def index(request: Request) -> Answer:
    """Answer the resources of a stack, and of those in it as deep as asked for."""
    stack = finding.stack(request, deleted=True)
    asked, reading = request.query, request.services.reading
    detail = asked.get('with_detail', False)
    wanted = {name: asked[name] for name in _FILTERS if asked.get(name)}
    return Answer(
        {
            'resources': [
                representations.detailed(request, found, reading.attributes(found))
                if detail
                else representations.represent(request, found)
                for found in reading.resources(stack, asked.get('nested_depth', 0))
                if _fits(found, wanted)
            ]
        }
    )


def _fits(found: Seen, wanted: Mapping[str, Collection[str]]) -> bool:
    """Say whether a resource is one of those that are asked for."""
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


def show(request: Request) -> Answer:
    """Answer a resource, by name, physical id or reference; ResourceNotFound."""
    found = _found(request)
    attributes = request.services.reading.attributes(
        found, request.query.get('with_attr', ())
    )
    return Answer({'resource': representations.detailed(request, found, attributes)})


def metadata(request: Request) -> Answer:
    """Answer the metadata of a resource."""
    return Answer({'metadata': dict(_found(request).row.metadata)})


def signal(request: Request) -> Answer:
    """Have a resource take note of what the body says.

    :raises ResourceActionNotSupported, NotSupported: it takes none, or not now
    """
    stack = finding.stack(request)
    request.services.stacks.signal(
        *(stack.uuid, stack.tenant, request.path['resource_name']),
        request.body,
        request.context,
    )
    return NULL


def mark(request: Request) -> Answer:
    """Say that a resource is unhealthy, or is not (spec 002)."""
    stack = finding.stack(request)
    said = request.body['mark_unhealthy']
    unhealthy = said.lower() == 'true' if isinstance(said, str) else said
    request.services.stacks.mark_unhealthy(
        *(stack.uuid, stack.tenant, request.path['resource_name']),
        unhealthy,
        request.body.get('resource_status_reason'),
    )
    return NULL


def _found(request: Request) -> Seen:
    stack = finding.stack(request, deleted=True)
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
            answers={200: schemas.COLLECTION},
        )
    },
    _ONE: {
        'GET': Operation(
            show,
            'resource:show',
            'Show a resource.',
            query=schemas.SHOW,
            answers={200: schemas.RESOURCE},
        ),
        'PATCH': Operation(
            mark,
            'resource:mark_unhealthy',
            'Say that a resource is unhealthy, or is not.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.MARK,
            answers={200: shapes.NULL, 409: None},
        ),
    },
    f'{_ONE}/metadata': {
        'GET': Operation(
            metadata,
            'resource:metadata',
            'Show the metadata of a resource.',
            query=root_schemas.NO_ARGUMENTS,
            answers={200: schemas.METADATA},
        )
    },
    f'{_ONE}/signal': {
        'POST': Operation(
            signal,
            'resource:signal',
            'Signal a resource.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.SIGNAL,
            answers={200: shapes.NULL, 409: None},
            needs_body=False,
        )
    },
}
