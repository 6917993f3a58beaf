"""JSON schemas of events."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned
from watcherlite.api.orchestration.schemas import fragments

_LISTED: Mapping[str, Schema] = {
    'id': fragments.TEXT,
    'event_time': fragments.TIME,
    'resource_name': {
        'type': 'string',
        'description': 'The name of the stack for events of the stack itself.',
    },
    'logical_resource_id': fragments.TEXT,
    'physical_resource_id': fragments.TEXT_OR_NULL,
    'resource_status': fragments.TEXT,
    'resource_status_reason': fragments.TEXT,
    'links': fragments.LINKS,
    'initiator': {
        'type': ['object', 'null'],
        'description': 'The user who requested the change: user_id, user_name, '
        'project_id, roles, request_id; null without a request. Not in Heat.',
    },
}
_SHOWN: Mapping[str, Schema] = {
    **_LISTED,
    'resource_type': fragments.TEXT,
    'resource_properties': fragments.OBJECT,
}

INDEX: Versioned = fragments.arguments(
    {
        'limit': {'type': 'integer', 'minimum': 0},
        'marker': {
            'type': 'string',
            'description': 'The id of the event before the page.',
        },
        'sort_keys': {
            **fragments.SEVERAL,
            'description': 'Ignored: events are in chronological order.',
        },
        'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
        'nested_depth': {
            'type': 'integer',
            'minimum': 0,
            'description': 'The maximum depth of nested stacks that are included.',
        },
        'resource_action': fragments.SEVERAL,
        'resource_status': fragments.SEVERAL,
        'resource_name': fragments.SEVERAL,
        'resource_type': fragments.SEVERAL,
    }
)
COLLECTION: Versioned = fragments.listed('events', fragments.closed(_LISTED))
EVENT: Versioned = fragments.under('event', fragments.closed(_SHOWN))
