"""The rules for events."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'event:get_all',
            base.READER,
            'Read what has happened, or follow what happens.',
            ('GET', '/v1/action_plans/{uuid}/events'),
            ('GET', '/v1/audits/{audit}/events'),
        ),
    ]
