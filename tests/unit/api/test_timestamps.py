"""The representation of times."""

import datetime

from tests import base
from tests.factories import NOW
from watcherlite.api import timestamps


class TestTimestamps(base.TestCase):
    def test_both_formats_are_in_utc_with_or_without_offset(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        text = '2026-03-29T01:30:15.123456'
        for moment, expected in (
            (NOW, (f'{text}+00:00', text)),
            (NOW.astimezone(zone), (f'{text}+00:00', text)),
            (None, (None, None)),
        ):
            self.assertEqual(
                expected, (timestamps.offset(moment), timestamps.naive(moment))
            )
