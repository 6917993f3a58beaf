"""The rules of the routes, and the document of the API."""

from oslo_config import cfg

from tests import base
from watcherlite.api import deploy, openapi
from watcherlite.api.orchestration import handlers
from watcherlite.api.policy import enforcer

PROJECT = '/v1/{tenant}'
STACK = f'{PROJECT}/stacks/{{stack_name}}/{{stack_id}}'


class TestRouteTable(base.TestCase):
    def test_rules_that_depend_on_request_are_registered(self):
        class FakeRequest:
            def __init__(self, body=None, query=None):
                self.body = body
                self.query = query or {}

        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=[])
        known = enforcer(conf).registered_rules
        stacks = handlers.ROUTES[f'{PROJECT}/stacks']['GET'].rules
        patch = handlers.ROUTES[STACK]['PATCH'].rules
        actions = handlers.ROUTES[f'{STACK}/actions']['POST']
        names = actions.body[1, 0]['properties']

        asked = [
            *stacks(FakeRequest(query={'global_tenant': True})),
            *patch(FakeRequest({})),
            *patch(FakeRequest({'tags': 'a'})),
            *(
                rule
                for name in names
                for rule in actions.rules(FakeRequest({name: None}))
            ),
        ]

        self.assertEqual([], [rule for rule in asked if rule not in known])


class TestOpenAPIDocument(base.TestCase):
    """The OpenAPI document of the API."""

    def test_mount_has_error_format_and_no_microversions(self):
        document = openapi.document(deploy.orchestration(), (1, 0))
        components = document['components']

        self.assertEqual(
            ({}, {'IdempotencyKey'}),
            (components['headers'], set(components['parameters'])),
        )
        self.assertEqual(
            ['code', 'title', 'explanation', 'error'],
            components['schemas']['Error']['required'],
        )
        self.assertEqual([{'url': '/orchestration'}], document['servers'])
