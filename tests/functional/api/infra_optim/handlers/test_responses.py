"""The responses conform to their schemas in every version."""

from tests.unit.api.infra_optim.handlers.case import HandlerCase
from tests.worlds import action
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.operation import Caller
from watcherlite.domain.creators import Creator, of_context

DOCUMENT = {'actions': [{'name': 'c', 'action_type': 'nop'}]}


class TestResponses(HandlerCase):
    def setUp(self) -> None:
        super().setUp()
        self.plan = self.world.run('a', action('b', parents=['a'], target='host-7'))
        self.one = {'uuid': self.plan.uuid}
        self.action = {'uuid': self.world.action('b').uuid}

    def test_read_responses_conform_in_every_version(self) -> None:
        for version in INFRA_OPTIM.history:
            for template, path in (
                ('/', {}),
                ('/v1', {}),
                ('/v1/action_plans', {}),
                ('/v1/action_plans/detail', {}),
                ('/v1/action_plans/{uuid}', self.one),
                ('/v1/action_plans/{uuid}/events', self.one),
                ('/v1/actions', {}),
                ('/v1/actions/detail', {}),
                ('/v1/actions/{uuid}', self.action),
            ):
                answer = self.call('GET', template, version, path=path)
                self.assertEqual(200, answer.status)

    def test_change_responses_conform(self) -> None:
        made = self.call('POST', '/v1/action_plans', body=DOCUMENT)
        plan = {'uuid': made.body['uuid']}
        skip = [{'op': 'replace', 'path': '/state', 'value': 'SKIPPED'}]
        cancel = [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}]
        skipped = {'uuid': self.world.action('c').uuid}
        self.world.stop()
        responses = [
            self.call('PATCH', '/v1/actions/{uuid}', path=skipped, body=skip),
            self.call('POST', '/v1/action_plans/{uuid}/start', path=plan),
            self.call('PATCH', '/v1/action_plans/{uuid}', path=plan, body=cancel),
            self.call('DELETE', '/v1/action_plans/{uuid}', path=plan),
        ]
        self.assertEqual([200, 200, 200, 204], [each.status for each in responses])

    def test_creator_of_plan_and_project_scope_are_stored(self) -> None:
        self.call('POST', '/v1/action_plans', body=DOCUMENT)
        self.assertEqual(
            {'user_name': 'ada', 'request_id': 'req-1', 'creator': {}},
            self.world.action('c').context,
        )
        for everywhere in (False, True):
            answer = self.call(
                *('POST', '/v1/action_plans'),
                body=DOCUMENT,
                caller=Caller('a', project_id='p'),
                plans_in_all_projects=everywhere,
            )
            plan = self.world.store.get_plan(answer.body['uuid'])
            self.assertEqual(Creator('a', 'p', everywhere), plan.creator)
            self.assertEqual(plan.creator, of_context(self.world.action('c').context))

    def test_missing_action_type_has_empty_description(self) -> None:
        bare = type(self.world.types).of(action_types={})
        services = self.services_of(self.world, plugins=bare)
        answer = self.call(
            'GET', '/v1/actions/{uuid}', path=self.action, services=services
        )
        self.assertEqual('', answer.body['description'])
