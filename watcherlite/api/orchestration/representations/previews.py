"""How that is shown which would be done."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api.operation import Request
from watcherlite.api.orchestration import links
from watcherlite.api.orchestration.representations import common
from watcherlite.conf import masking
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.previewing import Planned


def stack(
    request: Request,
    new: Stack,
    parameters: Mapping[str, str],
    planned: Sequence[Planned],
) -> dict[str, Any]:
    """Return a stack that would be created.

    Nothing has its id, which another one will have when it is created.

    :param parameters: as texts; hidden ones are masked
    """
    return {
        'id': new.uuid,
        'links': [links.of_stack(request, new)],
        'stack_name': new.name,
        'description': new.description,
        'template_description': new.description,
        'parameters': dict(parameters),
        'capabilities': [],
        'notification_topics': [],
        'creation_time': common.time(new.created_at),
        'updated_time': common.time(new.updated_at),
        'deletion_time': None,
        'disable_rollback': new.disable_rollback,
        'timeout_mins': new.timeout // 60,
        'stack_owner': new.user,
        'parent': None,
        'stack_user_project_id': None,
        'tags': list(new.tags) or None,
        'resources': [_tree(one) for one in planned],
    }


def changes(found: Mapping[str, Sequence[Planned]]) -> dict[str, Any]:
    """Return what an update would do: kind of change -> resources."""
    return {kind: [_planned(one) for one in planned] for kind, planned in found.items()}


def _tree(one: Planned) -> Any:
    """Return a resource; one that is a stack is the list of what that would have."""
    if one.nested is None:
        return _planned(one)
    return [_tree(inner) for inner in one.nested]


def _planned(one: Planned) -> dict[str, Any]:
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
        'creation_time': common.time(one.created_at),
        'updated_time': common.time(one.updated_at or one.created_at),
        'required_by': list(one.required_by),
        'properties': masking.mask_data(dict(one.properties)),
        'metadata': dict(one.metadata),
        'attributes': masking.mask_data(dict(one.attributes)),
    }
    if one.parent is not None:
        shown['parent_resource'] = one.parent
    return shown
