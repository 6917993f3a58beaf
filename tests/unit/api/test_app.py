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
    """Return what an operation gets to see."""
    return Response(
        {
            'version': list(request.version),
            'path': dict(request.path),
            'query': request.query,
            'body': request.body,
            'host_url': request.host_url,
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
    """Asks an application with routes of the test."""

    def app(self, routes, *others, max_body_size=1000):
        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=[])
        mounts = [mount(routes, shows_deleted=True), *others]
        return Application(None, AccessPolicy(conf), mounts, max_body_size)

    def ask(self, app, method, url, body=None, caller=ADMIN, **headers):
        environ = {CALLER: caller, REQUEST_ID: REQUEST}
        return ask(app, method, url, body, environ, **headers)


class TestAddresses(AppCase):
    """Spellings of addresses, and their operations."""

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

    def test_each_spelling_of_an_address_is_understood(self):
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

    def test_a_slash_that_was_encoded_is_part_of_a_name(self):
        app = self.app({'/v1/things/{name}': {'GET': operation()}})

        # As the server hands it on: see `http_server`.
        for path in ('/v1/things/%2Fsrv%2Fa', '/v1/things/%2fsrv%2fa'):
            answer = ask(app, 'GET', '/', environ={'PATH_INFO': path, CALLER: ADMIN})
            self.assertEqual({'name': '/srv/a'}, answer.body['path'])

    def test_other_addresses_are_not_found(self):
        for place in (
            '/v2',
            '/v1/nonsense',
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

    def test_method_not_allowed_lists_the_allowed_methods(self):
        for method in ('PUT', 'POST', 'DELETE', 'PATCH'):
            with self.subTest(method=method):
                answer = self.ask(self.api, method, '/v1/actions')

                self.assertEqual(405, answer.status)
                self.assertEqual('GET, OPTIONS', answer.headers['Allow'])
                self.assertEqual(
                    'Method not allowed; allowed methods: GET, OPTIONS.', answer.fault
                )

    def test_head_is_no_method_and_has_no_body(self):
        answer = self.ask(self.api, 'HEAD', '/v1/actions')

        self.assertEqual((405, b''), (answer.status, answer.data))
        self.assertEqual('GET, OPTIONS', answer.headers['Allow'])

    def test_options_lists_the_methods(self):
        answer = self.ask(self.api, 'OPTIONS', '/v1/actions')

        self.assertEqual((200, b''), (answer.status, answer.data))
        self.assertEqual('GET', answer.headers['Allow'])

    def test_unknown_method_is_a_bad_request(self):
        self.assertEqual(400, self.ask(self.api, 'EXPLODE', '/v1/actions').status)

    def test_unstorable_characters_in_the_path_are_a_bad_request(self):
        self.assertEqual(400, self.ask(self.api, 'GET', '/v1/actions/a%00b').status)

    def test_the_template_is_left_for_the_metrics(self):
        environ = environ_of('GET', '/actions/5') | {CALLER: ADMIN}

        self.api(environ, lambda *answer: None)

        self.assertEqual('/v1/actions/{uuid}', environ[ROUTE])


class TestVersions(AppCase):
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

    def versions_of(self, answer):
        return {
            name.lower(): value
            for name, value in answer.headers.items()
            if 'version' in name.lower() or name.lower() == 'vary'
        }

    def test_every_answer_tells_the_range_and_the_version_used(self):
        for place, status in (('/v1/actions', 200), ('/v1/nonsense', 404)):
            with self.subTest(place=place):
                answer = self.ask_in('1.4', place=place)

                self.assertEqual(status, answer.status)
                self.assertEqual(
                    {**RANGE, 'openstack-api-version': 'infra-optim 1.4'},
                    self.versions_of(answer),
                )

    def test_the_root_has_no_version(self):
        self.assertEqual({}, self.versions_of(self.ask_in('1.9', place='/')))

    def test_unsupported_version_is_rejected_with_the_range(self):
        answer = self.ask_in('1.9')

        self.assertEqual(406, answer.status)
        self.assertEqual(RANGE, self.versions_of(answer))
        self.assertIn('supported version range is: [1.0, 1.8]', answer.fault)

    def test_an_operation_gets_the_version(self):
        self.assertEqual([1, 3], self.ask_in('1.3').body['version'])
        self.assertEqual([1, 8], self.ask_in('latest').body['version'])

    def test_an_operation_of_a_later_version_is_refused_as_it_wants(self):
        required = 'API microversion 1.5 or higher is required.'

        self.assertEqual(
            [(400, required), (406, 'Wait.'), (404, required)],
            [
                (answer.status, answer.fault)
                for answer in map(self.ask_in, ['1.4'] * 3, ['PATCH', 'POST', 'PUT'])
            ],
        )
        self.assertEqual(200, self.ask_in('1.5', 'PATCH').status)


class TestCallers(AppCase):
    """The policy check of requests."""

    def setUp(self):
        super().setUp()
        self.api = self.app(
            {'/v1': {'GET': operation(rule=None)}, '/v1/actions': {'GET': operation()}}
        )

    def test_forbidden_request_names_the_rule(self):
        nobody = Caller(user_id='eve')

        answer = self.ask(self.api, 'GET', '/v1/actions?foo=1', caller=nobody)

        self.assertEqual(
            (403, "Policy doesn't allow action:get to be performed."),
            (answer.status, answer.fault),
        )

    def test_unauthenticated_caller_is_forbidden(self):
        self.assertEqual(
            403, self.ask(self.api, 'GET', '/v1/actions', caller=None).status
        )

    def test_operation_without_rule_is_public(self):
        self.assertEqual(200, self.ask(self.api, 'GET', '/v1', caller=None).status)

    def test_unknown_rule_fails_at_creation_of_the_application(self):
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

    def test_an_operation_gets_all_of_it(self):
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
                'host_url': 'http://api:9322',
                'mount_url': 'http://api:9322/infra-optim',
                'request_id': REQUEST,
                'user': 'alice',
                'show_deleted': True,
                'last_event_id': '7',
                'event_stream': False,
            },
            answer.body,
        )

    def test_an_argument_is_refused_by_its_name(self):
        responses = [
            self.ask(self.api, 'GET', f'/v1/x?{query}')
            for query in ('foo=1', 'limit=1&limit=2', 'limit=')
        ]

        self.assertEqual([400] * 3, [answer.status for answer in responses])
        self.assertEqual('Unknown argument: "foo"', responses[0].fault)

    def test_a_body_is_missed(self):
        self.assertEqual(
            ['Missing argument: "body"', 'Missing argument: "patch"'],
            [self.ask(self.api, m, '/v1/x').fault for m in ('POST', 'PATCH')],
        )
        self.assertEqual(200, self.ask(self.api, 'POST', '/v1/x/hook').status)

    def test_a_body_is_json(self):
        posted = self.ask(self.api, 'POST', '/v1/x', {'n': 5})
        broken = self.ask(self.api, 'POST', '/v1/x', b'{')
        plain = self.ask(self.api, 'POST', '/v1/x', b'n', content_type='text/plain')

        self.assertEqual({'n': 5}, posted.body['body'])
        self.assertEqual((400, 415), (broken.status, plain.status))

    def test_unexpected_json_body_is_ignored(self):
        self.assertEqual(
            [200, 200, 415],
            [
                self.ask(self.api, 'POST', '/v1/x/start').status,
                self.ask(self.api, 'POST', '/v1/x/start', {'a': 1}).status,
                self.ask(
                    self.api, 'POST', '/v1/x/start', b'a', content_type='text/plain'
                ).status,
            ],
        )

    def test_delete_takes_any_content_type(self):
        for kind in ('text/plain', 'application/xml', ''):
            with self.subTest(kind=kind):
                answer = self.ask(self.api, 'DELETE', '/v1/x', b'x', content_type=kind)

                self.assertEqual((204, b''), (answer.status, answer.data))

    def test_a_body_is_not_longer_than_allowed(self):
        answer = self.ask(self.api, 'POST', '/v1/x', b' ' * 1001)

        self.assertEqual(
            (413, 'The body is too large; the limit is 1000 bytes'),
            (answer.status, answer.fault),
        )

    def test_a_body_of_chunks_is_not_longer_than_allowed_either(self):
        statuses = []
        for size in (1000, 1001):
            environ = environ_of('POST', '/v1/x', b'{}'.ljust(size))
            del environ['CONTENT_LENGTH']
            environ |= {'HTTP_TRANSFER_ENCODING': 'chunked', CALLER: ADMIN}
            self.api(environ, lambda status, *rest: statuses.append(status[:3]))

        self.assertEqual(['200', '413'], statuses)

    def test_a_body_that_ends_too_early_is_refused(self):
        environ = environ_of('POST', '/v1/x', b'{}') | {CALLER: ADMIN}
        environ['CONTENT_LENGTH'] = '10'
        statuses = []

        self.api(environ, lambda status, *rest: statuses.append(status[:3]))

        self.assertEqual(['400'], statuses)

    def test_a_body_that_cannot_be_read_is_refused(self):
        class Broken:
            def __init__(self, error):
                self.error = error

            def read(self, size=-1):
                raise self.error

        responses = []
        for error in (
            ValueError('Bad chunked transfer size'),
            OverflowError(),
            TimeoutError(),
        ):
            environ = {
                'HTTP_TRANSFER_ENCODING': 'chunked',
                'wsgi.input': Broken(error),
                CALLER: ADMIN,
            }
            responses.append(ask(self.api, 'POST', '/v1/x', environ=environ))

        self.assertEqual(
            [(400, 'The body cannot be read completely')] * 3,
            [(answer.status, answer.fault) for answer in responses],
        )

    def test_the_answer_is_json_or_not_acceptable(self):
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
        preferred = {
            accept: self.ask(self.api, 'GET', '/v1/x/events', accept=accept).body[
                'event_stream'
            ]
            for accept in ('*/*', 'application/json', 'text/event-stream')
        }

        self.assertEqual(
            {'*/*': False, 'application/json': False, 'text/event-stream': True},
            preferred,
        )


def environ_of(method, path, body=b''):
    """Return the environment of a request."""
    request = webob.Request.blank(path, method=method, body=body)
    if body:
        request.content_type = 'application/json'
    return request.environ
