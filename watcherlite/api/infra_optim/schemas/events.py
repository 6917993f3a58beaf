"""JSON schemas of events."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, always
from watcherlite.domain import events

QUERY = always(
    {
        'type': 'object',
        'properties': {
            'after': {
                'type': 'integer',
                'minimum': 0,
                'description': 'Only events with a higher sequence number.',
            },
            'limit': {
                'type': 'integer',
                'minimum': 1,
                'description': 'Most events of a page; a stream has no end of pages.',
            },
        },
        'additionalProperties': False,
    }
)

_SHOWN: Mapping[str, Schema] = {
    'sequence': {'type': 'integer', 'description': 'It grows from one to the next.'},
    'uuid': {**shapes.UUID, 'description': 'Also the id of its notification.'},
    'occurred_at': shapes.TIME,
    'subject': {
        'type': 'string',
        'enum': [events.ACTION, events.ACTION_PLAN, events.AUDIT],
    },
    'kind': {'type': 'string', 'enum': list(events.KINDS)},
    'action_uuid': shapes.UUID_OR_NULL,
    'action_name': shapes.TEXT_OR_NULL,
    'action_type': shapes.TEXT_OR_NULL,
    'old_state': shapes.TEXT_OR_NULL,
    'new_state': shapes.TEXT_OR_NULL,
    'suspended': {**shapes.BOOLEAN, 'description': 'Of an action: after the change.'},
    'message': shapes.TEXT_OR_NULL,
    'detail': {'type': ['object', 'null']},
}

COLLECTION = always(shapes.collection('events', shapes.whole(_SHOWN)))
