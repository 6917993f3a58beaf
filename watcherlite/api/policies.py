"""The policy rules: roles, and the default of each rule.

The description and the operations of a rule are those of its routes; an additional rule
of an operation has its own.
"""

from collections.abc import Iterator, Mapping, Sequence

from oslo_policy import policy

from watcherlite.api.clustering.handlers import ROUTES as CLUSTERING
from watcherlite.api.infra_optim.handlers import ROUTES as INFRA_OPTIM
from watcherlite.api.operation import Routes
from watcherlite.api.orchestration.handlers import ROUTES as ORCHESTRATION

ADMIN = 'rule:admin_api'
MANAGER = 'rule:manager_api'
READER = 'rule:reader_api'
#: For stacks and clusters: members of a project manage its objects.
MEMBER = 'rule:member_api'
#: For plans and audits, which affect the whole cloud.
SYSTEM_MANAGER = 'rule:system_manager_api'
SYSTEM_READER = 'rule:system_reader_api'
#: Spelled out: who opens plans to the managers of projects, by another
#: `system_manager_api`, does not give them the objects of all other projects.
EVERYWHERE = 'rule:admin_api or (role:manager and system_scope:all)'
NOBODY = '!'
#: Another service without a user.
SERVICE = 'rule:service_api'

SCOPES = ['system', 'domain', 'project']

#: The base rules. Each role includes the previous one, so that the identity service
#: needs no implied roles.
ROLES: Sequence[policy.RuleDefault] = (
    policy.RuleDefault(
        'admin_api', 'role:admin or role:administrator', 'All requests.'
    ),
    policy.RuleDefault(
        'manager_api',
        'rule:admin_api or role:manager',
        'Also request actions of any type on clusters of the project.',
    ),
    policy.RuleDefault(
        'member_api',
        'rule:manager_api or role:member',
        'Create and change stacks and clusters.',
    ),
    policy.RuleDefault(
        'reader_api',
        'rule:manager_api or role:member or role:reader',
        'Read stacks and clusters.',
    ),
    policy.RuleDefault(
        'system_manager_api',
        'rule:admin_api or (role:manager and system_scope:all)',
        'Also create, start, cancel, skip and change plans and audits.',
    ),
    policy.RuleDefault(
        'system_reader_api',
        'rule:system_manager_api or '
        '((role:member or role:reader) and system_scope:all)',
        'Read plans, audits and related objects.',
    ),
    policy.RuleDefault(
        'service_api', 'role:service', 'Trigger audits, as another service.'
    ),
)


_Operation = tuple[str, str]
_STACK = '/orchestration/v1/{tenant}/stacks/{stack_name}/{stack_id}'
_STACK_ACTIONS: _Operation = ('POST', f'{_STACK}/actions')
#: The defaults of all other rules, in the order of the sample file.
_DEFAULTS: Mapping[str, str] = {
    'action:get': SYSTEM_READER,
    'action:get_all': SYSTEM_READER,
    'action:detail': SYSTEM_READER,
    'action:update': SYSTEM_MANAGER,
    'action:signal': SYSTEM_MANAGER,
    'action_plan:get': SYSTEM_READER,
    'action_plan:get_all': SYSTEM_READER,
    'action_plan:detail': SYSTEM_READER,
    'action_plan:create': SYSTEM_MANAGER,
    'action_plan:all_projects': EVERYWHERE,
    'action_plan:update': SYSTEM_MANAGER,
    'action_plan:start': SYSTEM_MANAGER,
    'action_plan:delete': ADMIN,
    'audit:get': SYSTEM_READER,
    'audit:get_all': SYSTEM_READER,
    'audit:detail': SYSTEM_READER,
    'audit:create': SYSTEM_MANAGER,
    'audit:update': SYSTEM_MANAGER,
    'audit:delete': ADMIN,
    'audit_template:get': SYSTEM_READER,
    'audit_template:get_all': SYSTEM_READER,
    'audit_template:detail': SYSTEM_READER,
    'audit_template:create': SYSTEM_MANAGER,
    'audit_template:update': SYSTEM_MANAGER,
    'audit_template:delete': ADMIN,
    'clusters:index': READER,
    'clusters:get': READER,
    'clusters:create': MEMBER,
    'clusters:update': MEMBER,
    'clusters:delete': MEMBER,
    'clusters:action': MEMBER,
    'clusters:operation': MEMBER,
    'clusters:collect': READER,
    'cluster_policies:index': READER,
    'cluster_policies:get': READER,
    'clustering:all_projects': ADMIN,
    'services:index': ADMIN,
    'actions:index': READER,
    'actions:get': READER,
    'actions:create': MANAGER,
    'actions:update': MEMBER,
    'actions:force': ADMIN,
    'cluster_events:index': READER,
    'cluster_events:get': READER,
    'nodes:index': READER,
    'nodes:get': READER,
    'nodes:create': MEMBER,
    'nodes:adopt': MEMBER,
    'nodes:adopt-preview': MEMBER,
    'nodes:update': MEMBER,
    'nodes:delete': MEMBER,
    'nodes:action': MEMBER,
    'nodes:operation': MEMBER,
    'policies:index': READER,
    'policies:get': READER,
    'policies:create': MEMBER,
    'policies:update': MEMBER,
    'policies:delete': MEMBER,
    'policies:validate': MEMBER,
    'policy_types:index': READER,
    'policy_types:get': READER,
    'profiles:index': READER,
    'profiles:get': READER,
    'profiles:create': MEMBER,
    'profiles:update': MEMBER,
    'profiles:delete': MEMBER,
    'profiles:validate': MEMBER,
    'profile_types:index': READER,
    'profile_types:get': READER,
    'profile_types:ops': READER,
    'receivers:index': MEMBER,
    'receivers:get': MEMBER,
    'receivers:create': MEMBER,
    'receivers:update': MEMBER,
    'receivers:delete': MEMBER,
    'receivers:notify': MEMBER,
    'data_model:get_all': SYSTEM_READER,
    'event:get_all': SYSTEM_READER,
    'goal:get': SYSTEM_READER,
    'goal:get_all': SYSTEM_READER,
    'goal:detail': SYSTEM_READER,
    'healthcheck:detail': ADMIN,
    'openapi:get': SYSTEM_READER,
    'clusters:openapi': READER,
    'stacks:openapi': READER,
    'resource:index': READER,
    'resource:show': READER,
    'resource:metadata': READER,
    'resource:signal': MEMBER,
    'resource:mark_unhealthy': MEMBER,
    'scoring_engine:get': SYSTEM_READER,
    'scoring_engine:get_all': SYSTEM_READER,
    'scoring_engine:detail': SYSTEM_READER,
    'service:get': SYSTEM_READER,
    'service:get_all': SYSTEM_READER,
    'service:detail': SYSTEM_READER,
    'stacks:index': READER,
    'stacks:detail': READER,
    'stacks:global_index': NOBODY,
    'stacks:lookup': READER,
    'stacks:show': READER,
    'stacks:create': MEMBER,
    'stacks:preview': READER,
    'stacks:update': MEMBER,
    'stacks:update_patch': MEMBER,
    'stacks:update_no_change': 'rule:stacks:update_patch',
    'stacks:preview_update': MEMBER,
    'stacks:preview_update_patch': MEMBER,
    'stacks:delete': MEMBER,
    'stacks:abandon': MEMBER,
    'stacks:export': MEMBER,
    'stacks:template': READER,
    'stacks:environment': READER,
    'stacks:files': READER,
    'stacks:list_outputs': READER,
    'stacks:show_output': READER,
    'stacks:snapshot': MEMBER,
    'stacks:list_snapshots': READER,
    'stacks:show_snapshot': READER,
    'stacks:delete_snapshot': MEMBER,
    'stacks:restore_snapshot': MEMBER,
    'actions:action': READER,
    'actions:suspend': MEMBER,
    'actions:resume': MEMBER,
    'actions:check': READER,
    'actions:lock': MEMBER,
    'actions:unlock': MEMBER,
    'actions:cancel_update': MEMBER,
    'actions:cancel_without_rollback': MEMBER,
    'events:index': READER,
    'events:show': READER,
    'stacks:list_resource_types': READER,
    'stacks:resource_schema': READER,
    'stacks:generate_template': MEMBER,
    'stacks:list_template_versions': READER,
    'stacks:list_template_functions': READER,
    'stacks:validate_template': MEMBER,
    'build_info:build_info': READER,
    'service:index': ADMIN,
    'strategy:get': SYSTEM_READER,
    'strategy:get_all': SYSTEM_READER,
    'strategy:detail': SYSTEM_READER,
    'strategy:state': SYSTEM_READER,
    'webhook:trigger': f'{SYSTEM_MANAGER} or {SERVICE}',
}
#: Rules of several operations, and additional rules of operations: the description, and
#: for the latter the operations.
_DESCRIBED: Mapping[str, tuple[str, Sequence[_Operation]]] = {
    'action:signal': ('Cancel, suspend or resume an action.', ()),
    'action_plan:all_projects': (
        'Let action plans and audits change the stacks, clusters and nodes of all '
        'projects.',
        (
            ('POST', '/v1/action_plans'),
            ('POST', '/v1/actionplans'),
            ('POST', '/v1/audits'),
            ('PATCH', '/v1/audits/{audit}'),
        ),
    ),
    'clustering:all_projects': (
        'List the objects of all projects.',
        tuple(
            ('GET', f'/clustering/v1/{noun}')
            for noun in (
                'actions',
                'clusters',
                'events',
                'nodes',
                'policies',
                'profiles',
                'receivers',
            )
        ),
    ),
    'actions:force': (
        'Cancel an action without waiting for its worker.',
        (('PATCH', '/clustering/v1/actions/{action}'),),
    ),
    'event:get_all': ('List or stream events.', ()),
    'healthcheck:detail': (
        'Show the database, broker, lanes and outbox in /healthcheck.',
        (('GET', '/healthcheck'),),
    ),
    'openapi:get': (
        'Show the OpenAPI document of plans and audits.',
        (('GET', '/v1/openapi.json'),),
    ),
    'clusters:openapi': (
        'Show the OpenAPI document of clusters.',
        (('GET', '/clustering/v1/openapi.json'),),
    ),
    'stacks:openapi': (
        'Show the OpenAPI document of stacks.',
        (('GET', '/orchestration/v1/openapi.json'),),
    ),
    'stacks:global_index': (
        'List the stacks of all projects.',
        (('GET', '/orchestration/v1/{tenant}/stacks'),),
    ),
    'stacks:update_no_change': (
        'Update a stack without changes, which replaces unhealthy resources.',
        (('PATCH', _STACK),),
    ),
    'actions:action': ('Perform actions on a stack.', ()),
    'actions:suspend': ('Suspend a stack.', (_STACK_ACTIONS,)),
    'actions:resume': ('Resume a stack.', (_STACK_ACTIONS,)),
    'actions:check': ('Check the resources of a stack.', (_STACK_ACTIONS,)),
    'actions:lock': ('Lock a stack.', (_STACK_ACTIONS,)),
    'actions:unlock': ('Unlock a stack.', (_STACK_ACTIONS,)),
    'actions:cancel_update': ('Cancel an update and roll it back.', (_STACK_ACTIONS,)),
    'actions:cancel_without_rollback': (
        'Cancel the operation on a stack.',
        (_STACK_ACTIONS,),
    ),
    'events:index': ('List the events of a stack or of a resource.', ()),
}


def list_rules() -> list[policy.RuleDefault]:
    """Return all rules; the entry point of oslopolicy-sample-generator."""
    routed: dict[str, list[tuple[_Operation, str]]] = {}
    for rule, operation, summary in _routed():
        routed.setdefault(rule, []).append((operation, summary))
    others = [_rule(name, routed.get(name, ())) for name in _DEFAULTS]
    return [*ROLES, *others]


def _rule(
    name: str, routed: Sequence[tuple[_Operation, str]]
) -> policy.DocumentedRuleDefault:
    description, besides = _DESCRIBED.get(name, ('', ()))
    operations = [*(operation for operation, _ in routed), *besides]
    return policy.DocumentedRuleDefault(
        name=name,
        check_str=_DEFAULTS[name],
        description=description or routed[0][1],
        operations=[{'method': method, 'path': path} for method, path in operations],
        scope_types=SCOPES,
    )


def _routed() -> Iterator[tuple[str, _Operation, str]]:
    """Yield (rule, operation, summary) of all routes with a rule."""
    mounts: Sequence[tuple[str, Routes]] = (
        ('', INFRA_OPTIM),
        ('/clustering', CLUSTERING),
        ('/orchestration', ORCHESTRATION),
    )
    for prefix, routes in mounts:
        for path, operations in routes.items():
            for method, operation in operations.items():
                if operation.rule is not None:
                    yield operation.rule, (method, prefix + path), operation.summary
