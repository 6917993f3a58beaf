"""The table of routes: complete, and each row sound."""

from oslo_config import cfg

from tests import base
from watcherlite.api import deploy, openapi
from watcherlite.api.orchestration import handlers
from watcherlite.api.policy import enforcer

PROJECT = '/v1/{tenant}'
STACK = f'{PROJECT}/stacks/{{stack_name}}/{{stack_id}}'
RESOURCE = f'{STACK}/resources/{{resource_name}}'
#: What clients of Heat ask for, and where.
ASKED = {
    '/': 'GET',
    f'{PROJECT}/stacks': 'GET POST',
    f'{PROJECT}/stacks/detail': 'GET',
    f'{PROJECT}/stacks/preview': 'POST',
    f'{PROJECT}/stacks/{{stack_name}}': 'DELETE GET PATCH POST PUT',
    f'{PROJECT}/stacks/{{stack_name}}/actions': 'POST',
    f'{PROJECT}/stacks/{{stack_name}}/environment': 'GET',
    f'{PROJECT}/stacks/{{stack_name}}/events': 'GET',
    f'{PROJECT}/stacks/{{stack_name}}/files': 'GET',
    f'{PROJECT}/stacks/{{stack_name}}/resources': 'GET',
    f'{PROJECT}/stacks/{{stack_name}}/template': 'GET',
    STACK: 'DELETE GET PATCH PUT',
    f'{STACK}/preview': 'PATCH PUT',
    f'{STACK}/abandon': 'DELETE',
    f'{STACK}/export': 'GET',
    f'{STACK}/actions': 'POST',
    f'{STACK}/template': 'GET',
    f'{STACK}/environment': 'GET',
    f'{STACK}/files': 'GET',
    f'{STACK}/outputs': 'GET',
    f'{STACK}/outputs/{{output_key}}': 'GET',
    f'{STACK}/resources': 'GET',
    RESOURCE: 'GET PATCH',
    f'{RESOURCE}/metadata': 'GET',
    f'{RESOURCE}/signal': 'POST',
    f'{RESOURCE}/events': 'GET',
    f'{RESOURCE}/events/{{event_id}}': 'GET',
    f'{STACK}/events': 'GET',
    f'{STACK}/snapshots': 'GET POST',
    f'{STACK}/snapshots/{{snapshot_id}}': 'DELETE GET',
    f'{STACK}/snapshots/{{snapshot_id}}/restore': 'POST',
    f'{PROJECT}/validate': 'POST',
    f'{PROJECT}/resource_types': 'GET',
    f'{PROJECT}/resource_types/{{type_name}}': 'GET',
    f'{PROJECT}/resource_types/{{type_name}}/template': 'GET',
    f'{PROJECT}/template_versions': 'GET',
    f'{PROJECT}/template_versions/{{template_version}}/functions': 'GET',
    f'{PROJECT}/build_info': 'GET',
    f'{PROJECT}/services': 'GET',
}


class TestTheTable(base.TestCase):
    def test_all_routes_of_clients_exist(self):
        missing = {
            (template, method)
            for template, methods in ASKED.items()
            for method in methods.split()
            if method not in handlers.ROUTES.get(template, {})
        }

        self.assertEqual(set(), missing)

    def test_everything_but_the_versions_has_a_policy_rule(self):
        for template, operations in handlers.ROUTES.items():
            for operation in operations.values():
                is_open = template == '/' or operation.public
                self.assertEqual(is_open, operation.rule is None)
                if operation.public:
                    self.assertEqual('/v1/signals/{stack_id}/{resource_name}', template)

    def test_rules_that_depend_on_the_request_are_there(self):
        class Asked:
            def __init__(self, body=None, query=None):
                self.body = body
                self.query = query or {}

        known = enforcer_rules()
        stacks = handlers.ROUTES[f'{PROJECT}/stacks']['GET'].rules
        patch = handlers.ROUTES[STACK]['PATCH'].rules
        actions = handlers.ROUTES[f'{STACK}/actions']['POST']
        names = actions.body[1, 0]['properties']

        asked = [
            *stacks(Asked(query={'global_tenant': True})),
            *patch(Asked({})),
            *patch(Asked({'tags': 'a'})),
            *(rule for name in names for rule in actions.rules(Asked({name: None}))),
        ]

        self.assertEqual([], [rule for rule in asked if rule not in known])


class TestDocument(base.TestCase):
    """The description of the API."""

    def setUp(self):
        super().setUp()
        self.mount = deploy.orchestration()
        self.document = openapi.document(self.mount, (1, 0))

    def test_mount_has_error_format_and_no_microversions(self):
        components = self.document['components']

        self.assertEqual(
            ({}, {'IdempotencyKey'}),
            (components['headers'], set(components['parameters'])),
        )
        self.assertEqual(
            ['code', 'title', 'explanation', 'error'],
            components['schemas']['Error']['required'],
        )
        self.assertEqual([{'url': '/orchestration'}], self.document['servers'])


def enforcer_rules():
    """Return all rules that there are."""
    conf = cfg.ConfigOpts()
    conf([], project='watcherlite', default_config_files=[])
    return enforcer(conf).registered_rules
