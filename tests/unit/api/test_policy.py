import itertools
import pathlib

from oslo_config import cfg
from oslo_policy import generator

from tests import base
from watcherlite import exceptions
from watcherlite.api import deploy, policies
from watcherlite.api.operation import Caller
from watcherlite.api.policy import LOOK, AccessPolicy, get_enforcer

ROOT = pathlib.Path(__file__).parents[3]
SAMPLE = ROOT / 'etc/watcherlite/policy.yaml.sample'

#: The roles that each rule permits, from the weakest to the strictest.
READERS = frozenset({'reader', 'member', 'manager', 'admin', 'administrator'})
MANAGERS = frozenset({'manager', 'admin', 'administrator'})
ADMINS = frozenset({'admin', 'administrator'})
#: Roles in a project, and in the whole system.
ROLES = (
    *('', 'reader', 'member', 'manager', 'admin', 'administrator', 'service'),
    *('system reader', 'system member', 'system manager'),
)
#: The roles with rights on the whole cloud.
SYSTEM_MANAGERS = ADMINS | {'system manager'}
#: The roles that exist in both scopes.
SCOPED = frozenset({'reader', 'member', 'manager'})
SYSTEM_READERS = SYSTEM_MANAGERS | {'system reader', 'system member'}
#: Collections of the infra-optim API -> the variable of one object.
_ONES = {
    'goals': 'goal',
    'strategies': 'strategy',
    'audit_templates': 'audit_template',
    'audits': 'audit',
    'action_plans': 'uuid',
    'actions': 'uuid',
    'services': 'service',
    'scoring_engines': 'scoring_engine',
}
#: operation of the infra-optim API -> permitted roles
MATRIX = {
    'GET /': {*ROLES},
    'GET /v1': {*ROLES},
    'GET /v1/openapi.json': SYSTEM_READERS,
    'GET /v1/strategies/{strategy}/state': SYSTEM_READERS,
    'POST /v1/audit_templates': SYSTEM_MANAGERS,
    'PATCH /v1/audit_templates/{audit_template}': SYSTEM_MANAGERS,
    'DELETE /v1/audit_templates/{audit_template}': ADMINS,
    'POST /v1/audits': SYSTEM_MANAGERS,
    'PATCH /v1/audits/{audit}': SYSTEM_MANAGERS,
    'DELETE /v1/audits/{audit}': ADMINS,
    'POST /v1/action_plans': SYSTEM_MANAGERS,
    'PATCH /v1/action_plans/{uuid}': SYSTEM_MANAGERS,
    'DELETE /v1/action_plans/{uuid}': ADMINS,
    'POST /v1/action_plans/{uuid}/start': SYSTEM_MANAGERS,
    'POST /v1/action_plans/{uuid}/retry': SYSTEM_MANAGERS,
    'GET /v1/action_plans/{uuid}/events': SYSTEM_READERS,
    'GET /v1/audits/{audit}/events': SYSTEM_READERS,
    'GET /v1/actions/{uuid}/events': SYSTEM_READERS,
    'GET /v1/actions/{uuid}/logs': SYSTEM_READERS,
    'GET /v1/notifications': SYSTEM_READERS,
    'GET /v1/plugins': SYSTEM_READERS,
    'GET /v1/requests': SYSTEM_READERS,
    'PATCH /v1/actions/{uuid}': SYSTEM_MANAGERS,
    'POST /v1/actions/{uuid}/retry': SYSTEM_MANAGERS,
    'POST /v1/actions/{uuid}/cancel': SYSTEM_MANAGERS,
    'POST /v1/actions/{uuid}/suspend': SYSTEM_MANAGERS,
    'POST /v1/actions/{uuid}/resume': SYSTEM_MANAGERS,
    'GET /v1/data_model': SYSTEM_READERS,
    'POST /v1/webhooks/{audit}': SYSTEM_MANAGERS | {'service'},
    **{
        f'GET /v1/{noun}{rest}': SYSTEM_READERS
        for noun, one in _ONES.items()
        for rest in ('', '/detail', f'/{{{one}}}')
    },
}


MEMBERS = READERS - {'reader'}
_STACK = '/stacks/{stack_name}/{stack_id}'
_RESOURCE = f'{_STACK}/resources/{{resource_name}}'
_METHODS = ('DELETE', 'GET', 'PATCH', 'POST', 'PUT')
#: The same for the orchestration API, below `/orchestration/v1/{tenant}`.
ORCHESTRATION = {
    'GET /build_info': READERS,
    'GET /services': ADMINS,
    'POST /validate': MEMBERS,
    'GET /resource_types': READERS,
    'GET /resource_types/{type_name}': READERS,
    'GET /resource_types/{type_name}/template': MEMBERS,
    'GET /template_versions': READERS,
    'GET /template_versions/{template_version}/functions': READERS,
    'GET /stacks': READERS,
    'POST /stacks': MEMBERS,
    **{f'{method} /stacks/{{stack_name}}': READERS for method in _METHODS},
    **{f'{method} /stacks/detail': READERS for method in _METHODS},
    **{f'{method} /stacks/preview': READERS for method in _METHODS},
    **{
        f'GET /stacks/{{stack_name}}/{part}': READERS
        for part in (
            *('actions', 'environment', 'events', 'files', 'outputs', 'resources'),
            'template',
        )
    },
    'POST /stacks/{stack_name}/actions': READERS,
    'POST /stacks/{stack_name}/resources': READERS,
    f'GET {_STACK}': READERS,
    f'PUT {_STACK}': MEMBERS,
    f'PATCH {_STACK}': MEMBERS,
    f'DELETE {_STACK}': MEMBERS,
    f'PUT {_STACK}/preview': MEMBERS,
    f'PATCH {_STACK}/preview': MEMBERS,
    f'DELETE {_STACK}/abandon': MEMBERS,
    f'GET {_STACK}/export': MEMBERS,
    # The rule of the requested action is also enforced.
    f'POST {_STACK}/actions': READERS,
    f'GET {_STACK}/template': READERS,
    f'GET {_STACK}/environment': READERS,
    f'GET {_STACK}/files': READERS,
    f'GET {_STACK}/outputs': READERS,
    f'GET {_STACK}/outputs/{{output_key}}': READERS,
    f'GET {_STACK}/events': READERS,
    f'GET {_STACK}/resources': READERS,
    f'GET {_RESOURCE}': READERS,
    f'PATCH {_RESOURCE}': MEMBERS,
    f'GET {_RESOURCE}/metadata': READERS,
    f'POST {_RESOURCE}/signal': MEMBERS,
    f'GET {_RESOURCE}/events': READERS,
    f'GET {_RESOURCE}/events/{{event_id}}': READERS,
    f'GET {_STACK}/snapshots': READERS,
    f'POST {_STACK}/snapshots': MEMBERS,
    f'GET {_STACK}/snapshots/{{snapshot_id}}': READERS,
    f'DELETE {_STACK}/snapshots/{{snapshot_id}}': MEMBERS,
    f'POST {_STACK}/snapshots/{{snapshot_id}}/restore': MEMBERS,
    **{
        f'{method} {url}': roles
        for noun, variable in (
            ('software_configs', 'config_id'),
            ('software_deployments', 'deployment_id'),
        )
        for method, url, roles in (
            ('GET', f'/{noun}', READERS),
            ('POST', f'/{noun}', MEMBERS),
            ('GET', f'/{noun}/{{{variable}}}', READERS),
            ('DELETE', f'/{noun}/{{{variable}}}', MEMBERS),
        )
    },
    'PUT /software_deployments/{deployment_id}': MEMBERS,
    'GET /software_deployments/metadata/{server_id}': READERS,
}
_CLUSTER = '/clusters/{cluster}'
_NODE = '/nodes/{node}'
#: The same for the clustering API, below `/clustering/v1`.
CLUSTERING = {
    'GET ': {*ROLES},
    'GET /openapi.json': READERS,
    'GET /build-info': READERS,
    'GET /services': ADMINS,
    'GET /profile-types': READERS,
    'GET /profile-types/{profile_type}': READERS,
    'GET /profile-types/{profile_type}/ops': READERS,
    'GET /policy-types': READERS,
    'GET /policy-types/{policy_type}': READERS,
    **{
        f'{method} /{noun}': roles
        for noun in ('clusters', 'nodes', 'policies', 'profiles')
        for method, roles in (('GET', READERS), ('POST', MEMBERS))
    },
    **{
        f'{method} {one}': roles
        for one in (_CLUSTER, _NODE, '/policies/{policy}', '/profiles/{profile}')
        for method, roles in (
            *(('GET', READERS), ('PATCH', MEMBERS), ('DELETE', MEMBERS)),
        )
    },
    'POST /profiles/validate': MEMBERS,
    'POST /policies/validate': MEMBERS,
    f'POST {_CLUSTER}/actions': MEMBERS,
    f'POST {_CLUSTER}/ops': MEMBERS,
    f'GET {_CLUSTER}/attrs/{{path}}': READERS,
    f'GET {_CLUSTER}/policies': READERS,
    f'GET {_CLUSTER}/policies/{{policy}}': READERS,
    'POST /nodes/adopt': MEMBERS,
    'POST /nodes/adopt-preview': MEMBERS,
    f'POST {_NODE}/actions': MEMBERS,
    f'POST {_NODE}/ops': MEMBERS,
    'GET /actions': READERS,
    'POST /actions': MANAGERS,
    'GET /actions/{action}': READERS,
    'PATCH /actions/{action}': MEMBERS,
    'GET /events': READERS,
    'GET /events/{event}': READERS,
    # Every user who sees a receiver can trigger it.
    'GET /receivers': MEMBERS,
    'POST /receivers': MEMBERS,
    'GET /receivers/{receiver}': MEMBERS,
    'PATCH /receivers/{receiver}': MEMBERS,
    'DELETE /receivers/{receiver}': MEMBERS,
    'POST /receivers/{receiver}/notify': MEMBERS,
    # A webhook needs no keystone token, only its URL.
    'POST /webhooks/{receiver}/trigger': {*ROLES},
}
#: Rules that only some requests enforce, in addition to that of the operation or
#: instead of it: rule -> permitted roles.
BESIDES = {
    'action_plan:all_projects': SYSTEM_MANAGERS,
    'actions:force': ADMINS,
    'clustering:all_projects': ADMINS,
    'software_configs:global_index': set(),
    'stacks:global_index': set(),
    'stacks:update_no_change': MEMBERS,
    'actions:suspend': MEMBERS,
    'actions:resume': MEMBERS,
    'actions:check': READERS,
    'actions:lock': MEMBERS,
    'actions:unlock': MEMBERS,
    'actions:cancel_update': MEMBERS,
    'actions:cancel_without_rollback': MEMBERS,
}


def in_any_scope(roles):
    """Return roles, and the same roles with system scope."""
    return frozenset(roles) | {f'system {role}' for role in roles & SCOPED}


def matrix():
    """Return 'METHOD URL' -> roles of all served operations."""
    found = {name: frozenset(roles) for name, roles in MATRIX.items()}
    for name, roles in ORCHESTRATION.items():
        method, _, path = name.partition(' ')
        found[f'{method} /orchestration/v1/{{tenant}}{path}'] = in_any_scope(roles)
    for name, roles in CLUSTERING.items():
        method, _, path = name.partition(' ')
        found[f'{method} /clustering/v1{path}'] = in_any_scope(roles)
    # The token in the URL suffices.
    signals = '/orchestration/v1/signals/{stack_id}/{resource_name}'
    found[f'POST {signals}'] = found[f'PUT {signals}'] = frozenset(ROLES)
    signals = '/orchestration/v1/deployment_signals/{deployment_id}'
    found[f'POST {signals}'] = found[f'PUT {signals}'] = frozenset(ROLES)
    metadata = '/orchestration/v1/metadata/{stack_id}/{resource_name}'
    found[f'GET {metadata}'] = frozenset(ROLES)
    found['GET /clustering'] = frozenset(ROLES)
    found['GET /orchestration'] = frozenset(ROLES)
    found['GET /orchestration/v1'] = frozenset(ROLES)
    found['GET /orchestration/v1/openapi.json'] = in_any_scope(READERS)
    plans = {
        name: roles for name, roles in found.items() if ' /v1/action_plans' in name
    }
    found |= {name.replace('_plans', 'plans', 1): plans[name] for name in plans}
    return found


def operations():
    """Return 'METHOD URL' -> operation of all served operations."""
    return {
        f'{method} {mount.prefixes[0]}{template}'.rstrip('/')
        if mount.prefixes[0]
        else f'{method} {template}': operation
        for mount in deploy.served()
        for template, by_method in mount.routes.items()
        for method, operation in by_method.items()
    }


def _arguments(operation):
    return operation.query[1, 0].get('properties', {})


def configuration(*args):
    conf = cfg.ConfigOpts()
    conf([*args], project='watcherlite', default_config_files=[])
    return conf


def caller_with(role):
    """Return a caller with one of ROLES."""
    *system, name = role.split(' ')
    scope = 'all' if system else None
    return Caller(roles=frozenset({name} - {''}), system_scope=scope)


class TestRolePermissions(base.TestCase):
    """Every operation with every role."""

    def test_roles_are_allowed_exactly_operations_in_table(self):
        policy = AccessPolicy(configuration())

        allowed = {
            name: {
                role
                for role in ROLES
                if operation.rule is None
                or policy.allows(operation.rule, caller_with(role))
            }
            for name, operation in operations().items()
        }

        self.assertEqual(matrix(), allowed)

    def test_additional_rules_match_table(self):
        policy = AccessPolicy(configuration())

        allowed = {
            rule: {role for role in ROLES if policy.allows(rule, caller_with(role))}
            for rule in BESIDES
        }

        expected = {rule: in_any_scope(roles) for rule, roles in BESIDES.items()}
        self.assertEqual(expected, allowed)

    def test_access_of_managers_to_plans_excludes_other_projects(self):
        rules = self.home / 'policy.yaml'
        rules.write_text('"system_manager_api": "rule:manager_api"\n')
        policy = AccessPolicy(configuration(f'--config-dir={self.home}'))
        manager = Caller(roles=frozenset({'manager'}), project_id='p')

        self.assertEqual(
            (True, False),
            (
                policy.allows('action_plan:create', manager),
                policy.allows('action_plan:all_projects', manager),
            ),
        )

    def test_permissions_of_several_roles_are_combined(self):
        policy = AccessPolicy(configuration())

        caller = Caller(roles=frozenset({'reader', 'service'}), system_scope='all')

        self.assertTrue(policy.allows('webhook:trigger', caller))
        self.assertTrue(policy.allows('audit:get', caller))
        self.assertFalse(policy.allows('audit:create', caller))

    def test_no_rule_allows_caller_without_roles(self):
        policy = AccessPolicy(configuration())

        names = [rule.name for rule in policies.list_rules() if ':' in rule.name]
        self.assertEqual([], [n for n in names if policy.allows(n, Caller())])

    def test_project_roles_have_no_access_to_infra_optim_api(self):
        policy = AccessPolicy(configuration())
        rules = {
            operation.rule
            for name, operation in operations().items()
            if name.partition(' ')[2].startswith('/v1/') and operation.rule is not None
        }

        allowed = {
            (role, rule)
            for role in ('reader', 'member', 'manager')
            for rule in rules
            if policy.allows(rule, Caller(roles=frozenset({role}), project_id='p'))
        }

        self.assertEqual(set(), allowed)
        self.assertIn('goal:get_all', rules)


class TestRuleDocumentation(base.TestCase):
    """Every rule belongs to an operation, and every operation has a rule."""

    def test_each_rule_is_documented_with_its_operations(self):
        documented = {
            rule.name: {f'{o["method"]} {o["path"]}' for o in rule.operations}
            for rule in policies.list_rules()
            if ':' in rule.name
        }
        decided = {}
        for name, operation in operations().items():
            decided.setdefault(operation.rule, set()).add(name)
        del decided[None]
        stack = '/orchestration/v1/{tenant}/stacks/{stack_name}/{stack_id}'
        decided['action_plan:all_projects'] = {
            'POST /v1/action_plans',
            'POST /v1/actionplans',
            'POST /v1/audits',
            'PATCH /v1/audits/{audit}',
        }
        others = {'actions:force', 'clustering:all_projects', *decided}
        for rule in BESIDES.keys() - others:
            noun, _, verb = rule.partition(':')
            decided[rule] = {f'POST {stack}/actions'}
            if verb == 'global_index':
                decided[rule] = {f'GET /orchestration/v1/{{tenant}}/{noun}'}
            elif noun == 'stacks':
                decided[rule] = {f'PATCH {stack}'}
        decided['actions:force'] = {'PATCH /clustering/v1/actions/{action}'}
        decided['clustering:all_projects'] = {
            f'GET {url}'
            for method, url in (name.split(' ') for name in operations())
            if method == 'GET'
            and url.startswith('/clustering/v1/')
            and 'global_project' in _arguments(operations()[f'GET {url}'])
        }
        # It is not an operation of an API.
        decided['healthcheck:detail'] = {'GET /healthcheck'}

        self.assertEqual(decided, documented)

    def test_enforcer_has_all_rules(self):
        self.assertEqual(
            {rule.name for rule in policies.list_rules()},
            set(get_enforcer().registered_rules),
        )

    def test_sample_file_is_current(self):
        output = self.home / 'policy.yaml.sample'

        generator.generate_sample(
            ['--namespace', 'watcherlite', '--output-file', str(output)],
            conf=cfg.ConfigOpts(),
        )

        self.assertEqual(
            output.read_text(),
            SAMPLE.read_text(),
            'run: oslopolicy-sample-generator '
            '--config-file etc/watcherlite/policy-generator.conf',
        )


class TestAccessPolicy(base.TestCase):
    """Policy decisions and their cache."""

    READER = Caller(roles=frozenset({'reader'}))

    def setUp(self):
        super().setUp()
        self.path = self.home / 'policy.yaml'
        self.now = 0.0

    def policy(self, text=None):
        if text is not None:
            self.path.write_text(text)
        ini = self.home / 'watcherlite.conf'
        ini.write_text(f'[oslo_policy]\npolicy_file = {self.path}\n')
        return AccessPolicy(configuration('--config-file', str(ini)), lambda: self.now)

    def test_denial_has_error_message_of_watcher(self):
        error = self.assertRaises(
            exceptions.Forbidden, self.policy().check, 'audit:create', self.READER
        )

        self.assertEqual(
            "Policy doesn't allow audit:create to be performed.", str(error)
        )

    def test_unknown_rule_raises_value_error(self):
        self.assertRaises(ValueError, self.policy().check_name, 'audit:explode')

    def test_policy_file_overrides_default_rule(self):
        policy = self.policy('"audit:create": "role:reader"')

        self.assertTrue(policy.allows('audit:create', self.READER))

    def test_rule_may_check_project_of_stack(self):
        policy = self.policy('"stacks:show": "project_id:%(project_id)s"')
        caller = Caller(project_id='here')

        asked = [
            policy.allows('stacks:show', caller, project)
            for project in ('here', 'there', 'here')
        ]

        self.assertEqual([True, False, True], asked)

    def test_rule_may_check_identity_of_caller(self):
        policy = self.policy('"audit:create": "user_id:alice and project_id:here"')

        asked = [
            policy.allows('audit:create', Caller(user, user, project))
            for user, project in itertools.product(('alice', 'bob'), ('here', 'there'))
        ]

        self.assertEqual([True, False, False, False], asked)

    def test_changed_file_is_reloaded_after_interval(self):
        policy = self.policy('"audit:create": "role:reader"')
        asked = [policy.allows('audit:create', self.READER)]

        self.path.write_text('"audit:create": "role:unassigned"')
        asked.append(policy.allows('audit:create', self.READER))
        self.now += LOOK
        asked.append(policy.allows('audit:create', self.READER))

        self.assertEqual([True, True, False], asked)

    def test_invalid_file_is_rejected_at_start(self):
        error = self.assertRaises(
            exceptions.ConfigurationError, self.policy, '"audit:create": ['
        )

        self.assertIn(str(self.path), str(error))

    def test_invalid_file_is_ignored_on_reload_and_logged_once(self):
        policy = self.policy('"audit:create": "role:reader"')
        self.path.write_text('"audit:create": [')

        for _ in range(3):
            self.now += LOOK
            self.assertTrue(policy.allows('audit:create', self.READER))

        self.assertEqual(1, self.log.output.count('The policies were not reloaded'))
