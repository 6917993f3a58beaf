"""The rules for audits."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'audit:get',
            base.READER,
            'Show an audit.',
            ('GET', '/v1/audits/{audit}'),
        ),
        base.rule(
            'audit:get_all',
            base.READER,
            'List audits.',
            ('GET', '/v1/audits'),
        ),
        base.rule(
            'audit:detail',
            base.READER,
            'List audits with all details.',
            ('GET', '/v1/audits/detail'),
        ),
        base.rule(
            'audit:create',
            base.MANAGER,
            'Create an audit.',
            ('POST', '/v1/audits'),
        ),
        base.rule(
            'audit:update',
            base.MANAGER,
            'Change an audit, or cancel it.',
            ('PATCH', '/v1/audits/{audit}'),
        ),
        base.rule(
            'audit:delete',
            base.ADMIN,
            'Delete an audit.',
            ('DELETE', '/v1/audits/{audit}'),
        ),
    ]
