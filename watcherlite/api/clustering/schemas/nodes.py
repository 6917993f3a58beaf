"""JSON schemas of nodes."""

from collections.abc import Mapping

from watcherlite.api.clustering import texts
from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Version, Versioned, unversioned
from watcherlite.domain.clusters import Node
from watcherlite.engine.clusters.action_types import RECOVERIES
from watcherlite.states import cluster as states

#: The version that introduced tainted nodes.
TAINTED: Version = (1, 13)

_SHOWN: Mapping[str, Schema] = {
    'id': fragments.TEXT,
    'name': fragments.TEXT,
    'cluster_id': {'type': 'string', 'description': 'Empty: it is in none.'},
    'physical_id': fragments.TEXT_OR_NULL,
    'profile_id': fragments.TEXT,
    **fragments.OWNED,
    'index': fragments.INTEGER,
    'role': fragments.TEXT,
    'init_at': fragments.TIME,
    'created_at': fragments.TIME,
    'updated_at': fragments.TIME,
    'status': {'type': 'string', 'enum': list(states.NODE_STATUSES)},
    'status_reason': fragments.TEXT,
    'data': fragments.OBJECT,
    'metadata': fragments.OBJECT,
    'dependents': fragments.OBJECT,
    'profile_name': fragments.TEXT_OR_NULL,
}
_DETAILS: Mapping[str, Schema] = {
    'details': {
        'type': 'object',
        'description': 'The attributes of the resource, reported by its profile type.',
    }
}
_OLD: Schema = closed(_SHOWN, _DETAILS)
_NODE: Schema = closed({**_SHOWN, 'tainted': fragments.BOOLEAN}, _DETAILS)

INDEX: Versioned = fragments.searched_list(
    Node,
    {
        'cluster_id': {**fragments.REFERENCE, 'description': 'Of this cluster.'},
        **fragments.filters('name'),
        'status': fragments.one_of(tuple(states.NODE_STATUSES)),
    },
)
SHOW: Versioned = unversioned(
    fragments.arguments(
        {'show_details': {'type': 'boolean', 'description': 'With its details.'}}
    )
)
COLLECTION: Versioned = {
    (1, 0): fragments.page('nodes', _OLD),
    TAINTED: fragments.page('nodes', _NODE),
}
NODE: Versioned = {(1, 0): closed({'node': _OLD}), TAINTED: closed({'node': _NODE})}

_COMMON: Mapping[str, Schema] = {
    'name': fragments.NAME,
    'profile_id': fragments.REFERENCE,
    'role': fragments.TEXT_OR_NULL,
    'metadata': fragments.OBJECT_OR_NULL,
}
_CHANGED: Mapping[str, Schema] = {
    **_COMMON,
    'name': fragments.NAME_OR_NULL,
    'profile_id': fragments.REFERENCE_OR_NULL,
}
NEW: Versioned = unversioned(
    fragments.wrapped(
        'node', {**_COMMON, 'cluster_id': fragments.TEXT_OR_NULL}, 'name', 'profile_id'
    )
)
CHANGED: Versioned = {
    (1, 0): fragments.wrapped('node', _CHANGED),
    TAINTED: fragments.wrapped('node', {**_CHANGED, 'tainted': fragments.FLAG}),
}

_RECOVER: Mapping[str, Schema] = {
    'operation': {
        'type': ['string', 'null'],
        'description': f'Of {", ".join(RECOVERIES)}.',
    },
    'operation_params': {'type': ['object', 'array', 'null']},
    'delete_timeout': fragments.NUMBER_OR_NULL,
    'force_recreate': fragments.FLAG_OR_NULL,
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


_CHECKED: Mapping[str, Schema] = {**_RECOVER, 'check': fragments.FLAG_OR_NULL}
_MARK: Mapping[str, Schema] = {
    'mark_unhealthy': {
        'type': ['object', 'null'],
        'properties': {
            'mark_unhealthy': {
                **fragments.FLAG,
                'description': 'false: the node is healthy. Default: true.',
            },
            'reason': fragments.TEXT_OR_NULL,
        },
        'additionalProperties': False,
    }
}
ACTIONS: Versioned = {
    (1, 0): _actions(_RECOVER),
    (1, 6): _actions(_CHECKED),
    (1, 15): _actions(_CHECKED, _MARK),
}
#: The responses of an action; marking as unhealthy is synchronous.
ACTED: Versioned = {
    (1, 0): closed({'action': fragments.TEXT}),
    (1, 15): {'anyOf': [closed({'action': fragments.TEXT}), closed({'node': _NODE})]},
}
OPERATION: Versioned = unversioned(
    {
        'title': texts.NODE_OPERATION,
        'type': 'object',
        'additionalProperties': {'type': ['object', 'null']},
        'minProperties': 1,
        'maxProperties': 1,
    }
)

_ADOPTED: Mapping[str, Schema] = {
    'identity': {
        **fragments.REFERENCE,
        'description': 'The external id of the resource.',
    },
    'type': {**fragments.TEXT, 'description': 'Of a profile: local.process-1.0.'},
}
_OPTIONAL: Mapping[str, Schema] = {
    'overrides': fragments.OBJECT_OR_NULL,
    'snapshot': fragments.FLAG_OR_NULL,
}
_NAMED: Mapping[str, Schema] = {
    'name': fragments.TEXT_OR_NULL,
    'role': fragments.TEXT_OR_NULL,
    'metadata': fragments.OBJECT_OR_NULL,
}
ADOPT: Versioned = unversioned(
    {'title': 'adoption', **closed(_ADOPTED, {**_OPTIONAL, **_NAMED})}
)
PREVIEW: Versioned = unversioned({'title': 'adoption', **closed(_ADOPTED, _OPTIONAL)})
PREVIEWED: Versioned = fragments.under(
    'node_profile',
    closed(
        {
            'node_preview': closed(
                {
                    'type': fragments.TEXT,
                    'version': fragments.TEXT,
                    'properties': fragments.OBJECT,
                }
            )
        }
    ),
)
