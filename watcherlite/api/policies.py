"""The policy rules: roles, and the default of each rule.

The description and the operations of a rule are those of its routes; an additional rule
of an operation has its own.
"""

import functools
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
#: Written out, so that a deployment whose `system_manager_api` includes the managers of
#: projects does not give them the objects of all other projects.
EVERYWHERE = 'rule:admin_api or (role:manager and system_scope:all)'
NEVER = '!'
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
#: The defaults of all other rules, in the order of the sample file: prefix, default,
#: operations.
_TABLE: Sequence[tuple[str, str, Sequence[str]]] = (
    ('action', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('action', SYSTEM_MANAGER, ('update', 'signal')),
    ('action_plan', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('action_plan', SYSTEM_MANAGER, ('create',)),
    ('action_plan', EVERYWHERE, ('all_projects',)),
    ('action_plan', SYSTEM_MANAGER, ('update', 'start')),
    ('action_plan', ADMIN, ('delete',)),
    ('audit', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('audit', SYSTEM_MANAGER, ('create', 'update')),
    ('audit', ADMIN, ('delete',)),
    ('audit_template', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('audit_template', SYSTEM_MANAGER, ('create', 'update')),
    ('audit_template', ADMIN, ('delete',)),
    ('clusters', READER, ('index', 'get')),
    ('clusters', MEMBER, ('create', 'update', 'delete', 'action', 'operation')),
    ('clusters', READER, ('collect',)),
    ('cluster_policies', READER, ('index', 'get')),
    ('clustering', ADMIN, ('all_projects',)),
    ('services', ADMIN, ('index',)),
    ('actions', READER, ('index', 'get')),
    ('actions', MANAGER, ('create',)),
    ('actions', MEMBER, ('update',)),
    ('actions', ADMIN, ('force',)),
    ('cluster_events', READER, ('index', 'get')),
    ('nodes', READER, ('index', 'get')),
    (
        'nodes',
        MEMBER,
        ('create', 'adopt', 'adopt-preview', 'update', 'delete', 'action', 'operation'),
    ),
    ('policies', READER, ('index', 'get')),
    ('policies', MEMBER, ('create', 'update', 'delete', 'validate')),
    ('policy_types', READER, ('index', 'get')),
    ('profiles', READER, ('index', 'get')),
    ('profiles', MEMBER, ('create', 'update', 'delete', 'validate')),
    ('profile_types', READER, ('index', 'get', 'ops')),
    ('receivers', MEMBER, ('index', 'get', 'create', 'update', 'delete', 'notify')),
    ('data_model', SYSTEM_READER, ('get_all',)),
    ('event', SYSTEM_READER, ('get_all',)),
    ('goal', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('healthcheck', ADMIN, ('detail',)),
    ('notification', SYSTEM_READER, ('get_all',)),
    ('openapi', SYSTEM_READER, ('get',)),
    ('plugin', SYSTEM_READER, ('get_all',)),
    ('request', SYSTEM_READER, ('get_all',)),
    ('clusters', READER, ('openapi',)),
    ('stacks', READER, ('openapi',)),
    ('resource', READER, ('index', 'show', 'metadata')),
    ('resource', MEMBER, ('signal', 'mark_unhealthy')),
    ('scoring_engine', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('service', SYSTEM_READER, ('get', 'get_all', 'detail')),
    ('software_configs', NEVER, ('global_index',)),
    ('software_configs', READER, ('index',)),
    ('software_configs', MEMBER, ('create',)),
    ('software_configs', READER, ('show',)),
    ('software_configs', MEMBER, ('delete',)),
    ('software_deployments', READER, ('index',)),
    ('software_deployments', MEMBER, ('create',)),
    ('software_deployments', READER, ('show',)),
    ('software_deployments', MEMBER, ('update', 'delete')),
    ('software_deployments', READER, ('metadata',)),
    ('stacks', READER, ('index', 'detail')),
    ('stacks', NEVER, ('global_index',)),
    ('stacks', READER, ('lookup', 'show')),
    ('stacks', MEMBER, ('create',)),
    ('stacks', READER, ('preview',)),
    ('stacks', MEMBER, ('update', 'update_patch')),
    ('stacks', 'rule:stacks:update_patch', ('update_no_change',)),
    (
        'stacks',
        MEMBER,
        ('preview_update', 'preview_update_patch', 'delete', 'abandon', 'export'),
    ),
    (
        'stacks',
        READER,
        ('template', 'environment', 'files', 'list_outputs', 'show_output'),
    ),
    ('stacks', MEMBER, ('snapshot',)),
    ('stacks', READER, ('list_snapshots', 'show_snapshot')),
    ('stacks', MEMBER, ('delete_snapshot', 'restore_snapshot')),
    ('actions', READER, ('action',)),
    ('actions', MEMBER, ('suspend', 'resume')),
    ('actions', READER, ('check',)),
    ('actions', MEMBER, ('lock', 'unlock', 'cancel_update', 'cancel_without_rollback')),
    ('events', READER, ('index', 'show')),
    ('stacks', READER, ('list_resource_types', 'resource_schema')),
    ('stacks', MEMBER, ('generate_template',)),
    ('stacks', READER, ('list_template_versions', 'list_template_functions')),
    ('stacks', MEMBER, ('validate_template',)),
    ('build_info', READER, ('build_info',)),
    ('service', ADMIN, ('index',)),
    ('strategy', SYSTEM_READER, ('get', 'get_all', 'detail', 'state')),
    ('webhook', f'{SYSTEM_MANAGER} or {SERVICE}', ('trigger',)),
)
_DEFAULTS: Mapping[str, str] = {
    f'{prefix}:{operation}': default
    for prefix, default, operations in _TABLE
    for operation in operations
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
    'software_configs:global_index': (
        'List the software configs of all projects.',
        (('GET', '/orchestration/v1/{tenant}/software_configs'),),
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
    return [*ROLES, *_rules()]


class _Rule(policy.DocumentedRuleDefault):
    """A rule that all enforcers share.

    oslo.policy registers a deep copy of each rule, for rules with a deprecated name,
    which it changes. There are none here, and copying takes a tenth of the time of
    making an application.
    """

    def __deepcopy__(self, memo: object) -> '_Rule':
        return self


@functools.cache
def _rules() -> tuple[_Rule, ...]:
    """Return the rules of operations."""
    routed: dict[str, list[tuple[_Operation, str]]] = {}
    for rule, operation, summary in _routes_with_rules():
        routed.setdefault(rule, []).append((operation, summary))
    return tuple(_rule(name, routed.get(name, ())) for name in _DEFAULTS)


def _rule(name: str, routed: Sequence[tuple[_Operation, str]]) -> _Rule:
    description, besides = _DESCRIBED.get(name, ('', ()))
    operations = [*(operation for operation, _ in routed), *besides]
    return _Rule(
        name=name,
        check_str=_DEFAULTS[name],
        description=description or routed[0][1],
        operations=[{'method': method, 'path': path} for method, path in operations],
        scope_types=SCOPES,
    )


def _routes_with_rules() -> Iterator[tuple[str, _Operation, str]]:
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
