"""The rules for the description of the API."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'openapi:get',
            base.READER,
            'Show the description of the API itself.',
            ('GET', '/v1/openapi.json'),
            ('GET', '/orchestration/v1/openapi.json'),
            ('GET', '/clustering/v1/openapi.json'),
        ),
    ]
