"""The representation of times, and times in requests."""

import datetime

from tests import base
from tests.factories import NOW
from watcherlite import exceptions
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


class TestParseTime(base.TestCase):
    """Times in requests."""

    def test_time_without_offset_is_in_utc(self) -> None:
        noon = datetime.datetime(2030, 1, 31, 12, tzinfo=datetime.UTC)
        for text in (
            '2030-01-31T12:00:00',
            '2030-01-31 12:00:00',
            '2030-01-31T12:00:00Z',
            '2030-01-31T14:00:00+02:00',
            '2030-01-31T12:00:00.000000+00:00',
        ):
            with self.subTest(text=text):
                self.assertEqual(noon, timestamps.parse_time('start_time', text))
        self.assertIsNone(timestamps.parse_time('start_time', None))

    def test_invalid_time_is_rejected(self) -> None:
        for text in ('', 'tomorrow', '2030-02-31', '0001-01-01T00:00:00+12:00'):
            with self.subTest(text=text):
                error = self.assertRaises(
                    exceptions.Invalid, timestamps.parse_time, 'start_time', text
                )
                self.assertIn(f"attribute start_time. Value: '{text}'.", str(error))
