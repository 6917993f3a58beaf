"""JSON schemas of resources."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.states import stack as states

_STATE: Schema = {
    'type': 'string',
    'enum': [
        f'{action}_{status}'
        for action in states.RESOURCE_ACTIONS
        for status in states.STATUSES
    ],
}
_LISTED: Mapping[str, Schema] = {
    'resource_name': shapes.TEXT,
    'logical_resource_id': shapes.TEXT,
    'physical_resource_id': {
        'type': 'string',
        'description': 'What its type calls it; empty while there is nothing of it.',
    },
    'resource_type': shapes.TEXT,
    'resource_status': _STATE,
    'resource_status_reason': shapes.TEXT,
    'creation_time': shapes.TIME,
    'updated_time': shapes.TIME,
    'required_by': shapes.TEXTS,
    'links': shapes.LINKS,
}
_PARENT: Mapping[str, Schema] = {
    'parent_resource': {
        'type': 'string',
        'description': 'Of a nested stack: the resource that the stack is.',
    }
}
_MORE: Mapping[str, Schema] = {
    'description': shapes.TEXT,
    'attributes': shapes.OBJECT,
    'protected': {
        'type': 'boolean',
        'description': 'Whether its type has locked it, as the level all asks for.',
    },
}

#: Filters that there are not are refused here, as clients know it.
INDEX: Versioned = always(
    {
        'type': 'object',
        'properties': {
            'nested_depth': {
                'type': 'integer',
                'minimum': 0,
                'description': 'How many levels of nested stacks are looked into.',
            },
            'with_detail': shapes.BOOLEAN,
            'name': shapes.SEVERAL,
            'type': shapes.SEVERAL,
            'action': shapes.SEVERAL,
            'status': shapes.SEVERAL,
            'id': shapes.SEVERAL,
            'physical_resource_id': shapes.SEVERAL,
        },
        'additionalProperties': False,
    }
)
SHOW: Versioned = shapes.arguments(
    {
        'with_attr': {
            **shapes.SEVERAL,
            'description': 'Attributes that are shown although the type does not tell '
            'them.',
        }
    }
)
COLLECTION: Versioned = shapes.listed(
    'resources', shapes.whole(_LISTED, {**_PARENT, **_MORE})
)
RESOURCE: Versioned = shapes.under(
    'resource', shapes.whole({**_LISTED, **_MORE}, _PARENT)
)
METADATA: Versioned = shapes.under('metadata', shapes.OBJECT)
SIGNAL: Versioned = always(
    {
        'title': 'signal',
        'type': ['object', 'null'],
        'description': 'What the resource is told; each type reads its own.',
    }
)
MARK: Versioned = always(
    {
        'title': 'mark',
        'type': 'object',
        'properties': {
            'mark_unhealthy': {
                'type': ['boolean', 'string'],
                'pattern': '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
                'description': 'true: it is unhealthy, and the next update replaces '
                'it; false: it is not.',
            },
            'resource_status_reason': {'type': ['string', 'null']},
        },
        'required': ['mark_unhealthy'],
        'additionalProperties': False,
    }
)
