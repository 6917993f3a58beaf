from unittest import mock

import webob
from oslo_config import cfg

from tests import base
from tests.unit.api.requests import ask
from watcherlite.api.app import CALLER, REQUEST_ID, ROUTE, Application
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.microversions import Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import Caller, Operation, Response, unversioned
from watcherlite.api.policy import AccessPolicy

ADMIN = Caller(user_id='alice', roles=frozenset({'admin'}))
RULE = 'action:get'
REQUEST = 'req-1'
BODY = unversioned({'type': 'object', 'properties': {'n': {'type': 'integer'}}})
QUERY = unversioned(
    {
        'type': 'object',
        'properties': {'limit': {'type': 'integer'}},
        'additionalProperties': False,
    }
)
RANGE = {
    'vary': 'OpenStack-API-Version',
    'openstack-api-minimum-version': '1.0',
    'openstack-api-maximum-version': '1.8',
}
CLUSTERING = Versions('clustering', {(1, 0): 'The beginning.'})


def shown(request):
    """Return the parts of a request that an operation receives."""
    return Response(
        {
            'version': list(request.version),
            'path': dict(request.path),
            'query': request.query,
            'body': request.body,
            'root_url': request.root_url,
            'mount_url': request.mount_url,
            'request_id': request.request_id,
            'user': request.caller.user_id,
            'show_deleted': request.show_deleted,
            'last_event_id': request.last_event_id,
            'event_stream': request.event_stream,
        }
    )


def operation(call=shown, rule=RULE, **values):
    return Operation(call, rule, 'Do it.', **values)


def mount(routes, **values):
    """Return the mount at the root."""
    return Mount(('', '/infra-optim'), INFRA_OPTIM, routes, suffix='.json', **values)


class AppCase(base.TestCase):
    """Sends requests to an application with routes of the test."""

    def app(self, routes, *others, max_body_size=1000):
        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=[])
        mounts = [mount(routes, shows_deleted=True), *others]
        return Application(None, AccessPolicy(conf), mounts, max_body_size)

    def ask(self, app, method, url, body=None, caller=ADMIN, **headers):
        environ = {CALLER: caller, REQUEST_ID: REQUEST}
        return ask(app, method, url, body, environ, **headers)


class TestRouting(AppCase):
    """Spellings of paths, and their operations."""

    def setUp(self):
        super().setUp()
        self.api = self.app(
            {
                '/': {'GET': operation(lambda r: Response('root'), None)},
                '/v1': {'GET': operation(lambda r: Response('v1'), None)},
                '/v1/actions': {'GET': operation(lambda r: Response('list'))},
                '/v1/actions/detail': {'GET': operation(lambda r: Response('detail'))},
                '/v1/actions/{uuid}': {
                    'GET': operation(lambda r: Response(r.path['uuid']))
                },
            },
            Mount(
                ('/clustering',),
                CLUSTERING,
                {'/v1/actions': {'GET': operation(lambda r: Response('clusters'))}},
            ),
        )

    def test_routes_accept_alternative_spellings_of_urls(self):
        for place, text in (
            ('/', 'root'),
            ('', 'root'),
            ('/infra-optim', 'root'),
            ('/infra-optim/', 'root'),
            ('/v1', 'v1'),
            ('/v1/', 'v1'),
            ('/infra-optim/v1/', 'v1'),
            ('/v1/actions', 'list'),
            ('/v1/actions/', 'list'),
            ('/v1//actions', 'list'),
            ('//infra-optim//v1///actions//', 'list'),
            ('/actions', 'list'),
            ('/infra-optim/actions', 'list'),
            ('/v1/actions.json', 'list'),
            ('/v1/actions/detail', 'detail'),
            ('/v1/actions/5', '5'),
            ('/v1/actions/5.json', '5'),
            ('/v1/actions/%C3%A4%20b', 'ä b'),
            ('/clustering/v1/actions', 'clusters'),
            ('/clustering/actions', 'clusters'),
        ):
            with self.subTest(place=place):
                answer = self.ask(self.api, 'GET', place)

                self.assertEqual((200, text), (answer.status, answer.body))

    def test_encoded_slash_is_part_of_path_variable(self):
        app = self.app({'/v1/samples/{name}': {'GET': operation()}})

        # In the form of the server: see `http_server`.
        for path in ('/v1/samples/%2Fsrv%2Fa', '/v1/samples/%2fsrv%2fa'):
            answer = ask(app, 'GET', '/', environ={'PATH_INFO': path, CALLER: ADMIN})
            self.assertEqual({'name': '/srv/a'}, answer.body['path'])

    def test_unknown_urls_return_404(self):
        for place in (
            '/v2',
            '/v1/invalid',
            '/v1/actions/5/detail',
            '/infra-optimal',
            '/clustering/v1/goals',
        ):
            with self.subTest(place=place):
                answer = self.ask(self.api, 'GET', place)

                self.assertEqual(
                    (404, 'There is nothing at this address.'),
                    (answer.status, answer.fault),
                )

    def test_unsupported_methods_return_405_with_allowed_methods(self):
        text = 'Method not allowed; allowed methods: GET, OPTIONS.'
        refused = (405, 'GET, OPTIONS', text)
        for method, expected in (
            *((method, refused) for method in ('PUT', 'POST', 'DELETE', 'PATCH')),
            ('HEAD', (405, 'GET, OPTIONS', b'')),
            ('OPTIONS', (200, 'GET', b'')),
        ):
            with self.subTest(method=method):
                answer = self.ask(self.api, method, '/v1/actions')

                allowed, fault = answer.headers['Allow'], answer.data and answer.fault
                self.assertEqual(expected, (answer.status, allowed, fault))

    def test_unknown_methods_and_null_characters_in_paths_return_400(self):
        for method, path in (('EXPLODE', ''), ('GET', '/a%00b')):
            answer = self.ask(self.api, method, f'/v1/actions{path}')
            self.assertEqual(400, answer.status)

    def test_route_template_is_stored_in_environ(self):
        environ = environ_of('GET', '/actions/5') | {CALLER: ADMIN}

        self.api(environ, lambda *answer: None)

        self.assertEqual('/v1/actions/{uuid}', environ[ROUTE])


class TestMicroversions(AppCase):
    """Microversions."""

    def setUp(self):
        super().setUp()
        late = {'since': (1, 5)}
        self.api = self.app(
            {
                '/': {'GET': operation()},
                '/v1/actions': {
                    'GET': operation(),
                    'PATCH': operation(too_early=400, **late),
                    'POST': operation(too_early=406, too_early_text='Wait.', **late),
                    'PUT': operation(**late),
                },
            }
        )

    def ask_in(self, version, method='GET', place='/v1/actions'):
        header = f'infra-optim {version}'
        return self.ask(self.api, method, place, openstack_api_version=header)

    def test_every_response_except_root_has_version_headers(self):
        used = {**RANGE, 'openstack-api-version': 'infra-optim 1.4'}
        for version, place, status, expected in (
            ('1.4', '/v1/actions', 200, used),
            ('1.4', '/v1/invalid', 404, used),
            ('1.9', '/v1/actions', 406, RANGE),
            ('1.9', '/', 200, {}),
        ):
            with self.subTest(version=version, place=place):
                answer = self.ask_in(version, place=place)

                versions = {
                    name.lower(): value
                    for name, value in answer.headers.items()
                    if 'version' in name.lower() or name.lower() == 'vary'
                }
                self.assertEqual((status, expected), (answer.status, versions))
        self.assertIn(
            'supported version range is: [1.0, 1.8]', self.ask_in('1.9').fault
        )

    def test_operation_receives_negotiated_version(self):
        self.assertEqual([1, 3], self.ask_in('1.3').body['version'])
        self.assertEqual([1, 8], self.ask_in('latest').body['version'])

    def test_operation_defines_error_for_earlier_versions(self):
        required = 'API microversion 1.5 or higher is required.'

        self.assertEqual(
            [(400, required), (406, 'Wait.'), (404, required)],
            [
                (answer.status, answer.fault)
                for answer in map(self.ask_in, ['1.4'] * 3, ['PATCH', 'POST', 'PUT'])
            ],
        )
        self.assertEqual(200, self.ask_in('1.5', 'PATCH').status)


class TestAuthorization(AppCase):
    """The policy check of requests."""

    def setUp(self):
        super().setUp()
        self.api = self.app(
            {'/v1': {'GET': operation(rule=None)}, '/v1/actions': {'GET': operation()}}
        )

    def test_only_operations_without_rule_are_public(self):
        named = self.ask(self.api, 'GET', '/v1/actions?foo=1', caller=Caller('eve'))
        unknown, public = (
            self.ask(self.api, 'GET', place, caller=None).status
            for place in ('/v1/actions', '/v1')
        )

        text = "Policy doesn't allow action:get to be performed."
        self.assertEqual((403, text), (named.status, named.fault))
        self.assertEqual((403, 200), (unknown, public))

    def test_application_rejects_unknown_rule_at_creation(self):
        error = self.assertRaises(
            ValueError, self.app, {'/v1': {'GET': operation(rule='a:b')}}
        )

        self.assertEqual("There is no policy rule 'a:b'", str(error))


class TestRequests(AppCase):
    """The contents of a request."""

    def setUp(self):
        super().setUp()
        self.api = self.app(
            {
                '/v1/x': {
                    'GET': operation(query=QUERY),
                    'POST': operation(body=BODY),
                    'PATCH': operation(body=BODY),
                    'DELETE': operation(lambda r: Response(status=204)),
                },
                '/v1/x/start': {'POST': operation()},
                '/v1/x/hook': {'POST': operation(body=BODY, needs_body=False)},
                '/v1/x/events': {'GET': operation(streams=True)},
            }
        )

    def test_operation_receives_all_parts_of_request(self):
        answer = self.ask(
            self.api,
            'GET',
            '/infra-optim/v1/x?limit=3',
            x_show_deleted='True',
            last_event_id='7',
        )

        self.assertEqual(
            {
                'version': [1, 0],
                'path': {},
                'query': {'limit': 3},
                'body': None,
                'root_url': 'http://api:9322',
                'mount_url': 'http://api:9322/infra-optim',
                'request_id': REQUEST,
                'user': 'alice',
                'show_deleted': True,
                'last_event_id': '7',
                'event_stream': False,
            },
            answer.body,
        )

    def test_invalid_argument_is_rejected_by_name(self):
        responses = [
            self.ask(self.api, 'GET', f'/v1/x?{query}')
            for query in ('foo=1', 'limit=1&limit=2', 'limit=')
        ]

        self.assertEqual([400] * 3, [answer.status for answer in responses])
        self.assertEqual('Unknown argument: "foo"', responses[0].fault)

    def test_body_is_parsed_as_json_or_ignored_by_operation_without_body(self):
        text = {'content_type': 'text/plain'}
        posted, *others = (
            self.ask(self.api, 'POST', f'/v1/x{place}', body, **headers)
            for place, body, headers in (
                ('', {'n': 5}, {}),
                ('', b'{', {}),
                ('', b'n', text),
                ('/hook', None, {}),
                ('/start', None, {}),
                ('/start', {'a': 1}, {}),
                ('/start', b'a', text),
            )
        )
        missing = [self.ask(self.api, m, '/v1/x').fault for m in ('POST', 'PATCH')]

        self.assertEqual({'n': 5}, posted.body['body'])
        self.assertEqual(
            [400, 415, 200, 200, 200, 415], [answer.status for answer in others]
        )
        self.assertEqual(
            ['Missing argument: "body"', 'Missing argument: "patch"'], missing
        )

    def test_delete_accepts_any_content_type(self):
        for kind in ('text/plain', 'application/xml', ''):
            with self.subTest(kind=kind):
                answer = self.ask(self.api, 'DELETE', '/v1/x', b'x', content_type=kind)

                self.assertEqual((204, b''), (answer.status, answer.data))

    def test_body_is_rejected_if_larger_than_limit_or_shorter_than_announced(self):
        answer = self.ask(self.api, 'POST', '/v1/x', b' ' * 1001)

        self.assertEqual(
            (413, 'The body is too large; the limit is 1000 bytes'),
            (answer.status, answer.fault),
        )
        statuses = []
        for body, length, encoding in (
            (b'{}'.ljust(1000), '1000', ''),
            (b'{}'.ljust(1000), '', 'chunked'),
            (b'{}'.ljust(1001), '', 'chunked'),
            (b'{}', '10', ''),
        ):
            environ = environ_of('POST', '/v1/x', body) | {CALLER: ADMIN}
            environ |= {'CONTENT_LENGTH': length, 'HTTP_TRANSFER_ENCODING': encoding}
            self.api(environ, lambda status, *rest: statuses.append(status[:3]))

        self.assertEqual(['200', '200', '413', '400'], statuses)

    def test_unreadable_body_is_rejected(self):
        for error in (
            ValueError('Bad chunked transfer size'),
            OverflowError(),
            TimeoutError(),
        ):
            environ = {
                'HTTP_TRANSFER_ENCODING': 'chunked',
                'wsgi.input': mock.Mock(read=mock.Mock(side_effect=error)),
                CALLER: ADMIN,
            }
            answer = ask(self.api, 'POST', '/v1/x', environ=environ)
            self.assertEqual(
                (400, 'The body cannot be read completely'),
                (answer.status, answer.fault),
            )

    def test_accept_header_without_json_returns_406(self):
        for accept, status in (
            ('application/json', 200),
            ('*/*', 200),
            ('application/*', 200),
            ('text/html,application/xhtml+xml,*/*;q=0.8', 200),
            ('text/html', 406),
            ('application/xml', 406),
            ('text/event-stream', 406),
            ('application/json;q=0', 406),
        ):
            with self.subTest(accept=accept):
                answer = self.ask(self.api, 'GET', '/v1/x', accept=accept)

                self.assertEqual(status, answer.status)

    def test_accept_header_requests_a_stream(self):
        for accept, preferred in (
            ('*/*', False),
            ('application/json', False),
            ('text/event-stream', True),
        ):
            answer = self.ask(self.api, 'GET', '/v1/x/events', accept=accept)
            self.assertIs(preferred, answer.body['event_stream'])


def environ_of(method, path, body=b''):
    """Return the environment of a request."""
    request = webob.Request.blank(path, method=method, body=body)
    if body:
        request.content_type = 'application/json'
    return request.environ
