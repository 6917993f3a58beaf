"""JSON schemas of receivers and their webhooks."""

from collections.abc import Mapping

from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.shapes import whole

_RECEIVER: Schema = whole(
    {
        'id': shapes.TEXT,
        'name': shapes.TEXT,
        'type': shapes.TEXT,
        **shapes.OWNED,
        'cluster_id': shapes.TEXT_OR_NULL,
        'action': shapes.TEXT_OR_NULL,
        'actor': shapes.OBJECT,
        'params': shapes.OBJECT,
        'channel': {
            'type': 'object',
            'description': 'alarm_url: what is asked with POST, without a token, to '
            'trigger it. Whoever knows it can.',
        },
        'created_at': shapes.TIME,
        'updated_at': shapes.TIME,
    }
)
_FILTERS: Mapping[str, Schema] = {
    **shapes.filters('name', 'type', 'action'),
    'cluster_id': shapes.SEVERAL,
}
INDEX: Versioned = {
    (1, 0): shapes.index(_FILTERS),
    (1, 4): shapes.index({**_FILTERS, **shapes.filters('user')}),
}
COLLECTION: Versioned = always(shapes.page('receivers', _RECEIVER))
RECEIVER: Versioned = shapes.under('receiver', _RECEIVER)
_TYPES = ('webhook', 'message')
NEW: Versioned = always(
    shapes.brought(
        'receiver',
        {
            'name': shapes.NAME,
            'type': {'type': 'string', 'enum': list(_TYPES)},
            'cluster_id': shapes.TEXT_OR_NULL,
            'action': shapes.TEXT_OR_NULL,
            'actor': shapes.OBJECT_OR_NULL,
            'params': shapes.OBJECT_OR_NULL,
        },
        *('name', 'type'),
    )
)
CHANGED: Versioned = always(
    shapes.brought(
        'receiver',
        {
            'name': shapes.NAME_OR_NULL,
            'action': shapes.TEXT_OR_NULL,
            'params': shapes.OBJECT_OR_NULL,
        },
    )
)
#: The versions of webhooks: arguments are inputs of the first, the body of the second.
TRIGGER: Versioned = always(
    {
        'type': 'object',
        'properties': {
            'V': {'type': 'string', 'enum': ['1', '2']},
        },
        'required': ['V'],
    }
)
INPUTS: Versioned = always(
    {
        'title': 'inputs',
        'type': ['object', 'null'],
        'description': 'Inputs of the action, besides those of the receiver.',
    }
)
