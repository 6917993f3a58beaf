"""Objects as the API represents them; `test_api_objects` checks their schemas."""

import copy

HOST = 'http://127.0.0.1:9322'
GOAL_UUID = '11111111-1111-4111-8111-111111111111'
STRATEGY_UUID = '22222222-2222-4222-8222-222222222222'
TEMPLATE_UUID = '33333333-3333-4333-8333-333333333333'
AUDIT_UUID = '44444444-4444-4444-8444-444444444444'
PLAN_UUID = '55555555-5555-4555-8555-555555555555'
ACTION_UUID = '66666666-6666-4666-8666-666666666666'
PARENT_UUID = '77777777-7777-4777-8777-777777777777'
CREATED = '2030-01-02T03:04:05.678901+00:00'
TIMES = {'created_at': CREATED, 'updated_at': None, 'deleted_at': None}


def _links(noun, identifier):
    return [
        {'href': f'{HOST}/v1/{noun}/{identifier}', 'rel': 'self'},
        {'href': f'{HOST}/{noun}/{identifier}', 'rel': 'bookmark'},
    ]


GOAL = {
    'uuid': GOAL_UUID,
    'name': 'server_consolidation',
    'display_name': 'Server Consolidation',
    'efficacy_specification': [
        {
            'name': 'released_nodes_ratio',
            'description': 'Ratio of released nodes.',
            'unit': '%',
            'schema': '{}',
        }
    ],
    'links': _links('goals', GOAL_UUID),
}
STRATEGY = {
    'uuid': STRATEGY_UUID,
    'name': 'basic',
    'display_name': 'Basic offline consolidation',
    'goal_uuid': GOAL_UUID,
    'goal_name': 'server_consolidation',
    'parameters_spec': {'properties': {'period': {'type': 'integer'}}},
    'links': _links('strategies', STRATEGY_UUID),
    **TIMES,
}
STATE = [
    {'type': 'Datasource', 'mandatory': True, 'comment': '', 'state': 'gnocchi'},
    {
        'type': 'CDM',
        'mandatory': False,
        'comment': '',
        'state': [{'compute_model': 'available'}, {'storage_model': 'not available'}],
    },
]
TEMPLATE = {
    'uuid': TEMPLATE_UUID,
    'name': 'weekly',
    'goal_uuid': GOAL_UUID,
    'goal_name': 'server_consolidation',
    'strategy_uuid': STRATEGY_UUID,
    'strategy_name': 'basic',
    'scope': [],
    'description': 'Every week.',
    'default_parameters': {'period': 3600},
    'links': _links('audit_templates', TEMPLATE_UUID),
    **TIMES,
}
AUDIT = {
    'uuid': AUDIT_UUID,
    'name': 'basic-2030',
    'audit_type': 'ONESHOT',
    'state': 'SUCCEEDED',
    'goal_uuid': GOAL_UUID,
    'goal_name': 'server_consolidation',
    'strategy_uuid': None,
    'strategy_name': None,
    'interval': None,
    'scope': [],
    'auto_trigger': False,
    'next_run_time': None,
    'parameters': {'period': 3600},
    'hostname': None,
    'start_time': None,
    'end_time': None,
    'force': False,
    'status_message': None,
    'links': _links('audits', AUDIT_UUID),
    **TIMES,
}
PLAN = {
    'uuid': PLAN_UUID,
    'state': 'RECOMMENDED',
    'audit_uuid': AUDIT_UUID,
    'strategy_uuid': STRATEGY_UUID,
    'strategy_name': 'basic',
    'efficacy_indicators': [
        {
            'name': 'released_nodes',
            'description': 'Nodes that are free.',
            'unit': None,
            'value': 2.0,
        }
    ],
    'global_efficacy': [
        {
            'name': 'released_nodes_ratio',
            'description': 'Ratio of released nodes.',
            'unit': '%',
            'value': 50.0,
        }
    ],
    'links': _links('action_plans', PLAN_UUID),
    'hostname': None,
    'name': 'nightly',
    'status_message': None,
    'progress': {
        'total': 5,
        'ended': 3,
        'failed': 1,
        'skipped': 0,
        'rolled_back': False,
    },
    **TIMES,
}
ACTION = {
    'uuid': ACTION_UUID,
    'action_plan_uuid': PLAN_UUID,
    'state': 'PENDING',
    'action_type': 'nop',
    'parents': [PARENT_UUID],
    'description': 'Does nothing.',
    'input_parameters': {'message': 'hello'},
    'name': 'rest',
    'target': 'web-1',
    'suspended': False,
    'start_time': None,
    'end_time': None,
    'status_message': None,
    'links': _links('actions', ACTION_UUID),
    **TIMES,
}
SERVICE = {
    'id': 2,
    'name': 'watcherlite-engine',
    'host': 'alpha',
    'status': 'ACTIVE',
    'last_seen_up': '2030-01-02T03:04:05',
    'lane': 'engine',
    'lease_until': CREATED,
    'links': _links('services', 2),
    **TIMES,
}
SCORING_ENGINE = {
    'uuid': GOAL_UUID,
    'name': 'dummy_scorer',
    'description': 'Dummy Scorer',
    'metainfo': '{}',
    'links': _links('scoring_engines', GOAL_UUID),
    **TIMES,
}
EVENT = {
    'sequence': 1,
    'uuid': GOAL_UUID,
    'occurred_at': CREATED,
    'subject': 'action',
    'kind': 'state_changed',
    'action_uuid': ACTION_UUID,
    'action_name': 'rest',
    'action_type': 'nop',
    'old_state': 'PENDING',
    'new_state': 'ONGOING',
    'suspended': False,
    'message': None,
    'detail': None,
}
#: The fields that lists omit.
_DETAILS = {
    'strategies': ('parameters_spec', *TIMES),
    'audit_templates': ('description', 'default_parameters', *TIMES),
    'audits': (
        *('parameters', 'hostname', 'start_time', 'end_time', 'force'),
        *('status_message', *TIMES),
    ),
    'action_plans': (
        *('hostname', 'name', 'status_message', 'progress'),
        *('created_at', 'deleted_at'),
    ),
    'actions': (
        *('description', 'input_parameters', 'name', 'target', 'suspended'),
        *('start_time', 'end_time', 'status_message', *TIMES),
    ),
    'services': ('last_seen_up', 'lane', 'lease_until', *TIMES),
    'scoring_engines': ('metainfo', *TIMES),
}


def copy_with(original, **changes):
    """Return an object with changed values."""
    return {**copy.deepcopy(original), **changes}


def page(noun, *rows, detail=False):
    """Return a page of a collection."""
    left_out = () if detail else _DETAILS.get(noun, ())
    return {noun: [{k: v for k, v in row.items() if k not in left_out} for row in rows]}
