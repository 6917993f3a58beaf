"""The command that watches a plan: its output, its end and its reconnection."""

import json
import re
import signal
import subprocess
import sys
import threading

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import RemoteCase, Reply, fault, stream
from tests.unit.cli.capturing import Lines
from watcherlite.cli.commands import plan_watch
from watcherlite.cli.http import access, client

PLAN, ACTION, PARENT = (
    api_objects.PLAN_UUID,
    api_objects.ACTION_UUID,
    api_objects.PARENT_UUID,
)
PLACE = f'GET /v1/action_plans/{PLAN}'
EVENTS = f'{PLACE}/events'
END = b'event: end\ndata: {}\n\n'
ACTIONS = f'action_plan_uuid={PLAN}'


def of_plan(sequence, old, new, **values):
    return api_objects.of(
        api_objects.EVENT,
        sequence=sequence,
        subject='action_plan',
        action_uuid=None,
        action_name=None,
        action_type=None,
        old_state=old,
        new_state=new,
        **values,
    )


def of_action(sequence, name, old, new, **values):
    uuid = PARENT if name == 'drain' else ACTION
    return api_objects.of(
        api_objects.EVENT,
        sequence=sequence,
        action_uuid=uuid,
        action_name=name,
        old_state=old,
        new_state=new,
        **values,
    )


#: A plan of two actions, the second of which fails.
STORY = [
    of_plan(1, None, 'RECOMMENDED', kind='created'),
    of_plan(2, 'RECOMMENDED', 'PENDING'),
    of_plan(3, 'PENDING', 'ONGOING'),
    of_action(4, 'drain', 'PENDING', 'ONGOING'),
    of_action(5, 'drain', 'ONGOING', 'SUCCEEDED'),
    of_action(6, 'rest', 'PENDING', 'ONGOING'),
    of_action(
        *(7, 'rest', 'ONGOING', 'ONGOING'),
        kind='signalled',
        detail={'signal': 'SUSPEND'},
    ),
    of_action(8, 'rest', 'ONGOING', 'FAILED', message='it broke'),
    of_plan(9, 'ONGOING', 'FAILED', message='it broke'),
]
LINES = [
    'action plan: RECOMMENDED -> PENDING',
    'action plan: PENDING -> ONGOING',
    'drain: PENDING -> ONGOING',
    'drain: ONGOING -> SUCCEEDED',
    'rest: PENDING -> ONGOING',
    'rest: SUSPEND requested',
    'rest: ONGOING -> FAILED it broke',
    'action plan: ONGOING -> FAILED',
]
SUMMARY = [
    'ACTION  TYPE  STATE      MESSAGE',
    'drain   nop   SUCCEEDED',
    'rest    nop   FAILED     it broke',
    f'Action plan nightly ({PLAN}): FAILED, 1 SUCCEEDED, 1 FAILED',
    'it broke',
]


def sent(*events):
    """Return events as they are in a stream."""
    return ''.join(
        f'id: {event["sequence"]}\ndata: {json.dumps(event)}\n\n' for event in events
    ).encode()


class WatchCase(RemoteCase):
    def setUp(self):
        super().setUp()
        self.first = api_objects.of(
            api_objects.ACTION, uuid=PARENT, name='drain', parents=[], state='SUCCEEDED'
        )
        self.second = api_objects.of(
            api_objects.ACTION, state='FAILED', status_message='it broke'
        )
        before = [
            api_objects.of(row, state='PENDING') for row in (self.first, self.second)
        ]
        self.plan_ends_after(1)
        self.detail(f'{ACTIONS}&limit=51', *before)
        self.detail(f'{ACTIONS}&limit=1000', self.first, self.second)
        self.detail(f'{ACTIONS}&limit=1000&state=FAILED', self.second)
        self.out, self.err = Lines(), Lines()
        self.waited = []
        self.now = 0.0

    def plan_ends_after(self, requests):
        """Let the plan be FAILED from this request on."""
        plan = api_objects.of(api_objects.PLAN, state='PENDING')
        failed = api_objects.of(
            api_objects.PLAN, state='FAILED', status_message='it broke'
        )
        self.api.answers[PLACE] = [*[plan] * requests, failed]

    def detail(self, query, *rows):
        self.api.answers[f'GET /v1/actions/detail?{query}'] = api_objects.page(
            'actions', *rows, detail=True
        )

    def wait(self, seconds):
        self.waited.append(seconds)
        self.now += seconds

    def watch(self, **options):
        """Watch the plan; return the exit code."""
        made = client.Client(access.Access(self.api.url))
        self.addCleanup(made.close)
        return plan_watch.Watch(
            *(made, PLAN, self.out, self.err),
            wait=self.wait,
            monotonic=lambda: self.now,
            **options,
        ).run()

    def assert_shows_the_story(self):
        self.watch()
        self.assertEqual([*LINES, *SUMMARY], self.lines[1:])

    @property
    def lines(self):
        """Return the output without the times of day."""
        return [re.sub(r'^\d\d:\d\d:\d\d ', '', line) for line in self.out.lines]

    def take_requests(self):
        """Return the requests of events: the path, and the last event id."""
        return [
            (asked[0].removeprefix(EVENTS), headers['Last-Event-ID'])
            for asked, headers in zip(self.api.asked, self.api.headers, strict=True)
            if asked[0].startswith(EVENTS)
        ]


class StreamTest(WatchCase):
    """The API has a stream of events."""

    def test_the_whole_story(self):
        self.api.answers[EVENTS] = stream(b': events follow\n\n', sent(*STORY), END)

        code = self.watch()

        title = f'Action plan nightly ({PLAN}): 2 actions'
        self.assertEqual([title, *LINES, *SUMMARY], self.lines)
        self.assertEqual(
            [
                f'watcherlite: the action plan nightly ({PLAN}) is FAILED: rest: '
                'it broke'
            ],
            self.err.lines,
        )
        self.assertEqual((1, []), (code, self.waited))
        self.assertEqual([('', '0')], self.take_requests())

    def test_a_plan_that_succeeds(self):
        self.api.answers[PLACE] = [
            api_objects.of(api_objects.PLAN, name=None),
            api_objects.of(api_objects.PLAN, name=None, state='SUCCEEDED'),
        ]
        self.api.answers[EVENTS] = stream(sent(of_plan(1, 'ONGOING', 'SUCCEEDED')), END)
        self.detail(f'{ACTIONS}&limit=51', self.first)
        self.detail(f'{ACTIONS}&limit=1000', self.first)

        code = self.watch()

        self.assertEqual((0, []), (code, self.err.lines))
        self.assertEqual(
            [
                f'Action plan {PLAN}: 1 action',
                f'To start it: watcherlite actionplan start {PLAN}',
                'action plan: ONGOING -> SUCCEEDED',
                'ACTION  TYPE  STATE      MESSAGE',
                'drain   nop   SUCCEEDED',
                f'Action plan {PLAN}: SUCCEEDED, 1 SUCCEEDED',
            ],
            self.lines,
        )

    def test_events_in_pieces_a_broken_stream_or_all_of_them_are_the_whole_story(self):
        whole = b': \xc3\xa4\r\n' + sent(*STORY) + END
        pieces = [whole[i : i + 7] for i in range(0, len(whole), 7)]
        broken = [
            stream(sent(*STORY[:4]) + b'id: 5\ndata: {"seq'),
            stream(),
            # The API may repeat events before the requested one.
            stream(sent(*STORY[3:]), END),
        ]
        for answers, after, waited in (
            (stream(*pieces), ['0'], []),
            (broken, ['0', '4', '4'], [1.0, 1.0]),
            ([stream(sent(*STORY)), Reply(None, 204)], ['0', '9'], [1.0]),
        ):
            self.plan_ends_after(1)
            self.out, self.waited = Lines(), []
            self.api.asked.clear()
            self.api.headers.clear()
            self.api.answers[EVENTS] = answers

            self.assert_shows_the_story()
            self.assertEqual(
                [('', sequence) for sequence in after], self.take_requests()
            )
            self.assertEqual(waited, self.waited)

    def test_events_are_shown_when_they_come(self):
        seen = threading.Event()

        class Out(Lines):
            def line(self, text=''):
                super().line(text)
                if LINES[0] in text:
                    seen.set()

        def rest():
            # The rest is sent only after the first line has been displayed.
            return sent(*STORY[2:]) + END if seen.wait(20) else b''

        self.out = Out()
        self.api.answers[EVENTS] = [stream(sent(*STORY[:2]), rest), fault(400, 'Late.')]

        self.assert_shows_the_story()

    def test_short_outage_of_the_api(self):
        self.api.answers[EVENTS] = [
            stream(sent(*STORY[:4])),
            fault(503, 'No database.'),
            stream(sent(*STORY[4:]), END),
        ]
        self.api.answers[f'{EVENTS}?after=4&limit=1000'] = fault(503, 'No database.')

        self.watch()

        self.assertEqual(
            [
                *LINES[:3],
                f'waiting for the API: {self.api.url} is unavailable: No '
                'database. Retry later',
                'the API is available again',
                *LINES[3:],
                *SUMMARY,
            ],
            self.lines[1:],
        )

    def test_patience_has_an_end(self):
        self.api.answers[EVENTS] = fault(503, 'No database.')
        self.api.answers[f'{EVENTS}?after=0&limit=1000'] = fault(503, 'No database.')

        error = self.assertRaises(client.exceptions.ApiUnavailable, self.watch)

        self.assertIn('No database.', str(error))
        self.assertEqual(61.0, self.now)


class PollTest(WatchCase):
    """Without a stream, the events are polled."""

    def page(self, after, *events, **more):
        self.api.answers[f'{EVENTS}?after={after}&limit=1000'] = {
            **api_objects.page('events', *events),
            **more,
        }

    def test_the_whole_story(self):
        for refusal in (
            fault(503, 'As many streams are open as there may be.'),
            fault(406, 'No.'),
            Reply({'events': []}),
        ):
            self.out, self.waited = Lines(), []
            # The plan ends between the second and the third poll.
            self.plan_ends_after(3)
            self.api.answers[EVENTS] = refusal
            self.page(0, *STORY[:4])
            self.page(4)
            self.api.answers[f'{EVENTS}?after=4&limit=1000'] = [
                api_objects.page('events'),
                api_objects.page('events', *STORY[4:]),
            ]

            self.assert_shows_the_story()
            self.assertEqual([1.0, 1.0], self.waited)

    def test_pages_are_read_without_waiting(self):
        self.api.answers[EVENTS] = fault(503, 'No.')
        self.page(0, *STORY[:8], next='http://x/v1/y')
        self.page(8, *STORY[8:])

        self.assert_shows_the_story()
        self.assertEqual([], self.waited)

    def test_stream_is_retried_after_polls(self):
        self.plan_ends_after(11)
        self.api.answers[EVENTS] = [fault(503, 'No.'), stream(sent(*STORY[1:]), END)]
        self.page(0, STORY[0])
        self.page(1)

        self.assert_shows_the_story()
        self.assertEqual(
            [('', '0'), ('', '1')], [self.take_requests()[0], self.take_requests()[-1]]
        )
        self.assertEqual(10, len(self.waited))


class LargeTest(WatchCase):
    """A plan of many actions is summarised."""

    def setUp(self):
        super().setUp()
        uuids = [f'{i:032x}' for i in range(51)]
        rows = [
            api_objects.of(api_objects.ACTION, uuid=uuid, state='PENDING')
            for uuid in uuids
        ]
        self.detail(f'{ACTIONS}&limit=51', *rows)
        listed = api_objects.page('actions', *rows)
        self.api.answers[f'GET /v1/actions?{ACTIONS}&limit=1000'] = listed
        for state in ('CANCELLED', 'SKIPPED'):
            self.detail(f'{ACTIONS}&limit=1000&state={state}')
        events = [
            of_action(i, 'a', 'PENDING', 'SUCCEEDED') | {'action_uuid': uuid}
            for i, uuid in enumerate(uuids[:50], 1)
        ]
        last = of_action(51, 'z', 'ONGOING', 'FAILED') | {'action_uuid': uuids[50]}
        events += [last, of_plan(52, 'ONGOING', 'FAILED')]
        self.api.answers[EVENTS] = stream(sent(*events), END)

    def test_large_plan_is_counted_and_failures_are_listed(self):
        code = self.watch()

        self.assertEqual(
            [
                f'Action plan nightly ({PLAN}): 51 actions',
                'PENDING: 1 of 51 actions ended',
                'ACTION  TYPE  STATE   MESSAGE',
                'rest    nop   FAILED  it broke',
                f'Action plan nightly ({PLAN}): FAILED, 50 SUCCEEDED, 1 FAILED',
                'it broke',
            ],
            self.lines,
        )
        self.assertEqual(1, code)

    def test_every_change_is_shown_on_demand(self):
        self.watch(verbose=True)

        self.assertEqual(
            ['a: PENDING -> SUCCEEDED'] * 50
            + ['z: ONGOING -> FAILED', 'action plan: ONGOING -> FAILED'],
            self.lines[1:53],
        )


class CommandTest(WatchCase):
    """`watcherlite actionplan watch`."""

    def test_the_exit_code_is_that_of_the_plan(self):
        self.api.answers[EVENTS] = stream(sent(*STORY), END)

        code, out, err = self.call('actionplan', 'watch', PLAN)

        self.assertEqual(1, code)
        self.assertEqual(SUMMARY, out.splitlines()[-5:])
        self.assertIn('is FAILED: rest: it broke', err)

    def test_ctrl_c_ends_the_watching_and_not_the_plan(self):
        # The stream breaks off repeatedly, and never ends.
        self.api.answers[EVENTS] = stream(sent(STORY[1]))
        process = subprocess.Popen(
            [sys.executable, '-m', 'watcherlite.cli.main', 'actionplan', 'watch', PLAN],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        shown_lines = [process.stdout.readline() for _ in range(2)]

        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

        self.assertIn(LINES[0], shown_lines[1])
        self.assertEqual(
            (
                130,
                '',
                'watcherlite: the plan continues; watcherlite actionplan watch '
                f'{PLAN}\n',
            ),
            (process.returncode, out, err),
        )
        self.assertEqual(
            [], [asked for asked in self.api.asked if not asked[0].startswith('GET')]
        )

    def test_missing_plan(self):
        self.api.answers[PLACE] = fault(404, f'ActionPlan {PLAN} could not be found')

        self.assertEqual(
            (2, f'ActionPlan {PLAN} could not be found'),
            self.fail('actionplan', 'watch', PLAN),
        )

    def test_an_api_without_events(self):
        self.api.answers[EVENTS] = Reply(b'<html>', 404)
        self.api.answers[f'{EVENTS}?after=0&limit=1000'] = Reply(b'<html>', 404)

        code, _, err = self.call('actionplan', 'watch', PLAN)

        self.assertEqual(2, code)
        self.assertIn('events?after=0&limit=1000 was not found', err)


class TerminalTest(WatchCase):
    """On a terminal the actions are displayed as a tree."""

    def test_actions_are_below_their_parents(self):
        self.out = Lines(terminal=True)
        self._set('TERM', 'xterm')
        self.api.answers[EVENTS] = stream(sent(*STORY), END)

        self.watch()

        text = re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', '\n'.join(self.out.lines))
        self.assertIn('└─ rest', text)
        self.assertEqual(SUMMARY[1:], text.splitlines()[-4:])
