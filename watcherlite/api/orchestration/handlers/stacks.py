"""Stacks: created, listed, shown, updated, deleted."""

from typing import Any

from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.api.orchestration import bodies, finding, links, pages
from watcherlite.api.orchestration.representations import previews
from watcherlite.api.orchestration.representations import stacks as representations
from watcherlite.api.orchestration.schemas import previews as preview_schemas
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.api.orchestration.schemas import stacks as schemas
from watcherlite.domain.stacks import NewStack, Stack
from watcherlite.engine.stacks import merging, resolving

_ACCEPTED = Answer(
    status=202,
    data=b'The request is accepted for processing.\n',
    content_type='text/plain; charset=UTF-8',
)


def index(request: Request) -> Answer:
    """Answer a page of stacks."""
    return pages.of_stacks(
        request,
        lambda rows: [
            representations.listed(request, row.stack, row.owner_uuid) for row in rows
        ],
    )


def detail(request: Request) -> Answer:
    """Answer a page of stacks with all that is told of each but its outputs."""
    return pages.of_stacks(
        request,
        lambda rows: [_shown(request, row.stack, with_outputs=False) for row in rows],
    )


def index_rules(request: Request) -> list[str]:
    """Return the rules for a list: another one for those of all projects."""
    if request.query.get('global_tenant'):
        return ['stacks:index', 'stacks:global_index']
    return ['stacks:index']


def create(request: Request) -> Answer:
    """Begin to create a stack, or to adopt what another one has left.

    :raises StackExists: there is one of that name
    """
    new = bodies.new_stack(request, request.body['stack_name'])
    stack = request.services.stacks.create(
        new, request.path['tenant'], request.caller.user_name, request.context
    )
    link = links.of_stack(request, stack)
    return Answer(
        {'stack': {'id': stack.uuid, 'links': [link]}}, 201, {'Location': link['href']}
    )


def preview(request: Request) -> Answer:
    """Answer what `create` would do, and do nothing."""
    new = bodies.new_stack(request, request.body['stack_name'])
    stack, planned = request.services.stacks.preview(
        new, request.path['tenant'], request.caller.user_name
    )
    made = resolving.blueprint(stack, merging.definition(new))
    shown = previews.stack(request, stack, made.shown_parameters(), planned)
    return Answer({'stack': shown})


def show(request: Request) -> Answer:
    """Answer a stack, also one that has been deleted; StackNotFound."""
    stack = finding.stack(request, deleted=True)
    with_outputs = bool(request.query.get('resolve_outputs', True))
    return Answer({'stack': _shown(request, stack, with_outputs)})


def _shown(request: Request, stack: Stack, with_outputs: bool) -> dict[str, Any]:
    reading = request.services.reading
    return representations.represent(
        request,
        reading.show(stack, with_outputs),
        reading.lock_owner(stack),
        with_outputs,
    )


def update(request: Request) -> Answer:
    """Begin to make a stack what a template says."""
    return _updated(request, existing=False)


def update_existing(request: Request) -> Answer:
    """The same, keeping what is not given."""
    return _updated(request, existing=True)


def existing_rules(request: Request) -> list[str]:
    """Return the rule for an update of what there is: another one for no change."""
    same = bodies.changes_nothing(request.body or {})
    return ['stacks:update_no_change' if same else 'stacks:update_patch']


def _updated(request: Request, existing: bool) -> Answer:
    stack, new = _change(request, existing)
    request.services.stacks.update(stack.uuid, stack.tenant, new, request.context)
    return _ACCEPTED


def preview_update(request: Request) -> Answer:
    """Answer what an update would do, and do nothing."""
    return _previewed(request, existing=False)


def preview_update_existing(request: Request) -> Answer:
    """The same, keeping what is not given."""
    return _previewed(request, existing=True)


def _previewed(request: Request, existing: bool) -> Answer:
    stack, new = _change(request, existing)
    nested = bool(request.query.get('show_nested', False))
    changes = request.services.stacks.preview_update(
        stack.uuid, stack.tenant, new, nested
    )
    return Answer({'resource_changes': previews.changes(changes)})


def _change(request: Request, existing: bool) -> tuple[Stack, NewStack]:
    stack = finding.stack(request)
    return stack, bodies.new_stack(request, stack.name, existing)


def delete(request: Request) -> Answer:
    """Begin to delete a stack; StackNotFound if it has been deleted."""
    stack = finding.stack(request)
    request.services.stacks.delete(stack.uuid, stack.tenant, request.context)
    return Answer(status=204)


def abandon(request: Request) -> Answer:
    """Forget a stack; answer what is needed to adopt its resources."""
    stack = finding.stack(request)
    return Answer(request.services.stacks.abandon(stack.uuid, stack.tenant))


def export(request: Request) -> Answer:
    """Answer what `abandon` would, and forget nothing."""
    return Answer(request.services.reading.export(finding.stack(request)))


_STACKS = '/v1/{tenant}/stacks'
_ONE = f'{_STACKS}/{{stack_name}}/{{stack_id}}'

ROUTES: Routes = {
    _STACKS: {
        'GET': Operation(
            index,
            'stacks:index',
            'List stacks.',
            query=schemas.INDEX,
            answers={200: schemas.COLLECTION},
            rules=index_rules,
        ),
        'POST': Operation(
            create,
            'stacks:create',
            'Create a stack, or adopt what another one has left.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.NEW,
            answers={201: schemas.CREATED, 409: None},
        ),
    },
    f'{_STACKS}/detail': {
        'GET': Operation(
            detail,
            'stacks:detail',
            'List stacks with details.',
            query=schemas.INDEX,
            answers={200: schemas.DETAILED_COLLECTION},
        ),
    },
    f'{_STACKS}/preview': {
        'POST': Operation(
            preview,
            'stacks:preview',
            'Show the stack that would be created.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.NEW,
            answers={200: preview_schemas.STACK},
        ),
    },
    _ONE: {
        'GET': Operation(
            show,
            'stacks:show',
            'Show a stack.',
            query=schemas.SHOW,
            answers={200: schemas.STACK},
        ),
        'PUT': Operation(
            update,
            'stacks:update',
            'Update a stack.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.CHANGE,
            answers={202: None, 409: None},
        ),
        'PATCH': Operation(
            update_existing,
            'stacks:update_patch',
            'Update a stack, keeping what is not given.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.CHANGE,
            answers={202: None, 409: None},
            needs_body=False,
            rules=existing_rules,
        ),
        'DELETE': Operation(
            delete,
            'stacks:delete',
            'Delete a stack.',
            query=root_schemas.NO_ARGUMENTS,
            answers={204: None, 409: None},
        ),
    },
    f'{_ONE}/preview': {
        'PUT': Operation(
            preview_update,
            'stacks:preview_update',
            'Show what an update would do.',
            query=schemas.PREVIEW_UPDATE,
            body=schemas.CHANGE,
            answers={200: preview_schemas.CHANGES},
        ),
        'PATCH': Operation(
            preview_update_existing,
            'stacks:preview_update_patch',
            'Show what an update would do that keeps what is not given.',
            query=schemas.PREVIEW_UPDATE,
            body=schemas.CHANGE,
            answers={200: preview_schemas.CHANGES},
            needs_body=False,
        ),
    },
    f'{_ONE}/abandon': {
        'DELETE': Operation(
            abandon,
            'stacks:abandon',
            'Forget a stack and leave its resources where they are.',
            query=root_schemas.NO_ARGUMENTS,
            answers={200: schemas.DOCUMENT, 409: None},
        ),
    },
    f'{_ONE}/export': {
        'GET': Operation(
            export,
            'stacks:export',
            'Show what is needed to adopt the resources of a stack.',
            query=root_schemas.NO_ARGUMENTS,
            answers={200: schemas.DOCUMENT},
        ),
    },
}
