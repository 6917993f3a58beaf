"""JSON schemas of receivers and their webhooks."""

from collections.abc import Mapping

from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.domain import bearer_tokens

_RECEIVER: Schema = closed(
    {
        'id': fragments.TEXT,
        'name': fragments.TEXT,
        'type': fragments.TEXT,
        **fragments.OWNED,
        'cluster_id': fragments.TEXT_OR_NULL,
        'action': fragments.TEXT_OR_NULL,
        'actor': fragments.OBJECT,
        'params': fragments.OBJECT,
        'channel': {
            'type': 'object',
            'description': 'alarm_url: a POST to it, without other credentials, '
            'triggers the receiver. Its argument `token` is shown in the response '
            'that issues it and is *** in all others. null: it has no token, '
            'see `renew_token`.',
        },
        'created_at': fragments.TIME,
        'updated_at': fragments.TIME,
    }
)
_FILTERS: Mapping[str, Schema] = {
    **fragments.filters('name', 'type', 'action'),
    'cluster_id': fragments.SEVERAL,
}
INDEX: Versioned = {
    (1, 0): fragments.list_arguments(_FILTERS),
    (1, 4): fragments.list_arguments({**_FILTERS, **fragments.filters('user')}),
}
COLLECTION: Versioned = unversioned(fragments.page('receivers', _RECEIVER))
RECEIVER: Versioned = fragments.under('receiver', _RECEIVER)
_TYPES = ('webhook', 'message')
NEW: Versioned = unversioned(
    fragments.wrapped(
        'receiver',
        {
            'name': fragments.NAME,
            'type': {'type': 'string', 'enum': list(_TYPES)},
            'cluster_id': fragments.TEXT_OR_NULL,
            'action': fragments.TEXT_OR_NULL,
            'actor': fragments.OBJECT_OR_NULL,
            'params': fragments.OBJECT_OR_NULL,
        },
        'name',
        'type',
    )
)
_CHANGES: Mapping[str, Schema] = {
    'name': fragments.NAME_OR_NULL,
    'action': fragments.TEXT_OR_NULL,
    'params': fragments.OBJECT_OR_NULL,
}
_RENEW_TOKEN: Schema = {
    **fragments.FLAG_OR_NULL,
    'description': 'Whether to issue a new token, which invalidates the previous one.',
}
CHANGED: Versioned = {
    (1, 0): fragments.wrapped('receiver', _CHANGES),
    (1, 15): fragments.wrapped('receiver', {**_CHANGES, 'renew_token': _RENEW_TOKEN}),
}
#: The versions of webhooks: inputs are URL arguments in 1 and the body in 2.
TRIGGER: Versioned = unversioned(
    {
        'type': 'object',
        'properties': {
            'V': {'type': 'string', 'enum': ['1', '2']},
            bearer_tokens.ARGUMENT: {
                'type': 'string',
                'description': 'The token that was issued with the address.',
            },
            **fragments.WAIT,
        },
        'required': ['V'],
    }
)
INPUTS: Versioned = unversioned(
    {
        'title': 'inputs',
        'type': ['object', 'null'],
        'description': 'Inputs of the action, besides those of the receiver.',
    }
)
