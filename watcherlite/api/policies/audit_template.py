"""The rules for audit templates."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'audit_template:get',
            base.READER,
            'Show an audit template.',
            ('GET', '/v1/audit_templates/{audit_template}'),
        ),
        base.rule(
            'audit_template:get_all',
            base.READER,
            'List audit templates.',
            ('GET', '/v1/audit_templates'),
        ),
        base.rule(
            'audit_template:detail',
            base.READER,
            'List audit templates with all details.',
            ('GET', '/v1/audit_templates/detail'),
        ),
        base.rule(
            'audit_template:create',
            base.MANAGER,
            'Create an audit template.',
            ('POST', '/v1/audit_templates'),
        ),
        base.rule(
            'audit_template:update',
            base.MANAGER,
            'Change an audit template.',
            ('PATCH', '/v1/audit_templates/{audit_template}'),
        ),
        base.rule(
            'audit_template:delete',
            base.ADMIN,
            'Delete an audit template.',
            ('DELETE', '/v1/audit_templates/{audit_template}'),
        ),
    ]
