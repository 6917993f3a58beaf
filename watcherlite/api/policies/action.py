"""The rules for actions."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'action:get',
            base.READER,
            'Show an action.',
            ('GET', '/v1/actions/{uuid}'),
        ),
        base.rule(
            'action:get_all',
            base.READER,
            'List actions.',
            ('GET', '/v1/actions'),
        ),
        base.rule(
            'action:detail',
            base.READER,
            'List actions with all details.',
            ('GET', '/v1/actions/detail'),
        ),
        base.rule(
            'action:update',
            base.MANAGER,
            'Skip an action, or change why it is skipped.',
            ('PATCH', '/v1/actions/{uuid}'),
        ),
        base.rule(
            'action:signal',
            base.MANAGER,
            'Cancel, suspend or resume an action.',
            ('POST', '/v1/actions/{uuid}/cancel'),
            ('POST', '/v1/actions/{uuid}/suspend'),
            ('POST', '/v1/actions/{uuid}/resume'),
        ),
    ]
