"""Tests of audits of every type, and of the plans that they propose."""

import json

from testtools import matchers

#: The output of the clients for an audit in its initial state.
AUDIT = {
    'UUID': 'UUID',
    'Name': None,
    'Created At': 'AWARE',
    'Updated At': None,
    'Deleted At': None,
    'State': 'PENDING',
    'Audit Type': 'ONESHOT',
    'Parameters': {},
    'Interval': None,
    'Goal': 'dummy',
    'Strategy': 'dummy',
    'Audit Scope': [],
    'Auto Trigger': False,
    'Next Run Time': None,
    'Hostname': None,
    'Start Time': None,
    'End Time': None,
    'Force': False,
    'Status Message': None,
}
#: The output of the clients for an untouched plan of the strategy dummy.
PLAN = {
    'UUID': 'UUID',
    'Created At': 'AWARE',
    'Updated At': None,
    'Deleted At': None,
    'Audit': 'UUID',
    'Strategy': 'dummy',
    'State': 'RECOMMENDED',
    'Efficacy indicators': [],
    'Global efficacy': [],
    'Hostname': None,
    'Status Message': None,
}
SKIPPED = 'Action skipped by user. Reason: maintenance'
#: An action of ten minutes, which ends immediately when it is cancelled.
LONG = json.dumps([{'action_type': 'sleep', 'input_parameters': {'duration': 600}}])
SHORT = json.dumps([{'action_type': 'nop', 'input_parameters': {'message': 'hi'}}])


class AuditTests:
    """Commands on audits."""

    def test_an_audit_proposes_a_plan(self):
        created = self.plain(
            *('audit', 'create', '-g', 'dummy', '-s', 'dummy', '--name', 'once'),
            *('-p', 'para1=1', '-p', 'para2=hello'),
        )
        done = self.show_in_state('audit', 'once', 'SUCCEEDED')
        plans = self.plain('actionplan', 'list', '--audit', done['UUID'], '--detail')
        listed = self.json('audit', 'list', '--goal', 'dummy', '--strategy', 'dummy')

        parameters = {'para1': 1, 'para2': 'hello'}
        self.assertEqual({**AUDIT, 'Name': 'once', 'Parameters': parameters}, created)
        self.assertEqual(('SUCCEEDED', 'host-1'), (done['State'], done['Hostname']))
        self.assertEqual([PLAN], plans)
        self.assertIn(
            {
                'UUID': done['UUID'],
                'Name': 'once',
                'Audit Type': 'ONESHOT',
                'State': 'SUCCEEDED',
                'Goal': 'dummy',
                'Strategy': 'dummy',
                'Auto Trigger': False,
            },
            listed,
        )
        self.assertIn(done, self.json('audit', 'list', '--detail'))

    def test_an_audit_of_a_template_alone_gets_a_strategy_and_a_name(self):
        self.json('audittemplate', 'create', 'only a goal', 'dummy')

        created = self.json('audit', 'create', '-a', 'only a goal')

        self.assertThat(created['Name'], matchers.StartsWith('only a goal-'))
        self.assertEqual(('dummy', 'auto'), (created['Goal'], created['Strategy']))

    def test_a_triggered_plan_is_executed_without_being_started(self):
        uuid = self.audit(
            *('triggered', '-g', 'unclassified', '-s', 'actuator', '--auto-trigger'),
            *('-p', f'actions={SHORT}'),
        )
        (plan,) = self.column('UUID', 'actionplan', 'list', '--audit', uuid)

        ended = self.show_in_state('actionplan', plan, 'SUCCEEDED', 'FAILED')

        self.assertEqual('SUCCEEDED', ended['State'])

    def test_a_continuous_audit_continues_until_it_is_cancelled(self):
        created = self.plain(
            *('audit', 'create', '-t', 'CONTINUOUS', '-i', '3600', '-g', 'dummy'),
            *('-s', 'dummy', '--name', 'hourly', '-p', 'para1=1', '-p', 'para2=hello'),
            *('--start-time', '2020-01-02 03:04:05'),
            *('--end-time', '2099-01-02 03:04:05'),
        )
        ongoing = self.show_in_state('audit', 'hourly', 'ONGOING')
        by_cron = self.json(
            'audit', 'update', 'hourly', 'replace', 'interval=*/5 * * * *'
        )
        cancelled = self.json('audit', 'update', 'hourly', 'replace', 'state=CANCELLED')
        self.run_silently('audit', 'delete', 'hourly')

        self.assertEqual(
            {
                **AUDIT,
                'Name': 'hourly',
                'Audit Type': 'CONTINUOUS',
                'Interval': '3600',
                'Parameters': {'para1': 1, 'para2': 'hello'},
                'Start Time': 'NAIVE',
                'End Time': 'NAIVE',
            },
            {**created, 'Next Run Time': None},
        )
        self.assertEqual('3600', ongoing['Interval'])
        self.assertEqual('*/5 * * * *', by_cron['Interval'])
        self.assertEqual('CANCELLED', cancelled['State'])
        self.assertIn('hourly', self.refusal('audit', 'show', 'hourly'))

    def test_an_event_audit_runs_when_its_webhook_is_called(self):
        created = self.json(
            *('audit', 'create', '-t', 'EVENT', '-g', 'dummy', '-s', 'dummy'),
            *('--name', 'event', '-p', 'para1=1'),
        )
        before = self.column('UUID', 'actionplan', 'list', '--audit', created['UUID'])
        answer = self.call('POST', '/v1/webhooks/event', json={'alarm': 'high'})
        self.wait_for_state('audit', 'event', 'SUCCEEDED')
        after = self.column('UUID', 'actionplan', 'list', '--audit', created['UUID'])

        self.assertEqual(
            ('EVENT', 'PENDING'), (created['Audit Type'], created['State'])
        )
        self.assertEqual(202, answer.status_code)
        self.assertEqual((0, 1), (len(before), len(after)))

    def test_an_invalid_audit_is_refused(self):
        def create(*argv):
            return self.refusal('audit', 'create', *argv)

        self.json('audit', 'create', '-g', 'dummy', '--name', 'taken')
        dummy = ('-g', 'dummy', '-s', 'dummy')
        refusals = {
            'no goal': create(),
            'unknown goal': create('-g', 'nothing'),
            'unknown strategy': create('-g', 'dummy', '-s', 'nothing'),
            'taken name': create('-g', 'dummy', '--name', 'taken'),
            'interval': create(*dummy, '-i', '60'),
            'no interval': create(*dummy, '-t', 'CONTINUOUS'),
            'invalid cron': create(*dummy, '-t', 'CONTINUOUS', '-i', '* * x * *'),
            'parameter': create(*dummy, '-p', 'zz=1'),
            'value': create(*dummy, '-p', 'para1=4711'),
            'no strategy': create('-g', 'dummy', '-p', 'para1=1'),
        }
        status = {
            **dict.fromkeys(refusals, '(HTTP 400)'),
            'unknown goal': '(HTTP 404)',
            'unknown strategy': '(HTTP 404)',
            'taken name': '(HTTP 409)',
        }
        text = {
            'no goal': 'goal',
            'unknown goal': 'Goal nothing could not be found',
            'unknown strategy': 'Strategy nothing could not be found',
            'taken name': 'taken',
            'interval': 'Interval of audit must not be set for ONESHOT.',
            'no interval': 'Interval of audit must be specified for CONTINUOUS.',
            'invalid cron': '* * x * *',
            'parameter': 'Audit parameter zz are not allowed',
            'value': '4711',
            'no strategy': 'strategy',
        }

        for what, error in refusals.items():
            self.assertIn(status[what], error, what)
            self.assertIn(text[what], error, what)

    def test_a_oneshot_audit_takes_an_interval_and_times_later(self):
        uuid = self.audit('changed', '-g', 'dummy', '-s', 'dummy', '-p', 'para1=1')
        words = ('audit', 'update', uuid, 'replace')

        updated = self.json(
            *(*words, 'interval=60', 'start_time=2099-01-02 03:04:05'),
            'end_time=2099-02-02 03:04:05',
        )
        early = self.refusal(*words, 'end_time=2099-01-01 00:00:00')

        self.assertEqual(
            ('ONESHOT', '60'), (updated['Audit Type'], updated['Interval'])
        )
        self.assertEqual(
            ['2099-01-02T03:04:05', '2099-02-02T03:04:05'],
            [updated['Start Time'], updated['End Time']],
        )
        self.assertIn('(HTTP 400)', early)

    def test_invalid_state_changes_of_an_audit_are_refused(self):
        uuid = self.audit('finished', '-g', 'dummy', '-s', 'dummy', '-p', 'para1=1')

        back = self.refusal('audit', 'update', uuid, 'replace', 'state=PENDING')
        added = self.refusal('audit', 'update', uuid, 'add', 'state=BOGUS')
        unknown = self.refusal('audit', 'delete', 'nothing')

        self.assertIn('(SUCCEEDED -> PENDING)', back)
        self.assertIn('BOGUS', added)
        self.assertIn('Audit nothing could not be found', unknown)
        self.assertEqual('SUCCEEDED', self.json('audit', 'show', uuid)['State'])


class PlanTests:
    """Commands on action plans and actions."""

    def test_a_plan_is_partly_skipped_and_executed(self):
        plan = self.dummy_plan('partial')
        proposed = self.json('action', 'list', '--action-plan', plan)
        uuids = [action['UUID'] for action in proposed]
        first = self.json('action', 'show', uuids[0])
        skipped = self.json(
            *('action', 'update', uuids[0], '--state', 'SKIPPED'),
            *('--reason', 'maintenance'),
        )
        started = self.json('actionplan', 'start', plan)
        ended = self.show_in_state('actionplan', plan, 'SUCCEEDED', 'FAILED')
        audit = ended['Audit']
        executed = self.json('action', 'list', '--audit', audit, '--detail')

        self.assertEqual(
            [
                {
                    'UUID': uuid,
                    'Parents': parents,
                    'State': 'PENDING',
                    'Action Plan': plan,
                    'Action': action_type,
                }
                for uuid, parents, action_type in zip(
                    uuids,
                    ([], uuids[:1], uuids[1:2]),
                    ('nop', 'nop', 'sleep'),
                    strict=True,
                )
            ],
            proposed,
        )
        self.assertEqual(
            {
                **proposed[0],
                'Created At': first['Created At'],
                'Updated At': None,
                'Deleted At': None,
                'Parameters': {'message': 'hello World'},
                'Description': first['Description'],
                'Status Message': None,
            },
            first,
        )
        self.assertEqual(
            {
                **first,
                'State': 'SKIPPED',
                'Status Message': SKIPPED,
                'Updated At': skipped['Updated At'],
            },
            skipped,
        )
        self.assertIsNotNone(skipped['Updated At'])
        self.assertIn(started['State'], ('PENDING', 'ONGOING'))
        self.assertEqual(
            (
                'SUCCEEDED',
                'One or more actions were skipped. '
                f'Action {uuids[0]} was skipped by user.',
            ),
            (ended['State'], ended['Status Message']),
        )
        self.assertEqual(
            [('SKIPPED', SKIPPED), ('SUCCEEDED', None), ('SUCCEEDED', None)],
            [(action['State'], action['Status Message']) for action in executed],
        )
        self.assertEqual(uuids, [action['UUID'] for action in executed])

    def test_an_updated_plan_is_executed_deleted_and_neither_started_nor_skipped(self):
        plan = self.dummy_plan('updated')
        action = self.column('UUID', 'action', 'list', '--action-plan', plan)[0]

        refused = self.refusal('actionplan', 'update', plan, 'replace', 'state=ONGOING')
        inner = self.refusal(
            'actionplan', 'update', plan, 'replace', 'status_message=nothing'
        )
        started = self.json('actionplan', 'update', plan, 'replace', 'state=PENDING')
        ended = self.show_in_state('actionplan', plan, 'SUCCEEDED', 'FAILED')
        again = self.refusal('actionplan', 'start', plan)
        late = self.refusal('action', 'update', action, '--state', 'SKIPPED')
        self.run_silently('actionplan', 'delete', plan)

        self.assertIn('(RECOMMENDED -> ONGOING) (HTTP 400)', refused)
        self.assertIn('status_message', inner)
        self.assertIn(started['State'], ('PENDING', 'ONGOING'))
        self.assertEqual('SUCCEEDED', ended['State'])
        self.assertIn("Couldn't start when state is 'SUCCEEDED'. (HTTP 400)", again)
        self.assertIn(
            'State transition not allowed: (SUCCEEDED -> SKIPPED) (HTTP 409)', late
        )
        self.assertIn(plan, self.refusal('actionplan', 'show', plan))
        self.assertIn(action, self.refusal('action', 'show', action))
        self.assertEqual([], self.json('action', 'list', '--action-plan', plan))

    def test_an_unstarted_plan_is_cancelled_permanently(self):
        plan = self.dummy_plan('not started')
        skipped, *others = self.column('UUID', 'action', 'list', '--action-plan', plan)
        # As the specification writes it; the client sends it as it is.
        self.json('action', 'update', skipped, '--state', 'skipped')

        cancelled = self.json('actionplan', 'cancel', plan)
        again = self.refusal('actionplan', 'cancel', plan)

        self.assertEqual('CANCELLED', cancelled['State'])
        self.assertIn('(CANCELLED -> CANCELLED)', again)
        self.assertEqual(
            ['SKIPPED', *['CANCELLED'] * len(others)],
            self.column('State', 'action', 'list', '--action-plan', plan),
        )

    def test_a_running_plan_is_cancelled(self):
        uuid = self.audit(
            *('running', '-g', 'unclassified', '-s', 'actuator', '--force'),
            *('-p', f'actions={LONG}'),
        )
        (plan,) = self.column('UUID', 'actionplan', 'list', '--audit', uuid)
        self.json('actionplan', 'start', plan)
        self.wait_for_state('actionplan', plan, 'ONGOING')

        cancelling = self.json('actionplan', 'cancel', plan)
        ended = self.show_in_state('actionplan', plan, 'CANCELLED')

        self.assertIn(cancelling['State'], ('CANCELLING', 'CANCELLED'))
        self.assertEqual('CANCELLED', ended['State'])

    def test_the_reason_of_a_skipped_action_can_be_changed_and_no_other(self):
        plan = self.dummy_plan('reasons')
        first, second, _ = self.column('UUID', 'action', 'list', '--action-plan', plan)

        early = self.refusal('action', 'update', first, '--reason', 'nothing')
        bogus = self.refusal('action', 'update', first, '--state', 'BOGUS')
        silent = self.json('action', 'update', first, '--state', 'SKIPPED')
        updated = self.json('action', 'update', first, '--reason', 'maintenance')
        unknown = self.refusal('action', 'show', plan)
        back = self.refusal('action', 'update', first, '--state', 'PENDING')
        long = self.refusal(
            'action', 'update', second, '--state', 'SKIPPED', '--reason', 'x' * 256
        )

        self.assertIn(
            'status_message update only allowed when action state is SKIPPED '
            '(HTTP 409)',
            early,
        )
        self.assertIn('Invalid state: BOGUS', bogus)
        self.assertEqual('Action skipped by user.', silent['Status Message'])
        self.assertEqual(SKIPPED, updated['Status Message'])
        self.assertIn(f'Action {plan} could not be found', unknown)
        self.assertIn('(SKIPPED -> PENDING) (HTTP 409)', back)
        self.assertIn('The reason has 256 characters; at most 223', long)
