"""JSON schemas of events."""

from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.engine.clusters.action_types import DEFINITIONS

#: Name of a level -> its number in responses.
LEVELS = {
    'CRITICAL': '50',
    'ERROR': '40',
    'WARN': '30',
    'WARNING': '30',
    'INFO': '20',
    'DEBUG': '10',
}
CLUSTER, NODE = 'CLUSTER', 'NODE'

_EVENT: Schema = closed(
    {
        'id': fragments.TEXT,
        'timestamp': fragments.TIME,
        'oid': fragments.TEXT,
        'oname': fragments.TEXT,
        'otype': {'type': 'string', 'enum': [CLUSTER, NODE]},
        'cluster_id': fragments.TEXT_OR_NULL,
        'level': {'type': 'string', 'enum': sorted(set(LEVELS.values()))},
        'user': fragments.TEXT_OR_NULL,
        'project': fragments.TEXT,
        'action': fragments.TEXT_OR_NULL,
        'status': {
            'type': 'string',
            'description': 'The phase of the action: start, end or error.',
        },
        'status_reason': fragments.TEXT,
        'meta_data': fragments.OBJECT,
    }
)
INDEX: Versioned = unversioned(
    fragments.list_arguments(
        {
            **fragments.filters('oid', 'oname'),
            'otype': fragments.SEVERAL,
            'cluster_id': {
                **fragments.SEVERAL,
                'description': 'Of these clusters and of their nodes: uuid, name or '
                'short id.',
            },
            'action': fragments.one_of(sorted(DEFINITIONS)),
            'level': fragments.one_of(tuple(LEVELS)),
        }
    )
)
COLLECTION: Versioned = unversioned(fragments.page('events', _EVENT))
EVENT: Versioned = fragments.under('event', _EVENT)
