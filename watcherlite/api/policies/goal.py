"""The rules for goals."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'goal:get',
            base.READER,
            'Show a goal.',
            ('GET', '/v1/goals/{goal}'),
        ),
        base.rule(
            'goal:get_all',
            base.READER,
            'List goals.',
            ('GET', '/v1/goals'),
        ),
        base.rule(
            'goal:detail',
            base.READER,
            'List goals with all details.',
            ('GET', '/v1/goals/detail'),
        ),
    ]
