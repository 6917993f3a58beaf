"""The rules for policies and their types; their names are those of Senlin."""

from oslo_policy import policy

from watcherlite.api.policies import base

_ALL = '/clustering/v1/policies'
_ONE = f'{_ALL}/{{policy}}'
_TYPES = '/clustering/v1/policy-types'
_TYPE = f'{_TYPES}/{{policy_type}}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule('policies:index', base.READER, 'List policies.', ('GET', _ALL)),
        base.rule('policies:get', base.READER, 'Show a policy.', ('GET', _ONE)),
        base.rule('policies:create', base.MEMBER, 'Create a policy.', ('POST', _ALL)),
        base.rule('policies:update', base.MEMBER, 'Update a policy.', ('PATCH', _ONE)),
        base.rule('policies:delete', base.MEMBER, 'Delete a policy.', ('DELETE', _ONE)),
        base.rule(
            'policies:validate',
            base.MEMBER,
            'Say whether a spec makes a policy.',
            ('POST', f'{_ALL}/validate'),
        ),
        base.rule(
            'policy_types:index',
            base.READER,
            'List the types of policies.',
            ('GET', _TYPES),
        ),
        base.rule(
            'policy_types:get',
            base.READER,
            'Show what a type of policy takes.',
            ('GET', _TYPE),
        ),
    ]
