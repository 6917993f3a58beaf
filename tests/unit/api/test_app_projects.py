from tests.unit.api.test_app import AppCase, operation
from watcherlite.api.errors import HEAT_ERRORS
from watcherlite.api.microversions import Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import NULL, Caller, Response, unversioned

THINGS = Versions('samples', {(1, 0): 'The beginning.'}, in_headers=False)
READER = frozenset({'reader'})
SHOW = 'stacks:show'


def place(request):
    """Return the path of the route and the query string."""
    return Response({'place': request.route_path, 'query_string': request.query_string})


def rules(request):
    """Return the policy rule, which depends on the body."""
    return ['stacks:create' if (request.body or {}).get('create') else 'stacks:show']


ROUTES = {
    '/v1/{tenant}/samples/{name}': {
        'GET': operation(place, SHOW, query=unversioned({'type': 'object'})),
        'POST': operation(
            lambda request: NULL,
            SHOW,
            body=unversioned({'type': 'object'}),
            needs_body=False,
            rules=rules,
            alternatives=('stacks:create', SHOW),
        ),
        'PUT': operation(
            lambda request: Response(
                status=202, data=b'Yes.', content_type='text/plain'
            ),
            SHOW,
        ),
    }
}


class ProjectCase(AppCase):
    def setUp(self):
        super().setUp()
        mount = Mount(
            ('/samples',), THINGS, ROUTES, errors=HEAT_ERRORS, project='tenant'
        )
        self.api = self.app({}, mount)

    def request(self, method='GET', project='here', body=None, **caller):
        found = Caller(**{'project_id': 'here', 'roles': READER, **caller})
        return self.ask(
            self.api, method, f'/samples/v1/{project}/samples/a', body, found
        )


class TestProjectAccess(ProjectCase):
    """Paths with a project."""

    def test_project_members_with_role_and_administrators_have_access(self):
        missing = {'project': 'there', 'project_id': None}
        for status, asked in (
            (200, {}),
            (403, {'roles': frozenset()}),
            (403, {'project': 'there'}),
            (403, {'project_id': None}),
            (200, {'project': 'there', 'roles': frozenset({'admin'})}),
            (200, {**missing, 'in_all_projects': True}),
        ):
            with self.subTest(asked=asked):
                self.assertEqual(status, self.request(**asked).status)
        error = self.request(project='there').body['error']
        self.assertEqual('Forbidden', error['type'])
        self.assertIn('there', error['message'])


class TestRequestDependentRules(ProjectCase):
    """Policy rules that depend on the request."""

    def test_rule_depends_on_body_which_is_parsed_only_for_authorized_callers(self):
        for status, body, roles in (
            (200, {'create': False}, READER),
            (403, {'create': True}, READER),
            (200, None, READER),
            (400, b'{"create": ', READER),
            (403, b'{"create": ', frozenset({'service'})),
        ):
            with self.subTest(body=body, roles=roles):
                answer = self.request('POST', body=body, roles=roles)

                self.assertEqual(status, answer.status)


class TestNonObjectBodies(ProjectCase):
    """Bodies that are not JSON objects."""

    def test_operation_may_return_null_or_text(self):
        for method, expected in (
            ('POST', (200, b'null', 'application/json')),
            ('PUT', (202, b'Yes.', 'text/plain')),
        ):
            answer = self.request(method)
            kind = answer.headers['Content-Type']
            self.assertEqual(expected, (answer.status, answer.data, kind))

    def test_request_has_route_path_and_query_string(self):
        answer = self.ask(
            self.api,
            'GET',
            '/samples//v1/here/samples/a/?b=1&b=2',
            caller=Caller(project_id='here', roles=READER),
        )

        self.assertEqual(
            {'place': '/v1/here/samples/a', 'query_string': 'b=1&b=2'}, answer.body
        )
