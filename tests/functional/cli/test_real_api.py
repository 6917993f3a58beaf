"""The commands with the real API, from a goal to an executed plan."""

import re
import socket
import threading
from typing import ClassVar

from tests.functional.api import fixtures as api_fixtures
from tests.functional.cli.fake_api import ApiCommandCase
from watcherlite.cmd.http_server import HttpServer

UUID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
PLAN = """
name: nightly
actions:
- {name: drain, action_type: nop, input_parameters: {message: drain}}
- {name: tell, action_type: nop, input_parameters: {message: tell}, parents: [drain]}
- name: back
  action_type: nop
  input_parameters: {message: back}
  parents: [drain, tell]
"""


class ApiWithWorkers(api_fixtures.WorkingApiFixture):
    """The application with workers."""

    #: Permits lifecycle hooks to reach the servers of the tests.
    options: ClassVar = {('outgoing_http', 'allowed_networks'): ['127.0.0.0/8']}


class RealApiCase(ApiCommandCase):
    fixture = ApiWithWorkers

    def setUp(self):
        super().setUp()
        application = self.fixture()
        application.start_fixture()
        self.addCleanup(application.stop_fixture)
        listening = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listening.close)
        server = HttpServer(listening, api_fixtures.application(), 4)
        server.prepare()
        thread = threading.Thread(target=server.serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.stop)
        url = f'http://127.0.0.1:{listening.getsockname()[1]}/infra-optim'
        self._set('WATCHERLITE_ENDPOINT', url)


class UnauthenticatedApiTest(RealApiCase):
    """Without authentication every user has all rights."""

    def test_a_plan_is_created_started_and_watched_to_its_end(self):
        path = self.file(PLAN)

        plan = self.rows('actionplan', 'create', path)
        uuid = plan['UUID']
        actions = self.rows('action', 'list', '--action-plan', uuid, '--detail')
        second = next(row['UUID'] for row in actions if row['Name'] == 'tell')
        skipped = self.rows(
            *('action', 'update', '--state', 'skipped', '--message', 'not now', second)
        )
        self.rows('actionplan', 'start', uuid)
        code, out, err = self.call('actionplan', 'watch', uuid)
        rows = self.rows('event', 'list', '--plan', uuid)
        after = str(rows[-2]['Sequence'])
        last = self.rows('event', 'list', '--plan', uuid, '--after', after)

        self.assertEqual(('RECOMMENDED', 'nightly'), (plan['State'], plan['Name']))
        self.assertEqual(
            ('SKIPPED', 'Action skipped by user. Reason: not now'),
            (skipped['State'], skipped['Status Message']),
        )
        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            """\
Action plan nightly (UUID): 3 actions
tell: PENDING -> SKIPPED Action skipped by user. Reason: not now
action plan: RECOMMENDED -> PENDING
action plan: PENDING -> ONGOING
drain: PENDING -> ONGOING
drain: ONGOING -> SUCCEEDED
back: PENDING -> ONGOING
back: ONGOING -> SUCCEEDED
action plan: ONGOING -> SUCCEEDED
ACTION  TYPE  STATE      MESSAGE
drain   nop   SUCCEEDED
tell    nop   SKIPPED    Action skipped by user. Reason: not now
back    nop   SUCCEEDED
Action plan nightly (UUID): SUCCEEDED, 2 SUCCEEDED, 1 SKIPPED
One or more actions were skipped. Action UUID was skipped by user.
""",
            re.sub(r'(?m)^\d\d:\d\d:\d\d ', '', UUID.sub('UUID', out)),
        )
        self.assertEqual(
            ('action_plan', 'ONGOING', 'SUCCEEDED'),
            (rows[-1]['Subject'], rows[-1]['Old State'], rows[-1]['New State']),
        )
        self.assertEqual(rows[-1:], last)

    def test_installed_plugins_are_listed_and_shown(self):
        goals = self.rows('goal', 'list', '--sort-key', 'Name', '--limit', '3')
        strategies = self.rows('strategy', 'list', '--goal', 'DUMMY')

        self.assertEqual(
            sorted(row['Name'] for row in goals), [g['Name'] for g in goals]
        )
        self.assertEqual({'dummy'}, {row['Goal'] for row in strategies})
        self.assertEqual('dummy', self.rows('strategy', 'show', 'dummy')['Name'])
        self.assertEqual('dummy', self.rows('goal', 'show', 'dummy')['Name'])
        self.assertIn(
            'Name', [row['Type'] for row in self.rows('strategy', 'state', 'dummy')]
        )
        service = self.rows('service', 'list')[0]
        self.assertEqual('ACTIVE', service['Status'])
        self.assertEqual(
            service['Name'], self.rows('service', 'show', str(service['ID']))['Name']
        )
        scorer = self.rows('scoringengine', 'show', 'dummy_scorer')
        self.assertIn(
            {name: scorer[name] for name in ('UUID', 'Name', 'Description')},
            self.rows('scoringengine', 'list'),
        )

    def test_templates_and_audits_are_created_updated_and_deleted(self):
        template = self.rows(
            *('audittemplate', 'create', 'weekly', 'dummy', '-s', 'dummy'),
            *('-d', 'Every week.', '-p', 'para1=4.5'),
        )
        changed = self.rows(
            *('audittemplate', 'update', 'weekly', 'replace', 'description=Often.')
        )
        audit = self.rows(
            *('audit', 'create', '-t', 'EVENT', '-a', 'weekly', '--name', 'on-demand')
        )
        renamed = self.rows('audit', 'update', 'on-demand', 'replace', 'name=other')
        self.assertEqual('', self.succeed('audit', 'trigger', 'other'))
        events = self.rows('event', 'list', '--audit', 'other')

        self.assertEqual({'para1': 4.5}, template['Default Parameters'])
        self.assertEqual('Often.', changed['Description'])
        self.assertEqual(('EVENT', 'dummy'), (audit['Audit Type'], audit['Strategy']))
        self.assertEqual('other', renamed['Name'])
        self.assertEqual('audit', events[0]['Subject'])
        self.assertEqual(
            [template['UUID']],
            [row['UUID'] for row in self.rows('audittemplate', 'list')],
        )
        self.assertEqual('', self.succeed('audittemplate', 'delete', 'weekly'))
        self.assertEqual([], self.rows('audittemplate', 'list'))

    def test_errors_of_the_api_are_reported(self):
        path = self.file(PLAN)
        uuid = self.rows('actionplan', 'create', path)['UUID']
        action = self.rows('action', 'list', '--action-plan', uuid)[0]['UUID']
        self.rows('actionplan', 'cancel', uuid)

        self.assertEqual(
            (2, "Couldn't start when state is 'CANCELLED'."),
            self.fail('actionplan', 'start', uuid),
        )
        self.assertEqual(
            (1, 'State transition not allowed: (CANCELLED -> SKIPPED)'),
            self.fail('action', 'update', '--state', 'skipped', action),
        )
        self.assertEqual(2, self.fail('action', 'show', uuid)[0])
        self.assertEqual('', self.succeed('actionplan', 'delete', uuid))
        self.assertEqual(
            (2, f'ActionPlan {uuid} could not be found'),
            self.fail('actionplan', 'show', uuid),
        )


class AuthenticatedApiTest(RealApiCase):
    """Requests require authentication and the roles of the policy."""

    fixture = api_fixtures.ReaderApiFixture

    def test_requests_need_authentication_and_the_role_of_the_policy(self):
        code, message = self.fail('goal', 'list')
        self.assertEqual(2, code)
        self.assertIn('authentication at ', message)
        self._set('OS_AUTH_TYPE', 'http_basic')
        self._set('OS_USERNAME', 'reader')
        self._set('OS_PASSWORD', 'secret')
        path = self.file(PLAN)

        self.assertEqual([], self.rows('actionplan', 'list'))
        self.assertEqual(
            (2, "forbidden: Policy doesn't allow action_plan:create to be performed."),
            self.fail('actionplan', 'create', path),
        )
