"""The rules for profiles and their types; their names are those of Senlin."""

from oslo_policy import policy

from watcherlite.api.policies import base

_ALL = '/clustering/v1/profiles'
_ONE = f'{_ALL}/{{profile}}'
_TYPES = '/clustering/v1/profile-types'
_TYPE = f'{_TYPES}/{{profile_type}}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule('profiles:index', base.READER, 'List profiles.', ('GET', _ALL)),
        base.rule('profiles:get', base.READER, 'Show a profile.', ('GET', _ONE)),
        base.rule('profiles:create', base.MEMBER, 'Create a profile.', ('POST', _ALL)),
        base.rule('profiles:update', base.MEMBER, 'Update a profile.', ('PATCH', _ONE)),
        base.rule(
            'profiles:delete', base.MEMBER, 'Delete a profile.', ('DELETE', _ONE)
        ),
        base.rule(
            'profiles:validate',
            base.MEMBER,
            'Say whether a spec makes a profile.',
            ('POST', f'{_ALL}/validate'),
        ),
        base.rule(
            'profile_types:index',
            base.READER,
            'List the types of profiles.',
            ('GET', _TYPES),
        ),
        base.rule(
            'profile_types:get',
            base.READER,
            'Show what a type of profile takes.',
            ('GET', _TYPE),
        ),
        base.rule(
            'profile_types:ops',
            base.READER,
            'List what can be done with nodes of a type of profile.',
            ('GET', f'{_TYPE}/ops'),
        ),
    ]
