"""Stacks, resources and events as the API represents them."""

HOST = 'http://127.0.0.1:9322/orchestration/v1/default'
STACK_ID = '88888888-8888-4888-8888-888888888888'
EVENT_ID = '99999999-9999-4999-8999-999999999999'
STACK_URL = f'{HOST}/stacks/web/{STACK_ID}'
SELF = {'href': STACK_URL, 'rel': 'self'}

STACK = {
    'id': STACK_ID,
    'links': [SELF],
    'stack_name': 'web',
    'description': 'A web server.',
    'stack_status': 'CREATE_COMPLETE',
    'stack_status_reason': 'Stack CREATE completed successfully',
    'creation_time': '2030-01-02T03:04:05Z',
    'updated_time': None,
    'deletion_time': None,
    'stack_owner': 'me',
    'parent': None,
    'stack_user_project_id': None,
    'tags': ['blue'],
    'project': 'default',
    'parameters': {'OS::stack_name': 'web', 'size': '3'},
    'template_description': 'A web server.',
    'capabilities': [],
    'notification_topics': [],
    'disable_rollback': True,
    'timeout_mins': 60,
    'stack_base_status': 'CREATE_COMPLETE',
    'lock_level': None,
    'lock_owner': None,
    'outputs': [
        {
            'output_key': 'url',
            'description': 'Where it is.',
            'output_value': 'http://a',
        },
        {'output_key': 'ports', 'description': '', 'output_value': [1, 2]},
        {
            'output_key': 'bad',
            'description': '',
            'output_value': None,
            'output_error': 'there is no attribute x',
        },
    ],
}
RESOURCE = {
    'resource_name': 'server',
    'logical_resource_id': 'server',
    'physical_resource_id': '4711',
    'resource_type': 'Local::Process',
    'resource_status': 'CREATE_COMPLETE',
    'resource_status_reason': 'state changed',
    'resource_base_status': 'CREATE_COMPLETE',
    'hook': None,
    'creation_time': '2030-01-02T03:04:05Z',
    'updated_time': '2030-01-02T03:04:06Z',
    'required_by': ['probe'],
    'links': [
        {'href': f'{STACK_URL}/resources/server', 'rel': 'self'},
        {'href': STACK_URL, 'rel': 'stack'},
    ],
}
DETAILED_RESOURCE = {
    **RESOURCE,
    'description': '',
    'attributes': {'pid': 4711},
    'protected': False,
}
EVENT = {
    'id': EVENT_ID,
    'event_time': '2030-01-02T03:04:05Z',
    'resource_name': 'server',
    'logical_resource_id': 'server',
    'physical_resource_id': '4711',
    'resource_status': 'CREATE_COMPLETE',
    'resource_status_reason': 'state changed',
    'links': [
        {'href': f'{STACK_URL}/resources/server/events/{EVENT_ID}', 'rel': 'self'},
        {'href': f'{STACK_URL}/resources/server', 'rel': 'resource'},
        {'href': STACK_URL, 'rel': 'stack'},
    ],
    'initiator': {'user_id': 'u1', 'user_name': 'alice', 'request_id': 'req-1'},
}
_DETAILS = (
    *('parameters', 'template_description', 'capabilities', 'notification_topics'),
    *('disable_rollback', 'timeout_mins', 'stack_base_status', 'lock_level'),
    *('lock_owner', 'outputs'),
)
LISTED = {name: value for name, value in STACK.items() if name not in _DETAILS}


def stack(**changes):
    """Return the representation of a stack."""
    return {'stack': {**STACK, **changes}}


def event(number, status, name='web', physical=STACK_ID, reason='state changed'):
    """Return an event, of the stack unless another name is given."""
    return {
        **EVENT,
        'id': f'event-{number}',
        'resource_name': name,
        'physical_resource_id': physical,
        'resource_status': status,
        'resource_status_reason': reason,
    }
