"""The commands on clusters and nodes: their requests and their output."""

import io

import fixtures

from tests.functional.cli.clusters import cluster_objects as shown
from tests.functional.cli.clusters.cluster_case import CLUSTER, NODE, ROOT, ClusterCase
from tests.functional.cli.fake_api import Reply, error_reply
from tests.unit.cli.capturing import Stream

C, N = f'/clusters/{shown.CLUSTER_ID}', f'/nodes/{shown.NODE_ID}'


class ListCommandsTest(ClusterCase):
    """`list` of every noun."""

    def test_lists_of_clusters_and_nodes_have_the_documented_columns(self):
        self.api.responses[f'GET {ROOT}/clusters'] = {'clusters': [shown.CLUSTER]}
        self.api.responses[f'GET {ROOT}/nodes'] = {'nodes': [shown.NODE]}

        (few,) = self.rows('cluster', 'list')
        (many,) = self.rows('cluster', 'list', '--long')
        (node,) = self.rows('node', 'list')

        self.assertEqual(
            {
                'ID': shown.CLUSTER_ID,
                'Name': 'web',
                'Status': 'ACTIVE',
                'Desired Capacity': 3,
                'Created At': shown.TIME,
                'Updated At': None,
            },
            few,
        )
        self.assertEqual(
            {
                **few,
                'Profile Name': 'server',
                'Min Size': 1,
                'Max Size': -1,
                'Status Reason': shown.CLUSTER['status_reason'],
                'Project': 'default',
            },
            many,
        )
        self.assertEqual(
            ('web-1', 1, '4711'), (node['Name'], node['Index'], node['Physical ID'])
        )

    def test_list_options_become_query_parameters(self):
        nouns = ('clusters', 'nodes', 'actions', 'events', 'receivers', 'profiles')
        empty = {noun: [] for noun in (*nouns, 'policies')}
        for argv, address in (
            ('cluster list --name a --name b', 'clusters?name=a&name=b'),
            ('cluster list --status ERROR', 'clusters?status=ERROR'),
            ('cluster list --sort name:desc', 'clusters?sort=name%3Adesc'),
            ('cluster list --global-project', 'clusters?global_project=true'),
            ('cluster list --marker x --limit 2', 'clusters?marker=x&limit=2'),
            ('node list --cluster web', 'nodes?cluster_id=web'),
            (
                'cluster members list web',
                'nodes?cluster_id=web&sort=index%3Aasc&limit=1000',
            ),
            ('cluster action list --action NODE_CHECK', 'actions?action=NODE_CHECK'),
            ('cluster action list --cluster u', 'actions?cluster_id=u'),
            ('cluster event list --level ERROR', 'events?level=ERROR'),
            ('profile list --type t-1.0', 'profiles?type=t-1.0'),
            ('policy list --name p', 'policies?name=p'),
            ('receiver list --cluster web', 'receivers?cluster_id=web'),
        ):
            self.api.responses[f'GET {ROOT}/{address}'] = empty

            self.assertEqual([], self.rows(*argv.split()), argv)
            self.assertEqual([f'GET /{address}'], self.take_queries())

    def test_limit_0_reads_all_pages(self):
        rows = [{**shown.NODE, 'name': f'n{index}'} for index in range(3)]
        link = [{'rel': 'next', 'href': 'http://h/'}]
        first = f'GET {ROOT}/nodes?limit=1000'
        self.api.responses[first] = {'nodes': rows[:2], 'links': link}
        self.api.responses[f'{first}&marker={shown.NODE_ID}'] = {'nodes': rows[2:]}
        self.api.responses[f'GET {ROOT}/nodes'] = {'nodes': rows[:2], 'links': link}

        every = self.rows('node', 'list', '--limit', '0')
        code, _, err = self.call('node', 'list')

        self.assertEqual(['n0', 'n1', 'n2'], [row['Name'] for row in every])
        self.assertEqual(
            (0, 'watcherlite: only the first 2 rows are shown; --limit 0 shows all\n'),
            (code, err),
        )

    def test_endpoints_of_other_apis_are_accepted_with_clustering_versions(self):
        self.api.responses[f'GET {ROOT}/clusters'] = {'clusters': []}
        for path in (
            *('', '/infra-optim', '/orchestration/v1/mine', '/clustering/v1', '/'),
        ):
            self._set('WATCHERLITE_ENDPOINT', self.api.url + path)

            self.assertEqual([], self.rows('cluster', 'list'))
            version = self.api.headers[-1]['OpenStack-API-Version']
            self.assertEqual('clustering 1.15', version)


class ShowCommandsTest(ClusterCase):
    """`show` of every noun."""

    def test_show_prints_the_attributes_of_each_object(self):
        self.api.responses |= {
            f'GET {ROOT}/profiles/server': {'profile': shown.PROFILE},
            f'GET {ROOT}/policies/less': {'policy': shown.POLICY},
            f'GET {ROOT}/receivers/more': {'receiver': shown.RECEIVER},
            f'GET {ROOT}/events/e': {'event': shown.EVENT},
            f'GET {CLUSTER}/policies/less'.replace(shown.CLUSTER_ID, 'web'): {
                'cluster_policy': shown.BINDING
            },
        }
        for argv, found in (
            (['cluster', 'show', 'web'], {'Nodes': [shown.NODE_ID]}),
            (['node', 'show', 'web-1'], {'Physical ID': '4711'}),
            (['profile', 'show', 'server'], {'Spec': shown.SPEC}),
            (['policy', 'show', 'less'], {'Type': 'senlin.policy.scaling-1.0'}),
            (['receiver', 'show', 'more'], {'Params': {'count': 2}}),
            (['cluster', 'event', 'show', 'e'], {'Status': 'start'}),
            (['cluster', 'action', 'show', shown.ACTION_ID], {'Status': 'RUNNING'}),
            (['cluster', 'policy', 'show', 'web', 'less'], {'Priority': 100}),
        ):
            rows = self.rows(*argv)

            self.assertEqual({}, {k: rows[k] for k in found if rows[k] != found[k]})

    def test_times_are_iso_8601_and_errors_of_the_api_are_reported(self):
        text = self.succeed('cluster', 'action', 'show', shown.ACTION_ID)
        node = {'node': {**shown.NODE, 'details': {'pid': 4711}}}
        self.api.responses[f'GET {ROOT}/nodes/web-1?show_details=true'] = node

        self.assertIn('2030-01-02T03:04:05Z', text)
        self.assertNotIn('1893553445', text)
        found = self.rows('node', 'show', 'web-1', '--details')
        self.assertEqual({'pid': 4711}, found['Details'])
        text = "Multiple results found matching the query criteria 'w'."
        refused = error_reply(400, 'MultipleChoices', text)
        self.api.responses[f'GET {ROOT}/clusters/w'] = refused
        self.assertEqual((2, text), self.fail('cluster', 'show', 'w'))

    def test_types_and_operations_are_listed_and_shown(self):
        self.api.responses |= {
            f'GET {ROOT}/profile-types': {'profile_types': [shown.PROFILE_TYPE]},
            f'GET {ROOT}/profile-types/t-1.0': {'profile_type': shown.SHOWN_TYPE},
            f'GET {ROOT}/profile-types/t-1.0/ops': {'operations': shown.OPERATIONS},
            f'GET {ROOT}/policy-types': {'policy_types': [shown.PROFILE_TYPE]},
            f'GET {ROOT}/policy-types/t-1.0': {'policy_type': shown.SHOWN_TYPE},
        }

        for noun in ('profile', 'policy'):
            (listed,) = self.rows(noun, 'type', 'list')
            one = self.rows(noun, 'type', 'show', 't-1.0')

            self.assertEqual(
                ('local.process', '1.0'), (listed['Name'], listed['Version'])
            )
            self.assertEqual(shown.SHOWN_TYPE['schema'], one['Schema'])
        self.assertEqual(
            [{'Operation': 'reboot', 'Description': 'Restarts it.', 'Parameters': {}}],
            self.rows('profile', 'type', 'ops', 't-1.0'),
        )

    def test_policies_and_collected_values_of_a_cluster_are_listed(self):
        self.api.responses |= {
            f'GET {ROOT}/clusters/web/policies': {'cluster_policies': [shown.BINDING]},
            f'GET {ROOT}/clusters/web/attrs/details.pid': {
                'cluster_attributes': [{'id': shown.NODE_ID, 'value': 4711}]
            },
        }

        (binding,) = self.rows('cluster', 'policy', 'list', 'web')
        collected = self.rows('cluster', 'collect', 'web', 'details.pid')

        self.assertEqual(('less', True), (binding['Policy Name'], binding['Enabled']))
        self.assertEqual([{'ID': shown.NODE_ID, 'Value': 4711}], collected)


class ModifyingCommandsTest(ClusterCase):
    """`create`, `update` and `delete` of clusters and nodes."""

    def test_cluster_create_sends_the_given_attributes(self):
        self.answer_with_action(f'POST {ROOT}/clusters', {'cluster': shown.CLUSTER})

        self.rows(
            *('cluster', 'create', 'web', '--profile', 'server', '--min-size', '1'),
            *('--desired-capacity', '3', '--max-size', '5', '--timeout', '60'),
            *('--metadata', 'tier=web', '--config', 'node.name.format=w-$nI;x=1'),
        )
        self.rows('cluster', 'create', 'web', '--profile', 'server')

        self.assertEqual(
            [
                (
                    'POST /clusters',
                    {
                        'cluster': {
                            'name': 'web',
                            'profile_id': 'server',
                            'desired_capacity': 3,
                            'min_size': 1,
                            'max_size': 5,
                            'timeout': 60,
                            'metadata': {'tier': 'web'},
                            'config': {'node.name.format': 'w-$nI', 'x': 1},
                        }
                    },
                ),
                (
                    'POST /clusters',
                    {'cluster': {'name': 'web', 'profile_id': 'server'}},
                ),
            ],
            self.take_requests(),
        )

    def test_update_sends_only_the_given_attributes(self):
        self.answer_with_action(f'PATCH {CLUSTER}', {'cluster': shown.CLUSTER})
        self.answer_with_action(f'PATCH {NODE}', {'node': shown.NODE})
        for argv, line, values in (
            (['cluster', 'update', 'web', '--name', 'x'], C, {'name': 'x'}),
            (
                ['cluster', 'update', 'web', '--profile', 'p', '--profile-only'],
                C,
                {'profile_id': 'p', 'profile_only': True},
            ),
            (['node', 'update', 'web-1', '--tainted'], N, {'tainted': True}),
            (['node', 'update', 'web-1', '--not-tainted'], N, {'tainted': False}),
            (
                ['node', 'update', 'web-1', '--role', '', '--metadata', 'a=1'],
                N,
                {'role': '', 'metadata': {'a': 1}},
            ),
        ):
            self.rows(*argv)

            noun = argv[0]
            self.assertEqual(
                [(f'PATCH {line}', {noun: values})], self.take_requests(), argv
            )

    def test_nodes_are_created_and_adopted(self):
        self.answer_with_action(f'POST {ROOT}/nodes', {'node': shown.NODE})
        self.api.responses[f'POST {ROOT}/nodes/adopt'] = {'node': shown.NODE}
        preview = {'type': 't', 'version': '1.0', 'properties': {'port': 1}}
        self.api.responses[f'POST {ROOT}/nodes/adopt-preview'] = {
            'node_profile': {'node_preview': preview}
        }

        self.rows('node', 'create', 'n', '--profile', 'p', '--cluster', 'web')
        self.rows('node', 'adopt', '4711', '--type', 't-1.0', '--override', 'port=1')
        found = self.rows('node', 'adopt', '4711', '--type', 't-1.0', '--preview')

        self.assertEqual(
            [
                (
                    'POST /nodes',
                    {'node': {'name': 'n', 'profile_id': 'p', 'cluster_id': 'web'}},
                ),
                (
                    'POST /nodes/adopt',
                    {'identity': '4711', 'type': 't-1.0', 'overrides': {'port': 1}},
                ),
                ('POST /nodes/adopt-preview', {'identity': '4711', 'type': 't-1.0'}),
            ],
            self.take_requests(),
        )
        self.assertEqual({'port': 1}, found['Properties'])

    def test_timeout_after_the_command_is_the_timeout_of_the_cluster(self):
        """It may be longer than the timeout of a response."""
        self.answer_with_action(f'PATCH {CLUSTER}', {'cluster': shown.CLUSTER})

        self.rows('cluster', 'update', 'web', '--timeout', '100000')

        body = {'cluster': {'timeout': 100_000}}
        self.assertEqual([(f'PATCH {C}', body)], self.take_requests())
        self.assertEqual(
            (
                2,
                "--timeout is '0'; it must be a number of seconds above 0, and 86400 "
                'at most',
            ),
            self.fail('--timeout', '0', 'cluster', 'update', 'web', '--timeout', '9'),
        )

    def test_delete_continues_after_an_error(self):
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.StringIO()))
        self.answer_with_action(f'DELETE {CLUSTER}', Reply(b'null').body)
        self.answer_with_action(f'DELETE {CLUSTER}?force=true', Reply(b'null').body)
        text = "The cluster 'nothing' could not be found."
        self.api.responses[f'GET {ROOT}/clusters/nothing'] = error_reply(
            404, 'ResourceNotFound', text
        )

        code, out, err = self.call('cluster', 'delete', 'nothing', 'web')
        forced = self.call('cluster', 'delete', 'web', '--force')

        begun = (
            f'web is being deleted; see `watcherlite cluster action show '
            f'{shown.ACTION_ID}`'
        )
        messages = f'watcherlite: {text}\nwatcherlite: {begun}\n'
        self.assertEqual((2, '', messages), (code, out, err))
        self.assertEqual((0, '', f'watcherlite: {begun}\n'), forced)
        self.assertEqual(
            [(f'DELETE {C}',), (f'DELETE {C}?force=true',)], self.take_requests()
        )

    def test_deletion_asks_for_confirmation_on_a_terminal(self):
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', Stream(True, 'n\n')))

        code, _, err = self.call('node', 'delete', 'web-1')

        self.assertEqual(1, code)
        self.assertIn('Delete web-1? [y/N]', err)
        self.assertEqual([], self.take_requests())
