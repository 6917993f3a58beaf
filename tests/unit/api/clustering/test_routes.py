"""The table of routes is complete, and each row is valid."""

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

#: Operations newer than the first version -> their minor version.
LATER = {
    'GET /v1/profile-types/{profile_type}/ops': 4,
    'POST /v1/profiles/validate': 2,
    'POST /v1/policies/validate': 2,
    'POST /v1/clusters/{cluster}/ops': 4,
    'GET /v1/clusters/{cluster}/attrs/{path}': 2,
    'POST /v1/nodes/adopt': 7,
    'POST /v1/nodes/adopt-preview': 7,
    'POST /v1/nodes/{node}/ops': 4,
    'POST /v1/actions': 15,
    'PATCH /v1/actions/{action}': 12,
    'PATCH /v1/receivers/{receiver}': 7,
}


_CLUSTER = {'name': 'c', 'profile_id': 'p'}
#: Schemas with later properties: minor version -> schemas, and their additions.
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


class TestRouteTable(base.TestCase):
    def test_properties_are_rejected_before_their_version(self):
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

    def test_operations_return_400_before_their_version(self):
        later = {
            f'{method} {template}': operation
            for template, operations in handlers.ROUTES.items()
            for method, operation in operations.items()
            if operation.since > (1, 0)
        }

        self.assertEqual(LATER, {name: one.since[1] for name, one in later.items()})
        self.assertEqual({400}, {operation.too_early for operation in later.values()})


class TestOpenAPIDocument(base.TestCase):
    """The OpenAPI documents of the API."""

    def test_webhook_requires_no_authentication(self):
        document = openapi.document(deploy.clustering(), (1, 15))
        there = document['paths']['/v1/webhooks/{receiver}/trigger']['post']

        self.assertEqual([], there['security'])
