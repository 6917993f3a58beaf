"""Schedules of CONTINUOUS audits: an interval in seconds or a cron expression.

A cron expression has the columns of croniter, which Watcher uses: minute, hour, day of
month, month, day of week, and then, optionally, second and year. All times are in UTC.
"""

import dataclasses
import datetime
from typing import Protocol

import cronsim

from watcherlite import exceptions
from watcherlite.clock import UTC

#: Seconds; ten years, as for all other delays.
MAX_SECONDS = 315_360_000
#: The years that croniter accepts.
FIRST_YEAR, LAST_YEAR = 1970, 2099

_SECOND = datetime.timedelta(seconds=1)


class Schedule(Protocol):
    """The times of runs."""

    @property
    def seconds(self) -> int:
        """Return the seconds between two runs, 0 if they vary."""

    def first(self, now: datetime.datetime) -> datetime.datetime | None:
        """Return the time of the first run that is not before `now`."""

    def following(
        self, started: datetime.datetime, now: datetime.datetime
    ) -> datetime.datetime | None:
        """Return the time of the next run, or None.

        With an interval, runs missed during another run are made up for by one
        immediate run; with a cron expression they are dropped.

        :param started: time of the last run
        """


@dataclasses.dataclass(frozen=True, slots=True)
class Every:
    """Runs start at a fixed interval in seconds."""

    seconds: int

    def first(self, now: datetime.datetime) -> datetime.datetime | None:
        return now

    def following(
        self, started: datetime.datetime, now: datetime.datetime
    ) -> datetime.datetime | None:
        return max(now, started + datetime.timedelta(seconds=self.seconds))


@dataclasses.dataclass(frozen=True, slots=True)
class Cron:
    """Runs start at the times of a cron expression.

    :param line: in the order of cronsim: the second first, and no year
    :param years: None: every year
    """

    line: str
    years: frozenset[int] | None = None

    @property
    def seconds(self) -> int:
        return 0

    def first(self, now: datetime.datetime) -> datetime.datetime | None:
        # The current time is included.
        whole = now.replace(microsecond=0)
        return self._next_after(whole if now.microsecond else whole - _SECOND)

    def following(
        self, started: datetime.datetime, now: datetime.datetime
    ) -> datetime.datetime | None:
        return self._next_after(max(started, now))

    def _next_after(self, moment: datetime.datetime) -> datetime.datetime | None:
        moment = moment.astimezone(UTC)
        while True:
            try:
                found = next(cronsim.CronSim(self.line, moment))
            except (StopIteration, OverflowError):
                return None
            if self.years is None or found.year in self.years:
                return found
            later = [year for year in self.years if year > found.year]
            if not later:
                return None
            moment = datetime.datetime(min(later), 1, 1, tzinfo=UTC) - _SECOND


def parse(interval: str) -> Schedule:
    """Return the schedule in a text.

    :raises Invalid: it is neither seconds nor a cron expression
    """
    text = interval.strip()
    if text.isascii() and text.isdigit():
        return _parse_every(text)
    columns = text.split()
    if not 5 <= len(columns) <= 7:
        raise exceptions.Invalid(
            f'The interval {interval!r} is neither a whole number of seconds nor a '
            f'cron line of 5 to 7 columns; it has {len(columns)}'
        )
    years = None
    if len(columns) == 7 and columns[6] != '*':
        years = _years(interval, columns[6])
    second = columns[5] if len(columns) > 5 else '0'
    line = ' '.join([second, *columns[:5]])
    try:
        cronsim.CronSim(line, datetime.datetime(2000, 1, 1, tzinfo=UTC))
    except cronsim.CronSimError as error:
        raise _invalid_line(interval, str(error)) from None
    except Exception as error:
        # Values that cronsim cannot interpret either.
        raise _invalid_line(interval, type(error).__name__) from error
    return Cron(line, years)


def _parse_every(text: str) -> Every:
    # A number with that many digits is out of range without parsing.
    seconds = int(text) if len(text) <= 12 else MAX_SECONDS + 1
    if not 1 <= seconds <= MAX_SECONDS:
        raise exceptions.Invalid(
            f'The interval {text[:20]} is out of range; it is 1 to {MAX_SECONDS} '
            'seconds'
        )
    return Every(seconds)


def _years(interval: str, column: str) -> frozenset[int]:
    """Return the years of the last column: `2030`, `2030-2040/2`, `*/4`, lists."""
    found: set[int] = set()
    for term in column.split(','):
        span, slash, step_text = term.partition('/')
        step = _number(interval, step_text) if slash else 1
        low, dash, high = span.partition('-')
        if span == '*':
            first, last = FIRST_YEAR, LAST_YEAR
        elif dash:
            first, last = _number(interval, low), _number(interval, high)
        else:
            first = _number(interval, low)
            last = LAST_YEAR if slash else first
        if step < 1 or not FIRST_YEAR <= first <= last <= LAST_YEAR:
            raise _invalid_line(
                interval, f'Bad year, they are {FIRST_YEAR} to {LAST_YEAR}'
            )
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(interval: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise _invalid_line(interval, 'Bad year')
    return int(text)


def _invalid_line(interval: str, problem: str) -> exceptions.Invalid:
    return exceptions.Invalid(
        f'The interval {interval!r} is no cron line: {problem}; the columns are '
        'minute, hour, day of month, month, day of week, second and year'
    )
