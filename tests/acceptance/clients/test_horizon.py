"""The unmodified Horizon and watcher-dashboard, with the unmodified keystone."""

import json
import re

from tests.acceptance.clients.horizon import Horizon
from tests.acceptance.clients.horizon_pages import HorizonBrowser
from tests.acceptance.clients.identity import PASSWORD, Keystone
from tests.acceptance.clients.serving import ServedCase, Standalone
from tests.acceptance.daemons import wait_until

SERVICE, OPERATOR = 'watcherlite', 'operator'
CREATE_TEMPLATE = '/admin/audit_templates/create/'
CREATE_AUDIT = '/admin/audits/create/'
#: The first version with skips and status messages.
VERSION = 'infra-optim 1.5'
SKIPPED = 'Action skipped by user. Reason: '
#: The states in which audits and plans end here.
ENDED = ('SUCCEEDED', 'FAILED', 'CANCELLED')


def nop(message):
    """Return an action of a plan document, and of the strategy actuator."""
    return {'action_type': 'nop', 'input_parameters': {'message': message}}


def without_times(details):
    """Return the details of a page with TIME instead of each time."""
    time = re.compile(r'\w+\.? \d+, \d{4}, .+')
    return {
        term: 'TIME' if time.fullmatch(text) else text for term, text in details.items()
    }


class TestHorizon(ServedCase):
    """One Horizon and one keystone, and a watcherlite process that they use."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keystone = cls.use(Keystone())
        cls.keystone.add_user(SERVICE, 'service')
        cls.keystone.add_user(OPERATOR, 'admin')
        cls.standalone = cls.use(
            Standalone(lambda home: cls.keystone.settings(SERVICE))
        )
        cls.keystone.add_endpoint('infra-optim', cls.standalone.url)
        cls.token = cls.keystone.token(OPERATOR)
        cls.horizon = cls.use(Horizon(cls.keystone.url))
        cls.browser = HorizonBrowser(cls.horizon.url)
        cls.addClassCleanup(cls.browser.close)
        cls.first_page = cls.browser.log_in(OPERATOR, PASSWORD)

    def setUp(self):
        super().setUp()
        self.addOnException(lambda _: self.addDetail('horizon.log', self.horizon.log()))

    def ask(self, method, path, **options):
        """Send a request to the API as the user of Horizon; return the content."""
        headers = {'X-Auth-Token': self.token, 'OpenStack-API-Version': VERSION}
        answer = self.standalone.request(method, path, headers=headers, **options)
        answer.raise_for_status()
        return answer.json()

    def wait_for_end(self, path):
        """Wait until an audit or a plan of the API has ended; return it."""
        return wait_until(
            lambda: (
                found if (found := self.ask('GET', path))['state'] in ENDED else None
            ),
            lambda: self.ask('GET', path),
        )

    def cancel_plan(self, path):
        """Cancel a plan of the API, during which no audit runs."""
        cancel = {'op': 'replace', 'path': '/state', 'value': 'CANCELLING'}
        self.ask('PATCH', path, json=[cancel])
        self.wait_for_end(path)

    def rows(self, path, *fields):
        """Return the fields of all objects of a collection of the API."""
        (rows,) = (
            value for value in self.ask('GET', path).values() if isinstance(value, list)
        )
        return [tuple(row[field] for field in fields) for row in rows]

    def create_plan(self, name, *actions):
        """Create a plan of a document by the API; return its row."""
        document = {'name': name, 'actions': actions}
        return self.ask('POST', '/v1/action_plans', json=document)

    def test_an_audit_of_a_new_template_proposes_a_plan(self):
        goals = self.first_page.table('goals')
        strategies = self.browser.get('/admin/strategies/').table('strategies')
        (goal,) = (row[0] for row in goals if row[1] == 'unclassified')
        (strategy,) = (row[0] for row in strategies if row[1] == 'actuator')

        template = self.browser.submit(
            CREATE_TEMPLATE, name='selected', goal=goal, strategy=strategy
        )
        choices = self.browser.get(CREATE_AUDIT).choices(CREATE_AUDIT, 'audit_template')
        created = self.browser.submit(
            CREATE_AUDIT,
            audit_template=choices['selected'],
            audit_name='created by form',
            audit_type='oneshot',
            parameters=json.dumps({'actions': [nop('one'), nop('two')]}),
        )
        audit = self.wait_for_end('/v1/audits/created by form')['uuid']
        audits = self.browser.get('/admin/audits/').table('audits')
        proposal = self.browser.get(f'/admin/audits/{audit}/detail')
        ((plan, *_),) = plans = proposal.table('related_action_plans')
        actions = self.browser.get(f'/admin/action_plans/{plan}/detail').table(
            'related_wactions'
        )

        self.assertEqual(self.rows('/v1/goals', 'uuid', 'name', 'display_name'), goals)
        self.assertIn('Dummy goal', [row[2] for row in goals])
        self.assertEqual(
            self.rows('/v1/strategies', 'uuid', 'name', 'display_name', 'goal_name'),
            strategies,
        )
        self.assertEqual(
            [
                ['Success: Audit Template was successfully created.'],
                ['Success: Audit was successfully created.'],
            ],
            [page.alerts() for page in (template, created)],
        )
        names = ('unclassified', 'actuator')
        self.assertEqual(
            [(audit, 'created by form', *names, 'ONESHOT', 'False', 'Succeeded')],
            [row for row in audits if row[1] == 'created by form'],
        )
        self.assertEqual(
            {
                'UUID': audit,
                'Goal': 'unclassified',
                'Strategy': 'actuator',
                'Type': 'ONESHOT',
                'Parameters': 'actions: - action_type: nop input_parameters: message: '
                'one - action_type: nop input_parameters: message: two',
                'Auto Trigger': 'False',
                'State': 'SUCCEEDED',
                'Created At': 'TIME',
                'Update At': 'TIME',
            },
            without_times(proposal.details()),
        )
        self.assertEqual([(plan, audit, '', 'Recommended', '')], plans)
        proposed = self.rows(f'/v1/actions?action_plan_uuid={plan}', 'uuid')
        self.assertEqual(
            [(uuid, 'Nop', 'Pending', plan) for (uuid,) in proposed], actions
        )
        self.assertEqual(2, len(actions))

    def test_an_action_is_skipped_with_a_reason_and_its_plan_executed(self):
        created = self.create_plan(
            'created by document',
            {'name': 'first', **nop('one')},
            {'name': 'second', 'parents': ['first'], **nop('two')},
        )
        plan, audit = created['uuid'], created['audit_uuid']
        plan_page = f'/admin/action_plans/{plan}/detail'
        listed = f'/v1/actions/detail?action_plan_uuid={plan}'
        before = self.ask('GET', listed)['actions']
        first, second = (row['uuid'] for row in before)

        proposed = self.browser.get(plan_page)
        skips = proposed.links('Skip Action')
        skipped = self.browser.submit(skips[0], reason='maintenance')
        reasoned = self.browser.get(f'/admin/actions/{first}/detail')
        edited = self.browser.submit(skips[0], reason='no capacity')
        empty = self.browser.submit(skips[0], reason='')
        started = self.browser.press(
            f'/admin/audits/{audit}/detail', 'Start Action Plan'
        )
        ended = self.wait_for_end(f'/v1/action_plans/{plan}')
        executed = self.browser.get(plan_page)
        late = self.browser.submit(skips[1], reason='late')
        after = self.ask('GET', listed)['actions']

        self.assertEqual(
            [f'/admin/actions/{uuid}/skip' for uuid in (first, second)], skips
        )
        self.assertEqual(
            [
                [(first, 'Nop', one, plan), (second, 'Nop', two, plan)]
                for one, two in (
                    ('Pending', 'Pending'),
                    ('Skipped', 'Pending'),
                    ('Skipped', 'Pending'),
                    ('Skipped', 'Succeeded'),
                )
            ],
            [
                page.table('related_wactions')
                for page in (proposed, skipped, edited, executed)
            ],
        )
        self.assertEqual(
            [
                ['Success: Action was successfully skipped.'],
                ['Success: Skip reason was successfully updated.'],
                ['A reason is required when updating a skipped action.'],
                ['Success: Action Plan started: created by document'],
                ['Action must be in PENDING or SKIPPED state.'],
            ],
            [page.alerts() for page in (skipped, edited, empty, started, late)],
        )
        self.assertEqual(
            (
                {
                    'UUID': first,
                    'Type': 'nop',
                    'Action Plan': plan,
                    'State': 'SKIPPED',
                    'Skip Reason': f'{SKIPPED}maintenance',
                    'Created At': 'TIME',
                    'Update At': 'TIME',
                },
                [('message', 'one')],
            ),
            (without_times(reasoned.details()), reasoned.table('parameters')),
        )
        shown = {'ID': plan, 'Audit ID': audit, 'Created At': 'TIME'}
        message = (
            f'One or more actions were skipped. Action {first} was skipped by user.'
        )
        end = {'State': 'SUCCEEDED', 'Status Message': message, 'Update At': 'TIME'}
        self.assertEqual(
            [{**shown, 'State': 'RECOMMENDED', 'Update At': '-'}, {**shown, **end}],
            [without_times(page.details()) for page in (proposed, executed)],
        )
        self.assertEqual([], executed.links('Skip Action'))
        self.assertEqual(
            ('SUCCEEDED', message), (ended['state'], ended['status_message'])
        )
        skip = {'state': 'SKIPPED', 'status_message': f'{SKIPPED}no capacity'}
        self.assertEqual(
            [{**before[0], **skip}, {**before[1], 'state': 'SUCCEEDED'}],
            [
                {**row, **dict.fromkeys(('start_time', 'end_time', 'updated_at'))}
                for row in after
            ],
        )

    def test_a_refusal_of_the_api_is_shown_and_changes_nothing(self):
        wait = {'action_type': 'sleep', 'input_parameters': {'duration': 600}}
        created = self.create_plan(
            'waiting',
            {'name': 'first', **wait},
            {'name': 'second', 'parents': ['first'], **nop('one')},
        )
        plan = f'/v1/action_plans/{created["uuid"]}'
        self.addCleanup(self.cancel_plan, plan)
        self.ask('POST', f'{plan}/start', data='{}')
        listed = f'/v1/actions/detail?action_plan_uuid={created["uuid"]}'
        wait_until(
            lambda: self.rows(listed, 'state') == [('ONGOING',), ('PENDING',)],
            lambda: self.rows(listed, 'state'),
        )
        before = self.rows(listed, 'uuid', 'state', 'status_message')
        page = self.browser.get(f'/admin/action_plans/{created["uuid"]}/detail')
        skip = page.links('Skip Action')

        refused = self.browser.submit(skip[0], reason='late')

        first, second = (uuid for uuid, *_ in before)
        self.assertEqual([f'/admin/actions/{second}/skip'], skip)
        (alert,) = refused.alerts()
        self.assertEqual(
            'Error: Details State update not allowed for actionplan state: ONGOING '
            '(HTTP 409)',
            alert.partition(' (Request-ID: ')[0],
        )
        # Not all columns: the sleeping action is updated when its delay is stored.
        self.assertEqual([(first, 'ONGOING', None), (second, 'PENDING', None)], before)
        self.assertEqual(before, self.rows(listed, 'uuid', 'state', 'status_message'))
