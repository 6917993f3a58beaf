"""The rules for strategies."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'strategy:get',
            base.READER,
            'Show a strategy.',
            ('GET', '/v1/strategies/{strategy}'),
        ),
        base.rule(
            'strategy:get_all',
            base.READER,
            'List strategies.',
            ('GET', '/v1/strategies'),
        ),
        base.rule(
            'strategy:detail',
            base.READER,
            'List strategies with all details.',
            ('GET', '/v1/strategies/detail'),
        ),
        base.rule(
            'strategy:state',
            base.READER,
            'Show what a strategy needs, and whether it is there.',
            ('GET', '/v1/strategies/{strategy}/state'),
        ),
    ]
