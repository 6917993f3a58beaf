"""Intervals: seconds, and cron expressions of five to seven columns."""

import datetime

from hypothesis import given
from hypothesis import strategies as some

from tests import base
from watcherlite import exceptions
from watcherlite.clock import UTC
from watcherlite.domain import schedules

NOW = datetime.datetime(2030, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=UTC)


class SecondsTest(base.TestCase):
    """A number of seconds."""

    def test_the_first_run_is_at_once_and_the_next_counts_from_its_start(self) -> None:
        schedule = schedules.parse(' 60 ')
        self.assertEqual((60, NOW), (schedule.seconds, schedule.first(NOW)))
        for took, due in ((1, 60), (60, 60), (90, 90)):
            now = NOW + datetime.timedelta(seconds=took)
            self.assertEqual(
                NOW + datetime.timedelta(seconds=due), schedule.following(NOW, now)
            )

    def test_seconds_out_of_range_are_refused(self) -> None:
        for text in ('0', '315360001', '9' * 400):
            error = self.assertRaises(exceptions.Invalid, schedules.parse, text)
            self.assertIn('1 to 315360000 seconds', str(error))


class CronTest(base.TestCase):
    """A cron expression."""

    def test_columns_are_minute_to_day_of_week_then_second_and_year(self) -> None:
        for line, *times in (
            ('30 4 * * *', '2030-01-01T04:30', '2030-01-02T04:30'),
            ('0 0 * * MON', '2030-01-07', '2030-01-14'),
            ('0 12 29 2 *', '2032-02-29T12:00', '2036-02-29T12:00'),
            ('* * * * * 15', '2030-01-01T00:00:15', '2030-01-01T00:01:15'),
            ('5 * * * * */20', '2030-01-01T00:05', '2030-01-01T00:05:20'),
            ('0 0 1 1 * 0 2040', '2040-01-01'),
            ('0 0 1 6 * 0 2031-2035/2', '2031-06-01', '2033-06-01', '2035-06-01'),
            ('0 0 1 1 * 0 2033,2031', '2031-01-01', '2033-01-01'),
            ('0 0 1 1 * 0 */50', '2070-01-01'),
            ('0 0 1 2 * 0 *', '2030-02-01', '2031-02-01'),
        ):
            schedule, now, found = schedules.parse(line), NOW, []
            for _ in times:
                now = schedule.following(now, now) or NOW
                found.append(now)
            self.assertEqual([at(time) for time in times], found, line)

    def test_present_time_is_a_first_but_no_next_run_and_missed_ones_are_dropped(
        self,
    ) -> None:
        schedule = schedules.parse('0 0 * * *')
        tomorrow = NOW + datetime.timedelta(days=1)
        later = NOW + datetime.timedelta(microseconds=1)
        self.assertEqual(
            [NOW, tomorrow, tomorrow],
            [
                *(schedule.first(NOW), schedule.first(later)),
                schedule.following(NOW, NOW),
            ],
        )
        now = NOW + datetime.timedelta(minutes=25)
        next_run = schedules.parse('*/10 * * * *').following(NOW, now)
        self.assertEqual(at('2030-01-01T00:30'), next_run)
        # There may be no next time.
        past = schedules.parse('0 0 1 1 * 0 1999')
        self.assertEqual((None, None), (past.first(NOW), past.following(NOW, NOW)))

    def test_invalid_lines_are_refused_with_a_reason(self) -> None:
        for line, reason in (
            ('', 'it has 0'),
            ('soon', 'it has 1'),
            ('-5', 'it has 1'),
            ('1.5', 'it has 1'),
            ('* * * *', 'it has 4'),
            ('* * * * * * * *', 'it has 8'),
            ('60 * * * *', 'Bad minute'),
            ('* 24 * * *', 'Bad hour'),
            ('* * 31 2 *', 'Bad day-of-month'),
            ('* * * * * 60', 'Bad second'),
            ('* * * * * 0 1969', 'Bad year, they are 1970 to 2099'),
            ('* * * * * 0 2040-2030', 'Bad year'),
            ('* * * * * 0 2040/0', 'Bad year'),
            ('* * * * * 0 soon', 'Bad year'),
        ):
            error = self.assertRaises(exceptions.Invalid, schedules.parse, line)
            self.assertIn(reason, str(error))

    @given(some.text(alphabet='0123456789*/-,L#W MON', max_size=30))
    def test_no_text_raises_anything_else(self, text: str) -> None:
        try:
            schedule = schedules.parse(text)
        except exceptions.Invalid:
            return
        due = schedule.following(NOW, NOW)
        if due is not None:
            self.assertGreater(due, NOW)
