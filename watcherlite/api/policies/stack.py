"""The rules for stacks; their names and defaults are those of Heat."""

from oslo_policy import policy

from watcherlite.api.policies import base

_STACKS = '/orchestration/v1/{tenant}/stacks'
_ANY = f'{_STACKS}/{{stack_name}}'
_ONE = f'{_ANY}/{{stack_id}}'
#: What below a stack is found by the name of the stack alone.
_FOUND = (
    *('actions', 'environment', 'events', 'files', 'outputs', 'resources'),
    'template',
)
#: Names of stacks that stand for something else in an address.
_WORDS = ('detail', 'preview')
_METHODS = ('DELETE', 'GET', 'PATCH', 'POST', 'PUT')
_LOOKUPS = (
    *((method, _ANY) for method in _METHODS),
    *(('GET', f'{_ANY}/{part}') for part in _FOUND),
    *(('POST', f'{_ANY}/{part}') for part in ('actions', 'resources')),
    *(
        (method, f'{_STACKS}/{word}')
        for word in _WORDS
        for method in _METHODS
        if (method, word) not in (('GET', 'detail'), ('POST', 'preview'))
    ),
)


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule('stacks:index', base.READER, 'List stacks.', ('GET', _STACKS)),
        base.rule(
            'stacks:detail',
            base.READER,
            'List stacks with all details.',
            ('GET', f'{_STACKS}/detail'),
        ),
        base.rule(
            'stacks:global_index',
            base.NOBODY,
            'List the stacks of all projects.',
            ('GET', _STACKS),
        ),
        base.rule(
            'stacks:lookup',
            base.READER,
            'Find out the address of a stack by its name or id.',
            *_LOOKUPS,
        ),
        base.rule('stacks:show', base.READER, 'Show a stack.', ('GET', _ONE)),
        base.rule('stacks:create', base.MEMBER, 'Create a stack.', ('POST', _STACKS)),
        base.rule(
            'stacks:preview',
            base.READER,
            'Show what would be created.',
            ('POST', f'{_STACKS}/preview'),
        ),
        base.rule('stacks:update', base.MEMBER, 'Update a stack.', ('PUT', _ONE)),
        base.rule(
            'stacks:update_patch',
            base.MEMBER,
            'Update a stack, keeping what is not given.',
            ('PATCH', _ONE),
        ),
        base.rule(
            'stacks:update_no_change',
            'rule:stacks:update_patch',
            'Update a stack without changing it, which replaces what is unhealthy.',
            ('PATCH', _ONE),
        ),
        base.rule(
            'stacks:preview_update',
            base.MEMBER,
            'Show what an update would do.',
            ('PUT', f'{_ONE}/preview'),
        ),
        base.rule(
            'stacks:preview_update_patch',
            base.MEMBER,
            'Show what an update would do that keeps what is not given.',
            ('PATCH', f'{_ONE}/preview'),
        ),
        base.rule('stacks:delete', base.MEMBER, 'Delete a stack.', ('DELETE', _ONE)),
        base.rule(
            'stacks:abandon',
            base.MEMBER,
            'Forget a stack and leave its resources where they are.',
            ('DELETE', f'{_ONE}/abandon'),
        ),
        base.rule(
            'stacks:export',
            base.MEMBER,
            'Show what is needed to adopt the resources of a stack.',
            ('GET', f'{_ONE}/export'),
        ),
        *_of_contents(),
        *_of_snapshots(),
    ]


def _of_contents() -> list[policy.RuleDefault]:
    return [
        base.rule(
            'stacks:template',
            base.READER,
            'Show the template of a stack.',
            ('GET', f'{_ONE}/template'),
        ),
        base.rule(
            'stacks:environment',
            base.READER,
            'Show the environment of a stack.',
            ('GET', f'{_ONE}/environment'),
        ),
        base.rule(
            'stacks:files',
            base.READER,
            'Show the files of a stack.',
            ('GET', f'{_ONE}/files'),
        ),
        base.rule(
            'stacks:list_outputs',
            base.READER,
            'List the outputs of a stack.',
            ('GET', f'{_ONE}/outputs'),
        ),
        base.rule(
            'stacks:show_output',
            base.READER,
            'Show an output of a stack.',
            ('GET', f'{_ONE}/outputs/{{output_key}}'),
        ),
    ]


def _of_snapshots() -> list[policy.RuleDefault]:
    """Return the rules for what there is not: who may not ask is not told even that."""
    snapshots = f'{_ONE}/snapshots'
    one = f'{snapshots}/{{snapshot_id}}'
    return [
        base.rule(
            'stacks:snapshot',
            base.MEMBER,
            'Make a snapshot; there are none.',
            ('POST', snapshots),
        ),
        base.rule(
            'stacks:list_snapshots',
            base.READER,
            'List snapshots; there are none.',
            ('GET', snapshots),
        ),
        base.rule(
            'stacks:show_snapshot',
            base.READER,
            'Show a snapshot; there are none.',
            ('GET', one),
        ),
        base.rule(
            'stacks:delete_snapshot',
            base.MEMBER,
            'Delete a snapshot; there are none.',
            ('DELETE', one),
        ),
        base.rule(
            'stacks:restore_snapshot',
            base.MEMBER,
            'Go back to a snapshot; there are none.',
            ('POST', f'{one}/restore'),
        ),
    ]
