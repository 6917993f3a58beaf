"""The rules for the data model."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'data_model:get_all',
            base.READER,
            'Show the data model that strategies work with.',
            ('GET', '/v1/data_model'),
        ),
    ]
