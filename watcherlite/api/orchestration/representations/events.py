"""How events are shown: what happened to a stack and to its resources."""

from typing import Any

from watcherlite.api.operation import Request
from watcherlite.api.orchestration import links
from watcherlite.api.orchestration.representations import common
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.reading import ToldEvent


def represent(
    request: Request, told: ToldEvent, root: Stack | None = None
) -> dict[str, Any]:
    """Return an event as it stands in lists.

    :param root: the outermost stack around it, where that is asked for
    """
    event, stack = told.stored.event, told.stack
    name = str(told.resource.get('name') or '')
    shown: dict[str, Any] = {
        'id': event.uuid,
        'event_time': common.time(event.occurred_at),
        'resource_name': name,
        'logical_resource_id': name,
        'physical_resource_id': told.resource.get('physical_id'),
        'resource_status': event.new_status or '',
        'resource_status_reason': event.message or '',
        'links': [
            links.of_resource(request, stack, name, 'events', event.uuid),
            links.of_resource(request, stack, name, rel='resource'),
            links.of_stack(request, stack, 'stack'),
        ],
    }
    if root is not None:
        shown['links'].append(links.of_stack(request, root, 'root_stack'))
    return shown


def detailed(request: Request, told: ToldEvent) -> dict[str, Any]:
    """Return an event with the type of what it is about."""
    return {
        **represent(request, told),
        'resource_type': str(told.resource.get('type') or ''),
        # As they were then, they are not kept.
        'resource_properties': {},
    }
