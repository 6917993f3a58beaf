"""JSON schemas of clusters."""

from collections.abc import Mapping

from watcherlite.api.clustering import texts
from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Version, Versioned, unversioned
from watcherlite.domain.capacity import ADJUSTMENTS
from watcherlite.domain.clusters import Cluster
from watcherlite.engine.clusters.action_types import RECOVERIES
from watcherlite.states import cluster as states

_STATUSES = (*states.CLUSTER_STATUSES, states.CRITICAL)
_CLUSTER: Schema = closed(
    {
        'id': fragments.TEXT,
        'name': fragments.TEXT,
        'profile_id': fragments.TEXT,
        **fragments.OWNED,
        'init_at': fragments.TIME,
        'created_at': fragments.TIME,
        'updated_at': fragments.TIME,
        'min_size': fragments.INTEGER,
        'max_size': {
            'type': 'integer',
            'description': 'The maximum number of nodes; -1: unlimited.',
        },
        'desired_capacity': fragments.INTEGER,
        'timeout': fragments.INTEGER,
        'status': {'type': 'string', 'enum': list(_STATUSES)},
        'status_reason': fragments.TEXT,
        'metadata': fragments.OBJECT,
        'data': fragments.OBJECT,
        'dependents': fragments.OBJECT,
        'config': fragments.OBJECT,
        'profile_name': fragments.TEXT_OR_NULL,
        'nodes': fragments.TEXTS,
        'policies': {
            **fragments.TEXTS,
            'description': 'The ids of its policy bindings.',
        },
    }
)

INDEX: Versioned = fragments.searched_list(
    Cluster,
    {**fragments.filters('name'), 'status': fragments.one_of(_STATUSES)},
    texts.CLUSTERS,
)
COLLECTION: Versioned = unversioned(fragments.page('clusters', _CLUSTER))
CLUSTER: Versioned = fragments.under('cluster', _CLUSTER)

_CONFIG: Version = (1, 7)
_NEW: Mapping[str, Schema] = {
    'name': fragments.NAME,
    'profile_id': fragments.REFERENCE,
    'desired_capacity': fragments.NUMBER_OR_NULL,
    'min_size': fragments.NUMBER_OR_NULL,
    'max_size': fragments.NUMBER_OR_NULL,
    'metadata': fragments.OBJECT_OR_NULL,
    'timeout': fragments.NUMBER_OR_NULL,
}
_CHANGED: Mapping[str, Schema] = {
    'name': fragments.NAME_OR_NULL,
    'profile_id': fragments.REFERENCE_OR_NULL,
    'metadata': fragments.OBJECT_OR_NULL,
    'timeout': fragments.NUMBER_OR_NULL,
}
_PROFILE_ONLY: Mapping[str, Schema] = {
    'profile_only': {
        **fragments.FLAG_OR_NULL,
        'description': 'Whether existing nodes are unchanged, so that only new nodes '
        'use the profile.',
    }
}
_WITH_CONFIG: Mapping[str, Schema] = {'config': fragments.OBJECT_OR_NULL}
_NEEDED = ('name', 'profile_id')
NEW: Versioned = {
    (1, 0): fragments.wrapped('cluster', _NEW, *_NEEDED),
    _CONFIG: fragments.wrapped('cluster', {**_NEW, **_WITH_CONFIG}, *_NEEDED),
}
CHANGED: Versioned = {
    (1, 0): fragments.wrapped('cluster', _CHANGED),
    (1, 6): fragments.wrapped('cluster', {**_CHANGED, **_PROFILE_ONLY}),
    _CONFIG: fragments.wrapped(
        'cluster', {**_CHANGED, **_PROFILE_ONLY, **_WITH_CONFIG}
    ),
}

_FORCE: Version = (1, 8)
_FORCED: Mapping[str, Schema] = {
    'force': {
        'type': 'boolean',
        'description': 'Whether it is deleted during another action on it.',
    }
}
#: For arguments and, because clients send it there, for a body.
DELETE: Versioned = {
    (1, 0): fragments.arguments({}),
    _FORCE: fragments.arguments(_FORCED),
    (1, 15): fragments.arguments({**_FORCED, **fragments.NOT_BEFORE}),
}
DELETE_BODY: Versioned = {
    (1, 0): {'type': ['object', 'null'], 'additionalProperties': False},
    _FORCE: {
        'type': ['object', 'null'],
        'properties': {'force': fragments.FLAG},
        'additionalProperties': False,
    },
}

_EMPTY_OR_ANY: Schema = {'type': ['object', 'null']}
_COUNT: Schema = {
    'type': ['object', 'null'],
    'properties': {'count': fragments.NUMBER_OR_NULL},
    'additionalProperties': False,
}
_POLICY: Mapping[str, Schema] = {'policy_id': fragments.REFERENCE}

_DEL_NODES: Mapping[str, Schema] = {'nodes': fragments.SEVERAL_OBJECTS}
_DESTROY: Mapping[str, Schema] = {'destroy_after_deletion': fragments.FLAG_OR_NULL}
_RECOVER: Mapping[str, Schema] = {
    'operation': {
        'type': ['string', 'null'],
        'description': f'Of {", ".join(RECOVERIES)}.',
    },
    'operation_params': {'type': ['object', 'array', 'null']},
    'check_capacity': fragments.FLAG_OR_NULL,
}
_CHECK: Mapping[str, Schema] = {'check': fragments.FLAG_OR_NULL}
_FIRST: Mapping[str, Schema] = {
    'add_nodes': fragments.object_with({'nodes': fragments.SEVERAL_OBJECTS}, 'nodes'),
    'del_nodes': fragments.object_with(_DEL_NODES, 'nodes'),
    'resize': fragments.object_with(
        {
            'adjustment_type': {
                'type': ['string', 'null'],
                'enum': [*ADJUSTMENTS, None],
            },
            'number': {'type': ['number', 'string', 'null']},
            'min_size': fragments.NUMBER_OR_NULL,
            'max_size': fragments.NUMBER_OR_NULL,
            'min_step': fragments.NUMBER_OR_NULL,
            'strict': fragments.FLAG_OR_NULL,
        }
    ),
    'scale_out': _COUNT,
    'scale_in': _COUNT,
    'policy_attach': fragments.object_with(
        {**_POLICY, 'enabled': fragments.FLAG_OR_NULL}, 'policy_id'
    ),
    'policy_detach': fragments.object_with(_POLICY, 'policy_id'),
    'policy_update': fragments.object_with(
        {**_POLICY, 'enabled': fragments.FLAG}, 'policy_id'
    ),
    'check': _EMPTY_OR_ANY,
    'recover': fragments.object_with(_RECOVER),
}
#: Version -> the actions that it introduced or changed.
_BROUGHT: Mapping[Version, Mapping[str, Schema]] = {
    (1, 0): _FIRST,
    (1, 3): {
        'replace_nodes': fragments.object_with(
            {
                'nodes': {
                    'type': 'object',
                    'additionalProperties': fragments.REFERENCE,
                    'description': 'Removed node -> added node.',
                }
            },
            'nodes',
        )
    },
    (1, 4): {'del_nodes': fragments.object_with({**_DEL_NODES, **_DESTROY}, 'nodes')},
    (1, 6): {'recover': fragments.object_with({**_RECOVER, **_CHECK})},
    (1, 9): {
        'complete_lifecycle': fragments.object_with(
            {'lifecycle_action_token': fragments.TEXT}, 'lifecycle_action_token'
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
OPERATION: Versioned = unversioned(
    {
        'title': texts.OPERATION,
        'type': 'object',
        'additionalProperties': {
            'type': ['object', 'null'],
            'properties': {
                'params': fragments.OBJECT_OR_NULL,
                'filters': fragments.OBJECT_OR_NULL,
            },
        },
        'minProperties': 1,
        'maxProperties': 1,
    }
)
ATTRIBUTES: Versioned = fragments.under(
    'cluster_attributes',
    {
        'type': 'array',
        'items': closed({'id': fragments.TEXT, 'value': fragments.ANYTHING}),
    },
)

_BINDING: Schema = closed(
    {
        'id': fragments.TEXT,
        'cluster_id': fragments.TEXT,
        'cluster_name': fragments.TEXT,
        'policy_id': fragments.TEXT,
        'policy_name': fragments.TEXT,
        'policy_type': fragments.TEXT,
        'enabled': fragments.BOOLEAN,
        'priority': fragments.INTEGER,
        'data': fragments.OBJECT,
        'last_op': fragments.TIME,
    }
)
BINDINGS_QUERY: Versioned = unversioned(
    fragments.arguments(
        {
            'enabled': {'type': 'boolean'},
            **fragments.filters('policy_name', 'policy_type'),
            'sort': fragments.LISTED['sort'],
        }
    )
)
BINDINGS: Versioned = fragments.under(
    'cluster_policies', {'type': 'array', 'items': _BINDING}
)
BINDING: Versioned = fragments.under('cluster_policy', _BINDING)
