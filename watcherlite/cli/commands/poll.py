"""Polling of the API until an operation has ended.

The interval between two requests grows while there are no new events.
"""

import abc
import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.cli.command import Declaration, flag
from watcherlite.cli.commands.base import Remote
from watcherlite.cli.output import Output
from watcherlite.cli.progress import Outage
from watcherlite.cmd import exits
from watcherlite.cmd.exits import one_line

#: Seconds between two requests, at first and at most.
FIRST, LONGEST = 0.2, 5.0
GROWTH = 1.5
#: Seconds for which the API may be unavailable.
OUTAGE_TIMEOUT = 60.0
#: Events of members that are shown without --verbose.
MANY = 50

Shown = Mapping[str, Any]


class Poll(abc.ABC):
    """Polls an object until an operation on it has ended.

    :param err: the stream for its lines
    :param verbose: show all events, also of large objects
    :param wait: sleeps for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        err: Output,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._err = err
        self._verbose = verbose
        self._wait = wait
        self._outage = Outage(
            'API', OUTAGE_TIMEOUT, lambda text: err.line(one_line(text)), monotonic
        )
        self._shown = 0
        self._omitted = 0

    @abc.abstractmethod
    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the object, and whether there were events."""

    @abc.abstractmethod
    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of an ended operation, and the reason if it failed.

        :param found: the object; None: it is deleted
        """

    def wait_for_end(self) -> Shown | None:
        """Return the object after the end of the operation; None: it is deleted.

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
        """Show an event; of minor events, only the first MANY."""
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


class EventPoll(Poll):
    """Polls an object, and shows its events after a marker.

    :ivar marker: the last event that was shown, or the last before the operation
    """

    def __init__(self, err: Output, marker: str | None, **options: Any) -> None:
        super().__init__(err, **options)
        self.marker = marker

    @abc.abstractmethod
    def new_events(self) -> Sequence[Shown]:
        """Return the events after the marker, the oldest first."""

    @abc.abstractmethod
    def event_line(self, event: Shown) -> tuple[str, bool]:
        """Return the line of an event, and whether it is a minor one."""

    def show_new_events(self) -> bool:
        """Show the events after the marker; return whether there are any."""
        events = self.new_events()
        for event in events:
            self.marker = event['id']
            text, minor = self.event_line(event)
            self.show(text, minor=minor)
        return bool(events)


class Waiting(Remote):
    """A command that can wait for the end of its operation."""

    _code = exits.SUCCESS

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code, or that of the operation."""
        code: int = super().run(parsed_args)
        return code or self._code

    def last_event(
        self, api: Any, subject: Any, parsed: argparse.Namespace
    ) -> str | None:
        """Return the marker of the last event so far; None without --wait.

        :param subject: the object of the events, as the API needs it
        """
        marker: str | None = api.last_event(subject) if parsed.wait else None
        return marker

    def await_end(self, poll: Poll, interrupted: str) -> Shown | None:
        """Wait for the end; return the object, None after Ctrl-C or if it is deleted.

        :param interrupted: the line to show after Ctrl-C
        """
        try:
            found = poll.wait_for_end()
        except KeyboardInterrupt:
            self.print_message(interrupted)
            self._code = exits.INTERRUPTED
            return None
        code, reason = poll.result(found)
        self._code = self._code or code
        if reason:
            self.print_message(reason)
        return found


class WaitingDelete(Waiting):
    """A command that deletes each object asynchronously."""

    @abc.abstractmethod
    def start_deletion(
        self, api: Any, identifier: str, parsed: argparse.Namespace
    ) -> Callable[[], None]:
        """Start the deletion; return a function that waits for its end if requested."""

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        names = parsed_args.identifier
        asks = not parsed_args.yes and sys.stdin.isatty()
        if asks and not exits.confirm(f'Delete {", ".join(names)}? [y/N] '):
            self.print_message('nothing was deleted')
            return exits.FAILURE
        waits: list[Callable[[], None]] = []

        def start_deletion(identifier: str) -> None:
            waits.append(self.start_deletion(api, identifier, parsed_args))

        with self.connect(parsed_args) as api:
            code = self.for_each(names, start_deletion, parsed_args)
            for wait in waits:
                wait()
        return code


def wait_options(noun: str) -> tuple[Declaration, Declaration]:
    """Return the declarations of --wait and --verbose.

    :param noun: `stack` or `cluster`
    """
    return (
        flag('--wait', 'wait for completion, and print events to standard error'),
        flag('-v --verbose', f'with --wait, show every event of a large {noun}'),
    )
