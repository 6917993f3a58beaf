"""JSON schemas of clusters."""

from collections.abc import Mapping

from watcherlite.api.clustering import texts
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Version, Versioned, always
from watcherlite.api.shapes import whole
from watcherlite.engine.clusters.actions import ADJUSTMENTS, RECOVERIES
from watcherlite.states import cluster as states

_STATUSES = (*states.CLUSTER_STATUSES, states.CRITICAL)
_CLUSTER: Schema = whole(
    {
        'id': shapes.TEXT,
        'name': shapes.TEXT,
        'profile_id': shapes.TEXT,
        **shapes.OWNED,
        'init_at': shapes.TIME,
        'created_at': shapes.TIME,
        'updated_at': shapes.TIME,
        'min_size': shapes.INTEGER,
        'max_size': {
            'type': 'integer',
            'description': 'How many nodes it may have; -1: any number.',
        },
        'desired_capacity': shapes.INTEGER,
        'timeout': shapes.INTEGER,
        'status': {'type': 'string', 'enum': list(_STATUSES)},
        'status_reason': shapes.TEXT,
        'metadata': shapes.OBJECT,
        'data': shapes.OBJECT,
        'dependents': shapes.OBJECT,
        'config': shapes.OBJECT,
        'profile_name': shapes.TEXT_OR_NULL,
        'nodes': shapes.TEXTS,
        'policies': {
            **shapes.TEXTS,
            'description': 'Ids of what binds it to policies, not of these.',
        },
    }
)

INDEX: Versioned = always(
    shapes.index(
        {**shapes.filters('name'), 'status': shapes.chosen(_STATUSES)},
        texts.CLUSTERS,
    )
)
COLLECTION: Versioned = always(shapes.page('clusters', _CLUSTER))
CLUSTER: Versioned = shapes.under('cluster', _CLUSTER)

_CONFIG: Version = (1, 7)
_NEW: Mapping[str, Schema] = {
    'name': shapes.NAME,
    'profile_id': shapes.REFERENCE,
    'desired_capacity': shapes.NUMBER_OR_NULL,
    'min_size': shapes.NUMBER_OR_NULL,
    'max_size': shapes.NUMBER_OR_NULL,
    'metadata': shapes.OBJECT_OR_NULL,
    'timeout': shapes.NUMBER_OR_NULL,
}
_CHANGED: Mapping[str, Schema] = {
    'name': shapes.NAME_OR_NULL,
    'profile_id': shapes.REFERENCE_OR_NULL,
    'metadata': shapes.OBJECT_OR_NULL,
    'timeout': shapes.NUMBER_OR_NULL,
}
_PROFILE_ONLY: Mapping[str, Schema] = {
    'profile_only': {
        **shapes.FLAG_OR_NULL,
        'description': 'Whether the nodes stay as they are, so that only new ones are '
        'made from the profile.',
    }
}
_WITH_CONFIG: Mapping[str, Schema] = {'config': shapes.OBJECT_OR_NULL}
_NEEDED = ('name', 'profile_id')
NEW: Versioned = {
    (1, 0): shapes.brought('cluster', _NEW, *_NEEDED),
    _CONFIG: shapes.brought('cluster', {**_NEW, **_WITH_CONFIG}, *_NEEDED),
}
CHANGED: Versioned = {
    (1, 0): shapes.brought('cluster', _CHANGED),
    (1, 6): shapes.brought('cluster', {**_CHANGED, **_PROFILE_ONLY}),
    _CONFIG: shapes.brought('cluster', {**_CHANGED, **_PROFILE_ONLY, **_WITH_CONFIG}),
}

_FORCE: Version = (1, 8)
_FORCED: Mapping[str, Schema] = {
    'force': {
        'type': 'boolean',
        'description': 'Whether it is deleted although something else is done with it.',
    }
}
#: As arguments and, because clients send it there, in a body.
DELETE: Versioned = {(1, 0): shapes.arguments({}), _FORCE: shapes.arguments(_FORCED)}
DELETE_BODY: Versioned = {
    (1, 0): {'type': ['object', 'null'], 'additionalProperties': False},
    _FORCE: {
        'type': ['object', 'null'],
        'properties': {'force': shapes.FLAG},
        'additionalProperties': False,
    },
}

_EMPTY_OR_ANY: Schema = {'type': ['object', 'null']}
_COUNT: Schema = {
    'type': ['object', 'null'],
    'properties': {'count': shapes.NUMBER_OR_NULL},
    'additionalProperties': False,
}
_POLICY: Mapping[str, Schema] = {'policy_id': shapes.REFERENCE}


def _action(members: Mapping[str, Schema], *required: str) -> Schema:
    return {
        'type': 'object',
        'properties': dict(members),
        'required': list(required),
        'additionalProperties': False,
    }


_DEL_NODES: Mapping[str, Schema] = {'nodes': shapes.SEVERAL_OBJECTS}
_DESTROY: Mapping[str, Schema] = {'destroy_after_deletion': shapes.FLAG_OR_NULL}
_RECOVER: Mapping[str, Schema] = {
    'operation': {
        'type': ['string', 'null'],
        'description': f'Of {", ".join(RECOVERIES)}.',
    },
    'operation_params': {'type': ['object', 'array', 'null']},
    'check_capacity': shapes.FLAG_OR_NULL,
}
_CHECK: Mapping[str, Schema] = {'check': shapes.FLAG_OR_NULL}
_FIRST: Mapping[str, Schema] = {
    'add_nodes': _action({'nodes': shapes.SEVERAL_OBJECTS}, 'nodes'),
    'del_nodes': _action(_DEL_NODES, 'nodes'),
    'resize': _action(
        {
            'adjustment_type': {
                'type': ['string', 'null'],
                'enum': [*ADJUSTMENTS, None],
            },
            'number': {'type': ['number', 'string', 'null']},
            'min_size': shapes.NUMBER_OR_NULL,
            'max_size': shapes.NUMBER_OR_NULL,
            'min_step': shapes.NUMBER_OR_NULL,
            'strict': shapes.FLAG_OR_NULL,
        }
    ),
    'scale_out': _COUNT,
    'scale_in': _COUNT,
    'policy_attach': _action({**_POLICY, 'enabled': shapes.FLAG_OR_NULL}, 'policy_id'),
    'policy_detach': _action(_POLICY, 'policy_id'),
    'policy_update': _action({**_POLICY, 'enabled': shapes.FLAG}, 'policy_id'),
    'check': _EMPTY_OR_ANY,
    'recover': _action(_RECOVER),
}
#: version -> the actions that it brought, or changed
_BROUGHT: Mapping[Version, Mapping[str, Schema]] = {
    (1, 0): _FIRST,
    (1, 3): {
        'replace_nodes': _action(
            {
                'nodes': {
                    'type': 'object',
                    'additionalProperties': shapes.REFERENCE,
                    'description': 'Node that goes to node that comes.',
                }
            },
            'nodes',
        )
    },
    (1, 4): {'del_nodes': _action({**_DEL_NODES, **_DESTROY}, 'nodes')},
    (1, 6): {'recover': _action({**_RECOVER, **_CHECK})},
    (1, 9): {
        'complete_lifecycle': _action(
            {'lifecycle_action_token': shapes.TEXT}, 'lifecycle_action_token'
        )
    },
}


def _actions() -> dict[Version, Schema]:
    found: dict[Version, Schema] = {}
    known: dict[str, Schema] = {}
    for version, brought in _BROUGHT.items():
        known = {**known, **brought}
        found[version] = {
            'title': texts.ACTION,
            'type': 'object',
            'properties': known,
            'additionalProperties': False,
            'minProperties': 1,
            'maxProperties': 1,
        }
    return found


ACTIONS: Versioned = _actions()
OPERATION: Versioned = always(
    {
        'title': texts.OPERATION,
        'type': 'object',
        'additionalProperties': {
            'type': ['object', 'null'],
            'properties': {
                'params': shapes.OBJECT_OR_NULL,
                'filters': shapes.OBJECT_OR_NULL,
            },
            'additionalProperties': False,
        },
        'minProperties': 1,
        'maxProperties': 1,
    }
)
ATTRIBUTES: Versioned = shapes.under(
    'cluster_attributes',
    {
        'type': 'array',
        'items': whole({'id': shapes.TEXT, 'value': shapes.ANYTHING}),
    },
)

_BINDING: Schema = whole(
    {
        'id': shapes.TEXT,
        'cluster_id': shapes.TEXT,
        'cluster_name': shapes.TEXT,
        'policy_id': shapes.TEXT,
        'policy_name': shapes.TEXT,
        'policy_type': shapes.TEXT,
        'enabled': shapes.BOOLEAN,
        'priority': shapes.INTEGER,
        'data': shapes.OBJECT,
        'last_op': shapes.TIME,
    }
)
BINDINGS_QUERY: Versioned = always(
    shapes.arguments(
        {
            'enabled': {'type': 'boolean'},
            **shapes.filters('policy_name', 'policy_type'),
            'sort': shapes.LISTED['sort'],
        }
    )
)
BINDINGS: Versioned = shapes.under(
    'cluster_policies', {'type': 'array', 'items': _BINDING}
)
BINDING: Versioned = shapes.under('cluster_policy', _BINDING)
