"""The events that `--wait` displays for a stack, the exit code, and the intervals."""

from tests import base
from tests.unit.cli.capturing import Lines
from tests.unit.cli.commands import poll_case
from watcherlite import exceptions
from watcherlite.cli.commands import poll
from watcherlite.cli.commands.stacks.stack_client import Place
from watcherlite.cli.commands.stacks.stack_command import StackPoll

PLACE = Place('web', 'uuid')


def make_event(number, status, name='a', physical='x', reason='state changed'):
    return {
        'id': f'event-{number}',
        'event_time': '2030-01-01T01:02:03Z',
        'resource_name': name,
        'physical_resource_id': physical,
        'resource_status': status,
        'resource_status_reason': reason,
    }


class ScriptedApi(poll_case.ScriptedApi):
    def show(self, place, outputs):
        return {'stack_status': self.next_status(), 'outputs': outputs}

    def events_after(self, place, marker):
        return self.take_events(marker)


class StackPollTest(poll_case.PollTestCase):
    def follow(self, script, **options):
        stack_poll = StackPoll(
            script, PLACE, 'UPDATE', self.err, **self.clock_options(), **options
        )
        return stack_poll.wait_for_end()

    def test_events_after_the_marker_are_shown_once(self):
        going = 'UPDATE_IN_PROGRESS'
        script = ScriptedApi(
            (going, [make_event(1, going, 'web', 'uuid', '\x1b[2J')]),
            (going, []),
            ('UPDATE_COMPLETE', [make_event(2, 'UPDATE_COMPLETE', 'web', 'uuid', '')]),
        )

        found = self.follow(script, marker='event-0')

        self.assertEqual({'stack_status': 'UPDATE_COMPLETE', 'outputs': False}, found)
        self.assertEqual([('event-0',), ('event-1',), ('event-1',)], script.queries)
        self.assertEqual(
            ['01:02:03 web UPDATE_IN_PROGRESS [2J', '01:02:03 web UPDATE_COMPLETE'],
            self.err.lines,
        )

    def test_the_poll_interval_grows_without_events(self):
        quiet = [('CHECK_IN_PROGRESS', [])] * 12
        script = ScriptedApi(
            *quiet,
            ('CHECK_IN_PROGRESS', [make_event(1, 'CHECK_COMPLETE')]),
            ('CHECK_COMPLETE', []),
        )

        self.follow(script)

        self.assertEqual(sorted(self.waits[:-1]), self.waits[:-1])
        self.assertEqual((0.3, 5.0), (self.waits[0], self.waits[-2]))
        self.assertEqual(poll.FIRST, self.waits[-1])

    def test_events_of_many_resources_are_omitted_unless_errors_or_verbose(self):
        many = [make_event(n, 'CREATE_COMPLETE', f'r{n}') for n in range(60)]
        failed = make_event(60, 'CREATE_FAILED', 'r60', reason='no room')
        own = make_event(61, 'CREATE_FAILED', 'web', 'uuid', reason='r60: no room')

        self.follow(ScriptedApi(('CREATE_FAILED', [*many, failed, own])))
        few, self.err = self.err.lines, Lines()
        self.follow(ScriptedApi(('CREATE_COMPLETE', many)), verbose=True)

        self.assertEqual(50, sum('COMPLETE' in line for line in few))
        self.assertEqual(
            [
                '01:02:03 r60 CREATE_FAILED no room',
                '01:02:03 web CREATE_FAILED r60: no room',
                '10 more events are not shown; --verbose shows all',
            ],
            few[-3:],
        )
        self.assertEqual(60, len(self.err.lines))

    def test_a_deleted_stack_ends_the_poll(self):
        script = ScriptedApi(('DELETE_IN_PROGRESS', []), exceptions.NotFound('gone'))

        self.assertIsNone(self.follow(script))

    def test_only_a_short_outage_of_the_api_is_tolerated(self):
        away = exceptions.ApiUnavailable('unknown')

        self.follow(ScriptedApi(away, away, ('CREATE_COMPLETE', [])))
        self.assertEqual(
            ['waiting for the API: unknown', 'the API is available again'],
            self.err.lines,
        )

        self.now = 0.0
        self.assertRaises(exceptions.ApiUnavailable, self.follow, ScriptedApi(away))
        self.assertGreater(self.now, poll.OUTAGE_TIMEOUT)


class ExitCodeTest(base.TestCase):
    def test_the_exit_code_is_zero_only_for_the_requested_state(self):
        for action, stack, found in (
            ('CREATE', {'stack_status': 'CREATE_COMPLETE'}, (0, '')),
            (
                'CREATE',
                {'stack_status': 'CREATE_FAILED', 'stack_status_reason': 'a: no'},
                (1, 'the stack web is CREATE_FAILED: a: no'),
            ),
            (
                'UPDATE',
                {'stack_status': 'ROLLBACK_COMPLETE', 'stack_status_reason': ''},
                (1, 'the stack web is ROLLBACK_COMPLETE'),
            ),
            ('DELETE', {'stack_status': 'DELETE_COMPLETE'}, (0, '')),
            ('DELETE', None, (0, '')),
            ('UPDATE', None, (1, 'the stack web no longer exists')),
        ):
            stack_poll = StackPoll(None, PLACE, action, Lines())
            self.assertEqual(found, stack_poll.result(stack))
