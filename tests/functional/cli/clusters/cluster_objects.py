"""Clusters, nodes and related objects, as the clustering API represents them."""

CLUSTER_ID = '11111111-1111-4111-8111-111111111111'
NODE_ID = '22222222-2222-4222-8222-222222222222'
PROFILE_ID = '33333333-3333-4333-8333-333333333333'
POLICY_ID = '44444444-4444-4444-8444-444444444444'
ACTION_ID = '55555555-5555-4555-8555-555555555555'
EVENT_ID = '66666666-6666-4666-8666-666666666666'
RECEIVER_ID = '77777777-7777-4777-8777-777777777777'
BINDING_ID = '88888888-8888-4888-8888-888888888888'
TIME = '2030-01-02T03:04:05Z'

OWNED = {'user': 'me', 'project': 'default', 'domain': None}
CLUSTER = {
    'id': CLUSTER_ID,
    'name': 'web',
    'profile_id': PROFILE_ID,
    **OWNED,
    'init_at': TIME,
    'created_at': TIME,
    'updated_at': None,
    'min_size': 1,
    'max_size': -1,
    'desired_capacity': 3,
    'timeout': 3600,
    'status': 'ACTIVE',
    'status_reason': 'CLUSTER_CREATE: number of active nodes is equal or above '
    'desired_capacity (3).',
    'metadata': {'tier': 'web'},
    'data': {},
    'dependents': {},
    'config': {},
    'profile_name': 'server',
    'nodes': [NODE_ID],
    'policies': [BINDING_ID],
}
NODE = {
    'id': NODE_ID,
    'name': 'web-1',
    'cluster_id': CLUSTER_ID,
    'physical_id': '4711',
    'profile_id': PROFILE_ID,
    **OWNED,
    'index': 1,
    'role': '',
    'init_at': TIME,
    'created_at': TIME,
    'updated_at': None,
    'status': 'ACTIVE',
    'status_reason': 'Creation succeeded',
    'data': {},
    'metadata': {},
    'dependents': {},
    'profile_name': 'server',
    'tainted': False,
}
SPEC = {'type': 'local.process', 'version': '1.0', 'properties': {'command': ['x']}}
PROFILE = {
    'id': PROFILE_ID,
    'name': 'server',
    'type': 'local.process-1.0',
    **OWNED,
    'spec': SPEC,
    'metadata': {},
    'created_at': TIME,
    'updated_at': None,
}
POLICY_SPEC = {
    'type': 'senlin.policy.scaling',
    'version': '1.0',
    'properties': {'event': 'CLUSTER_SCALE_IN'},
}
POLICY = {
    'id': POLICY_ID,
    'name': 'less',
    'type': 'senlin.policy.scaling-1.0',
    **OWNED,
    'spec': POLICY_SPEC,
    'data': {},
    'created_at': TIME,
    'updated_at': None,
}
BINDING = {
    'id': BINDING_ID,
    'cluster_id': CLUSTER_ID,
    'cluster_name': 'web',
    'policy_id': POLICY_ID,
    'policy_name': 'less',
    'policy_type': 'senlin.policy.scaling-1.0',
    'enabled': True,
    'priority': 100,
    'data': {},
    'last_op': None,
}
ACTION = {
    'id': ACTION_ID,
    'name': 'cluster_check_11111111',
    'action': 'CLUSTER_CHECK',
    'target': CLUSTER_ID,
    'cause': 'RPC Request',
    'owner': None,
    'interval': 0,
    'start_time': 1893553445.5,
    'end_time': None,
    'timeout': 3600,
    'status': 'RUNNING',
    'status_reason': '',
    'inputs': {},
    'outputs': {},
    'depends_on': [],
    'depended_by': [],
    'created_at': TIME,
    'updated_at': None,
    'data': {},
    'user': 'me',
    'project': 'default',
    'cluster_id': CLUSTER_ID,
    'control': None,
    'not_before': None,
}
EVENT = {
    'id': EVENT_ID,
    'timestamp': TIME,
    'oid': CLUSTER_ID,
    'oname': 'web',
    'otype': 'CLUSTER',
    'cluster_id': CLUSTER_ID,
    'level': '20',
    'user': 'me',
    'project': 'default',
    'action': 'CLUSTER_CHECK',
    'status': 'start',
    'status_reason': 'Check in progress.',
    'meta_data': {},
}
RECEIVER = {
    'id': RECEIVER_ID,
    'name': 'more',
    'type': 'webhook',
    **OWNED,
    'cluster_id': CLUSTER_ID,
    'action': 'CLUSTER_SCALE_OUT',
    'actor': {},
    'params': {'count': 2},
    'channel': {'alarm_url': f'http://h/v1/webhooks/{RECEIVER_ID}/trigger?V=2'},
    'created_at': TIME,
    'updated_at': None,
}
PROFILE_TYPE = {
    'name': 'local.process',
    'version': '1.0',
    'support_status': {'1.0': [{'status': 'SUPPORTED', 'since': '2026.1'}]},
}
SHOWN_TYPE = {
    'name': 'local.process-1.0',
    'schema': {'command': {'type': 'List', 'required': True}},
    'support_status': PROFILE_TYPE['support_status'],
}
OPERATIONS = {'reboot': {'description': 'Restarts it.', 'parameters': {}}}
