"""The tables of routes of all mounts, and their documents."""

import json
import re

import jsonschema

from tests import base
from watcherlite.api import deploy, openapi
from watcherlite.api.operation import at


class TestRouteTables(base.TestCase):
    """Checks of the route tables that hold for every mount."""

    def setUp(self):
        super().setUp()
        self.mounts = (
            deploy.infra_optim(),
            deploy.orchestration(),
            deploy.clustering(),
        )
        self.operations = [
            (mount, operation)
            for mount in self.mounts
            for operations in mount.routes.values()
            for operation in operations.values()
        ]

    def described(self, mount, version):
        """Return (template, method, operation) for all operations in a document."""
        return [
            (template, method.upper(), operation)
            for template, item in openapi.document(mount, version)['paths'].items()
            for method, operation in item.items()
            if method != 'parameters'
        ]

    def test_schemas_are_valid_in_every_version(self):
        # Most of them are the same in all versions.
        distinct = {
            json.dumps(at(schema, version))
            for mount, operation in self.operations
            for schema in (
                operation.query,
                operation.body,
                *operation.responses.values(),
            )
            if schema
            for version in mount.versions.history
        }

        for schema in distinct:
            jsonschema.Draft202012Validator.check_schema(json.loads(schema))

    def test_summaries_are_sentences(self):
        for _, operation in self.operations:
            self.assertTrue(re.fullmatch(r'[A-Z].*\.', operation.summary))

    def test_only_routes_with_token_are_public(self):
        self.assertEqual(
            {
                '/v1/deployment_signals/{deployment_id}',
                '/v1/metadata/{stack_id}/{resource_name}',
                '/v1/signals/{stack_id}/{resource_name}',
                '/v1/webhooks/{receiver}/trigger',
            },
            {
                template
                for mount in self.mounts
                for template, operations in mount.routes.items()
                for operation in operations.values()
                if operation.public
            },
        )

    def test_openapi_documents_are_valid(self):
        # Imported here: each test process imports this module.
        import openapi_spec_validator

        # Other versions differ only in attributes, and each path takes long.
        for mount in self.mounts:
            last = openapi.document(mount, mount.versions.maximum)
            first = openapi.document(mount, mount.versions.minimum)
            first['paths'] = {
                path: item
                for path, item in first['paths'].items()
                if item != last['paths'].get(path)
            }
            for document in (last, first):
                openapi_spec_validator.validate(document)

    def test_documents_have_each_operation_from_its_first_version(self):
        for mount in self.mounts:
            for version in mount.versions.history:
                self.assertEqual(
                    {
                        (template, method)
                        for template, operations in mount.routes.items()
                        for method, operation in operations.items()
                        if operation.since <= version
                    },
                    {
                        (path, method)
                        for path, method, _ in self.described(mount, version)
                    },
                )

    def test_operation_ids_are_unique(self):
        for mount in self.mounts:
            described = self.described(mount, mount.versions.maximum)
            ids = [operation['operationId'] for _, _, operation in described]
            self.assertEqual(len(ids), len(set(ids)))
