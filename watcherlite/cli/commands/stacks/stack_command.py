"""Base classes and options of the commands of the orchestration API."""

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from watcherlite import exceptions
from watcherlite.cli.command import argument, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.poll import Poll, Shown, Waiting
from watcherlite.cli.commands.stacks.stack_client import Place, Stacks
from watcherlite.cli.http import access
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import stack as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


STACK = argument('stack', 'STACK', 'stack: name or ID')
STACKS = argument('stack', 'STACK', 'stack: name or ID', nargs='+')
PARAMETERS = (
    repeated(
        '-e --environment',
        'FILE',
        'environment file, YAML or JSON; may be repeated, later files take precedence',
        default=[],
        dest='environments',
    ),
    repeated(
        '--parameter',
        'NAME=VALUE',
        'parameter of the template; may be repeated',
        default=[],
        dest='parameters',
    ),
)


class StackRemote(base.Remote):
    """A command that talks to the API of stacks."""

    service: ClassVar[str] = access.ORCHESTRATION

    def api(self, client: 'Client') -> Stacks:
        """Return the orchestration API."""
        return Stacks(client)


class StackShow(base.Show, StackRemote):
    """A command that prints one object of the orchestration API."""


class StackRows(base.Rows, StackRemote):
    """A command that prints a table of the orchestration API."""


class StackPoll(Poll):
    """Shows the events of a stack until an operation on it has ended.

    For the other parameters see `Poll`. The API has no stream of these events.

    :param action: the operation
    """

    def __init__(
        self,
        stacks: Stacks,
        place: Place,
        action: str,
        err: Output,
        marker: str | None = None,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(err, marker, verbose=verbose, wait=wait, monotonic=monotonic)
        self._stacks = stacks
        self._place = place
        self._action = action

    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the stack, and whether anything happened."""
        # The stack before its events: no event follows those of its end.
        try:
            stack = self._stacks.show(self._place, outputs=False)
            news = self._show_events()
        except exceptions.NotFound:
            return True, None, False
        return not stack['stack_status'].endswith(states.IN_PROGRESS), stack, news

    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of an operation that has ended, and why if it failed.

        :param found: the stack, None if it is gone
        """
        if found is None:
            if self._action == states.DELETE:
                return exits.SUCCESS, ''
            return exits.FAILURE, f'the stack {self._place.name} is gone'
        state = found['stack_status']
        if state == f'{self._action}_{states.COMPLETE}':
            return exits.SUCCESS, ''
        reason = found.get('stack_status_reason')
        why = f': {reason}' if reason else ''
        return exits.FAILURE, f'the stack {self._place.name} is {state}{why}'

    def _show_events(self) -> bool:
        news = False
        for event in self._stacks.events_after(self._place, self.marker):
            news = True
            self.marker = event['id']
            self._show_event(event)
        return news

    def _show_event(self, event: Shown) -> None:
        status = str(event.get('resource_status') or '')
        name = event.get('resource_name')
        own = event.get('physical_resource_id') == self._place.uuid
        clock = str(event.get('event_time') or '')[11:19]
        reason = event.get('resource_status_reason') or ''
        minor = not own and not status.endswith(states.FAILED)
        self.show(f'{clock} {name} {status} {reason}', minor=minor)


class StackWaiting(Waiting, StackRemote):
    """A command that starts an operation, and can wait for its end.

    :cvar action: the operation
    """

    action: ClassVar[str]

    def wait(
        self,
        stacks: Stacks,
        place: Place,
        parsed: argparse.Namespace,
        marker: str | None,
    ) -> None:
        """Wait until the operation has ended; report it if it has not succeeded.

        :param marker: the last event before it
        """
        poll = StackPoll(
            stacks,
            place,
            self.action,
            Output(sys.stderr),
            marker,
            verbose=parsed.verbose,
        )
        self.await_end(
            poll, f'the operation continues; watcherlite stack show {place.uuid}'
        )
