"""Progress of a plan: the protocol, and plain lines without a terminal."""

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from watcherlite import exceptions
from watcherlite.cli.output import Output
from watcherlite.cli.state_changes import Change
from watcherlite.cmd.exits import one_line

#: Seconds between two lines with the counts of a large plan.
INTERVAL = 2.0
#: Maximum number of actions of a plan whose changes are shown one by one.
MANY = 50
#: Number of recent changes that are shown of a large plan.
RECENT = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """The number of actions of a plan, by state."""

    state: str
    total: int
    unfinished: int
    failed: int
    skipped: int
    active: int


class Progress(Protocol):
    """Shows the progress of a plan; used in one thread, except for `print_message`."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def print_message(self, text: str) -> None:
        """Show a note that is no change of the plan; from any thread."""

    def record_known(self, change: Change) -> None:
        """Record a change without showing it as new."""

    def changed(self, change: Change) -> None:
        """Show one change."""

    def show_counts(self, plan: Counts, recent: Sequence[Change]) -> None:
        """Show the number of ended actions, and some recent changes."""


class Outage:
    """An outage of a server: reported once, tolerated for some seconds.

    :param server: its name in the reports
    :param outage_timeout: seconds for which it may be unavailable
    :param report: shows a line
    :param monotonic: seconds
    """

    def __init__(
        self,
        server: str,
        outage_timeout: float,
        report: Callable[[str], object],
        monotonic: Callable[[], float],
    ) -> None:
        self._server = server
        self._outage_timeout = outage_timeout
        self._report = report
        self._monotonic = monotonic
        self._since: float | None = None

    def tolerate(self, error: exceptions.WatcherliteError) -> None:
        """Report the error if the outage begins; raise it if it lasts too long."""
        now = self._monotonic()
        if self._since is None:
            self._since = now
            self._report(f'waiting for the {self._server}: {error}')
        if now - self._since > self._outage_timeout:
            raise error

    def end(self) -> None:
        """Report that the server is available again, if it was not."""
        if self._since is not None:
            self._since = None
            self._report(f'the {self._server} is available again')


class PlainProgress:
    """Prints a line for each change; for a large plan one every few seconds."""

    def __init__(self, out: Output, monotonic: Callable[[], float]) -> None:
        self._out = out
        self._monotonic = monotonic
        self._counted_at: float | None = None
        self._last = ''

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""

    def print_message(self, text: str) -> None:
        self._out.line(one_line(text))

    def record_known(self, change: Change) -> None:
        """Do nothing: earlier output stays, and the summary has the rest."""

    def changed(self, change: Change) -> None:
        if change.old is not None:
            what = f'{change.old} -> {change.new} {change.text}'
        elif change.text:
            what = change.text
        else:
            return
        self._out.line(one_line(f'{clock_time(change.when)} {change.name}: {what}'))

    def show_counts(self, plan: Counts, recent: Sequence[Change]) -> None:
        now = self._monotonic()
        if self._counted_at is not None and now - self._counted_at < INTERVAL:
            return
        text = counts(plan)
        if text != self._last:
            self._out.line(f'{clock_time(datetime.datetime.now(datetime.UTC))} {text}')
            self._last, self._counted_at = text, now


def counts(plan: Counts) -> str:
    """Return the progress: `31000 of 100000 actions ended, 8 running`."""
    text = f'{plan.state}: {plan.total - plan.unfinished} of {plan.total} actions ended'
    for number, word in ((plan.failed, 'FAILED'), (plan.skipped, 'SKIPPED')):
        if number:
            text += f', {number} {word}'
    if plan.active:
        text += f', {plan.active} running'
    return text


def clock_time(when: datetime.datetime) -> str:
    """Return the local time of day."""
    return when.astimezone().strftime('%H:%M:%S')
