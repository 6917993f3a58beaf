"""The pages of notifications, recorded requests and plugins."""

from falcon import testing

from tests import base
from tests.functional.api.fixtures import ApiFixture
from tests.functional.dashboard.visitor import Visitor
from watcherlite.plugins import base as plugins


class TestNotifications(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = ApiFixture.of(self)
        self.visitor = Visitor(self.site.application)

    def create(self, name: str, count: int) -> str:
        actions = [
            {
                'name': f'{name}-{number}',
                'action_type': 'nop',
                'input_parameters': {'message': ''},
            }
            for number in range(count)
        ]
        return self.site.runtime.plans.create_from(
            {'name': name, 'actions': actions}
        ).uuid

    def test_the_latest_notifications_are_shown_with_their_payloads(self) -> None:
        empty = self.visitor.get('/dashboard/notifications')
        self.assertIn('There are none.', empty.text)
        uuid = self.create('nightly', 1)

        page = self.visitor.get('/dashboard/notifications')

        for text in ('actionplan.create', 'action.create', 'infra-optim:', uuid):
            self.assertIn(text, page.text)

    def test_pages_lead_to_the_first_one(self) -> None:
        for name in ('first', 'second'):
            self.create(name, 30)
        address, created = '/dashboard/notifications', []
        while address:
            page = self.visitor.get(address)
            created.append(page.text.count('actionplan.create'))
            address = next((link for link in page.links if 'before=' in link), '')

        self.assertEqual([1, 1], created)


class TestRequests(base.TestCase):
    def test_requests_are_shown_with_their_users_and_objects(self) -> None:
        site = ApiFixture.of(self)
        visitor = Visitor(site.application)
        self.assertIn('No request matches.', visitor.get('/dashboard/requests').text)
        api = testing.TestClient(
            lambda environ, start_response: site.application(environ, start_response)
        )
        action = {
            'name': 'a',
            'action_type': 'nop',
            'input_parameters': {'message': ''},
        }
        for name in ('first', 'second'):
            plan = {'name': name, 'actions': [action]}
            created = api.simulate_post('/v1/action_plans', json=plan, host='localhost')
        uuid = created.json['uuid']

        everything = visitor.get('/dashboard/requests')
        one = visitor.get(f'/dashboard/requests?object={uuid}')
        refused = visitor.get('/dashboard/requests?since=x')

        for text in ('first', 'second', 'POST /v1/action_plans', '(new)'):
            self.assertIn(text, everything.text)
        self.assertIn(f'/dashboard/action_plans/{uuid}', one.links)
        self.assertEqual((1, 400), (one.text.count('(new)'), refused.status))


class TestPlugins(base.TestCase):
    def test_all_namespaces_are_listed(self) -> None:
        page = Visitor(ApiFixture.of(self).application).get('/dashboard/plugins')
        for namespace in plugins.NAMESPACES:
            self.assertIn(namespace, page.text)
        self.assertIn('Runs an executable that the operator has allowed.', page.text)
