"""The rules for services."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'service:get',
            base.READER,
            'Show a service.',
            ('GET', '/v1/services/{service}'),
        ),
        base.rule(
            'service:get_all',
            base.READER,
            'List services.',
            ('GET', '/v1/services'),
        ),
        base.rule(
            'service:detail',
            base.READER,
            'List services with all details.',
            ('GET', '/v1/services/detail'),
        ),
    ]
