"""What belongs to a project is as absent for others as what there is not."""

import json
from typing import Any

from oslo_config import cfg

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.asking import Answered, ask
from watcherlite.api import deploy
from watcherlite.api.app import CALLER, Application
from watcherlite.api.operation import Caller
from watcherlite.api.policy import Policy

OWNER = Caller(user_id='ada', project_id='here', roles=frozenset({'manager'}))
STRANGER = Caller(user_id='eve', project_id='there', roles=frozenset({'manager'}))
ADMIN = Caller(user_id='root', project_id='there', roles=frozenset({'admin'}))
ABSENT = '00000000-0000-4000-8000-000000000000'
SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
#: noun -> (key, what is created), in this order.
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    'profiles': ('profile', {'name': 'a-profile', 'spec': SPEC}),
    'clusters': ('cluster', {'name': 'a-cluster', 'profile_id': 'a-profile'}),
    'nodes': ('node', {'name': 'a-node', 'profile_id': 'a-profile'}),
    'receivers': (
        'receiver',
        {
            'name': 'a-receiver',
            'type': 'webhook',
            'cluster_id': 'a-cluster',
            'action': 'CLUSTER_SCALE_OUT',
        },
    ),
}
#: What is tried with each: method, what is behind its address, body.
TRIED: dict[str, list[tuple[str, str, Any]]] = {
    'profiles': [
        ('GET', '', None),
        ('PATCH', '', {'profile': {'name': 'mine'}}),
        ('DELETE', '', None),
    ],
    'clusters': [
        ('GET', '', None),
        ('PATCH', '', {'cluster': {'name': 'mine'}}),
        ('DELETE', '', None),
        ('DELETE', '?force=true', None),
        ('POST', '/actions', {'check': {}}),
        ('POST', '/actions', {'scale_out': {'count': 1}}),
        ('POST', '/actions', {'resize': {'min_size': 0}}),
        ('POST', '/actions', {'recover': {}}),
        ('POST', '/ops', {'reboot': {}}),
        ('GET', '/attrs/$.name', None),
        ('GET', '/policies', None),
        ('GET', '/policies/a-policy', None),
    ],
    'nodes': [
        ('GET', '', None),
        ('PATCH', '', {'node': {'name': 'mine'}}),
        ('DELETE', '', None),
        ('DELETE', '?force=true', None),
        ('POST', '/actions', {'check': {}}),
        ('POST', '/actions', {'recover': {}}),
        ('POST', '/actions', {'mark_unhealthy': {}}),
        ('POST', '/ops', {'reboot': {}}),
    ],
    'receivers': [
        ('GET', '', None),
        ('PATCH', '', {'receiver': {'name': 'mine'}}),
        ('DELETE', '', None),
        ('POST', '/notify', None),
    ],
    'actions': [
        ('GET', '', None),
        ('PATCH', '', {'action': {'status': 'CANCELLED'}}),
        ('PATCH', '', {'action': {'status': 'SUSPENDED'}}),
    ],
}


class ProjectsCase(base.TestCase):
    """Something of each kind in the project `here`; nothing is executed."""

    def setUp(self) -> None:
        super().setUp()
        self.fixture = fixtures.ApiFixture()
        self.fixture.start_fixture()
        self.addCleanup(self.fixture.stop_fixture)
        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=[])
        services = deploy.services_of(self.fixture.runtime)
        self.api = Application(services, Policy(conf), [deploy.clustering()], 10_000)
        self.uuids: dict[str, str] = {}
        for noun, (key, asked) in MADE.items():
            answer = self.ask('POST', f'/{noun}', {key: asked}, OWNER)
            self.assertIn(answer.status, (201, 202), answer.data)
            self.uuids[noun] = answer.body[key]['id']
        (first, *_) = self.ask('GET', '/actions', None, OWNER).body['actions']
        self.uuids['actions'] = first['id']

    def ask(self, method: str, url: str, body: Any, caller: Caller) -> Answered:
        return ask(
            *(self.api, method, f'/clustering/v1{url}', body),
            environ={CALLER: caller},
            OpenStack_API_Version='clustering 1.15',
        )

    def everything(self) -> Any:
        """Return all that an administrator sees."""
        nouns = (*MADE, 'actions', 'events')
        return {
            noun: self.ask('GET', f'/{noun}?global_project=true', None, ADMIN).body
            for noun in nouns
        }


class TestStrangers(ProjectsCase):
    """Who is in another project, with every role but that of an administrator."""

    def test_each_request_is_answered_as_for_what_there_is_not(self):
        before = self.everything()

        for noun, tried in TRIED.items():
            for method, what, body in tried:
                with self.subTest(f'{method} {noun}{what} {json.dumps(body)}'):
                    there, absent = (
                        self.ask(method, f'/{noun}/{uuid}{what}', body, STRANGER)
                        for uuid in (self.uuids[noun], ABSENT)
                    )

                    self.assertEqual(404, there.status, there.data)
                    self.assertEqual(
                        absent.data.decode().replace(ABSENT, self.uuids[noun]),
                        there.data.decode(),
                    )

        self.assertEqual(before, self.everything())

    def test_names_and_short_ids_lead_nowhere_either(self):
        for noun, (key, asked) in MADE.items():
            for name in (asked['name'], self.uuids[noun][:8]):
                answer = self.ask('GET', f'/{noun}/{name}', None, STRANGER)

                self.assertEqual(
                    f"The {key} '{name}' could not be found.",
                    answer.body['error']['message'],
                )

    def test_lists_are_empty(self):
        for noun in (*MADE, 'actions', 'events'):
            answer = self.ask('GET', f'/{noun}', None, STRANGER)

            self.assertEqual({noun: []}, answer.body)

    def test_lists_of_all_projects_are_for_administrators(self):
        for noun in (*MADE, 'actions', 'events'):
            answer = self.ask('GET', f'/{noun}?global_project=true', None, STRANGER)

            self.assertEqual(403, answer.status)

    def test_what_a_body_names_is_not_there(self):
        wanted = {'name': 'mine', 'profile_id': self.uuids['profiles']}
        for url, body in (
            ('/clusters', {'cluster': wanted}),
            ('/nodes', {'node': wanted}),
        ):
            answer = self.ask('POST', url, body, STRANGER)

            self.assertEqual(
                (
                    400,
                    f"The specified profile '{self.uuids['profiles']}' could not be "
                    'found.',
                ),
                (answer.status, answer.body['error']['message']),
            )

    def test_no_action_is_asked_for_on_it(self):
        for noun in ('clusters', 'nodes'):
            body = {'action': {'action': 'nop', 'target': self.uuids[noun]}}

            answer = self.ask('POST', '/actions', body, STRANGER)

            self.assertIn(answer.status, (400, 404))


class TestOthers(ProjectsCase):
    def test_an_administrator_reaches_what_there_is_in_all_projects(self):
        url = f'/actions/{self.uuids["actions"]}'
        body = {'action': {'status': 'CANCELLED'}}

        shown = self.ask('GET', '/clusters/a-cluster', None, ADMIN)
        cancelled = self.ask('PATCH', url, body, ADMIN)

        self.assertEqual('here', shown.body['cluster']['project'])
        self.assertEqual(
            (202, 'CANCELLED'),
            (cancelled.status, cancelled.body['action']['status']),
        )

    def test_what_is_in_the_own_project_counts_first(self):
        key, asked = MADE['profiles']
        self.ask('POST', '/profiles', {key: asked}, ADMIN)

        shown = self.ask('GET', '/profiles/a-profile', None, ADMIN)

        self.assertEqual('there', shown.body['profile']['project'])

    def test_who_is_in_no_project_is_told_so(self):
        nobody = Caller(user_id='ada', roles=frozenset({'manager'}))

        answer = self.ask('GET', '/clusters', None, nobody)

        self.assertEqual(403, answer.status)
        self.assertIn('for no project', answer.body['error']['message'])

    def test_only_an_administrator_ends_what_somebody_runs(self):
        url = f'/actions/{self.uuids["actions"]}?force=true'

        answer = self.ask('PATCH', url, {'action': {'status': 'CANCELLED'}}, OWNER)

        self.assertEqual(
            (403, "Policy doesn't allow actions:force to be performed."),
            (answer.status, answer.body['error']['message']),
        )
