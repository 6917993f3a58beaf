"""The rules for resources of stacks; names and defaults are Heat's."""

from oslo_policy import policy

from watcherlite.api.policies import base

_RESOURCES = '/orchestration/v1/{tenant}/stacks/{stack_name}/{stack_id}/resources'
_ONE = f'{_RESOURCES}/{{resource_name}}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'resource:index',
            base.READER,
            'List the resources of a stack.',
            ('GET', _RESOURCES),
        ),
        base.rule('resource:show', base.READER, 'Show a resource.', ('GET', _ONE)),
        base.rule(
            'resource:metadata',
            base.READER,
            'Show the metadata of a resource.',
            ('GET', f'{_ONE}/metadata'),
        ),
        base.rule(
            'resource:signal',
            base.READER,
            'Signal a resource.',
            ('POST', f'{_ONE}/signal'),
        ),
        base.rule(
            'resource:mark_unhealthy',
            base.MEMBER,
            'Say that a resource is unhealthy, or is not.',
            ('PATCH', _ONE),
        ),
    ]
