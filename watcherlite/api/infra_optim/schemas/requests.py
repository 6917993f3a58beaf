"""JSON schemas of recorded requests."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, unversioned

_TIME: Schema = {'type': 'string', 'description': 'A time in UTC, or with an offset.'}

QUERY = unversioned(
    {
        'type': 'object',
        'properties': {
            'user': {'type': 'string', 'description': 'Id or name of a user.'},
            'project_id': fragments.TEXT,
            'object': {
                **fragments.UUID,
                'description': 'Uuid of a created, changed or deleted object.',
            },
            'since': _TIME,
            'until': _TIME,
            'limit': {'type': 'integer', 'minimum': 1},
            'marker': {
                'type': 'string',
                'description': 'Only from the link to the next page.',
            },
        },
        'additionalProperties': False,
    }
)

_OBJECT: Schema = {
    **fragments.closed(
        {
            'type': fragments.TEXT,
            'uuid': fragments.UUID,
            'name': fragments.TEXT_OR_NULL,
            'created': fragments.BOOLEAN,
        }
    ),
    'type': ['object', 'null'],
}
_SHOWN: Mapping[str, Schema] = {
    'request_id': fragments.TEXT,
    'occurred_at': fragments.TIME,
    'user_id': fragments.TEXT_OR_NULL,
    'user_name': fragments.TEXT_OR_NULL,
    'project_id': fragments.TEXT_OR_NULL,
    'roles': {'type': 'array', 'items': fragments.TEXT},
    'method': fragments.TEXT,
    'path': fragments.TEXT,
    'changes': {'description': 'A summary of the body; null without one.'},
    'object': _OBJECT,
}

COLLECTION = unversioned(fragments.collection('requests', fragments.closed(_SHOWN)))
