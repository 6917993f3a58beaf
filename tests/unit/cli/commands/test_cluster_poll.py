"""The events that `--wait` displays for a cluster, and the exit code of its action."""

from tests import base
from tests.unit.cli.capturing import Lines
from tests.unit.cli.commands import poll_case
from watcherlite import exceptions
from watcherlite.cli.commands.clusters.cluster_command import ClusterPoll
from watcherlite.cli.commands.poll import MANY

ABOUT = {'cluster_id': 'c'}


def make_event(number, name='web', otype='CLUSTER', level='20', status='end'):
    return {
        'id': f'event-{number}',
        'timestamp': '2030-01-01T01:02:03Z',
        'oname': name,
        'otype': otype,
        'level': level,
        'action': f'{otype}_CHECK',
        'status': status,
        'status_reason': 'why',
    }


class ScriptedApi(poll_case.ScriptedApi):
    def get(self, noun, identity):
        return {'name': identity, 'status': self.next_status(), 'noun': noun}

    def events_after(self, event_filter, marker):
        return self.take_events(event_filter, marker)


class ClusterPollTest(poll_case.PollTestCase):
    def follow(self, script, **options):
        cluster_poll = ClusterPoll(
            *(script, 'a', ABOUT, self.err), **self.clock_options(), **options
        )
        return cluster_poll.wait_for_end()

    def test_events_after_the_marker_are_shown_once(self):
        script = ScriptedApi(
            ('READY', []),
            ('RUNNING', [make_event(1, status='start')]),
            ('SUCCEEDED', [make_event(2, 'web-1', 'NODE'), make_event(3)]),
        )

        found = self.follow(script, marker='event-0')

        self.assertEqual(('actions', 'SUCCEEDED'), (found['noun'], found['status']))
        self.assertEqual(
            [(ABOUT, 'event-0'), (ABOUT, 'event-0'), (ABOUT, 'event-1')], script.queries
        )
        self.assertEqual(
            [
                '01:02:03 web CLUSTER_CHECK start why',
                '01:02:03 web-1 NODE_CHECK end why',
                '01:02:03 web CLUSTER_CHECK end why',
            ],
            self.err.lines,
        )

    def test_status_reasons_of_other_actions_are_not_shown(self):
        found = [
            {
                **make_event(1),
                'status_reason': 'CLUSTER_CREATE: number of active nodes',
            },
            {**make_event(2), 'status_reason': 'CLUSTER_CHECK: number of active nodes'},
            {
                **make_event(3, status='error'),
                'status_reason': 'Failed: CLUSTER_RESIZE: no',
            },
        ]

        self.follow(ScriptedApi(('SUCCEEDED', found)))

        self.assertEqual(
            [
                '01:02:03 web CLUSTER_CHECK end',
                '01:02:03 web CLUSTER_CHECK end CLUSTER_CHECK: number of active nodes',
                '01:02:03 web CLUSTER_CHECK error Failed: CLUSTER_RESIZE: no',
            ],
            self.err.lines,
        )

    def test_events_of_many_nodes_are_omitted_unless_errors(self):
        nodes = [make_event(n, f'n{n}', 'NODE') for n in range(MANY + 9)]
        failed = make_event(999, 'bad', 'NODE', '40', 'error')

        self.follow(ScriptedApi(('SUCCEEDED', [*nodes, failed, make_event(1000)])))
        few = list(self.err.lines)
        self.err = Lines()
        self.follow(ScriptedApi(('SUCCEEDED', nodes)), verbose=True)

        self.assertEqual(MANY + 3, len(few))
        self.assertIn('bad', few[-3])
        self.assertEqual('9 more events are not shown; --verbose shows all', few[-1])
        self.assertEqual(MANY + 9, len(self.err.lines))

    def test_missing_events_of_a_deleted_cluster_are_no_error(self):
        for error in (exceptions.NotFound('gone'), exceptions.Invalid('gone')):
            script = ScriptedApi(('SUCCEEDED', error))

            self.assertEqual('SUCCEEDED', self.follow(script)['status'])
            self.assertEqual([], self.err.lines)


class ExitCodeTest(base.TestCase):
    def test_the_exit_code_is_zero_only_for_succeeded_actions(self):
        action = {'name': 'cluster_check_1', 'status_reason': 'late'}
        cluster_poll = ClusterPoll(None, 'a', ABOUT, Lines())

        self.assertEqual(
            [
                (0, ''),
                (1, 'the action cluster_check_1 is FAILED: late'),
                (1, 'the action cluster_check_1 is CANCELLED: late'),
            ],
            [
                cluster_poll.result({**action, 'status': status})
                for status in ('SUCCEEDED', 'FAILED', 'CANCELLED')
            ],
        )
