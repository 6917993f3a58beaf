"""The commands that request an action on a cluster or node, and wait for it."""

import fixtures

from tests.functional.cli.clusters import cluster_objects as shown
from tests.functional.cli.clusters.cluster_case import (
    ACTION,
    CLUSTER,
    NODE,
    ROOT,
    ClusterCase,
)
from tests.functional.cli.fake_api import Reply, error_reply

C, N = f'/clusters/{shown.CLUSTER_ID}', f'/nodes/{shown.NODE_ID}'


class OperationCommandsTest(ClusterCase):
    """The commands that request an action on a cluster or node."""

    def test_cluster_commands_request_actions(self):
        for line in (
            'actions',
            'actions?wait=true',
            'actions?not_before=2030-01-01',
            'ops',
        ):
            self.answer_with_action(f'POST {CLUSTER}/{line}')
        for argv, body in (
            (['check', 'web'], {'check': {}}),
            (['recover', 'web'], {'recover': {}}),
            (
                ['recover', 'web', '--operation', 'REBOOT', '--check'],
                {'recover': {'operation': 'REBOOT', 'check': True}},
            ),
            (
                ['recover', 'web', '--check-capacity'],
                {'recover': {'check_capacity': True}},
            ),
            (
                ['resize', 'web', '--capacity', '4'],
                {
                    'resize': {
                        'adjustment_type': 'EXACT_CAPACITY',
                        'number': 4,
                        'strict': False,
                    }
                },
            ),
            (
                ['resize', 'web', '--adjustment=-2', '--strict'],
                {
                    'resize': {
                        'adjustment_type': 'CHANGE_IN_CAPACITY',
                        'number': -2,
                        'strict': True,
                    }
                },
            ),
            (
                ['resize', 'web', '--percentage', '50', '--min-step', '1'],
                {
                    'resize': {
                        'adjustment_type': 'CHANGE_IN_PERCENTAGE',
                        'number': 50.0,
                        'strict': False,
                        'min_step': 1,
                    }
                },
            ),
            (
                ['resize', 'web', '--min-size', '0', '--max-size', '-1'],
                {'resize': {'min_size': 0, 'max_size': -1}},
            ),
            (['scale', 'in', 'web'], {'scale_in': {}}),
            (['scale', 'out', 'web', '--count', '2'], {'scale_out': {'count': 2}}),
            (['members', 'add', 'web', 'a', 'b'], {'add_nodes': {'nodes': ['a', 'b']}}),
            (
                ['members', 'del', 'web', 'a', '--destroy-after-deletion'],
                {'del_nodes': {'nodes': ['a'], 'destroy_after_deletion': True}},
            ),
            (
                ['members', 'replace', 'web', 'a=b'],
                {'replace_nodes': {'nodes': {'a': 'b'}}},
            ),
            (
                ['policy', 'attach', 'web', 'less'],
                {'policy_attach': {'policy_id': 'less'}},
            ),
            (
                ['policy', 'attach', 'web', 'less', '--disabled'],
                {'policy_attach': {'policy_id': 'less', 'enabled': False}},
            ),
            (
                ['policy', 'detach', 'web', 'less'],
                {'policy_detach': {'policy_id': 'less'}},
            ),
            (
                ['policy', 'update', 'web', 'less', '--disable'],
                {'policy_update': {'policy_id': 'less', 'enabled': False}},
            ),
            (
                ['policy', 'update', 'web', 'less', '--enable'],
                {'policy_update': {'policy_id': 'less', 'enabled': True}},
            ),
        ):
            found = self.rows('cluster', *argv)

            self.assertEqual(shown.ACTION_ID, found['ID'])
            self.assertEqual([(f'POST {C}/actions', body)], self.take_requests(), argv)
        self.rows('cluster', 'check', 'web', '--queue')
        self.assertEqual(
            [(f'POST {C}/actions?wait=true', {'check': {}})], self.take_requests()
        )
        self.rows('cluster', 'check', 'web', '--not-before', '2030-01-01')
        later = f'POST {C}/actions?not_before=2030-01-01'
        self.assertEqual([(later, {'check': {}})], self.take_requests())
        self.rows(
            *('cluster', 'op', 'web', '--operation', 'reboot'),
            *('--params', 'type=SOFT', '--filter', 'role=db'),
        )
        body = {'reboot': {'params': {'type': 'SOFT'}, 'filters': {'role': 'db'}}}
        self.assertEqual([(f'POST {C}/ops', body)], self.take_requests())

    def test_node_commands_request_actions(self):
        for line in (f'{NODE}/actions', f'{NODE}/ops', f'{ROOT}/nodes/web-1/actions'):
            self.answer_with_action(f'POST {line}')
        for argv, line, body in (
            (['check', 'web-1'], f'POST {N}/actions', {'check': {}}),
            (
                ['recover', 'web-1', '--operation', 'REBUILD', '--force-recreate'],
                f'POST {N}/actions',
                {'recover': {'operation': 'REBUILD', 'force_recreate': True}},
            ),
            (
                ['op', 'web-1', '--operation', 'reboot', '--params', 'wait=3'],
                f'POST {N}/ops',
                {'reboot': {'wait': 3}},
            ),
            (
                ['mark-unhealthy', 'web-1', 'it is slow'],
                'POST /nodes/web-1/actions',
                {'mark_unhealthy': {'mark_unhealthy': True, 'reason': 'it is slow'}},
            ),
            (
                ['mark-unhealthy', 'web-1', '--reset'],
                'POST /nodes/web-1/actions',
                {'mark_unhealthy': {'mark_unhealthy': False}},
            ),
            (
                ['mark-unhealthy', 'web-1', '--reset', 'it does not'],
                'POST /nodes/web-1/actions',
                {'mark_unhealthy': {'mark_unhealthy': False, 'reason': 'it does not'}},
            ),
        ):
            self.rows('node', *argv)

            self.assertEqual([(line, body)], self.take_requests(), argv)

    def test_invalid_options_send_no_request_and_conflicts_are_reported(self):
        for argv in (
            ['cluster', 'resize', 'web'],
            ['cluster', 'resize', 'web', '--capacity', '1', '--adjustment', '1'],
            ['cluster', 'resize', 'web', '--capacity', '1', '--min-step', '1'],
            ['cluster', 'resize', 'web', '--capacity', '-1'],
            ['cluster', 'resize', 'web', '--percentage', 'nan'],
            ['cluster', 'resize', 'web', '--percentage', 'some'],
            ['cluster', 'members', 'replace', 'web', 'a'],
            ['cluster', 'policy', 'update', 'web', 'less'],
            ['cluster', 'recover', 'web', '--operation', 'PRAY'],
            ['cluster', 'action', 'signal', 'x', 'STOP'],
            ['node', 'adopt', '4711', '--type', 't-1.0', '--preview', '--name', 'n'],
        ):
            self.assertEqual(2, self.fail(*argv)[0], argv)
            self.assertEqual([], self.take_requests())
        text = "CLUSTER_CHECK for cluster 'x' cannot be completed because it is locked."
        self.api.responses[f'POST {CLUSTER}/actions'] = error_reply(
            409, 'ResourceIsLocked', text
        )
        self.assertEqual((1, text), self.fail('cluster', 'check', 'web'))

    def test_signal_changes_the_status_of_an_action(self):
        self.api.responses[f'PATCH {ACTION}'] = Reply(None, 202)
        self.api.responses[f'PATCH {ACTION}?force=true'] = Reply(None, 202)
        line = f'PATCH /actions/{shown.ACTION_ID}'
        for argv, expected, status in (
            (['CANCEL'], line, 'CANCELLED'),
            (['SUSPEND'], line, 'SUSPENDED'),
            (['RESUME'], line, 'RUNNING'),
            (['CANCEL', '--force'], f'{line}?force=true', 'CANCELLED'),
        ):
            self.rows('cluster', 'action', 'signal', shown.ACTION_ID, *argv)

            self.assertEqual(
                [(expected, {'action': {'status': status}})], self.take_requests()
            )

    def test_action_create_requests_an_action_of_any_type(self):
        self.answer_with_action(f'POST {ROOT}/actions', {'action': shown.ACTION})

        self.rows(
            *('cluster', 'action', 'create', 'command', 'web', '--interval', '60'),
            *('--input', 'command=["true"]', '--not-before', '2030-01-01T00:00:00Z'),
            *('--timeout', '9', '--name', 'nightly'),
        )

        self.assertEqual(
            [
                (
                    'POST /actions',
                    {
                        'action': {
                            'action': 'command',
                            'target': 'web',
                            'name': 'nightly',
                            'interval': 60,
                            'not_before': '2030-01-01T00:00:00Z',
                            'timeout': 9,
                            'inputs': {'command': ['true']},
                        }
                    },
                )
            ],
            self.take_requests(),
        )


class WaitOptionTest(ClusterCase):
    """--wait."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('time.sleep', lambda seconds: None))
        self.answer_with_action(f'POST {CLUSTER}/actions')

    def test_wait_prints_events_and_the_result(self):
        node = {
            **shown.EVENT,
            'id': 'e2',
            'otype': 'NODE',
            'oname': 'web-1',
            'action': 'NODE_CHECK',
            'status': 'end',
            'status_reason': 'Check succeeded',
        }
        self.answer_polls(
            f'cluster_id={shown.CLUSTER_ID}',
            ('RUNNING', [shown.EVENT]),
            ('SUCCEEDED', [node]),
        )

        code, out, err = self.call('cluster', 'check', 'web', '--wait', '-f', 'value')

        self.assertEqual(0, code)
        self.assertEqual(
            '03:04:05 web CLUSTER_CHECK start Check in progress.\n'
            '03:04:05 web-1 NODE_CHECK end Check succeeded\n',
            err,
        )
        self.assertIn('SUCCEEDED', out)

    def test_wait_for_an_action_omits_earlier_events(self):
        self.answer_with_action(f'POST {ROOT}/actions', {'action': shown.ACTION})
        self.answer_polls(f'cluster_id={shown.CLUSTER_ID}', ('SUCCEEDED', []))
        events = f'GET {ROOT}/events?'
        self.api.responses[f'{events}sort=timestamp%3Adesc&limit=1'] = {
            'events': [{**shown.EVENT, 'id': 'e0'}]
        }
        line = (
            f'cluster_id={shown.CLUSTER_ID}&sort=timestamp%3Aasc&marker=e0&limit=1000'
        )
        self.api.responses[f'{events}{line}'] = {
            'events': [{**shown.EVENT, 'oname': 'later'}]
        }

        code, _, err = self.call(
            *('cluster', 'action', 'create', 'CLUSTER_CHECK', 'web', '--wait')
        )

        self.assertEqual(
            (0, '03:04:05 later CLUSTER_CHECK start Check in progress.\n'), (code, err)
        )

    def test_a_failed_or_cancelled_action_has_exit_code_1(self):
        for status in ('FAILED', 'CANCELLED'):
            self.answer_polls(f'cluster_id={shown.CLUSTER_ID}', (status, []))

            code, _, err = self.call('cluster', 'check', 'web', '--wait')

            self.assertEqual(1, code)
            self.assertEqual(
                f'watcherlite: the action cluster_check_11111111 is {status}: why\n',
                err,
            )

    def test_wait_for_a_node_prints_its_own_events(self):
        self.answer_with_action(f'POST {NODE}/actions')
        self.answer_polls(f'oid={shown.NODE_ID}', ('SUCCEEDED', [shown.EVENT]))

        code, _, err = self.call('node', 'check', 'web-1', '--wait')

        self.assertEqual((0, 1), (code, err.count('\n')))
