"""JSON schemas of notifications."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, unversioned

QUERY = unversioned(
    {
        'type': 'object',
        'properties': {
            'before': {
                'type': 'integer',
                'minimum': 1,
                'description': 'Only those of events with a lower sequence number.',
            },
            'limit': {
                'type': 'integer',
                'minimum': 1,
                'description': 'The maximum number of events in the page; some have '
                'no notification.',
            },
        },
        'additionalProperties': False,
    }
)

_SHOWN: Mapping[str, Schema] = {
    'message_id': fragments.UUID,
    'publisher_id': fragments.TEXT,
    'event_type': fragments.TEXT,
    'priority': fragments.TEXT,
    'timestamp': fragments.TEXT,
    'payload': fragments.OBJECT,
}

COLLECTION = unversioned(
    fragments.collection('notifications', fragments.closed(_SHOWN))
)
