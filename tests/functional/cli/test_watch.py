"""The command that watches a plan: its output, its end and its reconnection."""

import json
import re
import signal
import subprocess
import sys
import threading

from tests.bounded import TIMEOUT
from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import ApiCommandCase, Reply, fault, stream
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


def plan_event(sequence, old, new, **values):
    return api_objects.copy_with(
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


def action_event(sequence, name, old, new, **values):
    uuid = PARENT if name == 'drain' else ACTION
    return api_objects.copy_with(
        api_objects.EVENT,
        sequence=sequence,
        action_uuid=uuid,
        action_name=name,
        old_state=old,
        new_state=new,
        **values,
    )


#: A plan of two actions, the second of which fails.
EVENT_SEQUENCE = [
    plan_event(1, None, 'RECOMMENDED', kind='created'),
    plan_event(2, 'RECOMMENDED', 'PENDING'),
    plan_event(3, 'PENDING', 'ONGOING'),
    action_event(4, 'drain', 'PENDING', 'ONGOING'),
    action_event(5, 'drain', 'ONGOING', 'SUCCEEDED'),
    action_event(6, 'rest', 'PENDING', 'ONGOING'),
    action_event(
        *(7, 'rest', 'ONGOING', 'ONGOING'),
        kind='signalled',
        detail={'signal': 'SUSPEND'},
    ),
    action_event(8, 'rest', 'ONGOING', 'FAILED', message='it broke'),
    plan_event(9, 'ONGOING', 'FAILED', message='it broke'),
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


def encode_stream(*events):
    """Return events as they are in a stream."""
    return ''.join(
        f'id: {event["sequence"]}\ndata: {json.dumps(event)}\n\n' for event in events
    ).encode()


class WatchTestCase(ApiCommandCase):
    def setUp(self):
        super().setUp()
        self.first = api_objects.copy_with(
            api_objects.ACTION, uuid=PARENT, name='drain', parents=[], state='SUCCEEDED'
        )
        self.second = api_objects.copy_with(
            api_objects.ACTION, state='FAILED', status_message='it broke'
        )
        before = [
            api_objects.copy_with(row, state='PENDING')
            for row in (self.first, self.second)
        ]
        self.fail_plan_after(1)
        self.answer_with_actions(f'{ACTIONS}&limit=51', *before)
        self.answer_with_actions(f'{ACTIONS}&limit=1000', self.first, self.second)
        self.answer_with_actions(f'{ACTIONS}&limit=1000&state=FAILED', self.second)
        self.out, self.err = Lines(), Lines()
        self.waited = []
        self.now = 0.0

    def fail_plan_after(self, requests):
        """Let the plan be FAILED from this request on."""
        plan = api_objects.copy_with(api_objects.PLAN, state='PENDING')
        failed = api_objects.copy_with(
            api_objects.PLAN, state='FAILED', status_message='it broke'
        )
        self.api.responses[PLACE] = [*[plan] * requests, failed]

    def answer_with_actions(self, query, *rows):
        self.api.responses[f'GET /v1/actions/detail?{query}'] = api_objects.page(
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

    def assert_shows_all_events(self):
        self.watch()
        self.assertEqual([*LINES, *SUMMARY], self.lines[1:])

    @property
    def lines(self):
        """Return the output without the times of day."""
        return [re.sub(r'^\d\d:\d\d:\d\d ', '', line) for line in self.out.lines]

    def take_requests(self):
        """Return the requests of events: the path, and the last event id."""
        return [
            (request[0].removeprefix(EVENTS), headers['Last-Event-ID'])
            for request, headers in zip(
                self.api.requests, self.api.headers, strict=True
            )
            if request[0].startswith(EVENTS)
        ]


class EventStreamTest(WatchTestCase):
    """The API has a stream of events."""

    def test_all_changes_are_shown_until_the_end(self):
        self.api.responses[EVENTS] = stream(
            b': events follow\n\n', encode_stream(*EVENT_SEQUENCE), END
        )

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

    def test_a_succeeded_plan_has_exit_code_0(self):
        self.api.responses[PLACE] = [
            api_objects.copy_with(api_objects.PLAN, name=None),
            api_objects.copy_with(api_objects.PLAN, name=None, state='SUCCEEDED'),
        ]
        self.api.responses[EVENTS] = stream(
            encode_stream(plan_event(1, 'ONGOING', 'SUCCEEDED')), END
        )
        self.answer_with_actions(f'{ACTIONS}&limit=51', self.first)
        self.answer_with_actions(f'{ACTIONS}&limit=1000', self.first)

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

    def test_chunked_and_interrupted_streams_deliver_all_events(self):
        whole = b': \xc3\xa4\r\n' + encode_stream(*EVENT_SEQUENCE) + END
        pieces = [whole[i : i + 7] for i in range(0, len(whole), 7)]
        broken = [
            stream(encode_stream(*EVENT_SEQUENCE[:4]) + b'id: 5\ndata: {"seq'),
            stream(),
            # The API may repeat events before the requested one.
            stream(encode_stream(*EVENT_SEQUENCE[3:]), END),
        ]
        for answers, after, waited in (
            (stream(*pieces), ['0'], []),
            (broken, ['0', '4', '4'], [1.0, 1.0]),
            (
                [stream(encode_stream(*EVENT_SEQUENCE)), Reply(None, 204)],
                ['0', '9'],
                [1.0],
            ),
        ):
            self.fail_plan_after(1)
            self.out, self.waited = Lines(), []
            self.api.requests.clear()
            self.api.headers.clear()
            self.api.responses[EVENTS] = answers

            self.assert_shows_all_events()
            self.assertEqual(
                [('', sequence) for sequence in after], self.take_requests()
            )
            self.assertEqual(waited, self.waited)

    def test_events_are_printed_as_soon_as_they_arrive(self):
        seen = threading.Event()

        class Out(Lines):
            def line(self, text=''):
                super().line(text)
                if LINES[0] in text:
                    seen.set()

        def rest():
            # The rest is sent only after the first line has been displayed.
            return (
                encode_stream(*EVENT_SEQUENCE[2:]) + END if seen.wait(TIMEOUT) else b''
            )

        self.out = Out()
        self.api.responses[EVENTS] = [
            stream(encode_stream(*EVENT_SEQUENCE[:2]), rest),
            fault(400, 'Late.'),
        ]

        self.assert_shows_all_events()

    def test_a_short_outage_of_the_api_is_tolerated(self):
        self.api.responses[EVENTS] = [
            stream(encode_stream(*EVENT_SEQUENCE[:4])),
            fault(503, 'No database.'),
            stream(encode_stream(*EVENT_SEQUENCE[4:]), END),
        ]
        self.api.responses[f'{EVENTS}?after=4&limit=1000'] = fault(503, 'No database.')

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

    def test_a_long_outage_of_the_api_is_an_error(self):
        self.api.responses[EVENTS] = fault(503, 'No database.')
        self.api.responses[f'{EVENTS}?after=0&limit=1000'] = fault(503, 'No database.')

        error = self.assertRaises(client.exceptions.ApiUnavailable, self.watch)

        self.assertIn('No database.', str(error))
        self.assertEqual(61.0, self.now)


class EventPollTest(WatchTestCase):
    """Without a stream, the events are polled."""

    def page(self, after, *events, **more):
        self.api.responses[f'{EVENTS}?after={after}&limit=1000'] = {
            **api_objects.page('events', *events),
            **more,
        }

    def test_all_changes_are_shown_until_the_end(self):
        for response in (
            fault(503, 'As many streams are open as there may be.'),
            fault(406, 'No.'),
            Reply({'events': []}),
        ):
            self.out, self.waited = Lines(), []
            # The plan ends between the second and the third poll.
            self.fail_plan_after(3)
            self.api.responses[EVENTS] = response
            self.page(0, *EVENT_SEQUENCE[:4])
            self.page(4)
            self.api.responses[f'{EVENTS}?after=4&limit=1000'] = [
                api_objects.page('events'),
                api_objects.page('events', *EVENT_SEQUENCE[4:]),
            ]

            self.assert_shows_all_events()
            self.assertEqual([1.0, 1.0], self.waited)

    def test_pages_are_read_without_delay(self):
        self.api.responses[EVENTS] = fault(503, 'No.')
        self.page(0, *EVENT_SEQUENCE[:8], next='http://x/v1/y')
        self.page(8, *EVENT_SEQUENCE[8:])

        self.assert_shows_all_events()
        self.assertEqual([], self.waited)

    def test_the_stream_is_retried_after_several_polls(self):
        self.fail_plan_after(11)
        self.api.responses[EVENTS] = [
            fault(503, 'No.'),
            stream(encode_stream(*EVENT_SEQUENCE[1:]), END),
        ]
        self.page(0, EVENT_SEQUENCE[0])
        self.page(1)

        self.assert_shows_all_events()
        self.assertEqual(
            [('', '0'), ('', '1')], [self.take_requests()[0], self.take_requests()[-1]]
        )
        self.assertEqual(10, len(self.waited))


class LargePlanTest(WatchTestCase):
    """A plan of many actions is summarised."""

    def setUp(self):
        super().setUp()
        uuids = [f'{i:032x}' for i in range(51)]
        rows = [
            api_objects.copy_with(api_objects.ACTION, uuid=uuid, state='PENDING')
            for uuid in uuids
        ]
        self.answer_with_actions(f'{ACTIONS}&limit=51', *rows)
        listed = api_objects.page('actions', *rows)
        self.api.responses[f'GET /v1/actions?{ACTIONS}&limit=1000'] = listed
        for state in ('CANCELLED', 'SKIPPED'):
            self.answer_with_actions(f'{ACTIONS}&limit=1000&state={state}')
        events = [
            action_event(i, 'a', 'PENDING', 'SUCCEEDED') | {'action_uuid': uuid}
            for i, uuid in enumerate(uuids[:50], 1)
        ]
        last = action_event(51, 'z', 'ONGOING', 'FAILED') | {'action_uuid': uuids[50]}
        events += [last, plan_event(52, 'ONGOING', 'FAILED')]
        self.api.responses[EVENTS] = stream(encode_stream(*events), END)

    def test_a_large_plan_is_summarized_and_its_failures_are_listed(self):
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

    def test_verbose_shows_every_change_of_a_large_plan(self):
        self.watch(verbose=True)

        self.assertEqual(
            ['a: PENDING -> SUCCEEDED'] * 50
            + ['z: ONGOING -> FAILED', 'action plan: ONGOING -> FAILED'],
            self.lines[1:53],
        )


class WatchCommandTest(WatchTestCase):
    """`watcherlite actionplan watch`."""

    def test_the_exit_code_is_1_for_a_failed_plan(self):
        self.api.responses[EVENTS] = stream(encode_stream(*EVENT_SEQUENCE), END)

        code, out, err = self.call('actionplan', 'watch', PLAN)

        self.assertEqual(1, code)
        self.assertEqual(SUMMARY, out.splitlines()[-5:])
        self.assertIn('is FAILED: rest: it broke', err)

    def test_ctrl_c_ends_the_command_and_not_the_plan(self):
        # The stream breaks off repeatedly, and never ends.
        self.api.responses[EVENTS] = stream(encode_stream(EVENT_SEQUENCE[1]))
        process = subprocess.Popen(
            [sys.executable, '-m', 'watcherlite.cli.main', 'actionplan', 'watch', PLAN],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        shown_lines = [process.stdout.readline() for _ in range(2)]

        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)

        self.assertIn(LINES[0], shown_lines[1])
        self.assertEqual(
            (
                130,
                '',
                'watcherlite: the plan continues; see `watcherlite actionplan '
                f'watch {PLAN}`\n',
            ),
            (process.returncode, out, err),
        )
        self.assertEqual(
            [],
            [
                request
                for request in self.api.requests
                if not request[0].startswith('GET')
            ],
        )

    def test_a_missing_plan_is_reported(self):
        self.api.responses[PLACE] = fault(404, f'ActionPlan {PLAN} could not be found')

        self.assertEqual(
            (2, f'ActionPlan {PLAN} could not be found'),
            self.fail('actionplan', 'watch', PLAN),
        )

    def test_an_api_without_events_is_reported(self):
        self.api.responses[EVENTS] = Reply(b'<html>', 404)
        self.api.responses[f'{EVENTS}?after=0&limit=1000'] = Reply(b'<html>', 404)

        code, _, err = self.call('actionplan', 'watch', PLAN)

        self.assertEqual(2, code)
        self.assertIn('events?after=0&limit=1000 was not found', err)


class TerminalOutputTest(WatchTestCase):
    """On a terminal the actions are displayed as a tree."""

    def test_a_terminal_shows_actions_below_their_parents(self):
        self.out = Lines(terminal=True)
        self._set('TERM', 'xterm')
        self.api.responses[EVENTS] = stream(encode_stream(*EVENT_SEQUENCE), END)

        self.watch()

        text = re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', '\n'.join(self.out.lines))
        self.assertIn('└─ rest', text)
        self.assertEqual(SUMMARY[1:], text.splitlines()[-4:])
