"""JSON schemas of actions."""

from collections.abc import Mapping

from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Version, Versioned, always
from watcherlite.api.shapes import whole
from watcherlite.states import action as states

#: The version that tells of clusters, and the one that tells of what is ours.
CLUSTER: Version = (1, 14)
OURS: Version = (1, 15)

#: A status that clients know; nothing here gets it.
_HOOKED = 'WAITING_LIFECYCLE_COMPLETION'
_EPOCH: Schema = {
    'type': ['number', 'null'],
    'description': 'Seconds since 1970, in UTC.',
}
_SHOWN: Mapping[str, Schema] = {
    'id': shapes.TEXT,
    'name': shapes.TEXT_OR_NULL,
    'action': shapes.TEXT,
    'target': shapes.TEXT_OR_NULL,
    'cause': {'type': 'string', 'enum': [states.RPC_REQUEST, states.DERIVED_ACTION]},
    'owner': shapes.TEXT_OR_NULL,
    'interval': shapes.INTEGER,
    'start_time': _EPOCH,
    'end_time': _EPOCH,
    'timeout': shapes.INTEGER,
    'status': {'type': 'string', 'enum': list(states.STATES)},
    'status_reason': shapes.TEXT,
    'inputs': shapes.OBJECT,
    'outputs': shapes.OBJECT,
    'depends_on': shapes.TEXTS,
    'depended_by': shapes.TEXTS,
    'created_at': shapes.TIME,
    'updated_at': shapes.TIME,
    'data': shapes.OBJECT,
    'user': shapes.TEXT_OR_NULL,
    'project': shapes.TEXT,
}
_WITH_CLUSTER: Mapping[str, Schema] = {'cluster_id': shapes.TEXT}
_OURS: Mapping[str, Schema] = {
    'control': {
        'type': ['string', 'null'],
        'description': 'The last signal that was sent to it.',
    },
    'not_before': {**shapes.TIME, 'description': 'It is not begun earlier.'},
}
_OLD: Schema = whole(_SHOWN)
_CLUSTERED: Schema = whole({**_SHOWN, **_WITH_CLUSTER})
_LATEST: Schema = whole({**_SHOWN, **_WITH_CLUSTER, **_OURS})

_FILTERS: Mapping[str, Schema] = {
    **shapes.filters('name', 'target', 'action'),
    'status': shapes.chosen((*states.STATES, _HOOKED)),
}
INDEX: Versioned = {
    (1, 0): shapes.index(_FILTERS),
    CLUSTER: shapes.index({**_FILTERS, **shapes.filters('cluster_id')}),
}
COLLECTION: Versioned = {
    (1, 0): shapes.page('actions', _OLD),
    CLUSTER: shapes.page('actions', _CLUSTERED),
    OURS: shapes.page('actions', _LATEST),
}
ACTION: Versioned = {
    (1, 0): whole({'action': _OLD}),
    CLUSTER: whole({'action': _CLUSTERED}),
    OURS: whole({'action': _LATEST}),
}


def _signal(*statuses: str) -> Schema:
    asked: Schema = {'type': 'string', 'enum': list(statuses)}
    return shapes.brought('action', {'status': asked}, 'status')


SIGNAL: Versioned = {
    (1, 0): _signal(states.CANCELLED),
    OURS: _signal(states.CANCELLED, states.SUSPENDED, states.RUNNING),
}
SIGNAL_QUERY: Versioned = always(
    shapes.arguments(
        {
            'force': {
                'type': 'boolean',
                'description': 'Whether it ends now, whoever works on it.',
            }
        }
    )
)
NEW: Versioned = always(
    shapes.brought(
        'action',
        {
            'action': {
                **shapes.REFERENCE,
                'description': 'An action type: CLUSTER_SCALE_OUT, command, ...',
            },
            'target': {
                **shapes.REFERENCE,
                'description': 'A cluster or node: uuid, name or short id.',
            },
            'name': shapes.TEXT_OR_NULL,
            'inputs': shapes.OBJECT_OR_NULL,
            'interval': {
                **shapes.NUMBER_OR_NULL,
                'description': 'Seconds between the starts of two runs; 0: one run.',
            },
            'not_before': {
                'type': ['string', 'null'],
                'description': 'A time in ISO 8601 before which it is not begun; in '
                'UTC unless it says otherwise.',
            },
            'timeout': shapes.NUMBER_OR_NULL,
        },
        *('action', 'target'),
    )
)
