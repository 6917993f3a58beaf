"""JSON schemas of resources."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.domain import bearer_tokens
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
    'resource_name': fragments.TEXT,
    'logical_resource_id': fragments.TEXT,
    'physical_resource_id': {
        'type': 'string',
        'description': 'The physical id; empty while the resource does not exist.',
    },
    'resource_type': fragments.TEXT,
    'resource_status': _STATE,
    'resource_status_reason': fragments.TEXT,
    'resource_base_status': {
        **_STATE,
        'description': 'The status below that of a lock, an unlock, or a check of a '
        'suspended stack.',
    },
    'hook': {
        'enum': [*states.HOOKED_ACTIONS, None],
        'description': 'The hook of the environment at which it waits to be cleared.',
    },
    'creation_time': fragments.TIME,
    'updated_time': fragments.TIME,
    'required_by': fragments.TEXTS,
    'links': fragments.LINKS,
}
_PARENT: Mapping[str, Schema] = {
    'parent_resource': {
        'type': 'string',
        'description': 'Of a nested stack: the resource that the stack is.',
    }
}
_MORE: Mapping[str, Schema] = {
    'description': fragments.TEXT,
    'attributes': fragments.OBJECT,
    'protected': {
        'type': 'boolean',
        'description': 'Whether its type has locked it, for the lock level `all`.',
    },
}

#: Rejects unknown filters, as Heat does.
INDEX: Versioned = unversioned(
    {
        'type': 'object',
        'properties': {
            'nested_depth': {
                'type': 'integer',
                'minimum': 0,
                'description': 'The maximum depth of nested stacks that are included.',
            },
            'with_detail': fragments.BOOLEAN,
            'name': fragments.SEVERAL,
            'type': fragments.SEVERAL,
            'action': fragments.SEVERAL,
            'status': fragments.SEVERAL,
            'id': fragments.SEVERAL,
            'physical_resource_id': fragments.SEVERAL,
        },
        'additionalProperties': False,
    }
)
SHOW: Versioned = fragments.arguments(
    {
        'with_attr': {
            **fragments.SEVERAL,
            'description': 'Further attributes to show, which the type does not return '
            'by default.',
        }
    }
)
COLLECTION: Versioned = fragments.listed(
    'resources', fragments.closed(_LISTED, {**_PARENT, **_MORE})
)
RESOURCE: Versioned = fragments.under(
    'resource', fragments.closed({**_LISTED, **_MORE}, _PARENT)
)
METADATA: Versioned = fragments.under('metadata', fragments.OBJECT)
SIGNAL: Versioned = unversioned(
    {
        'title': 'signal',
        'type': ['object', 'null'],
        'description': 'The data of the signal; its format depends on the type. A '
        'member `unset_hook` clears the hook that it names instead.',
    }
)
SERVER_METADATA: Versioned = unversioned(
    {**fragments.OBJECT, 'description': 'The metadata, with `deployments`.'}
)
METADATA_TOKEN: Versioned = unversioned(
    {
        'title': 'reading metadata',
        'type': 'object',
        'properties': {
            bearer_tokens.ARGUMENT: {
                'type': 'string',
                'description': 'The token that the metadata_url of the server has.',
            }
        },
        'additionalProperties': False,
    }
)
SIGNAL_TOKEN: Versioned = unversioned(
    {
        'title': 'signalling',
        'type': 'object',
        'properties': {
            bearer_tokens.ARGUMENT: {
                'type': 'string',
                'description': 'The token that the signal_url of the resource has.',
            }
        },
        'additionalProperties': False,
    }
)
MARK: Versioned = unversioned(
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
