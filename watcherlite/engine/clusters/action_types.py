"""The types of actions on clusters and nodes: names, statuses, verbs and inputs.

The inputs are those of the clients. Users see the outputs except those whose key begins
with `_`: these are field values for the projection of the row, see `projection`.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import capacity
from watcherlite.domain.clusters import Node
from watcherlite.domain.events import new_uuid
from watcherlite.states import cluster as states

CLUSTER_CREATE = 'CLUSTER_CREATE'
CLUSTER_DELETE = 'CLUSTER_DELETE'
CLUSTER_UPDATE = 'CLUSTER_UPDATE'
CLUSTER_ADD_NODES = 'CLUSTER_ADD_NODES'
CLUSTER_DEL_NODES = 'CLUSTER_DEL_NODES'
CLUSTER_REPLACE_NODES = 'CLUSTER_REPLACE_NODES'
CLUSTER_RESIZE = 'CLUSTER_RESIZE'
CLUSTER_SCALE_IN = 'CLUSTER_SCALE_IN'
CLUSTER_SCALE_OUT = 'CLUSTER_SCALE_OUT'
CLUSTER_ATTACH_POLICY = 'CLUSTER_ATTACH_POLICY'
CLUSTER_DETACH_POLICY = 'CLUSTER_DETACH_POLICY'
CLUSTER_UPDATE_POLICY = 'CLUSTER_UPDATE_POLICY'
CLUSTER_CHECK = 'CLUSTER_CHECK'
CLUSTER_RECOVER = 'CLUSTER_RECOVER'
CLUSTER_OPERATION = 'CLUSTER_OPERATION'
NODE_CREATE = 'NODE_CREATE'
NODE_DELETE = 'NODE_DELETE'
NODE_UPDATE = 'NODE_UPDATE'
NODE_JOIN = 'NODE_JOIN'
NODE_LEAVE = 'NODE_LEAVE'
NODE_CHECK = 'NODE_CHECK'
NODE_RECOVER = 'NODE_RECOVER'
NODE_OPERATION = 'NODE_OPERATION'

# Recovery operations of nodes
REBOOT = 'REBOOT'
REBUILD = 'REBUILD'
RECREATE = 'RECREATE'
RECOVERIES = (REBOOT, REBUILD, RECREATE)

# Detection modes of node failures
NODE_STATUS_POLLING = 'NODE_STATUS_POLLING'
NODE_STATUS_POLL_URL = 'NODE_STATUS_POLL_URL'
HYPERVISOR_STATUS_POLLING = 'HYPERVISOR_STATUS_POLLING'
LIFECYCLE_EVENTS = 'LIFECYCLE_EVENTS'
DETECTIONS = (
    NODE_STATUS_POLLING,
    NODE_STATUS_POLL_URL,
    HYPERVISOR_STATUS_POLLING,
    LIFECYCLE_EVENTS,
)
ANY_FAILED = 'ANY_FAILED'
ALL_FAILED = 'ALL_FAILED'

#: Key in the data of a node: the reason why a user marked it as unhealthy. A check does
#: not make a marked node ACTIVE; its creation or recovery removes the mark.
UNHEALTHY_MARK = 'unhealthy'
#: Output of an action: new values of fields of its node.
NODE = '_node'
#: Output of an action: new values of fields of its cluster.
CLUSTER = '_cluster'
#: Output of a failed action: the reason, not truncated.
REASON = 'reason'

_TEXT: Mapping[str, Any] = {'type': 'string', 'minLength': 1}
_NAME: Mapping[str, Any] = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_OBJECT: Mapping[str, Any] = {'type': 'object'}
_FLAG: Mapping[str, Any] = {'type': 'boolean'}
#: Accepted from clients that ask to delete the rows of checks; the purge does that.
_ACCEPTED: Mapping[str, Any] = {
    **_FLAG,
    'description': 'accepted and ignored: a purge deletes old actions',
}
_COUNT: Mapping[str, Any] = {'type': 'integer', 'minimum': 0}
_NODES: Mapping[str, Any] = {
    'type': 'array',
    'items': _TEXT,
    'uniqueItems': True,
    'description': 'uuids of nodes',
}
#: The detection settings of a health policy.
DETECTION: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'interval': {'type': 'number'},
        'node_update_timeout': {'type': 'number', 'minimum': 0},
        'recovery_conditional': {'enum': [ANY_FAILED, ALL_FAILED]},
        'detection_modes': {
            'type': 'array',
            'items': {
                'type': 'object',
                'properties': {
                    'type': {'enum': list(DETECTIONS)},
                    'options': {
                        'type': 'object',
                        'properties': {
                            'poll_url': {'type': 'string'},
                            'poll_url_ssl_verify': _FLAG,
                            'poll_url_conn_error_as_unhealthy': _FLAG,
                            'poll_url_healthy_response': {'type': 'string'},
                            'poll_url_retry_limit': _COUNT,
                            'poll_url_retry_interval': {'type': 'number', 'minimum': 0},
                            'event': {
                                'type': 'string',
                                'description': 'the failure, of LIFECYCLE_EVENTS',
                            },
                        },
                        'additionalProperties': False,
                    },
                },
                'required': ['type'],
                'additionalProperties': False,
            },
        },
    },
    'additionalProperties': False,
    'description': 'method of the check: as the detection of a health policy',
}
_OPERATION: Mapping[str, Any] = {
    'operation': {
        'enum': [*RECOVERIES, None],
        'description': 'default: that of the health policy, or RECREATE',
    },
    'operation_params': {'type': ['object', 'null']},
    'check': {**_FLAG, 'description': 'check first, and recover only unhealthy nodes'},
    'delete_timeout': {'type': ['integer', 'null'], 'minimum': 0},
    'force_recreate': {
        **_FLAG,
        'description': 'recreate the resource even if the old one cannot be deleted',
    },
}


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    """Return a schema of inputs without additional properties."""
    return {
        'type': 'object',
        'properties': properties,
        'required': list(required),
        'additionalProperties': False,
    }


@dataclasses.dataclass(frozen=True, slots=True)
class ActionDefinition:
    """The definition of a type of action on a cluster or node.

    :param status: of the target while the action runs; None: unchanged
    :param text: name of the operation in status reasons
    :param schema: JSON schema of the inputs
    """

    name: str
    status: str | None
    text: str
    description: str
    schema: Mapping[str, Any] = dataclasses.field(default_factory=schema)

    @property
    def verb(self) -> str:
        """Return the verb in notifications: that of `cluster.scale_out.start`."""
        return self.name.partition('_')[2].lower()

    @property
    def on_cluster(self) -> bool:
        """Return whether the target is a cluster, not a node."""
        return self.name.startswith('CLUSTER_')


_KINDS = (
    ActionDefinition(
        CLUSTER_CREATE,
        states.CREATING,
        'Creation',
        'Creates the first nodes of a cluster.',
    ),
    ActionDefinition(
        CLUSTER_DELETE, states.DELETING, 'Deletion', 'Deletes a cluster and its nodes.'
    ),
    ActionDefinition(
        CLUSTER_UPDATE,
        states.UPDATING,
        'Update',
        'Updates a cluster; with a new profile, also its nodes.',
        schema(
            name=_NAME,
            metadata=_OBJECT,
            timeout=_COUNT,
            config=_OBJECT,
            new_profile_id={**_TEXT, 'description': 'uuid of a profile of its type'},
            profile_only={**_FLAG, 'description': 'do not update existing nodes'},
        ),
    ),
    ActionDefinition(
        CLUSTER_ADD_NODES,
        states.RESIZING,
        'Adding nodes',
        'Adds nodes to a cluster.',
        schema('nodes', nodes={**_NODES, 'minItems': 1}),
    ),
    ActionDefinition(
        CLUSTER_DEL_NODES,
        states.RESIZING,
        'Removing nodes',
        'Removes nodes from a cluster, and deletes them on request.',
        schema(
            'candidates',
            candidates={**_NODES, 'minItems': 1},
            count=_COUNT,
            destroy_after_deletion=_FLAG,
        ),
    ),
    ActionDefinition(
        CLUSTER_REPLACE_NODES,
        states.RESIZING,
        'Replacing nodes',
        'Replaces nodes of a cluster by nodes that are in no cluster.',
        schema(
            'candidates',
            candidates={
                'type': 'object',
                'minProperties': 1,
                'additionalProperties': _TEXT,
                'description': 'uuid of a node -> uuid of its replacement',
            },
        ),
    ),
    ActionDefinition(
        CLUSTER_RESIZE,
        states.RESIZING,
        'Resizing',
        'Changes the size of a cluster, or its limits.',
        schema(
            adjustment_type={'enum': list(capacity.ADJUSTMENTS)},
            number={'type': 'number'},
            min_size={'type': 'integer', 'minimum': 0},
            max_size={'type': 'integer', 'minimum': -1},
            min_step={'type': 'integer', 'minimum': 0},
            strict={**_FLAG, 'description': 'reject a size outside the limits'},
        ),
    ),
    ActionDefinition(
        CLUSTER_SCALE_IN,
        states.RESIZING,
        'Scaling in',
        'Deletes nodes of a cluster.',
        schema(count=_COUNT),
    ),
    ActionDefinition(
        CLUSTER_SCALE_OUT,
        states.RESIZING,
        'Scaling out',
        'Creates nodes in a cluster.',
        schema(count=_COUNT),
    ),
    ActionDefinition(
        CLUSTER_ATTACH_POLICY,
        None,
        'Attaching a policy',
        'Attaches a policy to a cluster.',
        schema('policy_id', policy_id=_TEXT, enabled=_FLAG),
    ),
    ActionDefinition(
        CLUSTER_DETACH_POLICY,
        None,
        'Detaching a policy',
        'Detaches a policy from a cluster.',
        schema('policy_id', policy_id=_TEXT),
    ),
    ActionDefinition(
        CLUSTER_UPDATE_POLICY,
        None,
        'Updating a policy',
        'Enables or disables a policy of a cluster.',
        schema('policy_id', policy_id=_TEXT, enabled=_FLAG),
    ),
    ActionDefinition(
        CLUSTER_CHECK,
        states.CHECKING,
        'Check',
        'Checks all nodes of a cluster.',
        schema(delete_check_action=_ACCEPTED, detection=DETECTION),
    ),
    ActionDefinition(
        CLUSTER_RECOVER,
        states.RECOVERING,
        'Recovery',
        'Recovers the nodes of a cluster that are not ACTIVE.',
        schema(
            **_OPERATION,
            check_capacity={**_FLAG, 'description': 'also create missing nodes'},
        ),
    ),
    ActionDefinition(
        CLUSTER_OPERATION,
        states.OPERATING,
        'Operation',
        'Performs an operation of the profile on nodes of a cluster.',
        schema('operation', operation=_TEXT, params=_OBJECT, nodes=_NODES),
    ),
    ActionDefinition(
        NODE_CREATE, states.CREATING, 'Creation', 'Creates the resource of a node.'
    ),
    ActionDefinition(
        NODE_DELETE, states.DELETING, 'Deletion', 'Deletes a node and its resource.'
    ),
    ActionDefinition(
        NODE_UPDATE,
        states.UPDATING,
        'Update',
        'Updates a node; with a new profile, also its resource.',
        schema(
            name=_NAME,
            role={'type': 'string', 'maxLength': 255},
            metadata=_OBJECT,
            tainted=_FLAG,
            new_profile_id={**_TEXT, 'description': 'uuid of a profile of its type'},
        ),
    ),
    ActionDefinition(
        NODE_JOIN,
        None,
        'Joining',
        'Adds a node to a cluster.',
        schema('cluster_id', cluster_id=_TEXT),
    ),
    ActionDefinition(NODE_LEAVE, None, 'Leaving', 'Removes a node from its cluster.'),
    ActionDefinition(
        NODE_CHECK,
        None,
        'Check',
        'Checks the resource of a node.',
        schema(delete_check_action=_ACCEPTED, detection=DETECTION),
    ),
    ActionDefinition(
        NODE_RECOVER,
        states.RECOVERING,
        'Recovery',
        'Recovers a node: reboots, rebuilds or recreates its resource.',
        schema(**_OPERATION),
    ),
    ActionDefinition(
        NODE_OPERATION,
        states.OPERATING,
        'Operation',
        'Performs an operation of the profile on a node.',
        schema('operation', operation=_TEXT, params=_OBJECT),
    ),
)
#: Name of the type -> definition.
DEFINITIONS: Mapping[str, ActionDefinition] = {kind.name: kind for kind in _KINDS}
CLUSTER_TYPES = frozenset(name for name, kind in DEFINITIONS.items() if kind.on_cluster)
NODE_TYPES = frozenset(DEFINITIONS) - CLUSTER_TYPES
#: Types that may be requested while the target has unfinished actions; they are queued.
ALWAYS_ALLOWED = frozenset({CLUSTER_DELETE, NODE_DELETE, NODE_OPERATION})
#: Scaling actions, which are subject to a cooldown.
SCALING = frozenset({CLUSTER_SCALE_IN, CLUSTER_SCALE_OUT})


def action_name(
    action_type: str, target: str, operation: str | None = None, uuid: str | None = None
) -> str:
    """Return the name of an action: `cluster_create_1a2b3c4d_5e6f7081`.

    :param target: uuid of the cluster or node
    :param operation: of CLUSTER_OPERATION and NODE_OPERATION
    :param uuid: of the action; None: generate a suffix
    """
    words = action_type.lower()
    if words.endswith('_policy'):
        words = words.removeprefix('cluster_')
    if operation is not None:
        words = f'{words.partition("_")[0]}_{operation}'
    return unique_name(f'{words}_{target[:8]}', uuid)


def unique_name(words: str, uuid: str | None = None) -> str:
    """Return a unique name of an action.

    :param uuid: of the action; None: generate a suffix
    """
    return f'{words}_{(uuid or new_uuid())[:8]}'


def public_outputs(outputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the outputs of an action that users see."""
    return {k: v for k, v in (outputs or {}).items() if not k.startswith('_')}


def unhealthy_mark(node: Node) -> str | None:
    """Return the reason of the unhealthy mark of a node; None: it has no mark."""
    mark = node.data.get(UNHEALTHY_MARK)
    return None if mark is None else str(mark)
