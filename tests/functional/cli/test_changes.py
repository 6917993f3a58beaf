"""The requests of the commands that change objects."""

import io

import fixtures

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import ApiCommandCase, Reply, fault

PLAN, ACTION, AUDIT = (
    api_objects.PLAN_UUID,
    api_objects.ACTION_UUID,
    api_objects.AUDIT_UUID,
)


class ModifyingCommandsTest(ApiCommandCase):
    def take_requests(self, *argv):
        """Return the only request of a command that displays the result."""
        self.succeed(*argv)
        (request,) = self.api.requests
        self.api.requests.clear()
        return request

    def test_update_skips_an_action(self):
        self.api.responses[f'PATCH /v1/actions/{ACTION}'] = api_objects.copy_with(
            api_objects.ACTION, state='SKIPPED'
        )
        state = {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'}
        message = {'op': 'replace', 'path': '/status_message', 'value': 'not now'}
        for argv, changes in (
            (['--state', 'skipped', '--message', 'not now'], [state, message]),
            (['--state', 'SKIPPED', '--reason', 'not now'], [state, message]),
            (['--state', 'Skipped'], [state]),
            (['--message', 'not now'], [message]),
        ):
            self.assertEqual(
                (f'PATCH /v1/actions/{ACTION}', changes),
                self.take_requests('action', 'update', *argv, ACTION),
            )

    def test_usage_errors_send_no_request(self):
        create = ('audit', 'create', '-g', 'dummy')
        template = ('audittemplate', 'create', 'weekly', 'dummy', '--scope')
        for argv, message in (
            (
                ('action', 'update', ACTION),
                'nothing to change: specify --state skipped, --message TEXT, or both '
                '(see `watcherlite action update --help`)',
            ),
            (
                ('audit', 'update', AUDIT, 'replace', 'name'),
                "'name' is not of the form NAME=VALUE",
            ),
            (
                (*create, '-t', 'EVENT', '--wait'),
                '--wait requires an audit of type ONESHOT; one of type EVENT does '
                'not end',
            ),
            (
                (*create, '--start-time', 'tomorrow'),
                "argument --start-time: 'tomorrow' is not a valid time; example: "
                '2030-01-31 18:00:00 (see `watcherlite audit create --help`)',
            ),
            ((*template, 'missing.yaml'), 'the file missing.yaml does not exist'),
        ):
            self.assertEqual((2, message), self.fail(*argv))
        plan = self.file('actions:\n- name: a\n  action_typ: nop\n', 'plan.yaml')
        scope = self.file('- a: 1\n  a: 2\n', 'scope.yaml')
        for argv, lines, problem in (
            (('actionplan', 'create', plan), 3, f'{plan}:3: actions[0].action_typ: '),
            ((*template, scope), 1, f'watcherlite: {scope}:2: '),
        ):
            code, out, err = self.call(*argv)
            self.assertEqual((2, '', lines), (code, out, err.count('\n')))
            self.assertIn(problem, err)
        self.assertEqual([], self.api.requests)

    def test_commands_signal_actions_and_start_plans(self):
        for *words, uuid, place in (
            ('action', 'cancel', ACTION, f'actions/{ACTION}/cancel'),
            ('action', 'suspend', ACTION, f'actions/{ACTION}/suspend'),
            ('action', 'resume', ACTION, f'actions/{ACTION}/resume'),
            ('actionplan', 'start', PLAN, f'action_plans/{PLAN}/start'),
        ):
            shown = api_objects.ACTION if uuid == ACTION else api_objects.PLAN
            self.api.responses[f'POST /v1/{place}'] = Reply(shown, 202)

            self.assertEqual(
                (f'POST /v1/{place}', {}), self.take_requests(*words, uuid)
            )

    def test_retry_creates_a_new_plan_and_starts_it_on_request(self):
        start = f'POST /v1/action_plans/{api_objects.PLAN_UUID}/start'
        self.api.responses[start] = api_objects.PLAN
        for noun, collection in (('actionplan', 'action_plans'), ('action', 'actions')):
            retry = f'POST /v1/{collection}/{ACTION}/retry'
            self.api.responses[retry] = Reply(api_objects.PLAN, 201)
            for options, requests in (
                ((), [(retry, {})]),
                (('--start',), [(retry, {}), (start, {})]),
            ):
                self.api.requests.clear()
                code, out, _ = self.call(
                    noun, 'retry', ACTION, '-c', 'UUID', '-f', 'value', *options
                )
                self.assertEqual((0, f'{api_objects.PLAN_UUID}\n'), (code, out))
                self.assertEqual(requests, self.api.requests)

    def test_create_sends_the_document_of_a_plan(self):
        self.api.responses['POST /v1/action_plans'] = Reply(api_objects.PLAN, 201)
        path = self.file("""
            name: nightly
            max_parallel: 2
            actions:
            - name: drain
              action_type: nop
              not_before: 2030-01-01T01:00:00+01:00
            - name: rest
              action_type: sleep
              input_parameters: {duration: 1}
              parents: [drain]
              timeout: 30
              target: web-1
            """)

        self.assertEqual(
            (
                'POST /v1/action_plans',
                {
                    'name': 'nightly',
                    'on_failure': 'continue',
                    'max_parallel': 2,
                    'actions': [
                        {
                            'name': 'drain',
                            'action_type': 'nop',
                            'not_before': '2030-01-01T00:00:00+00:00',
                        },
                        {
                            'name': 'rest',
                            'action_type': 'sleep',
                            'input_parameters': {'duration': 1},
                            'parents': ['drain'],
                            'timeout': 30,
                            'target': 'web-1',
                        },
                    ],
                },
            ),
            self.take_requests('actionplan', 'create', path),
        )

    def test_create_with_start_stores_and_starts_a_plan(self):
        self.api.responses['POST /v1/action_plans'] = Reply(api_objects.PLAN, 201)
        self.api.responses[f'POST /v1/action_plans/{PLAN}/start'] = (
            api_objects.copy_with(api_objects.PLAN, state='PENDING')
        )
        path = self.file('actions: [{name: a, action_type: nop}]')

        out = self.succeed(
            *('actionplan', 'create', '--start', path, '-f', 'value', '-c', 'State')
        )

        self.assertEqual('PENDING\n', out)
        self.assertEqual(
            ['POST /v1/action_plans', f'POST /v1/action_plans/{PLAN}/start'],
            [request[0] for request in self.api.requests],
        )

    def test_cancel_requests_the_state_that_the_plan_permits(self):
        get, patch = (f'{verb} /v1/action_plans/{PLAN}' for verb in ('GET', 'PATCH'))
        states = {
            state: api_objects.copy_with(api_objects.PLAN, state=state)
            for state in (
                *('RECOMMENDED', 'PENDING', 'ONGOING'),
                *('FAILED', 'CANCELLED', 'CANCELLING'),
            )
        }
        words = ('actionplan', 'cancel', PLAN)
        for state, desired in (
            ('RECOMMENDED', 'CANCELLED'),
            ('PENDING', 'CANCELLED'),
            ('ONGOING', 'CANCELLING'),
        ):
            self.api.responses |= {get: states[state], patch: states[desired]}
            self.api.requests.clear()

            self.succeed(*words)

            change = {'op': 'replace', 'path': '/state', 'value': desired}
            self.assertEqual([(get,), (patch, [change])], self.api.requests)
        error_text = 'State transition not allowed: ({} -> CANCELLED)'.format
        # The plan starts during the cancellation.
        self.api.responses |= {
            get: [states['PENDING'], states['ONGOING']],
            patch: [fault(400, error_text('ONGOING')), states['CANCELLING']],
        }
        self.assertEqual(
            'CANCELLING\n', self.succeed(*words, '-f', 'value', '-c', 'State')
        )
        self.api.responses |= {
            get: states['FAILED'],
            patch: fault(400, error_text('FAILED')),
        }
        self.assertEqual((2, error_text('FAILED')), self.fail(*words))

    def test_update_changes_attributes_by_json_patch(self):
        audit = f'PATCH /v1/audits/{AUDIT}'
        self.api.responses[audit] = api_objects.AUDIT
        self.api.responses['PATCH /v1/audit_templates/weekly'] = api_objects.TEMPLATE
        self.api.responses[f'PATCH /v1/action_plans/{PLAN}'] = api_objects.PLAN
        for argv, address, changes in (
            (
                ('audit', 'update', AUDIT, 'replace', 'interval=60', '/state=PENDING'),
                audit,
                [
                    {'op': 'replace', 'path': '/interval', 'value': '60'},
                    {'op': 'replace', 'path': '/state', 'value': 'PENDING'},
                ],
            ),
            (
                (
                    'audit',
                    'update',
                    AUDIT,
                    'add',
                    'parameters={"period": 1}',
                    'force=true',
                ),
                audit,
                [
                    {'op': 'add', 'path': '/parameters', 'value': {'period': 1}},
                    {'op': 'add', 'path': '/force', 'value': True},
                ],
            ),
            (
                ('audittemplate', 'update', 'weekly', 'remove', 'strategy', '/scope'),
                'PATCH /v1/audit_templates/weekly',
                [
                    {'op': 'remove', 'path': '/strategy'},
                    {'op': 'remove', 'path': '/scope'},
                ],
            ),
            (
                ('actionplan', 'update', PLAN, 'replace', 'state=PENDING'),
                f'PATCH /v1/action_plans/{PLAN}',
                [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
            ),
        ):
            self.assertEqual((address, changes), self.take_requests(*argv))

    def test_audit_create_sends_all_options(self):
        self.api.responses['POST /v1/audits'] = Reply(api_objects.AUDIT, 201)
        place = 'POST /v1/audits'
        self.assertEqual(
            (place, {'audit_type': 'ONESHOT', 'auto_trigger': False, 'goal': 'dummy'}),
            self.take_requests('audit', 'create', '-g', 'dummy'),
        )
        self.assertEqual(
            (
                place,
                {
                    'audit_type': 'CONTINUOUS',
                    'auto_trigger': True,
                    'goal': 'dummy',
                    'strategy': 'actuator',
                    'interval': '*/5 * * * *',
                    'name': 'often',
                    'start_time': '2030-01-31T18:00:00+00:00',
                    'end_time': '2030-02-28T17:00:00+00:00',
                    'parameters': {'para1': 3.2, 'para2': 'hello', 'list': [1]},
                    'force': True,
                },
            ),
            self.take_requests(
                *('audit', 'create', '-t', 'continuous', '--goal', 'dummy'),
                *('-s', 'actuator', '-i', '*/5 * * * *', '--name', 'often'),
                *('--start-time', '2030-01-31 18:00:00+00:00'),
                *('--end-time', '2030-02-28 18:00:00+01:00'),
                *('-p', 'para1=3.2', '-p', 'para2=hello', '--parameter', 'list=[1]'),
                *('--auto-trigger', '--force'),
            ),
        )

    def test_audit_create_finds_a_template_by_name(self):
        self.api.responses['GET /v1/audit_templates/weekly%2F2'] = api_objects.TEMPLATE
        self.api.responses['POST /v1/audits'] = Reply(api_objects.AUDIT, 201)

        self.succeed('audit', 'create', '-a', 'weekly/2')
        self.succeed('audit', 'create', '-a', api_objects.TEMPLATE_UUID)

        body = {
            'audit_type': 'ONESHOT',
            'auto_trigger': False,
            'audit_template_uuid': api_objects.TEMPLATE_UUID,
        }
        self.assertEqual(
            [
                ('GET /v1/audit_templates/weekly%2F2',),
                ('POST /v1/audits', body),
                ('POST /v1/audits', body),
            ],
            self.api.requests,
        )

    def test_audit_create_with_wait_reports_the_final_state(self):
        place = f'GET /v1/audits/{api_objects.AUDIT_UUID}'
        self.api.responses['POST /v1/audits'] = Reply(
            {**api_objects.AUDIT, 'state': 'PENDING'}, 201
        )
        for state, code, message in (
            ('SUCCEEDED', 0, ''),
            ('FAILED', 1, 'watcherlite: audit basic-2030 is FAILED: no data\n'),
        ):
            self.api.responses[place] = [
                {**api_objects.AUDIT, 'state': 'ONGOING'},
                {**api_objects.AUDIT, 'state': state, 'status_message': 'no data'},
            ]

            found = self.call(
                'audit',
                'create',
                '--goal=dummy',
                '--wait',
                '--format=value',
                '--column=State',
            )

            self.assertEqual(
                (
                    code,
                    f'{state}\n',
                    f'audit basic-2030: ONGOING\naudit basic-2030: {state}\n{message}',
                ),
                found,
            )

    def test_audit_trigger_reads_data_from_a_file_or_standard_input(self):
        self.api.responses['POST /v1/webhooks/nightly'] = Reply(None, 202)
        stdin = io.TextIOWrapper(io.BytesIO(b'{"a": 1}'))
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', stdin))
        path = self.file('{host: alpha}')
        for argv, body in (
            ((), {}),
            (('--data', path), {'host': 'alpha'}),
            (('--data', '-'), {'a': 1}),
        ):
            self.assertEqual('', self.succeed('audit', 'trigger', 'nightly', *argv))
            self.assertEqual(('POST /v1/webhooks/nightly', body), self.api.requests[-1])

    def test_audit_template_create_sends_all_options(self):
        self.api.responses['POST /v1/audit_templates'] = Reply(
            api_objects.TEMPLATE, 201
        )
        path = self.file('- compute:\n  - host_aggregates:\n    - id: 1\n')

        self.assertEqual(
            (
                'POST /v1/audit_templates',
                {
                    'name': 'weekly',
                    'goal': 'server_consolidation',
                    'strategy': 'basic',
                    'description': 'Every week.',
                    'scope': [{'compute': [{'host_aggregates': [{'id': 1}]}]}],
                    'default_parameters': {'period': 3600},
                },
            ),
            self.take_requests(
                *('audittemplate', 'create', 'weekly', 'server_consolidation'),
                *('-s', 'basic', '-d', 'Every week.', '--scope', path),
                *('-p', 'period=3600'),
            ),
        )

    def test_delete_continues_after_a_failure(self):
        for words, noun in (
            ('audit', 'audits'),
            ('audittemplate', 'audit_templates'),
            ('actionplan', 'action_plans'),
        ):
            self.api.requests.clear()
            for name in 'ab':
                self.api.responses[f'DELETE /v1/{noun}/{name}'] = Reply(None, 204)

            self.assertEqual('', self.succeed(words, 'delete', 'a', 'b'))

            self.assertEqual(
                [(f'DELETE /v1/{noun}/a',), (f'DELETE /v1/{noun}/b',)],
                self.api.requests,
            )
        self.api.responses['DELETE /v1/audits/a'] = fault(
            400, "Couldn't delete when state is 'ONGOING'."
        )
        self.api.responses['DELETE /v1/audits/c'] = fault(404, 'Audit c could not be')

        self.api.requests.clear()
        code, out, err = self.call('audit', 'delete', 'a', 'b', 'c')

        self.assertEqual(
            (
                2,
                '',
                "watcherlite: Couldn't delete when state is 'ONGOING'.\n"
                'watcherlite: Audit c could not be\n',
            ),
            (code, out, err),
        )
        self.assertEqual(3, len(self.api.requests))
