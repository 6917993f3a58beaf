import types

from oslo_config import cfg

from tests import base
from tests.unit.api.requests import ask
from tests.unit.api.test_app import AppCase, mount, operation
from watcherlite.api import authentication, deploy, errors, mounts, openapi
from watcherlite.api.app import ROUTE
from watcherlite.api.microversions import Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import Response
from watcherlite.testing.clock import ManualClock

SCHEMA = {'type': 'object', 'properties': {'code': {'type': 'integer'}}}


class CodeFormat(errors.ErrorFormat):
    """An error format that no API of watcherlite has."""

    schema = SCHEMA

    def body(self, fault):
        return {
            'code': fault.status,
            'message': fault.text,
            'type': fault.kind.__name__,
        }


CODE = CodeFormat()
TEXT = 'There is nothing at this address.'


def fail(request):
    raise ValueError('secret')


#: A mount that differs from the root mount in every setting.
OTHER = Mount(
    ('/orchestration',),
    Versions('orchestration', {(1, 0): 'The beginning.'}, in_headers=False),
    {
        '/v1/{tenant}/stacks/{stack}': {
            'GET': operation(),
            'PUT': operation(lambda r: Response('put')),
            'DELETE': operation(fail),
        },
        '/v1/{tenant}/hooks/{stack}': {'POST': operation(webhook=True)},
    },
    errors=CODE,
)
ROUTES = {'/v1/x': {'GET': operation()}, '/v1/hooks/{x}': {'POST': operation()}}


class TestMountSettings(AppCase):
    """The settings of a mount apply to its own paths only."""

    def setUp(self):
        super().setUp()
        self.api = self.app(ROUTES, OTHER)

    def shown(self, url, **headers):
        return self.ask(self.api, 'GET', url, **headers)

    def test_error_has_format_of_its_mount(self):
        self.assertEqual(TEXT, self.shown('/v1/nothing').fault)
        self.assertEqual(
            {'code': 404, 'message': TEXT, 'type': 'HTTPRouteNotFound'},
            self.shown('/orchestration/v1/nothing').body,
        )

    def test_no_error_format_reveals_secrets(self):
        answer = self.ask(self.api, 'DELETE', '/orchestration/v1/t/stacks/s')
        fault = errors.ErrorResponse(400, 'amqp://u:S3cret@h is away')

        self.assertEqual((500, 'ValueError'), (answer.status, answer.body['type']))
        self.assertNotIn('secret', answer.body['message'])
        for shape in (errors.ERROR_MESSAGE, CODE):
            self.assertNotIn(b'S3cret', shape.data(fault))

    def test_versions_suffixes_and_headers_apply_only_to_mounts_with_them(self):
        names = ('Vary', 'OpenStack-API-Version', 'OpenStack-API-Minimum-Version')
        asked = {'x_show_deleted': 'true', 'openstack_api_version': 'infra-optim 1.99'}

        other = self.shown('/orchestration/v1/t/stacks/a.json', **asked)
        refused = self.shown('/v1/x', **asked)
        root = self.shown('/v1/x.json', x_show_deleted='true')

        self.assertEqual((200, 406, 200), (other.status, refused.status, root.status))
        self.assertEqual([], [name for name in names if name in other.headers])
        self.assertEqual(
            ([1, 0], 'a.json', 'http://api:9322/orchestration', False),
            (
                other.body['version'],
                other.body['path']['stack'],
                other.body['mount_url'],
                other.body['show_deleted'],
            ),
        )
        self.assertIs(True, root.body['show_deleted'])

    def test_route_in_environ_includes_its_mount(self):
        routes = []

        def keep(environ, start_response):
            found = self.api(environ, start_response)
            routes.append(environ[ROUTE])
            return found

        for url in ('/infra-optim/v1/x', '/orchestration/v1/t/stacks/s'):
            self.ask(keep, 'GET', url)

        self.assertEqual(['/v1/x', '/orchestration/v1/{tenant}/stacks/{stack}'], routes)

    def test_put_request_calls_its_operation(self):
        answer = self.ask(self.api, 'PUT', '/orchestration/v1/t/stacks/s')

        self.assertEqual((200, 'put'), (answer.status, answer.body))


class TestErrorFormatSelector(base.TestCase):
    """Middleware in front of the API uses the error format of the mount as well."""

    def setUp(self):
        super().setUp()
        gate = authentication.Gate(
            lambda environ, start_response: [],
            lambda application: authentication.LocalOriginCheck(application, ()),
            lambda environ: False,
        )
        self.api = mounts.ErrorFormatSelector(gate, [mount(ROUTES), OTHER])

    def refusal(self, url, method='GET'):
        return ask(self.api, method, url, Origin='http://elsewhere.example')

    def test_middleware_error_has_format_of_its_mount(self):
        self.assertEqual(authentication.ELSEWHERE, self.refusal('/v1/x').fault)
        self.assertEqual(
            {'code': 403, 'message': authentication.ELSEWHERE, 'type': 'Exception'},
            self.refusal('//orchestration//v1/').body,
        )

    def test_error_response_to_head_has_no_body(self):
        self.assertEqual(b'', self.refusal('/v1/x', 'HEAD').data)


class TestOpenAPIDocument(base.TestCase):
    """The OpenAPI document of a mount."""

    def test_document_describes_only_its_mount(self):
        document = openapi.document(openapi.with_openapi(OTHER), (1, 0))

        get = document['paths']['/v1/{tenant}/stacks/{stack}']['get']
        self.assertEqual([{'url': '/orchestration'}], document['servers'])
        self.assertEqual({'Error': CODE.schema}, document['components']['schemas'])
        self.assertEqual(['stacks'], get['tags'])
        self.assertEqual([], get['parameters'])
        self.assertEqual({'description': 'Done.'}, get['responses']['200'])
        self.assertEqual(
            ({}, {}),
            (document['components']['parameters'], document['components']['headers']),
        )
        self.assertIn('/v1/openapi.json', document['paths'])


class TestDeployment(base.TestCase):
    """The settings of the application that depend on its mounts."""

    def application(self, auth_strategy='http_basic', webhooks_auth=True):
        path = self.home / 'users'
        path.write_text('')
        settings = deploy.ApiSettings(
            auth_strategy=auth_strategy,
            password_file=str(path),
            webhooks_need_authentication=webhooks_auth,
        )
        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=[])
        return deploy.make_application(
            types.SimpleNamespace(store=None, clock=ManualClock()),
            settings,
            conf,
            mounts=[mount(ROUTES), OTHER],
            broker_probe=object(),
        ), conf

    def test_webhook_is_public_if_operation_and_configuration_allow(self):
        hook = '/orchestration/v1/t/hooks/s'
        others = ('/v1/hooks/a', '/orchestration/v1/t/stacks/s')

        closed, _ = self.application()
        opened, _ = self.application(webhooks_auth=False)

        self.assertEqual(
            [401, 401, 401, 200, 401, 401],
            [
                ask(application, 'POST', place, Host='localhost').status
                for application in (closed, opened)
                for place in (hook, *others)
            ],
        )

    def test_cors_allows_methods_of_all_mounts(self):
        _, conf = self.application()

        self.assertEqual(['DELETE', 'GET', 'POST', 'PUT'], conf.cors.allow_methods)
        self.assertIn('Authorization', conf.cors.allow_headers)
        self.assertIn('X-Show-Deleted', conf.cors.allow_headers)
        self.assertIn('Retry-After', conf.cors.expose_headers)
