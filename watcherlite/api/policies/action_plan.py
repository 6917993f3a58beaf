"""The rules for action plans."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'action_plan:get',
            base.READER,
            'Show an action plan.',
            ('GET', '/v1/action_plans/{uuid}'),
        ),
        base.rule(
            'action_plan:get_all',
            base.READER,
            'List action plans.',
            ('GET', '/v1/action_plans'),
        ),
        base.rule(
            'action_plan:detail',
            base.READER,
            'List action plans with all details.',
            ('GET', '/v1/action_plans/detail'),
        ),
        base.rule(
            'action_plan:create',
            base.MANAGER,
            'Create an action plan from a document.',
            ('POST', '/v1/action_plans'),
        ),
        base.rule(
            'action_plan:update',
            base.MANAGER,
            'Start or cancel an action plan with a patch.',
            ('PATCH', '/v1/action_plans/{uuid}'),
        ),
        base.rule(
            'action_plan:start',
            base.MANAGER,
            'Start an action plan.',
            ('POST', '/v1/action_plans/{uuid}/start'),
        ),
        base.rule(
            'action_plan:delete',
            base.ADMIN,
            'Delete an action plan.',
            ('DELETE', '/v1/action_plans/{uuid}'),
        ),
    ]
