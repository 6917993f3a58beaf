"""The rules of the orchestration API; names and defaults are those of Heat."""

from watcherlite.api.policies.base import ADMIN, MEMBER, NOBODY, READER, rule

_PROJECT = '/orchestration/v1/{tenant}'
_STACKS = f'{_PROJECT}/stacks'
_NAMED = f'{_STACKS}/{{stack_name}}'
_STACK = f'{_NAMED}/{{stack_id}}'
_RESOURCES = f'{_STACK}/resources'
_RESOURCE = f'{_RESOURCES}/{{resource_name}}'
#: What below a stack is found by the name of the stack alone.
_FOUND = (
    *('actions', 'environment', 'events', 'files', 'outputs', 'resources'),
    'template',
)
#: Names of stacks that stand for something else in an address.
_WORDS = ('detail', 'preview')
_METHODS = ('DELETE', 'GET', 'PATCH', 'POST', 'PUT')
_LOOKUPS = (
    *((method, _NAMED) for method in _METHODS),
    *(('GET', f'{_NAMED}/{part}') for part in _FOUND),
    *(('POST', f'{_NAMED}/{part}') for part in ('actions', 'resources')),
    *(
        (method, f'{_STACKS}/{word}')
        for word in _WORDS
        for method in _METHODS
        if (method, word) not in (('GET', 'detail'), ('POST', 'preview'))
    ),
)
_SNAPSHOTS = f'{_STACK}/snapshots'
_SNAPSHOT = f'{_SNAPSHOTS}/{{snapshot_id}}'
_ACTIONS = (
    'POST',
    f'{_STACK}/actions',
)
_TYPES = f'{_PROJECT}/resource_types'
_VERSIONS = f'{_PROJECT}/template_versions'

RESOURCE_RULES = (
    rule(
        'resource:index', READER, 'List the resources of a stack.', ('GET', _RESOURCES)
    ),
    rule('resource:show', READER, 'Show a resource.', ('GET', _RESOURCE)),
    rule(
        'resource:metadata',
        READER,
        'Show the metadata of a resource.',
        ('GET', f'{_RESOURCE}/metadata'),
    ),
    rule(
        'resource:signal', MEMBER, 'Signal a resource.', ('POST', f'{_RESOURCE}/signal')
    ),
    rule(
        'resource:mark_unhealthy',
        MEMBER,
        'Say that a resource is unhealthy, or is not.',
        ('PATCH', _RESOURCE),
    ),
)

STACK_RULES = (
    rule('stacks:index', READER, 'List stacks.', ('GET', _STACKS)),
    rule(
        'stacks:detail',
        READER,
        'List stacks with all details.',
        ('GET', f'{_STACKS}/detail'),
    ),
    rule(
        'stacks:global_index',
        NOBODY,
        'List the stacks of all projects.',
        ('GET', _STACKS),
    ),
    rule(
        'stacks:lookup',
        READER,
        'Find out the address of a stack by its name or id.',
        *_LOOKUPS,
    ),
    rule('stacks:show', READER, 'Show a stack.', ('GET', _STACK)),
    rule('stacks:create', MEMBER, 'Create a stack.', ('POST', _STACKS)),
    rule(
        'stacks:preview',
        READER,
        'Show what would be created.',
        ('POST', f'{_STACKS}/preview'),
    ),
    rule('stacks:update', MEMBER, 'Update a stack.', ('PUT', _STACK)),
    rule(
        'stacks:update_patch',
        MEMBER,
        'Update a stack, keeping what is not given.',
        ('PATCH', _STACK),
    ),
    rule(
        'stacks:update_no_change',
        'rule:stacks:update_patch',
        'Update a stack without changing it, which replaces what is unhealthy.',
        ('PATCH', _STACK),
    ),
    rule(
        'stacks:preview_update',
        MEMBER,
        'Show what an update would do.',
        ('PUT', f'{_STACK}/preview'),
    ),
    rule(
        'stacks:preview_update_patch',
        MEMBER,
        'Show what an update would do that keeps what is not given.',
        ('PATCH', f'{_STACK}/preview'),
    ),
    rule('stacks:delete', MEMBER, 'Delete a stack.', ('DELETE', _STACK)),
    rule(
        'stacks:abandon',
        MEMBER,
        'Forget a stack and leave its resources where they are.',
        ('DELETE', f'{_STACK}/abandon'),
    ),
    rule(
        'stacks:export',
        MEMBER,
        'Show what is needed to adopt the resources of a stack.',
        ('GET', f'{_STACK}/export'),
    ),
    rule(
        'stacks:template',
        READER,
        'Show the template of a stack.',
        ('GET', f'{_STACK}/template'),
    ),
    rule(
        'stacks:environment',
        READER,
        'Show the environment of a stack.',
        ('GET', f'{_STACK}/environment'),
    ),
    rule(
        'stacks:files', READER, 'Show the files of a stack.', ('GET', f'{_STACK}/files')
    ),
    rule(
        'stacks:list_outputs',
        READER,
        'List the outputs of a stack.',
        ('GET', f'{_STACK}/outputs'),
    ),
    rule(
        'stacks:show_output',
        READER,
        'Show an output of a stack.',
        ('GET', f'{_STACK}/outputs/{{output_key}}'),
    ),
    rule(
        'stacks:snapshot',
        MEMBER,
        'Make a snapshot; there are none.',
        ('POST', _SNAPSHOTS),
    ),
    rule(
        'stacks:list_snapshots',
        READER,
        'List snapshots; there are none.',
        ('GET', _SNAPSHOTS),
    ),
    rule(
        'stacks:show_snapshot',
        READER,
        'Show a snapshot; there are none.',
        ('GET', _SNAPSHOT),
    ),
    rule(
        'stacks:delete_snapshot',
        MEMBER,
        'Delete a snapshot; there are none.',
        ('DELETE', _SNAPSHOT),
    ),
    rule(
        'stacks:restore_snapshot',
        MEMBER,
        'Go back to a snapshot; there are none.',
        ('POST', f'{_SNAPSHOT}/restore'),
    ),
)

#: `actions:action` has to hold besides the rule of the action.
STACK_ACTION_RULES = (
    rule('actions:action', READER, 'Do anything with a whole stack.', _ACTIONS),
    rule('actions:suspend', MEMBER, 'Suspend a stack.', _ACTIONS),
    rule('actions:resume', MEMBER, 'Resume a stack.', _ACTIONS),
    rule('actions:check', READER, 'Look at the resources of a stack.', _ACTIONS),
    rule('actions:lock', MEMBER, 'Lock a stack.', _ACTIONS),
    rule('actions:unlock', MEMBER, 'Unlock a stack.', _ACTIONS),
    rule('actions:cancel_update', MEMBER, 'Cancel an update and go back.', _ACTIONS),
    rule(
        'actions:cancel_without_rollback',
        MEMBER,
        'Cancel what is done with a stack.',
        _ACTIONS,
    ),
)

STACK_EVENT_RULES = (
    rule(
        'events:index',
        READER,
        'List the events of a stack or of a resource.',
        ('GET', f'{_STACK}/events'),
        ('GET', f'{_RESOURCE}/events'),
    ),
    rule(
        'events:show',
        READER,
        'Show an event of a resource.',
        ('GET', f'{_RESOURCE}/events/{{event_id}}'),
    ),
)

STACK_TYPE_RULES = (
    rule(
        'stacks:list_resource_types',
        READER,
        'List the types of resources.',
        ('GET', _TYPES),
    ),
    rule(
        'stacks:resource_schema',
        READER,
        'Show what a type of resources declares.',
        ('GET', f'{_TYPES}/{{type_name}}'),
    ),
    rule(
        'stacks:generate_template',
        MEMBER,
        'Show a template of one resource of a type.',
        ('GET', f'{_TYPES}/{{type_name}}/template'),
    ),
    rule(
        'stacks:list_template_versions',
        READER,
        'List the versions of templates.',
        ('GET', _VERSIONS),
    ),
    rule(
        'stacks:list_template_functions',
        READER,
        'List the functions of a version of templates.',
        ('GET', f'{_VERSIONS}/{{template_version}}/functions'),
    ),
    rule(
        'stacks:validate_template',
        MEMBER,
        'Say whether a template is valid.',
        ('POST', f'{_PROJECT}/validate'),
    ),
    rule(
        'build_info:build_info',
        READER,
        'Show which release this is.',
        ('GET', f'{_PROJECT}/build_info'),
        ('GET', '/clustering/v1/build-info'),
    ),
    rule(
        'service:index',
        ADMIN,
        'List the engines that work on stacks.',
        ('GET', f'{_PROJECT}/services'),
    ),
)
