from tests import base
from tests.unit.api.requests import ask
from tests.unit.api.test_app import AppCase, mount, operation
from watcherlite.api import deploy, openapi
from watcherlite.api.operation import unversioned

#: One operation that changed with a version.
ROUTES = {
    '/v1/things/{uuid}': {
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


class TestOperations(base.TestCase):
    """The document of one operation."""

    def described(self, version):
        return document(version, ROUTES)['paths']['/v1/things/{uuid}']

    def test_it_is_as_the_schemas_of_the_version_have_it(self):
        old, new = (self.described((1, 4))['patch'], self.described((1, 5))['patch'])

        self.assertEqual(
            [
                {'application/json': {'schema': {'type': 'array'}}},
                {'application/json': {'schema': True}},
                {'application/json': {'schema': {'type': 'object'}}},
                {'application/json': {'schema': False}},
            ],
            [
                old['requestBody']['content'],
                old['responses']['200']['content'],
                new['requestBody']['content'],
                new['responses']['200']['content'],
            ],
        )

    def test_it_names_its_variables_arguments_and_headers(self):
        item = self.described((1, 5))

        self.assertEqual(
            [
                {
                    'name': 'uuid',
                    'in': 'path',
                    'required': True,
                    'schema': {'type': 'string', 'format': 'uuid'},
                }
            ],
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

    def test_it_names_each_status(self):
        self.assertEqual(
            ['200', '400', '401', '403', '404', '406', '409', '413', '415', '503'],
            list(self.described((1, 5))['patch']['responses']),
        )

    def test_it_names_its_rule(self):
        self.assertEqual('action:get', self.described((1, 5))['patch']['x-policy-rule'])

    def test_later_operations_are_omitted(self):
        self.assertEqual({}, document((1, 3), ROUTES)['paths'])


class TestServed(AppCase):
    """GET /v1/openapi.json."""

    def test_each_version_has_its_own_document(self):
        routes = {'/v1/x': {'GET': operation(since=(1, 5))}}
        api = self.app(openapi.with_openapi(mount(routes)).routes)

        old, new = (
            self.ask(
                api,
                'GET',
                '/v1/openapi.json',
                openstack_api_version=f'infra-optim {version}',
            )
            for version in ('1.4', '1.5')
        )

        self.assertEqual(
            [('1.4', ['/v1/openapi.json']), ('1.5', ['/v1/x', '/v1/openapi.json'])],
            [
                (answer.body['info']['version'], list(answer.body['paths']))
                for answer in (old, new)
            ],
        )

    def test_document_needs_its_policy_rule(self):
        api = self.app(openapi.with_openapi(mount({})).routes)

        self.assertEqual(403, ask(api, 'GET', '/v1/openapi.json').status)
