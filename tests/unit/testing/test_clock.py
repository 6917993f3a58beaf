"""The manual clock."""

import datetime

from tests import base
from watcherlite.testing import ManualClock


class TestTime(base.TestCase):
    def test_both_times_pass_together_and_only_forward(self):
        clock = ManualClock(datetime.datetime(2031, 5, 6, tzinfo=datetime.UTC))

        self.assertEqual((clock.now(), 0.0), (clock.now(), clock.monotonic()))
        clock.advance(1.5)
        clock.advance(60)
        self.assertRaises(ValueError, clock.advance, -1)

        self.assertEqual(61.5, clock.monotonic())
        self.assertEqual('2031-05-06T00:01:01.500000+00:00', clock.now().isoformat())
