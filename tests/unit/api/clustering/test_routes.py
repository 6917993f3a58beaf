"""The table of routes: complete, and each row sound."""

import jsonschema

from tests import base
from watcherlite.api import deploy, openapi
from watcherlite.api.clustering import handlers
from watcherlite.api.clustering.schemas import (
    actions,
    clusters,
    fragments,
    nodes,
    receivers,
)
from watcherlite.api.operation import at

#: What clients of Senlin ask for, and where: method -> the first version that has it.
ASKED = {
    '/': {'GET': 0},
    '/v1': {'GET': 0},
    '/v1/build-info': {'GET': 0},
    '/v1/services': {'GET': 0},
    '/v1/profile-types': {'GET': 0},
    '/v1/profile-types/{profile_type}': {'GET': 0},
    '/v1/profile-types/{profile_type}/ops': {'GET': 4},
    '/v1/profiles': {'GET': 0, 'POST': 0},
    '/v1/profiles/{profile}': {'GET': 0, 'PATCH': 0, 'DELETE': 0},
    '/v1/profiles/validate': {'POST': 2},
    '/v1/policy-types': {'GET': 0},
    '/v1/policy-types/{policy_type}': {'GET': 0},
    '/v1/policies': {'GET': 0, 'POST': 0},
    '/v1/policies/{policy}': {'GET': 0, 'PATCH': 0, 'DELETE': 0},
    '/v1/policies/validate': {'POST': 2},
    '/v1/clusters': {'GET': 0, 'POST': 0},
    '/v1/clusters/{cluster}': {'GET': 0, 'PATCH': 0, 'DELETE': 0},
    '/v1/clusters/{cluster}/actions': {'POST': 0},
    '/v1/clusters/{cluster}/ops': {'POST': 4},
    '/v1/clusters/{cluster}/attrs/{path}': {'GET': 2},
    '/v1/clusters/{cluster}/policies': {'GET': 0},
    '/v1/clusters/{cluster}/policies/{policy}': {'GET': 0},
    '/v1/nodes': {'GET': 0, 'POST': 0},
    '/v1/nodes/adopt': {'POST': 7},
    '/v1/nodes/adopt-preview': {'POST': 7},
    '/v1/nodes/{node}': {'GET': 0, 'PATCH': 0, 'DELETE': 0},
    '/v1/nodes/{node}/actions': {'POST': 0},
    '/v1/nodes/{node}/ops': {'POST': 4},
    '/v1/actions': {'GET': 0, 'POST': 15},
    '/v1/actions/{action}': {'GET': 0, 'PATCH': 12},
    '/v1/events': {'GET': 0},
    '/v1/events/{event}': {'GET': 0},
    '/v1/receivers': {'GET': 0, 'POST': 0},
    '/v1/receivers/{receiver}': {'GET': 0, 'PATCH': 7, 'DELETE': 0},
    '/v1/receivers/{receiver}/notify': {'POST': 0},
    '/v1/webhooks/{receiver}/trigger': {'POST': 0},
}


_CLUSTER = {'name': 'c', 'profile_id': 'p'}
#: What of requests came later than their addresses: minor version -> schemas, and what
#: they allow from then on.
BROUGHT = {
    3: [(clusters.ACTIONS, {'replace_nodes': {'nodes': {'a': 'b'}}})],
    4: [
        (
            clusters.ACTIONS,
            {'del_nodes': {'nodes': ['a'], 'destroy_after_deletion': True}},
        ),
        (receivers.INDEX, {'user': ['ada']}),
    ],
    6: [
        (clusters.CHANGED, {'cluster': {'profile_only': True}}),
        (clusters.ACTIONS, {'recover': {'check': True}}),
        (nodes.ACTIONS, {'recover': {'check': True}}),
    ],
    7: [
        (clusters.NEW, {'cluster': {**_CLUSTER, 'config': {}}}),
        (clusters.CHANGED, {'cluster': {'config': {}}}),
    ],
    8: [(clusters.DELETE, {'force': True}), (clusters.DELETE_BODY, {'force': True})],
    9: [(clusters.ACTIONS, {'complete_lifecycle': {'lifecycle_action_token': 'a'}})],
    13: [(nodes.CHANGED, {'node': {'tainted': True}})],
    14: [(actions.INDEX, {'cluster_id': ['c']})],
    15: [
        (actions.SIGNAL, {'action': {'status': 'SUSPENDED'}}),
        (actions.SIGNAL, {'action': {'status': 'RUNNING'}}),
        (nodes.ACTIONS, {'mark_unhealthy': {}}),
        (fragments.QUEUED_OR_SCHEDULED, {'wait': True}),
    ],
}


class TestTheTable(base.TestCase):
    def test_operations_are_rejected_before_their_version(self):
        for minor, brought in BROUGHT.items():
            for schemas, given in brought:
                with self.subTest(minor=minor, given=given):
                    right = [
                        jsonschema.Draft202012Validator(
                            at(schemas, (1, version))
                        ).is_valid(given)
                        for version in range(16)
                    ]

                    self.assertEqual([version >= minor for version in range(16)], right)

    def test_routes_of_clients_exist_from_their_version(self):
        there = {
            template: {
                method: operation.since[1] for method, operation in operations.items()
            }
            for template, operations in handlers.ROUTES.items()
        }

        self.assertEqual(ASKED, there)

    def test_everything_but_versions_and_webhooks_has_a_policy_rule(self):
        without = {
            template
            for template, operations in handlers.ROUTES.items()
            for operation in operations.values()
            if operation.rule is None
        }

        self.assertEqual({'/', '/v1', '/v1/webhooks/{receiver}/trigger'}, without)

    def test_too_early_operations_have_the_errors_of_senlin(self):
        for operations in handlers.ROUTES.values():
            for operation in operations.values():
                if operation.since > (1, 0):
                    self.assertEqual(400, operation.too_early)


class TestDocuments(base.TestCase):
    """The descriptions of the API."""

    def setUp(self):
        super().setUp()
        self.mount = deploy.clustering()

    def document(self, minor):
        return openapi.document(self.mount, (1, minor))

    def test_a_webhook_needs_no_token(self):
        there = self.document(15)['paths']['/v1/webhooks/{receiver}/trigger']['post']

        self.assertEqual([], there['security'])
