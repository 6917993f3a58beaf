"""Objects of other projects are not found."""

import json
from typing import Any

from oslo_config import cfg

from tests import base
from tests.contract.cluster_case import cluster_event
from tests.functional.api import fixtures
from tests.unit.api.requests import ReceivedResponse, ask
from watcherlite.api import deploy
from watcherlite.api.app import CALLER, Application
from watcherlite.api.operation import Caller
from watcherlite.api.policy import AccessPolicy
from watcherlite.domain.stacks import StackRequest

OWNER = Caller(user_id='ada', project_id='here', roles=frozenset({'manager'}))
STRANGER = Caller(user_id='eve', project_id='there', roles=frozenset({'manager'}))
ADMIN = Caller(user_id='root', project_id='there', roles=frozenset({'admin'}))
ABSENT = '00000000-0000-4000-8000-000000000000'
SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
MESSAGE = {'message': 'hello'}
POLICY = {'type': 'senlin.policy.deletion', 'version': '1.1', 'properties': {}}
PARAMETERS = {'a_password': 'hush', 'size': 5}
TEMPLATE = {
    'heat_template_version': '2016-10-14',
    'parameters': {
        'a_password': {'type': 'string', 'hidden': True},
        'size': {'type': 'number'},
    },
    'resources': {},
}
#: noun -> (key, body of the creation), in this order.
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    'profiles': ('profile', {'name': 'a-profile', 'spec': SPEC}),
    'policies': ('policy', {'name': 'a-policy', 'spec': POLICY}),
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
#: The requests for each object: method, suffix of its path, body.
TRIED: dict[str, list[tuple[str, str, Any]]] = {
    'profiles': [
        ('GET', '', None),
        ('PATCH', '', {'profile': {'name': 'mine'}}),
        ('DELETE', '', None),
    ],
    'policies': [
        ('GET', '', None),
        ('PATCH', '', {'policy': {'name': 'mine'}}),
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
    'events': [('GET', '', None)],
}
#: Lists with filters by objects of another project.
FILTERED = (
    *('nodes?cluster_id={clusters}', 'receivers?cluster_id={clusters}'),
    *('events?cluster_id={clusters}', 'events?oid={clusters}', 'events?oid={nodes}'),
    *('actions?cluster_id={clusters}', 'actions?target={clusters}'),
    *(f'{noun}?marker={{{noun}}}' for noun in (*MADE, 'actions', 'events')),
)


NEW_PROFILE = {'profile_id': '{profiles}'}


def named(body: Any, uuids: dict[str, str]) -> Any:
    """Return a body with the uuids in place of their variables."""
    text = json.dumps(body)
    for noun, uuid in uuids.items():
        text = text.replace(f'{{{noun}}}', uuid)
    return json.loads(text)


class ProjectsCase(base.TestCase):
    """An object of each kind in the project `here`; nothing is executed."""

    def setUp(self) -> None:
        super().setUp()
        self.fixture = fixtures.ApiFixture.of(self)
        self.api = self.application()
        self.uuids: dict[str, str] = {}
        for noun, (key, asked) in MADE.items():
            answer = self.ask('POST', f'/{noun}', {key: asked}, OWNER)
            self.assertIn(answer.status, (201, 202), answer.data)
            self.uuids[noun] = answer.body[key]['id']
        (first, *_) = self.ask('GET', '/actions', None, OWNER).body['actions']
        self.uuids['actions'] = first['id']
        self.uuids['events'] = self.add_event()

    def application(self, *config_files: str) -> Application:
        """Return the API with the policy rules of a configuration."""
        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=list(config_files))
        policy = AccessPolicy(conf)
        services = deploy.services_of(self.fixture.runtime)
        return Application(services, policy, [deploy.clustering()], 10_000)

    def add_event(self) -> str:
        """Store an event of the cluster; return its uuid."""
        store, uuid = self.fixture.runtime.store, self.uuids['clusters']
        with store.transaction() as tx:
            event = cluster_event(tx.lock_clusters([uuid])[uuid])
            tx.add_events([event])
        return event.uuid

    def ask(self, method: str, url: str, body: Any, caller: Caller) -> ReceivedResponse:
        return ask(
            *(self.api, method, f'/clustering/v1{url}', body),
            environ={CALLER: caller},
            OpenStack_API_Version='clustering 1.15',
        )

    def all_objects(self) -> Any:
        """Return all objects, as an administrator sees them."""
        nouns = (*MADE, 'actions', 'events')
        return {
            noun: self.ask('GET', f'/{noun}?global_project=true', None, ADMIN).body
            for noun in nouns
        }


class TestProjectIsolation(ProjectsCase):
    """A member of another project, with every role except that of an administrator."""

    def test_requests_on_objects_of_other_projects_return_404(self):
        before = self.all_objects()

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
        desired = {'name': 'mine', 'profile_id': self.uuids['profiles']}
        for key, noun in (('cluster', 'clusters'), ('node', 'nodes')):
            answer = self.ask('POST', f'/{noun}', {key: desired}, STRANGER)
            self.assertEqual(
                (
                    400,
                    f"The specified profile '{self.uuids['profiles']}' could not be "
                    'found.',
                ),
                (answer.status, answer.body['error']['message']),
            )
            action = {'action': 'nop', 'target': self.uuids[noun]}
            answer = self.ask('POST', '/actions', {'action': action}, STRANGER)
            self.assertIn(answer.status, (400, 404))

        self.assertEqual(before, self.all_objects())

    def test_names_short_ids_lists_and_filters_hide_other_projects(self):
        for noun, (key, asked) in MADE.items():
            for name in (asked['name'], self.uuids[noun][:8]):
                answer = self.ask('GET', f'/{noun}/{name}', None, STRANGER)

                self.assertEqual(
                    f"The {key} '{name}' could not be found.",
                    answer.body['error']['message'],
                )
        for noun in (*MADE, 'actions', 'events'):
            own, every = (
                self.ask('GET', f'/{noun}{query}', None, STRANGER)
                for query in ('', '?global_project=true')
            )

            # Only on request does a list of an administrator have all projects.
            admins = self.ask('GET', f'/{noun}', None, ADMIN)
            self.assertEqual(
                ({noun: []}, 403, {noun: []}), (own.body, every.status, admins.body)
            )
        absent = dict.fromkeys(self.uuids, ABSENT)
        for url in FILTERED:
            there, nothing = (
                self.ask('GET', f'/{url.format(**uuids)}', None, STRANGER)
                for uuids in (self.uuids, absent)
            )

            text = nothing.data.decode()
            for uuid in self.uuids.values():
                text = (
                    text.replace(ABSENT, uuid) if uuid in there.data.decode() else text
                )
            self.assertEqual(
                (nothing.status, text), (there.status, there.data.decode())
            )

    def test_requests_cannot_reference_objects_of_other_projects(self):
        key, profile = MADE['profiles']
        self.ask('POST', '/profiles', {key: profile}, STRANGER)
        key, cluster = MADE['clusters']
        made = self.ask('POST', '/clusters', {key: cluster}, STRANGER)
        here = f'/clusters/{made.body["cluster"]["id"]}/actions?wait=true'
        own = made.body['cluster']['profile_id']
        _, node = MADE['nodes']
        _, receiver = MADE['receivers']
        for url, body in (
            (here, {'add_nodes': {'nodes': ['{nodes}']}}),
            (here, {'del_nodes': {'nodes': ['{nodes}']}}),
            (here, {'replace_nodes': {'nodes': {'{nodes}': '{nodes}'}}}),
            (here, {'policy_attach': {'policy_id': '{policies}'}}),
            (here.replace('/actions?wait=true', ''), {'cluster': NEW_PROFILE}),
            (
                '/nodes',
                {'node': {**node, 'profile_id': own, 'cluster_id': '{clusters}'}},
            ),
            ('/receivers', {'receiver': {**receiver, 'cluster_id': '{clusters}'}}),
        ):
            with self.subTest(json.dumps(body)):
                method = 'PATCH' if 'cluster' in body else 'POST'
                there, absent = (
                    self.ask(method, url, named(body, uuids), STRANGER)
                    for uuids in (self.uuids, dict.fromkeys(self.uuids, ABSENT))
                )

                self.assertEqual(400, there.status, there.data)
                for uuid in self.uuids.values():
                    if uuid.encode() in there.data:
                        text = absent.data.decode().replace(ABSENT, uuid)
                        self.assertEqual(text, there.data.decode())

    def test_stack_of_other_project_cannot_be_adopted(self):
        stacks = self.fixture.runtime.stacks
        new = StackRequest('a-stack', TEMPLATE, parameters=PARAMETERS)
        uuid = stacks.create(new, 'here').uuid
        body = {'identity': uuid, 'type': 'os.heat.stack-1.0'}

        refused = [
            self.ask('POST', f'/nodes/{way}', {**body, 'identity': name}, STRANGER)
            for way in ('adopt', 'adopt-preview')
            for name in (uuid, 'a-stack')
        ]
        shown = self.ask('POST', '/nodes/adopt-preview', body, OWNER)

        self.assertEqual([400] * 4, [answer.status for answer in refused])
        for answer in refused:
            self.assertIn('could not be found', answer.body['error']['message'])
        properties = shown.body['node_profile']['node_preview']['properties']
        self.assertEqual(
            ({}, {'a_password': '***', 'size': 5}),
            (properties['template']['resources'], properties['parameters']),
        )


class TestCrossProjectAccess(ProjectsCase):
    def test_administrator_can_read_and_change_objects_of_all_projects(self):
        url = f'/actions/{self.uuids["actions"]}'
        body = {'action': {'status': 'CANCELLED'}}

        shown = self.ask('GET', '/clusters/a-cluster', None, ADMIN)
        cancelled = self.ask('PATCH', url, body, ADMIN)

        self.assertEqual('here', shown.body['cluster']['project'])
        self.assertEqual(
            (202, 'CANCELLED'), (cancelled.status, cancelled.body['action']['status'])
        )
        for noun in ('clusters', 'nodes'):
            desired = {'action': 'nop', 'target': self.uuids[noun], 'inputs': MESSAGE}

            answer = self.ask('POST', '/actions?wait=true', {'action': desired}, ADMIN)

            asked = answer.body['action']
            self.assertEqual(
                (202, self.uuids[noun], 'here', 'root'),
                (answer.status, asked['target'], asked['project'], asked['user']),
            )

    def test_names_resolve_in_own_project_and_references_in_project_of_object(self):
        for noun in ('profiles', 'policies', 'nodes'):
            key, asked = MADE[noun]
            self.ask('POST', f'/{noun}', {key: asked}, ADMIN)
        # It has the name of the cluster in the other project.
        node = {**MADE['nodes'][1], 'name': 'a-cluster'}
        mine = self.ask('POST', '/nodes', {'node': node}, ADMIN).body['node']
        desired = {'action': 'nop', 'target': 'a-cluster', 'inputs': MESSAGE}

        answer = self.ask('POST', '/actions?wait=true', {'action': desired}, ADMIN)

        self.assertEqual(
            (mine['id'], 'there'),
            (answer.body['action']['target'], answer.body['action']['project']),
        )
        shown = self.ask('GET', '/profiles/a-profile', None, ADMIN)
        self.assertEqual('there', shown.body['profile']['project'])

        here = f'/clusters/{self.uuids["clusters"]}/actions?wait=true'
        attach = {'policy_attach': {'policy_id': 'a-policy'}}
        begun = self.ask('POST', here, attach, ADMIN)

        action = self.ask('GET', f'/actions/{begun.body["action"]}', None, OWNER)
        self.assertEqual(
            (self.uuids['policies'], 'root', 'here'),
            (
                action.body['action']['inputs']['policy_id'],
                action.body['action']['user'],
                action.body['action']['project'],
            ),
        )
        # An object that exists only in another project is not found.
        there = self.ask('GET', '/policies/a-policy', None, ADMIN).body['policy']['id']
        refused = self.ask('POST', here, {'policy_attach': {'policy_id': there}}, ADMIN)
        self.assertEqual(
            (400, f"The specified policy '{there}' could not be found."),
            (refused.status, refused.body['error']['message']),
        )

    def test_policy_rules_define_administrators_and_callers_need_project(self):
        without_project = Caller(user_id='ada', roles=frozenset({'manager'}))
        place = f'/actions/{self.uuids["actions"]}?force=true'
        cancel = {'action': {'status': 'CANCELLED'}}
        for method, url, body, caller, message in (
            ('GET', '/clusters', None, without_project, 'has no project'),
            (
                *('PATCH', place, cancel, OWNER),
                "Policy doesn't allow actions:force to be performed.",
            ),
        ):
            answer = self.ask(method, url, body, caller)
            self.assertEqual(403, answer.status)
            self.assertIn(message, answer.body['error']['message'])
        rules, ini = self.home / 'policy.yaml', self.home / 'some.conf'
        rules.write_text('admin_api: role:boss\nreader_api: ""\n')
        ini.write_text(f'[oslo_policy]\npolicy_file = {rules}\n')
        self.api = self.application(str(ini))
        boss = Caller(user_id='eve', project_id='there', roles=frozenset({'boss'}))

        responses = [
            self.ask('GET', '/clusters/a-cluster', None, caller).status
            for caller in (boss, ADMIN)
        ]

        self.assertEqual([200, 404], responses)
