"""How stacks are shown."""

from typing import Any

from watcherlite.api.operation import Request
from watcherlite.api.orchestration import links
from watcherlite.api.orchestration.representations import common
from watcherlite.domain.stacks import Stack
from watcherlite.domain.templates.blueprint import OutputValue
from watcherlite.engine.stacks.reading import Shown
from watcherlite.states import stack as states

_ADMINISTRATORS = frozenset({'admin', 'administrator'})


def listed(request: Request, stack: Stack, owner_uuid: str | None) -> dict[str, Any]:
    """Return a stack as it stands in lists.

    :param owner_uuid: of the stack that it is a resource of
    """
    # What belongs to its creation is no update
    new = stack.action in (states.INIT, states.CREATE, states.ADOPT)
    shown: dict[str, Any] = {
        'id': stack.uuid,
        'links': [links.of_stack(request, stack)],
        'stack_name': stack.name,
        'description': stack.description,
        'stack_status': stack.state.name,
        'stack_status_reason': stack.status_reason,
        'creation_time': common.time(stack.created_at),
        'updated_time': None if new else common.time(stack.updated_at),
        'deletion_time': common.time(stack.deleted_at),
        'stack_owner': stack.user,
        'parent': owner_uuid,
        # There are no users that stacks make
        'stack_user_project_id': None,
        'tags': list(stack.tags) or None,
    }
    if request.caller.roles & _ADMINISTRATORS:
        shown['project'] = stack.tenant
    return shown


def represent(
    request: Request, found: Shown, lock_owner: str | None, with_outputs: bool
) -> dict[str, Any]:
    """Return a stack with all that is told of it.

    :param lock_owner: uuid of the stack whose lock it is under, or None
    :param with_outputs: whether its outputs are told, too
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
        'lock_level': stack.level,
        'lock_owner': lock_owner,
    }
    if with_outputs:
        shown['outputs'] = [output(value) for value in found.outputs]
    return shown


def output(value: OutputValue) -> dict[str, Any]:
    """Return an output with its value, or with why it has none."""
    shown: dict[str, Any] = {
        'output_key': value.key,
        'description': value.description,
        'output_value': value.value,
    }
    if value.error is not None:
        shown['output_error'] = value.error
    return shown
