"""JSON schemas of events."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned
from watcherlite.api.orchestration.schemas import shapes

_LISTED: Mapping[str, Schema] = {
    'id': shapes.TEXT,
    'event_time': shapes.TIME,
    'resource_name': {
        'type': 'string',
        'description': 'Of events of the stack itself: its name.',
    },
    'logical_resource_id': shapes.TEXT,
    'physical_resource_id': shapes.TEXT_OR_NULL,
    'resource_status': shapes.TEXT,
    'resource_status_reason': shapes.TEXT,
    'links': shapes.LINKS,
}
_SHOWN: Mapping[str, Schema] = {
    **_LISTED,
    'resource_type': shapes.TEXT,
    'resource_properties': shapes.OBJECT,
}

INDEX: Versioned = shapes.arguments(
    {
        'limit': {'type': 'integer', 'minimum': 0},
        'marker': {
            'type': 'string',
            'description': 'The page begins after the event of this id.',
        },
        'sort_keys': {
            **shapes.SEVERAL,
            'description': 'Passed over: events are in the order in which they '
            'happened.',
        },
        'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
        'nested_depth': {
            'type': 'integer',
            'minimum': 0,
            'description': 'How many levels of nested stacks are looked into.',
        },
        'resource_action': shapes.SEVERAL,
        'resource_status': shapes.SEVERAL,
        'resource_name': shapes.SEVERAL,
        'resource_type': shapes.SEVERAL,
    }
)
COLLECTION: Versioned = shapes.listed('events', shapes.whole(_LISTED))
EVENT: Versioned = shapes.under('event', shapes.whole(_SHOWN))
