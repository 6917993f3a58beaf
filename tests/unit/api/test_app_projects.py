from tests.unit.api.test_app import AppCase, operation
from watcherlite.api.errors import HEAT_ERRORS
from watcherlite.api.microversions import Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import NULL, Caller, Response, unversioned

THINGS = Versions('things', {(1, 0): 'The beginning.'}, in_headers=False)
READER = frozenset({'reader'})
SHOW = 'stacks:show'


def place(request):
    """Return where a request thinks that it is."""
    return Response({'place': request.route_path, 'query_string': request.query_string})


def rules(request):
    """Ask for another rule where the body says so."""
    return ['stacks:create' if (request.body or {}).get('create') else 'stacks:show']


ROUTES = {
    '/v1/{tenant}/things/{name}': {
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
            ('/things',), THINGS, ROUTES, errors=HEAT_ERRORS, project='tenant'
        )
        self.api = self.app({}, mount)

    def asked(self, method='GET', project='here', body=None, **caller):
        found = Caller(**{'project_id': 'here', 'roles': READER, **caller})
        return self.ask(self.api, method, f'/things/v1/{project}/things/a', body, found)


class TestProjects(ProjectCase):
    """Addresses with a project."""

    def test_member_of_the_project_is_allowed(self):
        self.assertEqual(200, self.asked().status)

    def test_member_of_another_project_is_forbidden(self):
        answer = self.asked(project='there')

        self.assertEqual(403, answer.status)
        self.assertEqual('Forbidden', answer.body['error']['type'])
        self.assertIn('there', answer.body['error']['message'])

    def test_caller_without_project_is_forbidden(self):
        self.assertEqual(403, self.asked(project_id=None).status)

    def test_an_administrator_gets_in_everywhere(self):
        admin = self.asked(project='there', roles=frozenset({'admin'}))

        self.assertEqual(200, admin.status)

    def test_without_projects_every_project_is_allowed(self):
        answer = self.asked(project='there', project_id=None, in_all_projects=True)

        self.assertEqual(200, answer.status)

    def test_to_be_in_the_project_is_not_enough(self):
        self.assertEqual(403, self.asked(roles=frozenset()).status)


class TestRules(ProjectCase):
    """Policy rules that depend on the request."""

    def test_the_rule_is_that_of_the_request(self):
        responses = [
            self.asked('POST', body={'create': create}).status
            for create in (False, True)
        ]

        self.assertEqual([200, 403], responses)

    def test_empty_body_has_a_rule(self):
        self.assertEqual(200, self.asked('POST').status)

    def test_body_of_a_forbidden_request_is_not_read(self):
        responses = [
            self.asked('POST', body=b'{"create": ', roles=roles).status
            for roles in (READER, frozenset({'service'}))
        ]

        self.assertEqual([400, 403], responses)


class TestForms(ProjectCase):
    """Bodies that are not JSON objects."""

    def test_null_is_an_answer(self):
        answer = self.asked('POST')

        self.assertEqual(
            (b'null', 'application/json'), (answer.data, answer.headers['Content-Type'])
        )

    def test_text_is_an_answer(self):
        answer = self.asked('PUT')

        self.assertEqual(
            (202, b'Yes.', 'text/plain'),
            (answer.status, answer.data, answer.headers['Content-Type']),
        )

    def test_request_has_its_urls(self):
        answer = self.ask(
            self.api,
            'GET',
            '/things//v1/here/things/a/?b=1&b=2',
            caller=Caller(project_id='here', roles=READER),
        )

        self.assertEqual(
            {'place': '/v1/here/things/a', 'query_string': 'b=1&b=2'}, answer.body
        )
