"""The API of plans neither shows nor changes the actions of stacks of any project."""

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.requests import ask

TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'resources': {'web': {'type': 'OS::Heat::None'}},
}
ABSENT = '00000000-0000-4000-8000-000000000000'
SKIP = [{'op': 'replace', 'path': '/state', 'value': 'SKIPPED'}]


class TestActionsWithoutPlan(base.TestCase):
    """A stack that is being created, and the API of plans."""

    def setUp(self):
        super().setUp()
        self.fixture = fixtures.ApiFixture.of(self)
        made = self.ask(
            *('POST', '/orchestration/v1/acme/stacks'),
            {'stack_name': 'one', 'template': TEMPLATE},
        )
        self.assertEqual(201, made.status)
        (self.action,) = self.fixture.runtime.store.list_actions()
        self.assertIsNone(self.action.plan_id)

    def ask(self, method, url, body=None, **headers):
        return ask(
            *(fixtures.application(), method, url, body),
            Host='127.0.0.1:9322',
            OpenStack_API_Version='infra-optim 1.7',
            **headers,
        )

    def test_action_without_plan_is_not_found_or_listed_or_valid_as_marker(self):
        uuid = self.action.uuid
        tried = (
            ('GET', '', None),
            ('PATCH', '', SKIP),
            ('POST', '/cancel', None),
            ('POST', '/suspend', None),
            ('POST', '/resume', None),
        )
        for show_deleted in ('false', 'true'):
            for method, what, body in tried:
                of_stack, absent = (
                    self.ask(
                        *(method, f'/v1/actions/{which}{what}', body),
                        X_Show_Deleted=show_deleted,
                    )
                    for which in (uuid, ABSENT)
                )
                self.assertEqual(
                    (404, absent.fault.replace(ABSENT, uuid)),
                    (of_stack.status, of_stack.fault),
                    f'{method} {what}',
                )

        after = self.fixture.runtime.store.get_action(uuid)
        self.assertEqual(self.action, after)
        target = self.action.target
        for query in (
            *('', '?sort_key=uuid', '?sort_key=state&sort_dir=desc'),
            *('?state=PENDING', f'?action_type={self.action.action_type}'),
            f'?target={target}',
        ):
            for show_deleted in ('false', 'true'):
                for place in ('/v1/actions', '/v1/actions/detail'):
                    answer = self.ask('GET', place + query, X_Show_Deleted=show_deleted)
                    self.assertEqual((200, []), (answer.status, answer.body['actions']))
        of_stack, absent = (
            self.ask('GET', f'/v1/actions?marker={which}') for which in (uuid, ABSENT)
        )
        self.assertEqual(404, absent.status)
        self.assertEqual(
            (404, absent.fault.replace(ABSENT, uuid)), (of_stack.status, of_stack.fault)
        )
