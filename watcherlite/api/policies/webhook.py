"""The rules for webhooks."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'webhook:trigger',
            f'{base.MANAGER} or {base.SERVICE}',
            'Trigger an EVENT audit.',
            ('POST', '/v1/webhooks/{audit}'),
        ),
    ]
