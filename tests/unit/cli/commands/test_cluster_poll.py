"""What is shown while something is done with a cluster, until its action has ended."""

from tests import base
from tests.unit.cli.capturing import Lines
from tests.unit.cli.commands import poll_case
from watcherlite import exceptions
from watcherlite.cli.commands.clusters.cluster_command import ClusterPoll
from watcherlite.cli.commands.poll import MANY

ABOUT = {'cluster_id': 'c'}


def event(number, name='web', otype='CLUSTER', level='20', status='end'):
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


class Script(poll_case.Script):
    def show(self, noun, identity):
        return {'name': identity, 'status': self.look(), 'noun': noun}

    def events_after(self, about, marker):
        return self.take_events(about, marker)


class ClusterPollTest(poll_case.PollCase):
    def follow(self, script, **options):
        cluster_poll = ClusterPoll(
            *(script, 'a', ABOUT, self.err),
            **self.times(),
            **options,
        )
        return cluster_poll.until_ended()

    def test_a_story_is_shown_once_from_the_marker_to_its_end(self):
        script = Script(
            ('READY', []),
            ('RUNNING', [event(1, status='start')]),
            ('SUCCEEDED', [event(2, 'web-1', 'NODE'), event(3)]),
        )

        found = self.follow(script, marker='event-0')

        self.assertEqual(('actions', 'SUCCEEDED'), (found['noun'], found['status']))
        self.assertEqual(
            [(ABOUT, 'event-0'), (ABOUT, 'event-0'), (ABOUT, 'event-1')], script.asked
        )
        self.assertEqual(
            [
                '01:02:03 web CLUSTER_CHECK start why',
                '01:02:03 web-1 NODE_CHECK end why',
                '01:02:03 web CLUSTER_CHECK end why',
            ],
            self.err.lines,
        )

    def test_what_another_action_said_of_the_cluster_is_not_said_again(self):
        found = [
            {**event(1), 'status_reason': 'CLUSTER_CREATE: number of active nodes'},
            {**event(2), 'status_reason': 'CLUSTER_CHECK: number of active nodes'},
            {**event(3, status='error'), 'status_reason': 'Failed: CLUSTER_RESIZE: no'},
        ]

        self.follow(Script(('SUCCEEDED', found)))

        self.assertEqual(
            [
                '01:02:03 web CLUSTER_CHECK end',
                '01:02:03 web CLUSTER_CHECK end CLUSTER_CHECK: number of active nodes',
                '01:02:03 web CLUSTER_CHECK error Failed: CLUSTER_RESIZE: no',
            ],
            self.err.lines,
        )

    def test_it_is_asked_the_more_rarely_the_longer_nothing_happens(self):
        script = Script(*[('RUNNING', [])] * 12, ('FAILED', []))

        self.follow(script)

        self.assertEqual(sorted(self.waits), self.waits)
        self.assertEqual((0.3, 5.0), (self.waits[0], self.waits[-1]))

    def test_of_many_nodes_some_are_shown_and_all_that_failed(self):
        nodes = [event(n, f'n{n}', 'NODE') for n in range(MANY + 9)]
        failed = event(999, 'bad', 'NODE', '40', 'error')

        self.follow(Script(('SUCCEEDED', [*nodes, failed, event(1000)])))
        few = list(self.err.lines)
        self.err = Lines()
        self.follow(Script(('SUCCEEDED', nodes)), verbose=True)

        self.assertEqual(MANY + 3, len(few))
        self.assertIn('bad', few[-3])
        self.assertEqual('9 more events are not shown; --verbose shows all', few[-1])
        self.assertEqual(MANY + 9, len(self.err.lines))

    def test_what_is_deleted_has_no_events_any_more(self):
        for error in (exceptions.NotFound('gone'), exceptions.Invalid('gone')):
            script = Script(('SUCCEEDED', error))

            self.assertEqual('SUCCEEDED', self.follow(script)['status'])
            self.assertEqual([], self.err.lines)

    def test_an_api_that_is_away_is_waited_for_but_not_for_ever(self):
        away = exceptions.ApiUnavailable('nothing listens')

        found = self.follow(Script(away, away, ('SUCCEEDED', [])))
        told = list(self.err.lines)

        self.assertEqual('SUCCEEDED', found['status'])
        self.assertEqual(
            ['waiting for the API: nothing listens', 'the API is available again'], told
        )
        self.assertRaises(exceptions.ApiUnavailable, self.follow, Script(away))


class CodeTest(base.TestCase):
    def test_only_what_succeeded_is_a_success(self):
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
