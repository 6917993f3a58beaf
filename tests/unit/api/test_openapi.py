from tests import base
from tests.unit.api.requests import ask
from tests.unit.api.test_app import AppCase, mount, operation
from watcherlite.api import deploy, openapi
from watcherlite.api.operation import unversioned

#: An operation that changed in a version.
ROUTES = {
    '/v1/samples/{uuid}': {
        'PATCH': operation(
            query=unversioned(
                {
                    'type': 'object',
                    'properties': {'n': {'type': 'integer', 'description': 'How.'}},
                    'required': ['n'],
                }
            ),
            body={(1, 0): {'type': 'array'}, (1, 5): {'type': 'object'}},
            responses={200: {(1, 0): True, (1, 5): False}, 409: None},
            since=(1, 4),
        )
    }
}


def document(version, routes=None):
    described = mount(routes, shows_deleted=True) if routes else deploy.infra_optim()
    return openapi.document(described, version)


class TestOperationDescription(base.TestCase):
    """The document of one operation."""

    def described(self, version):
        return document(version, ROUTES)['paths']['/v1/samples/{uuid}']

    def test_description_has_schemas_of_requested_version(self):
        for version, body, answer in (
            ((1, 4), {'type': 'array'}, True),
            ((1, 5), {'type': 'object'}, False),
        ):
            patch = self.described(version)['patch']
            self.assertEqual(
                [
                    {'application/json': {'schema': body}},
                    {'application/json': {'schema': answer}},
                ],
                [patch['requestBody']['content'], patch['responses']['200']['content']],
            )

    def test_description_has_parameters_statuses_and_rule(self):
        item = self.described((1, 5))

        uuid = {'type': 'string', 'format': 'uuid'}
        self.assertEqual(
            [{'name': 'uuid', 'in': 'path', 'required': True, 'schema': uuid}],
            item['parameters'],
        )
        self.assertEqual(
            [
                {
                    'name': 'n',
                    'in': 'query',
                    'required': True,
                    'schema': {'type': 'integer'},
                    'description': 'How.',
                },
                {'$ref': '#/components/parameters/Version'},
                {'$ref': '#/components/parameters/ShowDeleted'},
            ],
            item['patch']['parameters'],
        )
        self.assertEqual(
            ['200', '400', '401', '403', '404', '406', '409', '413', '415', '503'],
            list(item['patch']['responses']),
        )
        self.assertEqual('action:get', item['patch']['x-policy-rule'])

    def test_operations_of_later_versions_are_omitted(self):
        self.assertEqual({}, document((1, 3), ROUTES)['paths'])


class TestServedDocument(AppCase):
    """GET /v1/openapi.json."""

    def test_document_depends_on_version_and_requires_policy_rule(self):
        routes = {'/v1/x': {'GET': operation(since=(1, 5))}}
        api = self.app(openapi.with_openapi(mount(routes)).routes)
        place = '/v1/openapi.json'
        for version, paths in (('1.4', [place]), ('1.5', ['/v1/x', place])):
            header = f'infra-optim {version}'
            body = self.ask(api, 'GET', place, openstack_api_version=header).body
            self.assertEqual(
                (version, paths), (body['info']['version'], list(body['paths']))
            )

        self.assertEqual(403, ask(api, 'GET', place).status)
