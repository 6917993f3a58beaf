"""Times, as clients read them."""

import datetime

from tests import base
from tests.factories import NOW
from watcherlite.api import timestamps


class TestTimes(base.TestCase):
    def test_times_of_rows_have_their_offset(self) -> None:
        self.assertEqual('2026-03-29T01:30:15.123456+00:00', timestamps.offset(NOW))

    def test_times_of_runs_have_none(self) -> None:
        self.assertEqual('2026-03-29T01:30:15.123456', timestamps.naive(NOW))

    def test_both_are_in_utc(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        self.assertEqual(
            ['2026-03-29T01:30:15.123456+00:00', '2026-03-29T01:30:15.123456'],
            [
                timestamps.offset(NOW.astimezone(zone)),
                timestamps.naive(NOW.astimezone(zone)),
            ],
        )

    def test_no_time_is_null(self) -> None:
        self.assertEqual(
            [None, None], [timestamps.offset(None), timestamps.naive(None)]
        )
