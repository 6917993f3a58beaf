"""Stacks with their actions and snapshots, and the validation of templates."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.operation import NULL, Operation, Request, Response, Routes
from watcherlite.api.orchestration import pages, stack_requests
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import stacks as schemas
from watcherlite.conf import masking
from watcherlite.domain import bearer_tokens
from watcherlite.domain.stacks import NewStack, Stack, StackRequest
from watcherlite.domain.templates.blueprint import OutputValue
from watcherlite.engine.stacks import resolution
from watcherlite.engine.stacks.queries import StackView
from watcherlite.engine.stacks.requests import definition_merge
from watcherlite.engine.stacks.requests.preview import PlannedResource
from watcherlite.states import stack as states

_ADMINISTRATORS = frozenset({'admin', 'administrator'})


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
        'description': stack.description,
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
    if request.caller.roles & _ADMINISTRATORS:
        shown['project'] = stack.tenant
    return shown


def represent(
    request: Request, found: StackView, lock_owner: str | None, with_outputs: bool
) -> dict[str, Any]:
    """Return a stack with details.

    :param lock_owner: uuid of the stack whose lock covers it, or None
    :param with_outputs: whether to include its outputs
    """
    stack = found.stack
    owner = found.owner
    shown = {
        **listed(request, stack, None if owner is None else owner.uuid),
        'parameters': dict(found.parameters),
        'template_description': stack.description,
        'capabilities': [],
        'notification_topics': [],
        'disable_rollback': stack.disable_rollback,
        'timeout_mins': stack.timeout // 60,
        'stack_base_status': stack.base.name,
        'lock_level': stack.level,
        'lock_owner': lock_owner,
    }
    if with_outputs:
        shown['outputs'] = [show_output(request, value) for value in found.outputs]
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
    """Return the preview of a stack.

    Its id is not that of the stack that will be created.

    :param parameters: the values as texts; hidden ones are masked
    """
    return {
        'id': new.uuid,
        'links': [links.stack_link(request, new)],
        'stack_name': new.name,
        'description': new.description,
        'template_description': new.description,
        'parameters': dict(parameters),
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


def show_changes(found: Mapping[str, Sequence[PlannedResource]]) -> dict[str, Any]:
    """Return the preview of an update: kind of change -> resources."""
    return {
        kind: [_show_planned(one) for one in planned] for kind, planned in found.items()
    }


def _tree(one: PlannedResource) -> Any:
    """Return a resource; for a nested stack, the list of its resources."""
    if one.nested is None:
        return _show_planned(one)
    return [_tree(inner) for inner in one.nested]


def _show_planned(one: PlannedResource) -> dict[str, Any]:
    identity = {
        'stack_name': one.stack.name,
        'stack_id': one.stack.uuid,
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


def index(request: Request) -> Response:
    """Return a page of stacks."""
    return pages.list_stacks(
        request,
        lambda rows: [listed(request, row.stack, row.owner_uuid) for row in rows],
    )


def detail(request: Request) -> Response:
    """Return a page of stacks with details, but without outputs."""
    return pages.list_stacks(
        request,
        lambda rows: [_shown(request, row.stack, with_outputs=False) for row in rows],
    )


def index_rules(request: Request) -> list[str]:
    """Return the rules of a list: another one for all projects."""
    if request.query.get('global_tenant'):
        return ['stacks:index', 'stacks:global_index']
    return ['stacks:index']


def create(request: Request) -> Response:
    """Start to create a stack, or to adopt the resources of an abandoned one.

    :raises StackExists: the name is in use
    """
    new = stack_requests.new_stack(request, request.body['stack_name'])
    stack = request.services.stacks.create(
        new, request.path['tenant'], request.caller.user_name, request.context
    )
    return _created(request, stack)


def _restored(request: Request, created: Mapping[str, str]) -> Response:
    """Return the created stack."""
    tenant = request.path['tenant']
    return _created(
        request, request.services.store.find_stack(created['stack'], tenant, True)
    )


def _created(request: Request, stack: Stack) -> Response:
    link = links.stack_link(request, stack)
    return Response(
        {'stack': {'id': stack.uuid, 'links': [link]}}, 201, {'Location': link['href']}
    )


def preview(request: Request) -> Response:
    """Return the preview of `create`."""
    new = stack_requests.new_stack(request, request.body['stack_name'])
    stack, planned = request.services.stacks.preview(
        new, request.path['tenant'], request.caller.user_name
    )
    made = resolution.build_blueprint(stack, definition_merge.build_definition(new))
    shown = show_preview(request, stack, made.shown_parameters(), planned)
    return Response({'stack': shown})


def show(request: Request) -> Response:
    """Return a stack, also a deleted one; StackNotFound."""
    stack = stack_requests.get_stack(request, deleted=True)
    with_outputs = bool(request.query.get('resolve_outputs', True))
    return Response({'stack': _shown(request, stack, with_outputs)})


def _shown(request: Request, stack: Stack, with_outputs: bool) -> dict[str, Any]:
    reading = request.services.reading
    return represent(
        request,
        reading.show(stack, with_outputs),
        reading.lock_owner(stack),
        with_outputs,
    )


def update(request: Request) -> Response:
    """Start to update a stack to a template."""
    return _updated(request, existing=False)


def update_existing(request: Request) -> Response:
    """Start an update that keeps all values that are not given."""
    return _updated(request, existing=True)


def existing_rules(request: Request) -> list[str]:
    """Return the rules of an update with existing values; fewer if none changes."""
    same = stack_requests.changes_nothing(request.body or {})
    return ['stacks:update_no_change' if same else 'stacks:update_patch']


def _updated(request: Request, existing: bool) -> Response:
    stack, new = _change(request, existing)
    request.services.stacks.update(stack.uuid, stack.tenant, new, request.context)
    return _ACCEPTED


def preview_update(request: Request) -> Response:
    """Return the preview of an update."""
    return _previewed(request, existing=False)


def preview_update_existing(request: Request) -> Response:
    """Return the preview of `update_existing`."""
    return _previewed(request, existing=True)


def _previewed(request: Request, existing: bool) -> Response:
    stack, new = _change(request, existing)
    nested = bool(request.query.get('show_nested', False))
    changes = request.services.stacks.preview_update(
        stack.uuid, stack.tenant, new, nested
    )
    return Response({'resource_changes': show_changes(changes)})


def _change(request: Request, existing: bool) -> tuple[Stack, StackRequest]:
    stack = stack_requests.get_stack(request)
    return stack, stack_requests.new_stack(request, stack.name, existing)


def delete(request: Request) -> Response:
    """Start to delete a stack; StackNotFound if it is deleted."""
    stack = stack_requests.get_stack(request)
    request.services.stacks.delete(stack.uuid, stack.tenant, request.context)
    return Response(status=204)


def abandon(request: Request) -> Response:
    """Delete the record of a stack; return the data to adopt its resources."""
    stack = stack_requests.get_stack(request)
    return Response(request.services.stacks.abandon(stack.uuid, stack.tenant))


def export(request: Request) -> Response:
    """Return the data of `abandon`, and delete nothing."""
    return Response(request.services.reading.export(stack_requests.get_stack(request)))


_STACKS = '/v1/{tenant}/stacks'
_ONE = f'{_STACKS}/{{stack_name}}/{{stack_id}}'


_DONE = {
    'suspend': states.SUSPEND,
    'resume': states.RESUME,
    'check': states.CHECK,
    'lock': states.LOCK,
    'unlock': states.UNLOCK,
}
#: Cancel action -> whether it rolls back.
_CANCELLED = {'cancel_update': True, 'cancel_without_rollback': False}


def act(request: Request) -> Response:
    """Start the action that the body names.

    :raises NotSupported: the state of the stack does not allow it
    :raises Conflict: it is not possible at present
    """
    stack = stack_requests.get_stack(request)
    ((name, arguments),) = request.body.items()
    operations = request.services.stacks
    if name in _CANCELLED:
        operations.cancel(stack.uuid, stack.tenant, _CANCELLED[name], request.context)
    else:
        level = (arguments or {}).get('level') if name == 'lock' else None
        operations.act(stack.uuid, stack.tenant, _DONE[name], level, request.context)
    return NULL


def action_rules(request: Request) -> list[str]:
    """Return the rules of the action that the body names."""
    return ['actions:action', *(f'actions:{name}' for name in request.body)]


def refuse(request: Request) -> NoReturn:
    """Refuse an operation on snapshots, which do not exist.

    :raises StackNotFound: no such stack
    :raises NotFound: otherwise
    """
    stack = stack_requests.get_stack(request)
    raise exceptions.NotFound(
        f'Stack {stack.name} has no snapshots: this service makes none. Export the '
        'stack to keep what it is made of.'
    )


def _refused(rule: str, summary: str) -> Operation:
    return Operation(
        refuse, rule, summary, query=fragments.ANY_ARGUMENTS, responses={404: None}
    )


_SNAPSHOTS = '/v1/{tenant}/stacks/{stack_name}/{stack_id}/snapshots'
_SNAPSHOT = f'{_SNAPSHOTS}/{{snapshot_id}}'


def validate(request: Request) -> Response:
    """Return the description and the parameters of the template in the body.

    :raises StackValidationFailed: it is invalid; with all problems
    """
    new = stack_requests.new_stack(request, 'template-validation')
    nested = request.query.get('show_nested', False)
    return Response(request.services.stacks.validate(new, nested))


ROUTES: Routes = {
    _STACKS: {
        'GET': Operation(
            index,
            'stacks:index',
            'List stacks.',
            query=schemas.INDEX,
            responses={200: schemas.COLLECTION},
            rules=index_rules,
        ),
        'POST': Operation(
            create,
            'stacks:create',
            'Create a stack, or adopt an abandoned one.',
            query=fragments.ANY_ARGUMENTS,
            restore=_restored,
            body=schemas.NEW,
            responses={201: schemas.CREATED, 409: None},
        ),
    },
    f'{_STACKS}/detail': {
        'GET': Operation(
            detail,
            'stacks:detail',
            'List stacks with details.',
            query=schemas.INDEX,
            responses={200: schemas.DETAILED_COLLECTION},
        )
    },
    f'{_STACKS}/preview': {
        'POST': Operation(
            preview,
            'stacks:preview',
            'Show the stack that would be created.',
            query=fragments.ANY_ARGUMENTS,
            body=schemas.NEW,
            responses={200: schemas.PREVIEW},
        )
    },
    _ONE: {
        'GET': Operation(
            show,
            'stacks:show',
            'Show a stack.',
            query=schemas.SHOW,
            responses={200: schemas.STACK},
        ),
        'PUT': Operation(
            update,
            'stacks:update',
            'Update a stack.',
            query=fragments.ANY_ARGUMENTS,
            body=schemas.CHANGE,
            responses={202: None, 409: None},
        ),
        'PATCH': Operation(
            update_existing,
            'stacks:update_patch',
            'Update a stack; omitted values are kept.',
            query=fragments.ANY_ARGUMENTS,
            body=schemas.CHANGE,
            responses={202: None, 409: None},
            needs_body=False,
            rules=existing_rules,
            alternatives=('stacks:update_patch', 'stacks:update_no_change'),
        ),
        'DELETE': Operation(
            delete,
            'stacks:delete',
            'Delete a stack.',
            query=fragments.ANY_ARGUMENTS,
            responses={204: None, 409: None},
        ),
    },
    f'{_ONE}/preview': {
        'PUT': Operation(
            preview_update,
            'stacks:preview_update',
            'Preview an update.',
            query=schemas.PREVIEW_UPDATE,
            body=schemas.CHANGE,
            responses={200: schemas.PREVIEWED_CHANGES},
        ),
        'PATCH': Operation(
            preview_update_existing,
            'stacks:preview_update_patch',
            'Preview an update that keeps omitted values.',
            query=schemas.PREVIEW_UPDATE,
            body=schemas.CHANGE,
            responses={200: schemas.PREVIEWED_CHANGES},
            needs_body=False,
        ),
    },
    f'{_ONE}/abandon': {
        'DELETE': Operation(
            abandon,
            'stacks:abandon',
            'Abandon a stack: delete it and keep its resources.',
            query=fragments.ANY_ARGUMENTS,
            responses={200: schemas.DOCUMENT, 409: None},
        )
    },
    f'{_ONE}/export': {
        'GET': Operation(
            export,
            'stacks:export',
            'Export the definition of a stack and its resources.',
            query=fragments.ANY_ARGUMENTS,
            responses={200: schemas.DOCUMENT},
        )
    },
    '/v1/{tenant}/stacks/{stack_name}/{stack_id}/actions': {
        'POST': Operation(
            act,
            'actions:action',
            'Suspend, resume, check, lock or unlock a stack, or cancel its operation.',
            query=fragments.ANY_ARGUMENTS,
            restore=lambda request, created: NULL,
            body=schemas.ACTION,
            responses={200: fragments.NULL, 409: None},
            rules=action_rules,
        )
    },
    _SNAPSHOTS: {
        'GET': _refused('stacks:list_snapshots', 'List snapshots. Not supported.'),
        'POST': _refused('stacks:snapshot', 'Create a snapshot. Not supported.'),
    },
    _SNAPSHOT: {
        'GET': _refused('stacks:show_snapshot', 'Show a snapshot. Not supported.'),
        'DELETE': _refused(
            'stacks:delete_snapshot', 'Delete a snapshot. Not supported.'
        ),
    },
    f'{_SNAPSHOT}/restore': {
        'POST': _refused(
            'stacks:restore_snapshot', 'Restore a snapshot. Not supported.'
        )
    },
    '/v1/{tenant}/validate': {
        'POST': Operation(
            validate,
            'stacks:validate_template',
            'Validate a template and show its parameters.',
            query=schemas.VALIDATE,
            body=schemas.TEMPLATE,
            responses={200: schemas.VALIDATED},
        )
    },
}
