"""The rules for the health of the service."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'healthcheck:detail',
            base.ADMIN,
            'Show the database, broker, lanes and outbox in /healthcheck.',
            ('GET', '/healthcheck'),
        ),
    ]
