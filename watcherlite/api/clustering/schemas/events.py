"""JSON schemas of events."""

from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.shapes import whole

#: As clients name them, and as they read them.
LEVELS = {
    'CRITICAL': '50',
    'ERROR': '40',
    'WARN': '30',
    'WARNING': '30',
    'INFO': '20',
    'DEBUG': '10',
}
CLUSTER, NODE = 'CLUSTER', 'NODE'

_EVENT: Schema = whole(
    {
        'id': shapes.TEXT,
        'timestamp': shapes.TIME,
        'oid': shapes.TEXT,
        'oname': shapes.TEXT,
        'otype': {'type': 'string', 'enum': [CLUSTER, NODE]},
        'cluster_id': shapes.TEXT_OR_NULL,
        'level': {'type': 'string', 'enum': sorted(set(LEVELS.values()))},
        'user': shapes.TEXT_OR_NULL,
        'project': shapes.TEXT,
        'action': shapes.TEXT_OR_NULL,
        'status': {
            'type': 'string',
            'description': 'How far the action was: start, end or error.',
        },
        'status_reason': shapes.TEXT,
        'meta_data': shapes.OBJECT,
    }
)
INDEX: Versioned = always(
    shapes.index(
        {
            **shapes.filters('oid', 'oname'),
            'otype': shapes.SEVERAL,
            'cluster_id': {
                **shapes.SEVERAL,
                'description': 'Of these clusters and of their nodes: uuid, name or '
                'short id.',
            },
            'action': {
                **shapes.SEVERAL,
                'description': 'Types of actions: CLUSTER_CREATE, ...',
            },
            'level': shapes.chosen(tuple(LEVELS)),
        }
    )
)
COLLECTION: Versioned = always(shapes.page('events', _EVENT))
EVENT: Versioned = shapes.under('event', _EVENT)
