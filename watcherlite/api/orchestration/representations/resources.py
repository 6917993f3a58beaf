"""How resources are shown."""

from collections.abc import Mapping
from typing import Any

from watcherlite.api.operation import Request
from watcherlite.api.orchestration import links
from watcherlite.api.orchestration.representations import common
from watcherlite.conf import masking
from watcherlite.engine.stacks.reading import Seen


def represent(request: Request, found: Seen) -> dict[str, Any]:
    """Return a resource as it stands in lists."""
    row, stack = found.row, found.stack
    shown: dict[str, Any] = {
        'resource_name': row.name,
        'logical_resource_id': row.name,
        'physical_resource_id': row.physical_id or '',
        'resource_type': row.type,
        'resource_status': row.state.name,
        'resource_status_reason': row.status_reason,
        'creation_time': common.time(row.created_at),
        'updated_time': common.time(row.updated_at or row.created_at),
        'required_by': list(found.required_by),
        'links': [
            links.of_resource(request, stack, row.name),
            links.of_stack(request, stack, 'stack'),
        ],
    }
    if found.nested is not None:
        shown['links'].append(links.of_stack(request, found.nested, 'nested'))
    if found.parent is not None:
        shown['parent_resource'] = found.parent
    return shown


def detailed(
    request: Request, found: Seen, attributes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a resource with its description and its attributes.

    Credentials among these are masked.
    """
    return {
        **represent(request, found),
        'description': found.description,
        'attributes': masking.mask_data(dict(attributes)),
        'protected': found.row.protected,
    }
