"""The rules of the infra-optim API: plans, audits and what they are made of."""

from watcherlite.api.policies.base import (
    ADMIN,
    EVERYWHERE,
    SERVICE,
    SYSTEM_MANAGER,
    SYSTEM_READER,
    rule,
)

ACTION_RULES = (
    rule('action:get', SYSTEM_READER, 'Show an action.', ('GET', '/v1/actions/{uuid}')),
    rule('action:get_all', SYSTEM_READER, 'List actions.', ('GET', '/v1/actions')),
    rule(
        'action:detail',
        SYSTEM_READER,
        'List actions with all details.',
        ('GET', '/v1/actions/detail'),
    ),
    rule(
        'action:update',
        SYSTEM_MANAGER,
        'Skip an action, or change why it is skipped.',
        ('PATCH', '/v1/actions/{uuid}'),
    ),
    rule(
        'action:signal',
        SYSTEM_MANAGER,
        'Cancel, suspend or resume an action.',
        ('POST', '/v1/actions/{uuid}/cancel'),
        ('POST', '/v1/actions/{uuid}/suspend'),
        ('POST', '/v1/actions/{uuid}/resume'),
    ),
)

ACTION_PLAN_RULES = (
    rule(
        'action_plan:get',
        SYSTEM_READER,
        'Show an action plan.',
        ('GET', '/v1/action_plans/{uuid}'),
    ),
    rule(
        'action_plan:get_all',
        SYSTEM_READER,
        'List action plans.',
        ('GET', '/v1/action_plans'),
    ),
    rule(
        'action_plan:detail',
        SYSTEM_READER,
        'List action plans with all details.',
        ('GET', '/v1/action_plans/detail'),
    ),
    rule(
        'action_plan:create',
        SYSTEM_MANAGER,
        'Create an action plan from a document.',
        ('POST', '/v1/action_plans'),
    ),
    rule(
        'action_plan:all_projects',
        EVERYWHERE,
        'Have action plans and audits act on the stacks, clusters and nodes of all '
        'projects, not of the own one alone.',
        ('POST', '/v1/action_plans'),
        ('POST', '/v1/audits'),
        ('PATCH', '/v1/audits/{audit}'),
    ),
    rule(
        'action_plan:update',
        SYSTEM_MANAGER,
        'Start or cancel an action plan with a patch.',
        ('PATCH', '/v1/action_plans/{uuid}'),
    ),
    rule(
        'action_plan:start',
        SYSTEM_MANAGER,
        'Start an action plan.',
        ('POST', '/v1/action_plans/{uuid}/start'),
    ),
    rule(
        'action_plan:delete',
        ADMIN,
        'Delete an action plan.',
        ('DELETE', '/v1/action_plans/{uuid}'),
    ),
)

AUDIT_RULES = (
    rule('audit:get', SYSTEM_READER, 'Show an audit.', ('GET', '/v1/audits/{audit}')),
    rule('audit:get_all', SYSTEM_READER, 'List audits.', ('GET', '/v1/audits')),
    rule(
        'audit:detail',
        SYSTEM_READER,
        'List audits with all details.',
        ('GET', '/v1/audits/detail'),
    ),
    rule('audit:create', SYSTEM_MANAGER, 'Create an audit.', ('POST', '/v1/audits')),
    rule(
        'audit:update',
        SYSTEM_MANAGER,
        'Change an audit, or cancel it.',
        ('PATCH', '/v1/audits/{audit}'),
    ),
    rule('audit:delete', ADMIN, 'Delete an audit.', ('DELETE', '/v1/audits/{audit}')),
)

AUDIT_TEMPLATE_RULES = (
    rule(
        'audit_template:get',
        SYSTEM_READER,
        'Show an audit template.',
        ('GET', '/v1/audit_templates/{audit_template}'),
    ),
    rule(
        'audit_template:get_all',
        SYSTEM_READER,
        'List audit templates.',
        ('GET', '/v1/audit_templates'),
    ),
    rule(
        'audit_template:detail',
        SYSTEM_READER,
        'List audit templates with all details.',
        ('GET', '/v1/audit_templates/detail'),
    ),
    rule(
        'audit_template:create',
        SYSTEM_MANAGER,
        'Create an audit template.',
        ('POST', '/v1/audit_templates'),
    ),
    rule(
        'audit_template:update',
        SYSTEM_MANAGER,
        'Change an audit template.',
        ('PATCH', '/v1/audit_templates/{audit_template}'),
    ),
    rule(
        'audit_template:delete',
        ADMIN,
        'Delete an audit template.',
        ('DELETE', '/v1/audit_templates/{audit_template}'),
    ),
)

DATA_MODEL_RULES = (
    rule(
        'data_model:get_all',
        SYSTEM_READER,
        'Show the data model that strategies work with.',
        ('GET', '/v1/data_model'),
    ),
)

EVENT_RULES = (
    rule(
        'event:get_all',
        SYSTEM_READER,
        'Read what has happened, or follow what happens.',
        ('GET', '/v1/action_plans/{uuid}/events'),
        ('GET', '/v1/audits/{audit}/events'),
    ),
)

GOAL_RULES = (
    rule('goal:get', SYSTEM_READER, 'Show a goal.', ('GET', '/v1/goals/{goal}')),
    rule('goal:get_all', SYSTEM_READER, 'List goals.', ('GET', '/v1/goals')),
    rule(
        'goal:detail',
        SYSTEM_READER,
        'List goals with all details.',
        ('GET', '/v1/goals/detail'),
    ),
)

SCORING_ENGINE_RULES = (
    rule(
        'scoring_engine:get',
        SYSTEM_READER,
        'Show a scoring engine.',
        ('GET', '/v1/scoring_engines/{scoring_engine}'),
    ),
    rule(
        'scoring_engine:get_all',
        SYSTEM_READER,
        'List scoring engines.',
        ('GET', '/v1/scoring_engines'),
    ),
    rule(
        'scoring_engine:detail',
        SYSTEM_READER,
        'List scoring engines with all details.',
        ('GET', '/v1/scoring_engines/detail'),
    ),
)

SERVICE_RULES = (
    rule(
        'service:get',
        SYSTEM_READER,
        'Show a service.',
        ('GET', '/v1/services/{service}'),
    ),
    rule('service:get_all', SYSTEM_READER, 'List services.', ('GET', '/v1/services')),
    rule(
        'service:detail',
        SYSTEM_READER,
        'List services with all details.',
        ('GET', '/v1/services/detail'),
    ),
)

STRATEGY_RULES = (
    rule(
        'strategy:get',
        SYSTEM_READER,
        'Show a strategy.',
        ('GET', '/v1/strategies/{strategy}'),
    ),
    rule(
        'strategy:get_all', SYSTEM_READER, 'List strategies.', ('GET', '/v1/strategies')
    ),
    rule(
        'strategy:detail',
        SYSTEM_READER,
        'List strategies with all details.',
        ('GET', '/v1/strategies/detail'),
    ),
    rule(
        'strategy:state',
        SYSTEM_READER,
        'Show what a strategy needs, and whether it is there.',
        ('GET', '/v1/strategies/{strategy}/state'),
    ),
)

WEBHOOK_RULES = (
    rule(
        'webhook:trigger',
        f'{SYSTEM_MANAGER} or {SERVICE}',
        'Trigger an EVENT audit.',
        ('POST', '/v1/webhooks/{audit}'),
    ),
)
