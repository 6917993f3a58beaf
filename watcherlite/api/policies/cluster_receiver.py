"""The rules for receivers; their names are those of Senlin.

Who sees a receiver can trigger it, which changes a cluster.
"""

from oslo_policy import policy

from watcherlite.api.policies import base

_RECEIVERS = '/clustering/v1/receivers'
_ONE = f'{_RECEIVERS}/{{receiver}}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'receivers:index', base.MEMBER, 'List receivers.', ('GET', _RECEIVERS)
        ),
        base.rule(
            'receivers:get',
            base.MEMBER,
            'Show a receiver, with the address that triggers it.',
            ('GET', _ONE),
        ),
        base.rule(
            'receivers:create', base.MEMBER, 'Create a receiver.', ('POST', _RECEIVERS)
        ),
        base.rule(
            'receivers:update', base.MEMBER, 'Update a receiver.', ('PATCH', _ONE)
        ),
        base.rule(
            'receivers:delete', base.MEMBER, 'Delete a receiver.', ('DELETE', _ONE)
        ),
        base.rule(
            'receivers:notify',
            base.MEMBER,
            'Tell a receiver that there is a message.',
            ('POST', f'{_ONE}/notify'),
        ),
    ]
