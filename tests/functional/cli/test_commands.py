"""The requests and the columns of the commands that read objects."""

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import ApiCommandCase, Reply

PLAN = api_objects.PLAN_UUID

#: collection -> the words of its commands, and one of its objects
ROWS = {
    'actions': ('action', api_objects.ACTION),
    'action_plans': ('actionplan', api_objects.PLAN),
    'audits': ('audit', api_objects.AUDIT),
    'audit_templates': ('audittemplate', api_objects.TEMPLATE),
    'goals': ('goal', api_objects.GOAL),
    'scoring_engines': ('scoringengine', api_objects.SCORING_ENGINE),
    'services': ('service', api_objects.SERVICE),
    'strategies': ('strategy', api_objects.STRATEGY),
}


class ReadingCommandsTest(ApiCommandCase):
    def test_lists_have_the_documented_columns(self):
        for noun, columns in (
            ('goals', 'UUID, Name, Display name'),
            ('strategies', 'UUID, Name, Display name, Goal'),
            ('audit_templates', 'UUID, Name, Goal, Strategy'),
            ('audits', 'UUID, Name, Audit Type, State, Goal, Strategy, Auto Trigger'),
            ('actions', 'UUID, Parents, State, Action Plan, Action'),
            ('scoring_engines', 'UUID, Name, Description'),
        ):
            words, row = ROWS[noun]
            self.api.responses[f'GET /v1/{noun}'] = api_objects.page(noun, row)

            (found,) = self.rows(words, 'list')

            self.assertEqual(columns, ', '.join(found))
            self.assertEqual((f'GET /v1/{noun}',), self.api.requests[-1])

    def test_plans_have_progress_and_age_and_services_their_leases(self):
        uuid = api_objects.PLAN_UUID
        for noun, table in (
            (
                'action_plans',
                {
                    'UUID': uuid,
                    'Audit': api_objects.AUDIT_UUID,
                    'State': 'RECOMMENDED',
                    'Updated At': None,
                    'Global efficacy': api_objects.PLAN['global_efficacy'],
                    'Progress': api_objects.PLAN['progress'],
                    # Created in the future: the clocks of two machines may differ.
                    'Age': 0,
                },
            ),
            (
                'services',
                {
                    'ID': 2,
                    'Name': 'watcherlite-engine',
                    'Host': 'alpha',
                    'Status': 'ACTIVE',
                    'Lane': 'engine',
                    'Lease Until': api_objects.CREATED,
                },
            ),
        ):
            words, row = ROWS[noun]
            self.api.responses[f'GET /v1/{noun}/detail'] = api_objects.page(
                noun, row, detail=True
            )

            self.assertEqual([table], self.rows(words, 'list'))
        self.assertEqual(
            [f'| {uuid} | 3 of 5, 1 failed | 0 s |'],
            self.succeed(
                *('actionplan', 'list', '-c', 'UUID', '-c', 'Progress', '-c', 'Age')
            ).splitlines()[3:-1],
        )

    def test_an_early_api_has_neither_progress_nor_leases(self):
        for noun, unknown, columns in (
            (
                'action_plans',
                {'progress'},
                'UUID, Audit, State, Updated At, Global efficacy, Age',
            ),
            ('services', {'lane', 'lease_until'}, 'ID, Name, Host, Status'),
        ):
            words, row = ROWS[noun]
            early = {name: row[name] for name in row if name not in unknown}
            self.api.responses[f'GET /v1/{noun}/detail'] = {noun: [early]}

            (found,) = self.rows(words, 'list')

            self.assertEqual(columns, ', '.join(found))

    def test_detailed_lists_have_the_columns_of_show(self):
        for noun, columns in (
            ('strategies', 'UUID, Name, Display name, Goal, Parameters spec'),
            (
                'audit_templates',
                'UUID, Created At, Updated At, Deleted At, Description, Name, Goal, '
                'Strategy, Audit Scope, Default Parameters',
            ),
            (
                'audits',
                'UUID, Name, Created At, Updated At, Deleted At, State, Audit Type, '
                'Parameters, Interval, Goal, Strategy, Audit Scope, Auto Trigger, '
                'Next Run Time, Hostname, Start Time, End Time, Force, Status Message',
            ),
            (
                'action_plans',
                'UUID, Created At, Updated At, Deleted At, Audit, Strategy, State, '
                'Efficacy indicators, Global efficacy, Hostname, Status Message, Name, '
                'Progress, Age',
            ),
            (
                'actions',
                'UUID, Created At, Updated At, Deleted At, Parents, State, '
                'Action Plan, Action, Parameters, Description, Status Message, Name, '
                'Target, Suspended, Start Time, End Time',
            ),
            ('services', 'ID, Name, Host, Status, Last seen up, Lane, Lease Until'),
            ('scoring_engines', 'UUID, Name, Description, Metainfo'),
        ):
            words, row = ROWS[noun]
            self.api.responses[f'GET /v1/{noun}/detail'] = api_objects.page(
                noun, row, detail=True
            )
            self.api.responses[f'GET /v1/{noun}/x'] = row

            (found,) = self.rows(words, 'list', '--detail')

            self.assertEqual(columns, ', '.join(found))
            self.assertEqual(found, self.rows(words, 'show', 'x'))

    def test_filters_and_sort_options_become_query_parameters(self):
        for argv, address in (
            (
                'goal list --sort-key uuid --sort-dir desc',
                'goals?sort_key=uuid&sort_dir=desc',
            ),
            ('strategy list --goal dummy', 'strategies?goal=dummy'),
            (
                'audittemplate list --goal a --strategy b',
                'audit_templates?goal=a&strategy=b',
            ),
            (
                'audit list --goal a --strategy b --state PENDING',
                'audits?goal=a&strategy=b&state=PENDING',
            ),
            (
                'audit list --text disk --user alice --since 2030-01-31',
                'audits?text=disk&user=alice&since=2030-01-31',
            ),
            (
                'actionplan list --text disk --until 2030-01-31T18:00',
                'action_plans/detail?text=disk&until=2030-01-31T18%3A00',
            ),
            (
                'actionplan list --audit a --strategy b --state FAILED',
                'action_plans/detail?audit_uuid=a&strategy=b&state=FAILED',
            ),
            (
                'action list --text disk --user alice --since 2030-01-31',
                'actions?text=disk&user=alice&since=2030-01-31',
            ),
            (
                'action list --action-plan a --state ONGOING --action-type nop '
                '--target web',
                'actions?action_plan_uuid=a&state=ONGOING&action_type=nop&target=web',
            ),
            ('action list --audit a --marker m', 'actions?audit_uuid=a&marker=m'),
            # Columns can be sort keys.
            ('audit list --sort-key Goal', 'audits?sort_key=goal_name'),
        ):
            noun = address.partition('?')[0].removesuffix('/detail')
            self.api.responses[f'GET /v1/{address}'] = api_objects.page(noun)

            self.assertEqual([], self.rows(*argv.split()), argv)

    def test_data_models_have_the_columns_of_their_type(self):
        server = {
            'server_uuid': 's',
            'server_name': 'web',
            'server_state': 'active',
            'node_uuid': 'n',
            'node_hostname': 'compute-1',
            'node_vcpus': 8,
        }
        empty = {'node_uuid': 'm', 'node_hostname': 'compute-2', 'node_vcpus': 4}
        columns = 'Server UUID, Server Name, Server State, Node UUID, Node Host Name'
        self.api.responses |= {
            'GET /v1/data_model': {'context': [empty, server]},
            'GET /v1/data_model?data_model_type=storage&audit_uuid=a': {
                'context': [],
                'comment': 'No storage model: no cloud',
            },
            'GET /v1/data_model?data_model_type=racks': {
                'context': [{'rack_name': 'r1'}, {'rack_name': 'r2', 'rack_row': 1}]
            },
        }

        rows = self.rows('datamodel', 'list')

        self.assertEqual(
            [(None, None, None, 'm', 'compute-2'), tuple(server.values())[:5]],
            [tuple(row.values()) for row in rows],
        )
        self.assertEqual(columns, ', '.join(rows[0]))
        detailed = self.rows('datamodel', 'list', '--detail')
        self.assertEqual([4, 8], [row['Node Vcpus'] for row in detailed])
        self.assertEqual(
            [{'Rack Name': 'r1', 'Rack Row': None}, {'Rack Name': 'r2', 'Rack Row': 1}],
            self.rows('datamodel', 'list', '--type', 'racks'),
        )
        code, _, err = self.call(
            *('datamodel', 'list', '--type', 'storage', '--audit', 'a')
        )
        self.assertEqual((0, 'watcherlite: No storage model: no cloud\n'), (code, err))

    def test_deleted_objects_are_listed_on_request(self):
        self.api.responses['GET /v1/audits'] = api_objects.page('audits')

        self.succeed('audit', 'list', '--deleted')
        self.succeed('audit', 'list')

        self.assertEqual(
            ['true', None], [h['X-Show-Deleted'] for h in self.api.headers]
        )

    def test_efficacy_and_requirements_are_formatted_as_text(self):
        self.api.responses[f'GET /v1/action_plans/{PLAN}'] = api_objects.PLAN
        self.api.responses['GET /v1/strategies/basic/state'] = Reply(api_objects.STATE)
        columns = ('-c', 'Efficacy indicators', '-c', 'Global efficacy')
        for argv, table in (
            (
                ('actionplan', 'show', PLAN, *columns),
                """\
+---------------------+-------------------------------+
| Field               | Value                         |
+---------------------+-------------------------------+
| Efficacy indicators | released_nodes: 2.0           |
| Global efficacy     | released_nodes_ratio: 50.00 % |
+---------------------+-------------------------------+
""",
            ),
            (
                ('strategy', 'state', 'basic'),
                """\
+------------+------------------------------+-----------+---------+
| Type       | State                        | Mandatory | Comment |
+------------+------------------------------+-----------+---------+
| Datasource | gnocchi                      | True      |         |
| CDM        | compute_model: available     | False     |         |
|            | storage_model: not available |           |         |
+------------+------------------------------+-----------+---------+
""",
            ),
        ):
            self.assertEqual(table, self.succeed(*argv))

    def test_outputs_of_an_action_are_shown_if_the_api_has_them(self):
        outputs = {'exit_code': 0, 'stdout': 'copied\n'}
        action = f'GET /v1/actions/{api_objects.ACTION_UUID}'
        for shown, expected in (
            ({'outputs': outputs}, outputs),
            ({'outputs': None}, None),
            ({}, 'no column'),
        ):
            self.api.responses[action] = {**api_objects.ACTION, **shown}

            found = self.rows('action', 'show', api_objects.ACTION_UUID)

            self.assertEqual(expected, found.get('Outputs', 'no column'))

    def test_requests_are_listed_with_who_sent_them_and_what_they_changed(self):
        sent = {
            'request_id': 'req-1',
            'occurred_at': api_objects.CREATED,
            'user_id': 'u1',
            'user_name': 'alice',
            'project_id': 'p1',
            'roles': ['admin', 'member'],
            'method': 'PATCH',
            'path': f'/v1/actions/{api_objects.ACTION_UUID}',
            'changes': [{'op': 'replace', 'path': '/state', 'value': 'SKIPPED'}],
            'object': {
                'type': 'action',
                'uuid': api_objects.ACTION_UUID,
                'name': 'rest',
                'created': False,
            },
        }
        self.api.responses['GET /v1/requests?user=alice&project_id=p1'] = (
            api_objects.page('requests', sent)
        )

        (found,) = self.rows(
            *('request', 'list', '--detail', '--user', 'alice', '--project-id', 'p1')
        )

        self.assertEqual(
            {
                'Time': api_objects.CREATED,
                'User': 'alice',
                'Method': 'PATCH',
                'Path': sent['path'],
                'Object': 'action',
                'Name': 'rest',
                'UUID': api_objects.ACTION_UUID,
                'Created': False,
                'Changes': sent['changes'],
                'Request ID': 'req-1',
                'Project ID': 'p1',
                'Roles': ['admin', 'member'],
            },
            found,
        )

    def test_audits_without_strategy_show_auto_and_events_show_steps(self):
        step = api_objects.copy_with(
            api_objects.EVENT,
            subject='audit',
            kind='stepped',
            action_name=None,
            detail={'step': 'strategy.start'},
        )
        self.api.responses['GET /v1/audits/x'] = api_objects.AUDIT
        self.api.responses['GET /v1/audits/x/events'] = api_objects.page('events', step)
        for argv, text in (
            (('audit', 'show', 'x', '-c', 'Strategy'), 'auto\n'),
            (('event', 'list', '--audit', 'x', '-c', 'Event'), 'strategy.start\n'),
        ):
            self.assertEqual(text, self.succeed(*argv, '-f', 'value'))

    def test_event_list_reads_all_pages(self):
        first = {**api_objects.page('events', api_objects.EVENT)}
        first['next'] = (
            f'{api_objects.HOST}/v1/action_plans/{PLAN}/events?after=1&limit=1'
        )
        self.api.responses[f'GET /v1/action_plans/{PLAN}/events'] = first
        second = api_objects.copy_with(
            api_objects.EVENT,
            sequence=2,
            old_state='ONGOING',
            new_state='SUCCEEDED',
            detail={'initiator': {'user_id': 'u1', 'user_name': 'alice'}},
        )
        self.api.responses[f'GET /v1/action_plans/{PLAN}/events?after=1&limit=1'] = (
            api_objects.page('events', second)
        )

        self.assertEqual(
            f"""\
"Sequence","Time","Subject","Event","Action","Old State","New State","Message","User"
1,"{api_objects.CREATED}","action","state_changed","rest","PENDING","ONGOING","",""
2,"{api_objects.CREATED}","action","state_changed","rest","ONGOING","SUCCEEDED","","alice"
""",
            self.succeed('event', 'list', '--plan', PLAN, '-f', 'csv'),
        )

    def test_event_list_requires_a_plan_or_an_audit(self):
        for address, argv in (
            (f'action_plans/{PLAN}/events?after=7&limit=1', ('--plan', PLAN)),
            ('audits/nightly/events?after=7&limit=1', ('--audit', 'nightly')),
        ):
            self.api.responses[f'GET /v1/{address}'] = api_objects.page(
                'events', api_objects.EVENT
            )

            (found,) = self.rows(
                *('event', 'list', '--after', '7', '--limit', '1', '--detail'), *argv
            )

            self.assertEqual(
                'Sequence, Time, Subject, Event, Action, Old State, New State, '
                'Message, User, UUID, Action UUID, Action Type, Suspended, Detail',
                ', '.join(found),
            )
        self.assertEqual(
            (
                2,
                'one of the arguments --plan/--action-plan --audit is required (see '
                '`watcherlite event list --help`)',
            ),
            self.fail('event', 'list'),
        )
