"""Polling of the API until an operation has ended.

The pause between two requests grows as long as nothing happens.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.cli.command import Declaration, flag
from watcherlite.cli.commands.base import Remote
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.cmd.exits import one_line

#: Seconds between two requests, at first and at most.
FIRST, LONGEST = 0.2, 5.0
GROWTH = 1.5
#: Seconds for which the API may be unavailable.
PATIENCE = 60.0
#: Events of members that are shown without --verbose.
MANY = 50

Shown = Mapping[str, Any]


class Outage:
    """An outage of the API: reported once, tolerated for PATIENCE seconds.

    :param report: shows a line
    :param monotonic: seconds
    """

    def __init__(
        self, report: Callable[[str], object], monotonic: Callable[[], float]
    ) -> None:
        self._report = report
        self._monotonic = monotonic
        self._since: float | None = None

    def tolerate(self, error: exceptions.ApiUnavailable) -> None:
        """Report the error if the outage begins; raise it if it lasts too long."""
        now = self._monotonic()
        if self._since is None:
            self._since = now
            self._report(f'waiting for the API: {error}')
        if now - self._since > PATIENCE:
            raise error

    def end(self) -> None:
        """Report that the API is available again, if it was not."""
        if self._since is not None:
            self._since = None
            self._report('the API is available again')


class Poll:
    """Polls an object, and shows its events, until it has ended.

    :param err: the stream for its lines
    :param marker: the last event before the operation
    :param verbose: show every event, of however many members
    :param wait: sleeps for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        err: Output,
        marker: str | None = None,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._err = err
        self.marker = marker
        self._verbose = verbose
        self._wait = wait
        self._outage = Outage(lambda text: err.line(one_line(text)), monotonic)
        self._shown = 0
        self._omitted = 0

    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the object, and whether anything happened."""
        raise NotImplementedError

    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of what has ended, and the reason if it failed."""
        raise NotImplementedError

    def until_ended(self) -> Shown | None:
        """Return the object once it has ended; None: it is gone.

        :raises ApiUnavailable: the API was unavailable for too long
        """
        pause = FIRST
        while True:
            try:
                ended, found, news = self.poll()
            except exceptions.ApiUnavailable as error:
                self._outage.tolerate(error)
                news = False
            else:
                self._outage.end()
                if ended:
                    self._show_omitted()
                    return found
            pause = FIRST if news else min(pause * GROWTH, LONGEST)
            self._wait(pause)

    def show(self, text: str, *, minor: bool = False) -> None:
        """Show an event; of minor ones the first MANY only."""
        if minor and not self._verbose:
            if self._shown >= MANY:
                self._omitted += 1
                return
            self._shown += 1
        self._err.line(one_line(text))

    def _show_omitted(self) -> None:
        if self._omitted:
            self._err.line(
                f'{self._omitted} more events are not shown; --verbose shows all'
            )


class Waiting(Remote):
    """A command that can wait for the end of what it starts."""

    _code = exits.SUCCESS

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code, or that of what it waited for."""
        code: int = super().run(parsed_args)
        return code or self._code

    def await_end(self, poll: Poll, interrupted: str) -> Shown | None:
        """Wait for the end; return the object, None after Ctrl-C or if it is gone.

        :param interrupted: the line to show after Ctrl-C
        """
        try:
            found = poll.until_ended()
        except KeyboardInterrupt:
            self.say(interrupted)
            self._code = exits.INTERRUPTED
            return None
        code, reason = poll.result(found)
        self._code = self._code or code
        if reason:
            self.say(reason)
        return found


def waiting(noun: str) -> tuple[Declaration, Declaration]:
    """Return the declarations of --wait and --verbose.

    :param noun: `stack` or `cluster`
    """
    return (
        flag('--wait', 'wait for the end, and show events on standard error'),
        flag('-v --verbose', f'with --wait, show every event of a large {noun}'),
    )
