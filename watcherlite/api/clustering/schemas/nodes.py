"""JSON schemas of nodes."""

from collections.abc import Mapping

from watcherlite.api.clustering import texts
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Version, Versioned, always
from watcherlite.api.shapes import whole
from watcherlite.engine.clusters.actions import RECOVERIES
from watcherlite.states import cluster as states

#: The version that knows of tainted nodes.
TAINTED: Version = (1, 13)

_SHOWN: Mapping[str, Schema] = {
    'id': shapes.TEXT,
    'name': shapes.TEXT,
    'cluster_id': {'type': 'string', 'description': 'Empty: it is in none.'},
    'physical_id': shapes.TEXT_OR_NULL,
    'profile_id': shapes.TEXT,
    **shapes.OWNED,
    'index': shapes.INTEGER,
    'role': shapes.TEXT,
    'init_at': shapes.TIME,
    'created_at': shapes.TIME,
    'updated_at': shapes.TIME,
    'status': {'type': 'string', 'enum': list(states.NODE_STATUSES)},
    'status_reason': shapes.TEXT,
    'data': shapes.OBJECT,
    'metadata': shapes.OBJECT,
    'dependents': shapes.OBJECT,
    'profile_name': shapes.TEXT_OR_NULL,
}
_DETAILS: Mapping[str, Schema] = {
    'details': {
        'type': 'object',
        'description': 'What the type of its profile tells of the thing.',
    }
}
_OLD: Schema = whole(_SHOWN, _DETAILS)
_NODE: Schema = whole({**_SHOWN, 'tainted': shapes.BOOLEAN}, _DETAILS)

INDEX: Versioned = always(
    shapes.index(
        {
            'cluster_id': {**shapes.REFERENCE, 'description': 'Of this cluster.'},
            **shapes.filters('name'),
            'status': shapes.chosen(tuple(states.NODE_STATUSES)),
        }
    )
)
SHOW: Versioned = always(
    shapes.arguments(
        {'show_details': {'type': 'boolean', 'description': 'With its details.'}}
    )
)
COLLECTION: Versioned = {
    (1, 0): shapes.page('nodes', _OLD),
    TAINTED: shapes.page('nodes', _NODE),
}
NODE: Versioned = {(1, 0): whole({'node': _OLD}), TAINTED: whole({'node': _NODE})}

_COMMON: Mapping[str, Schema] = {
    'name': shapes.NAME,
    'profile_id': shapes.REFERENCE,
    'role': shapes.TEXT_OR_NULL,
    'metadata': shapes.OBJECT_OR_NULL,
}
_CHANGED: Mapping[str, Schema] = {
    **_COMMON,
    'name': shapes.NAME_OR_NULL,
    'profile_id': shapes.REFERENCE_OR_NULL,
}
NEW: Versioned = always(
    shapes.brought(
        'node',
        {**_COMMON, 'cluster_id': shapes.TEXT_OR_NULL},
        *('name', 'profile_id'),
    )
)
CHANGED: Versioned = {
    (1, 0): shapes.brought('node', _CHANGED),
    TAINTED: shapes.brought('node', {**_CHANGED, 'tainted': shapes.FLAG}),
}

_RECOVER: Mapping[str, Schema] = {
    'operation': {
        'type': ['string', 'null'],
        'description': f'Of {", ".join(RECOVERIES)}.',
    },
    'operation_params': {'type': ['object', 'array', 'null']},
    'delete_timeout': shapes.NUMBER_OR_NULL,
    'force_recreate': shapes.FLAG_OR_NULL,
}


def _actions(
    recover: Mapping[str, Schema], more: Mapping[str, Schema] | None = None
) -> Schema:
    return {
        'title': texts.NODE_ACTION,
        'type': 'object',
        'properties': {
            'check': {'type': ['object', 'null']},
            'recover': {
                'type': ['object', 'null'],
                'properties': dict(recover),
                'additionalProperties': False,
            },
            **(more or {}),
        },
        'additionalProperties': False,
        'minProperties': 1,
        'maxProperties': 1,
    }


_CHECKED: Mapping[str, Schema] = {**_RECOVER, 'check': shapes.FLAG_OR_NULL}
_MARK: Mapping[str, Schema] = {
    'mark_unhealthy': {
        'type': ['object', 'null'],
        'properties': {
            'mark_unhealthy': {
                **shapes.FLAG,
                'description': 'false: it is well; true, if it is not given.',
            },
            'reason': shapes.TEXT_OR_NULL,
        },
        'additionalProperties': False,
    }
}
ACTIONS: Versioned = {
    (1, 0): _actions(_RECOVER),
    (1, 6): _actions(_CHECKED),
    (1, 15): _actions(_CHECKED, _MARK),
}
#: What an action answers; that a node is unhealthy is said at once.
ACTED: Versioned = {
    (1, 0): whole({'action': shapes.TEXT}),
    (1, 15): {'anyOf': [whole({'action': shapes.TEXT}), whole({'node': _NODE})]},
}
OPERATION: Versioned = always(
    {
        'title': texts.NODE_OPERATION,
        'type': 'object',
        'additionalProperties': {'type': ['object', 'null']},
        'minProperties': 1,
        'maxProperties': 1,
    }
)

_PREVIEWED: Mapping[str, Schema] = {
    'identity': {
        **shapes.REFERENCE,
        'description': 'What the thing is called outside.',
    },
    'type': {**shapes.TEXT, 'description': 'Of a profile: local.process-1.0.'},
    'overrides': shapes.OBJECT_OR_NULL,
    'snapshot': shapes.FLAG_OR_NULL,
}
_ADOPTED: Mapping[str, Schema] = {
    **_PREVIEWED,
    'name': shapes.TEXT_OR_NULL,
    'role': shapes.TEXT_OR_NULL,
    'metadata': shapes.OBJECT_OR_NULL,
}
ADOPT: Versioned = always(
    {
        'title': 'adoption',
        'type': 'object',
        'properties': dict(_ADOPTED),
        'required': ['identity', 'type'],
        'additionalProperties': False,
    }
)
PREVIEW: Versioned = always(
    {
        'title': 'adoption',
        'type': 'object',
        'properties': dict(_PREVIEWED),
        'required': ['identity', 'type'],
        'additionalProperties': False,
    }
)
PREVIEWED: Versioned = shapes.under(
    'node_profile',
    whole(
        {
            'node_preview': whole(
                {
                    'type': shapes.TEXT,
                    'version': shapes.TEXT,
                    'properties': shapes.OBJECT,
                }
            )
        }
    ),
)
