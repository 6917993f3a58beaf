"""JSON schemas of actions."""

from collections.abc import Mapping

from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Version, Versioned, unversioned
from watcherlite.states import action as states

#: The versions that introduced cluster_id, and our own members.
CLUSTER: Version = (1, 14)
OURS: Version = (1, 15)

#: A status of Senlin that is never set here.
_HOOKED = 'WAITING_LIFECYCLE_COMPLETION'
_EPOCH: Schema = {
    'type': ['number', 'null'],
    'description': 'Seconds since 1970, in UTC.',
}
_SHOWN: Mapping[str, Schema] = {
    'id': fragments.TEXT,
    'name': fragments.TEXT_OR_NULL,
    'action': fragments.TEXT,
    'target': fragments.TEXT_OR_NULL,
    'cause': {'type': 'string', 'enum': [states.RPC_REQUEST, states.DERIVED_ACTION]},
    'owner': fragments.TEXT_OR_NULL,
    'interval': fragments.INTEGER,
    'start_time': _EPOCH,
    'end_time': _EPOCH,
    'timeout': fragments.INTEGER,
    'status': {'type': 'string', 'enum': list(states.STATES)},
    'status_reason': fragments.TEXT,
    'inputs': fragments.OBJECT,
    'outputs': fragments.OBJECT,
    'depends_on': fragments.TEXTS,
    'depended_by': fragments.TEXTS,
    'created_at': fragments.TIME,
    'updated_at': fragments.TIME,
    'data': fragments.OBJECT,
    'user': fragments.TEXT_OR_NULL,
    'project': fragments.TEXT,
}
_WITH_CLUSTER: Mapping[str, Schema] = {'cluster_id': fragments.TEXT}
_OURS: Mapping[str, Schema] = {
    'control': {
        'type': ['string', 'null'],
        'description': 'The last signal that was sent to it.',
    },
    'not_before': {**fragments.TIME, 'description': 'The earliest start.'},
}
_OLD: Schema = closed(_SHOWN)
_CLUSTERED: Schema = closed({**_SHOWN, **_WITH_CLUSTER})
_LATEST: Schema = closed({**_SHOWN, **_WITH_CLUSTER, **_OURS})

_FILTERS: Mapping[str, Schema] = {
    **fragments.filters('name', 'target', 'action'),
    'status': fragments.one_of((*states.STATES, _HOOKED)),
}
INDEX: Versioned = {
    (1, 0): fragments.list_arguments(_FILTERS),
    CLUSTER: fragments.list_arguments({**_FILTERS, **fragments.filters('cluster_id')}),
}
COLLECTION: Versioned = {
    (1, 0): fragments.page('actions', _OLD),
    CLUSTER: fragments.page('actions', _CLUSTERED),
    OURS: fragments.page('actions', _LATEST),
}
ACTION: Versioned = {
    (1, 0): closed({'action': _OLD}),
    CLUSTER: closed({'action': _CLUSTERED}),
    OURS: closed({'action': _LATEST}),
}


def _signal(*statuses: str) -> Schema:
    asked: Schema = {'type': 'string', 'enum': list(statuses)}
    return fragments.wrapped('action', {'status': asked}, 'status')


SIGNAL: Versioned = {
    (1, 0): _signal(states.CANCELLED),
    OURS: _signal(states.CANCELLED, states.SUSPENDED, states.RUNNING),
}
SIGNAL_QUERY: Versioned = unversioned(
    fragments.arguments(
        {
            'force': {
                'type': 'boolean',
                'description': 'Whether to cancel it without waiting for its worker.',
            }
        }
    )
)
NEW: Versioned = unversioned(
    fragments.wrapped(
        'action',
        {
            'action': {
                **fragments.REFERENCE,
                'description': 'An action type: CLUSTER_SCALE_OUT, command, ...',
            },
            'target': {
                **fragments.REFERENCE,
                'description': 'A cluster or node: uuid, name or short id.',
            },
            'name': fragments.TEXT_OR_NULL,
            'inputs': fragments.OBJECT_OR_NULL,
            'interval': {
                **fragments.NUMBER_OR_NULL,
                'description': 'Seconds between the starts of two runs; 0: one run.',
            },
            'not_before': {
                'type': ['string', 'null'],
                'description': 'The earliest start, in ISO 8601; in UTC unless it has '
                'an offset.',
            },
            'timeout': fragments.NUMBER_OR_NULL,
        },
        'action',
        'target',
    )
)
