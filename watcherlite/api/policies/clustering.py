"""The rules of the clustering API; names are those of Senlin."""

from watcherlite.api.policies.base import ADMIN, MANAGER, MEMBER, READER, rule

_ROOT = '/clustering/v1'
_CLUSTERS = f'{_ROOT}/clusters'
_CLUSTER = f'{_CLUSTERS}/{{cluster}}'
_LISTED = (
    *('actions', 'clusters', 'events', 'nodes', 'policies', 'profiles'),
    'receivers',
)
_ACTIONS = f'{_ROOT}/actions'
_ACTION = f'{_ACTIONS}/{{action}}'
_EVENTS = f'{_ROOT}/events'
_NODES = f'{_ROOT}/nodes'
_NODE = f'{_NODES}/{{node}}'
_POLICIES = f'{_ROOT}/policies'
_POLICY = f'{_POLICIES}/{{policy}}'
_POLICY_TYPES = f'{_ROOT}/policy-types'
_POLICY_TYPE = f'{_POLICY_TYPES}/{{policy_type}}'
_PROFILES = f'{_ROOT}/profiles'
_PROFILE = f'{_PROFILES}/{{profile}}'
_PROFILE_TYPES = f'{_ROOT}/profile-types'
_PROFILE_TYPE = f'{_PROFILE_TYPES}/{{profile_type}}'
_RECEIVERS = f'{_ROOT}/receivers'
_RECEIVER = f'{_RECEIVERS}/{{receiver}}'

CLUSTER_RULES = (
    rule('clusters:index', READER, 'List clusters.', ('GET', _CLUSTERS)),
    rule('clusters:get', READER, 'Show a cluster.', ('GET', _CLUSTER)),
    rule('clusters:create', MEMBER, 'Create a cluster.', ('POST', _CLUSTERS)),
    rule('clusters:update', MEMBER, 'Update a cluster.', ('PATCH', _CLUSTER)),
    rule('clusters:delete', MEMBER, 'Delete a cluster.', ('DELETE', _CLUSTER)),
    rule(
        'clusters:action',
        MEMBER,
        'Scale, resize, check or recover a cluster; let nodes or policies come or go.',
        ('POST', f'{_CLUSTER}/actions'),
    ),
    rule(
        'clusters:operation',
        MEMBER,
        'Do an operation of the profile with the nodes of a cluster.',
        ('POST', f'{_CLUSTER}/ops'),
    ),
    rule(
        'clusters:collect',
        READER,
        'Collect values from the nodes of a cluster.',
        ('GET', f'{_CLUSTER}/attrs/{{path}}'),
    ),
    rule(
        'cluster_policies:index',
        READER,
        'List what a cluster is bound to.',
        ('GET', f'{_CLUSTER}/policies'),
    ),
    rule(
        'cluster_policies:get',
        READER,
        'Show what binds a cluster to a policy.',
        ('GET', f'{_CLUSTER}/policies/{{policy}}'),
    ),
    rule(
        'clustering:all_projects',
        ADMIN,
        'List what there is in all projects.',
        *(('GET', f'{_ROOT}/{noun}') for noun in _LISTED),
    ),
    rule(
        'services:index',
        ADMIN,
        'List the engines that work on clusters.',
        ('GET', f'{_ROOT}/services'),
    ),
)

CLUSTER_ACTION_RULES = (
    rule(
        'actions:index',
        READER,
        'List what is done with clusters and nodes.',
        ('GET', _ACTIONS),
    ),
    rule('actions:get', READER, 'Show an action.', ('GET', _ACTION)),
    rule(
        'actions:create',
        MANAGER,
        'Have an action of any type that is installed done on a cluster or node.',
        ('POST', _ACTIONS),
    ),
    rule(
        'actions:update',
        MEMBER,
        'Cancel an action, suspend it, or let it go on.',
        ('PATCH', _ACTION),
    ),
    rule(
        'actions:force',
        ADMIN,
        'End an action at once, whoever works on it.',
        ('PATCH', _ACTION),
    ),
    rule(
        'cluster_events:index',
        READER,
        'List what happened to clusters and nodes.',
        ('GET', _EVENTS),
    ),
    rule(
        'cluster_events:get',
        READER,
        'Show what happened once to a cluster or node.',
        ('GET', f'{_EVENTS}/{{event}}'),
    ),
)

CLUSTER_NODE_RULES = (
    rule('nodes:index', READER, 'List nodes.', ('GET', _NODES)),
    rule('nodes:get', READER, 'Show a node.', ('GET', _NODE)),
    rule('nodes:create', MEMBER, 'Create a node.', ('POST', _NODES)),
    rule(
        'nodes:adopt',
        MEMBER,
        'Make a node of something that is there.',
        ('POST', f'{_NODES}/adopt'),
    ),
    rule(
        'nodes:adopt-preview',
        MEMBER,
        'Show the profile of what would be adopted.',
        ('POST', f'{_NODES}/adopt-preview'),
    ),
    rule('nodes:update', MEMBER, 'Update a node.', ('PATCH', _NODE)),
    rule('nodes:delete', MEMBER, 'Delete a node.', ('DELETE', _NODE)),
    rule(
        'nodes:action',
        MEMBER,
        'Check or recover a node, or say that it is unhealthy.',
        ('POST', f'{_NODE}/actions'),
    ),
    rule(
        'nodes:operation',
        MEMBER,
        'Do an operation of its profile with a node.',
        ('POST', f'{_NODE}/ops'),
    ),
)

CLUSTER_POLICY_RULES = (
    rule('policies:index', READER, 'List policies.', ('GET', _POLICIES)),
    rule('policies:get', READER, 'Show a policy.', ('GET', _POLICY)),
    rule('policies:create', MEMBER, 'Create a policy.', ('POST', _POLICIES)),
    rule('policies:update', MEMBER, 'Update a policy.', ('PATCH', _POLICY)),
    rule('policies:delete', MEMBER, 'Delete a policy.', ('DELETE', _POLICY)),
    rule(
        'policies:validate',
        MEMBER,
        'Say whether a spec makes a policy.',
        ('POST', f'{_POLICIES}/validate'),
    ),
    rule(
        'policy_types:index',
        READER,
        'List the types of policies.',
        ('GET', _POLICY_TYPES),
    ),
    rule(
        'policy_types:get',
        READER,
        'Show what a type of policy takes.',
        ('GET', _POLICY_TYPE),
    ),
)

CLUSTER_PROFILE_RULES = (
    rule('profiles:index', READER, 'List profiles.', ('GET', _PROFILES)),
    rule('profiles:get', READER, 'Show a profile.', ('GET', _PROFILE)),
    rule('profiles:create', MEMBER, 'Create a profile.', ('POST', _PROFILES)),
    rule('profiles:update', MEMBER, 'Update a profile.', ('PATCH', _PROFILE)),
    rule('profiles:delete', MEMBER, 'Delete a profile.', ('DELETE', _PROFILE)),
    rule(
        'profiles:validate',
        MEMBER,
        'Say whether a spec makes a profile.',
        ('POST', f'{_PROFILES}/validate'),
    ),
    rule(
        'profile_types:index',
        READER,
        'List the types of profiles.',
        ('GET', _PROFILE_TYPES),
    ),
    rule(
        'profile_types:get',
        READER,
        'Show what a type of profile takes.',
        ('GET', _PROFILE_TYPE),
    ),
    rule(
        'profile_types:ops',
        READER,
        'List what can be done with nodes of a type of profile.',
        ('GET', f'{_PROFILE_TYPE}/ops'),
    ),
)

CLUSTER_RECEIVER_RULES = (
    rule('receivers:index', MEMBER, 'List receivers.', ('GET', _RECEIVERS)),
    rule('receivers:get', MEMBER, 'Show a receiver.', ('GET', _RECEIVER)),
    rule('receivers:create', MEMBER, 'Create a receiver.', ('POST', _RECEIVERS)),
    rule('receivers:update', MEMBER, 'Update a receiver.', ('PATCH', _RECEIVER)),
    rule('receivers:delete', MEMBER, 'Delete a receiver.', ('DELETE', _RECEIVER)),
    rule(
        'receivers:notify',
        MEMBER,
        'Tell a receiver that there is a message.',
        ('POST', f'{_RECEIVER}/notify'),
    ),
)
