"""Stacks with their actions and snapshots, and the validation of templates."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from watcherlite import exceptions
from watcherlite.api import authority, links, timestamps
from watcherlite.api.operation import NULL, Request, Response, RouteTable
from watcherlite.api.orchestration import pages, stack_requests
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import stacks as schemas
from watcherlite.conf import masking
from watcherlite.domain import bearer_tokens
from watcherlite.domain.stacks import NewStack, Stack, StackRequest
from watcherlite.domain.templates.blueprint import OutputValue
from watcherlite.domain.templates.description import NO_DESCRIPTION
from watcherlite.engine.stacks import resolution
from watcherlite.engine.stacks.queries import StackView
from watcherlite.engine.stacks.requests import definition_merge
from watcherlite.engine.stacks.requests.preview import PlannedResource
from watcherlite.states import stack as states

#: The id of what is not stored, as clients know it.
_NO_ID = 'None'
#: The roles that see the project of an object.
ADMINISTRATORS = frozenset({'admin', 'administrator'})


def listed(request: Request, stack: Stack, owner_uuid: str | None) -> dict[str, Any]:
    """Return a stack for lists.

    :param owner_uuid: the uuid of the stack around it
    """
    # Changes by the creation are no updates.
    new = stack.action in (states.INIT, states.CREATE, states.ADOPT)
    shown: dict[str, Any] = {
        'id': stack.uuid,
        'links': [links.stack_link(request, stack)],
        'stack_name': stack.name,
        'description': stack.description or NO_DESCRIPTION,
        'stack_status': stack.state.name,
        'stack_status_reason': stack.status_reason,
        'creation_time': timestamps.seconds(stack.created_at),
        'updated_time': None if new else timestamps.seconds(stack.updated_at),
        'deletion_time': timestamps.seconds(stack.deleted_at),
        'stack_owner': stack.user,
        'parent': owner_uuid,
        # Stacks create no users.
        'stack_user_project_id': None,
        'tags': list(stack.tags) or None,
    }
    if request.caller.roles & ADMINISTRATORS:
        shown['project'] = stack.tenant
    return shown


def represent(
    request: Request, view: StackView, lock_owner: str | None, with_outputs: bool
) -> dict[str, Any]:
    """Return a stack with details.

    :param lock_owner: uuid of the stack whose lock covers it, or None
    :param with_outputs: whether to include its outputs
    """
    stack = view.stack
    owner = view.owner
    shown = {
        **listed(request, stack, None if owner is None else owner.uuid),
        'parameters': dict(view.parameters),
        'template_description': stack.description or NO_DESCRIPTION,
        'capabilities': [],
        'notification_topics': [],
        'disable_rollback': stack.disable_rollback,
        'timeout_mins': stack.timeout // 60,
        'stack_base_status': stack.base.name,
        'lock_level': stack.level,
        'lock_owner': lock_owner,
    }
    if with_outputs:
        shown['outputs'] = [show_output(request, value) for value in view.outputs]
    return shown


def show_output(request: Request, value: OutputValue) -> dict[str, Any]:
    """Return an output with its value or its error.

    Tokens for signals are masked for callers without permission to signal.
    """
    shown_value = value.value
    if not request.allows('resource:signal'):
        shown_value = bearer_tokens.masked(shown_value, masking.MASK)
    shown: dict[str, Any] = {
        'output_key': value.key,
        'description': value.description,
        'output_value': shown_value,
    }
    if value.error is not None:
        shown['output_error'] = value.error
    return shown


def show_preview(
    request: Request,
    new: NewStack,
    parameters: Mapping[str, str],
    planned: Sequence[PlannedResource],
) -> dict[str, Any]:
    """Return the preview of a stack, which has no id.

    :param parameters: the values as texts; hidden ones are masked
    """
    described = new.description or NO_DESCRIPTION
    return {
        'id': _NO_ID,
        'links': [links.stack_link(request, new.evolve(uuid=_NO_ID))],
        'stack_name': new.name,
        'description': described,
        'template_description': described,
        'parameters': {**parameters, 'OS::stack_id': _NO_ID},
        'capabilities': [],
        'notification_topics': [],
        'creation_time': timestamps.seconds(new.created_at),
        'updated_time': timestamps.seconds(new.updated_at),
        'deletion_time': None,
        'disable_rollback': new.disable_rollback,
        'timeout_mins': new.timeout // 60,
        'stack_owner': new.user,
        'parent': None,
        'stack_user_project_id': None,
        'tags': list(new.tags) or None,
        'resources': [_tree(one) for one in planned],
    }


def show_changes(changes: Mapping[str, Sequence[PlannedResource]]) -> dict[str, Any]:
    """Return the preview of an update: kind of change -> resources."""
    return {
        kind: [_show_planned(one) for one in planned]
        for kind, planned in changes.items()
    }


def _tree(one: PlannedResource) -> Any:
    """Return a resource; for a nested stack, the list of its resources."""
    if one.nested is None:
        return _show_planned(one)
    return [_tree(inner) for inner in one.nested]


def _show_planned(one: PlannedResource) -> dict[str, Any]:
    identity = {
        'stack_name': one.stack.name,
        'stack_id': one.stack.uuid if isinstance(one.stack, Stack) else _NO_ID,
        'tenant': one.stack.tenant,
        'path': '',
    }
    shown: dict[str, Any] = {
        'resource_name': one.name,
        'resource_identity': {**identity, 'path': f'/resources/{one.name}'},
        'stack_identity': identity,
        'stack_name': one.stack.name,
        'resource_type': one.type,
        'resource_action': one.state.action,
        'resource_status': one.state.status,
        'resource_status_reason': one.state.reason,
        'physical_resource_id': one.physical_id or '',
        'description': one.description,
        'creation_time': timestamps.seconds(one.created_at),
        'updated_time': timestamps.seconds(one.updated_at or one.created_at),
        'required_by': list(one.required_by),
        'properties': masking.mask_data(dict(one.properties)),
        'metadata': masking.mask_data(dict(one.metadata)),
        'attributes': masking.mask_data(dict(one.attributes)),
    }
    if one.parent is not None:
        shown['parent_resource'] = one.parent
    return shown


_ACCEPTED = Response(
    status=202,
    data=b'The request is accepted for processing.\n',
    content_type='text/plain; charset=UTF-8',
)


_STACKS = '/v1/{tenant}/stacks'
_ONE = f'{_STACKS}/{{stack_name}}/{{stack_id}}'
_SNAPSHOTS = f'{_ONE}/snapshots'
_SNAPSHOT = f'{_SNAPSHOTS}/{{snapshot_id}}'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


def index_rules(request: Request) -> list[str]:
    """Return the additional rules of a list, which may be of all projects."""
    return ['stacks:global_index'] if request.query.get('global_tenant') else []


@ROUTES.route(
    f'GET {_STACKS}',
    'stacks:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=index_rules,
)
def index(request: Request) -> Response:
    """List stacks."""
    return pages.list_stacks(
        request,
        lambda rows: [listed(request, row.stack, row.owner_uuid) for row in rows],
    )


@ROUTES.route(
    f'GET {_STACKS}/detail',
    'stacks:detail',
    {200: schemas.DETAILED_COLLECTION},
    query=schemas.INDEX,
)
def detail(request: Request) -> Response:
    """List stacks with details."""
    return pages.list_stacks(
        request,
        lambda rows: [
            _represent_stack(request, row.stack, with_outputs=False) for row in rows
        ],
    )


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created stack."""
    tenant = request.path['tenant']
    return _created(
        request, request.services.store.find_stack(created['stack'], tenant, True)
    )


@ROUTES.route(
    f'POST {_STACKS}',
    'stacks:create',
    {201: schemas.CREATED, 409: None},
    restore=_restored,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create a stack, or adopt an abandoned one.

    :raises StackExists: the name is in use
    """
    new = stack_requests.new_stack(request, request.body['stack_name'])
    with authority.new_owner(request) as delegate:
        stack = request.services.stacks.create(
            new,
            request.path['tenant'],
            request.caller.user_name,
            request.context,
            delegate,
        )
    return _created(request, stack)


def _created(request: Request, stack: Stack) -> Response:
    link = links.stack_link(request, stack)
    return Response(
        {'stack': {'id': stack.uuid, 'links': [link]}}, 201, {'Location': link['href']}
    )


@ROUTES.route(
    f'POST {_STACKS}/preview',
    'stacks:preview',
    {200: schemas.PREVIEW},
    body=schemas.NEW,
)
def preview(request: Request) -> Response:
    """Show the stack that would be created."""
    new = stack_requests.new_stack(request, request.body['stack_name'])
    stack, planned = request.services.stacks.preview(
        new, request.path['tenant'], request.caller.user_name
    )
    made = resolution.build_blueprint(stack, definition_merge.build_definition(new))
    shown = show_preview(request, stack, made.shown_parameters(), planned)
    return Response({'stack': shown})


@ROUTES.route(f'GET {_ONE}', 'stacks:show', {200: schemas.STACK}, query=schemas.SHOW)
def show(request: Request) -> Response:
    """Show a stack."""
    stack = stack_requests.get_stack(request, deleted=True)
    with_outputs = bool(request.query.get('resolve_outputs', True))
    return Response({'stack': _represent_stack(request, stack, with_outputs)})


def _represent_stack(
    request: Request, stack: Stack, with_outputs: bool
) -> dict[str, Any]:
    reading = request.services.reading
    return represent(
        request,
        reading.show(stack, with_outputs),
        reading.lock_owner(stack),
        with_outputs,
    )


@ROUTES.route(
    f'PUT {_ONE}', 'stacks:update', {202: None, 409: None}, body=schemas.CHANGE
)
def update(request: Request) -> Response:
    """Update a stack."""
    return _update(request, existing=False)


def existing_rules(request: Request) -> list[str]:
    """Return the rules of an update with existing values; fewer if none changes."""
    same = stack_requests.changes_nothing(request.body or {})
    return ['stacks:update_no_change' if same else 'stacks:update_patch']


@ROUTES.route(
    f'PATCH {_ONE}',
    'stacks:update_patch',
    {202: None, 409: None},
    body=schemas.CHANGE,
    needs_body=False,
    rules=existing_rules,
    alternatives=('stacks:update_patch', 'stacks:update_no_change'),
)
def update_existing(request: Request) -> Response:
    """Update a stack; omitted values are kept."""
    return _update(request, existing=True)


def _update(request: Request, existing: bool) -> Response:
    stack, new = _change(request, existing)
    context = authority.stack_context(request, stack, renews=True)
    request.services.stacks.update(stack.uuid, stack.tenant, new, context)
    return _ACCEPTED


@ROUTES.route(
    f'PUT {_ONE}/preview',
    'stacks:preview_update',
    {200: schemas.PREVIEWED_CHANGES},
    query=schemas.PREVIEW_UPDATE,
    body=schemas.CHANGE,
)
def preview_update(request: Request) -> Response:
    """Preview an update."""
    return _preview(request, existing=False)


@ROUTES.route(
    f'PATCH {_ONE}/preview',
    'stacks:preview_update_patch',
    {200: schemas.PREVIEWED_CHANGES},
    query=schemas.PREVIEW_UPDATE,
    body=schemas.CHANGE,
    needs_body=False,
)
def preview_update_existing(request: Request) -> Response:
    """Preview an update that keeps omitted values."""
    return _preview(request, existing=True)


def _preview(request: Request, existing: bool) -> Response:
    stack, new = _change(request, existing)
    nested = bool(request.query.get('show_nested', False))
    changes = request.services.stacks.preview_update(
        stack.uuid, stack.tenant, new, nested
    )
    return Response({'resource_changes': show_changes(changes)})


def _change(request: Request, existing: bool) -> tuple[Stack, StackRequest]:
    stack = stack_requests.get_stack(request)
    return stack, stack_requests.new_stack(request, stack.name, existing)


@ROUTES.route(f'DELETE {_ONE}', 'stacks:delete', {204: None, 409: None})
def delete(request: Request) -> Response:
    """Delete a stack."""
    stack = stack_requests.get_stack(request)
    context = authority.stack_context(request, stack)
    request.services.stacks.delete(stack.uuid, stack.tenant, context)
    return Response(status=204)


@ROUTES.route(
    f'DELETE {_ONE}/abandon', 'stacks:abandon', {200: schemas.DOCUMENT, 409: None}
)
def abandon(request: Request) -> Response:
    """Abandon a stack: delete it and keep its resources.

    The response has the data to adopt its resources.
    """
    stack = stack_requests.get_stack(request)
    return Response(request.services.stacks.abandon(stack.uuid, stack.tenant))


@ROUTES.route(f'GET {_ONE}/export', 'stacks:export', {200: schemas.DOCUMENT})
def export(request: Request) -> Response:
    """Export the definition of a stack and its resources."""
    return Response(request.services.reading.export(stack_requests.get_stack(request)))


_DONE = {
    'suspend': states.SUSPEND,
    'resume': states.RESUME,
    'check': states.CHECK,
    'lock': states.LOCK,
    'unlock': states.UNLOCK,
}
#: Cancel action -> whether it rolls back.
_CANCELLED = {'cancel_update': True, 'cancel_without_rollback': False}


def action_rules(request: Request) -> list[str]:
    """Return the additional rules of the action that the body names."""
    return [f'actions:{name}' for name in request.body]


@ROUTES.route(
    f'POST {_ONE}/actions',
    'actions:action',
    {200: fragments.NULL, 409: None},
    restore=lambda request, created: NULL,
    body=schemas.ACTION,
    rules=action_rules,
)
def run_action(request: Request) -> Response:
    """Suspend, resume, check, lock or unlock a stack, or cancel its operation.

    :raises NotSupported: the state of the stack does not allow it
    :raises Conflict: it is not possible at present
    """
    stack = stack_requests.get_stack(request)
    ((name, arguments),) = request.body.items()
    operations = request.services.stacks
    context = authority.stack_context(request, stack)
    if name in _CANCELLED:
        operations.cancel(stack.uuid, stack.tenant, _CANCELLED[name], context)
    else:
        level = (arguments or {}).get('level') if name == 'lock' else None
        operations.start_operation(
            stack.uuid, stack.tenant, _DONE[name], level, context
        )
    return NULL


def reject_snapshots(request: Request) -> NoReturn:
    """Refuse an operation on snapshots, which do not exist.

    :raises StackNotFound: no such stack
    :raises NotFound: otherwise
    """
    stack = stack_requests.get_stack(request)
    raise exceptions.NotFound(
        f'Stack {stack.name} has no snapshots: snapshots are not supported. Export '
        'the stack to save its definition.'
    )


for _pattern, _rule, _summary in (
    (f'GET {_SNAPSHOTS}', 'list_snapshots', 'List snapshots.'),
    (f'POST {_SNAPSHOTS}', 'snapshot', 'Create a snapshot.'),
    (f'GET {_SNAPSHOT}', 'show_snapshot', 'Show a snapshot.'),
    (f'DELETE {_SNAPSHOT}', 'delete_snapshot', 'Delete a snapshot.'),
    (f'POST {_SNAPSHOT}/restore', 'restore_snapshot', 'Restore a snapshot.'),
):
    ROUTES.route(
        _pattern, f'stacks:{_rule}', {404: None}, summary=f'{_summary} Not supported.'
    )(reject_snapshots)


@ROUTES.route(
    'POST /v1/{tenant}/validate',
    'stacks:validate_template',
    {200: schemas.VALIDATED},
    query=schemas.VALIDATE,
    body=schemas.TEMPLATE,
)
def validate(request: Request) -> Response:
    """Validate a template and show its parameters.

    :raises StackValidationFailed: it is invalid; with all problems
    """
    new = stack_requests.new_stack(request, 'template-validation')
    nested = request.query.get('show_nested', False)
    return Response(request.services.stacks.validate(new, nested))
