"""The action type `sleep`, which holds no thread."""

import datetime
import math

from tests import base
from watcherlite import exceptions, testing
from watcherlite.domain.outcomes import Done, InProgress
from watcherlite.plugins.action_types.sleep import Sleep


class TestSleep(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = testing.ManualClock()

    def test_fractions_of_a_second_are_kept(self):
        result = testing.run_action(Sleep, {'duration': 3.25}, clock=self.clock)

        self.assertEqual('SUCCEEDED', result.status)
        self.assertAlmostEqual(3.25, self.clock.monotonic())

    def test_the_token_is_the_end_time(self):
        longest = 315_360_000
        for duration, expected in (
            # There is nothing to wait for.
            (0, Done()),
            (90, InProgress({'until': '2030-01-01T00:01:30+00:00'}, 90.0)),
            (longest, InProgress({'until': '2039-12-30T00:00:00+00:00'}, longest)),
        ):
            context = testing.FakeContext({'duration': duration}, clock=self.clock)

            self.assertEqual(expected, Sleep().execute(context))

    def test_another_worker_waits_for_the_remaining_time_only(self):
        token = {'until': '2030-01-01T00:01:30+00:00'}
        polls = {
            0: InProgress(token, 90.0),
            60: InProgress(token, 30.0),
            90: Done(),
            900: Done(),
        }

        for passed, expected in polls.items():
            now = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
            clock = testing.ManualClock(now + datetime.timedelta(seconds=passed))

            outcome = Sleep().poll(testing.FakeContext(clock=clock), token)

            self.assertEqual(expected, outcome)

    def test_a_signal_ends_a_sleep_early(self):
        result = testing.run_action(
            Sleep,
            {'duration': 60},
            clock=self.clock,
            signals=[testing.after_seconds(2, 'CANCEL')],
        )

        self.assertEqual(
            ('CANCELLED', 'Action was cancelled while it ran.', 2.0),
            (result.status, result.status_message, self.clock.monotonic()),
        )

    def test_a_timeout_ends_a_sleep_early(self):
        result = testing.run_action(
            Sleep, {'duration': 60}, clock=self.clock, timeout=5
        )

        self.assertEqual(('FAILED', 5.0), (result.status, self.clock.monotonic()))

    def test_invalid_durations_are_refused(self):
        cases = {
            -1: '-1 is less than the minimum of 0',
            -0.5: '-0.5 is less than the minimum of 0',
            math.inf: 'Infinity is greater than the maximum of 315360000',
            10**400: None,
            math.nan: 'is not a number',
            '5': '"5" is not a number',
            True: 'true is not a number',
            None: 'null is not a number',
        }
        for duration, words in cases.items():
            error = self.assertRaises(
                exceptions.InvalidInput,
                testing.run_action,
                Sleep,
                {'duration': duration},
            )
            if words is not None:
                self.assertEqual(f'input_parameters.duration: {words}', str(error))
