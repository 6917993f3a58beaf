"""Base classes and options of the commands of the orchestration API."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

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
        **options: Any,
    ) -> None:
        super().__init__(err, marker, **options)
        self._stacks = stacks
        self._place = place
        self._action = action

    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the stack, and whether there were events."""
        # The stack before its events: no event follows those of its end.
        try:
            stack = self._stacks.show(self._place, outputs=False)
            news = self.show_new_events()
        except exceptions.NotFound:
            return True, None, False
        return not stack['stack_status'].endswith(states.IN_PROGRESS), stack, news

    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of an ended operation, and the reason if it failed."""
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

    def new_events(self) -> Sequence[Shown]:
        """Return the events of the stack after the marker."""
        return self._stacks.events_after(self._place, self.marker)

    def event_line(self, event: Shown) -> tuple[str, bool]:
        """Return the line of an event; events of resources are minor, unless errors."""
        status = str(event.get('resource_status') or '')
        name = event.get('resource_name')
        own = event.get('physical_resource_id') == self._place.uuid
        clock = str(event.get('event_time') or '')[11:19]
        reason = event.get('resource_status_reason') or ''
        minor = not own and not status.endswith(states.FAILED)
        return f'{clock} {name} {status} {reason}', minor


class StackWaiting(Waiting, StackRemote):
    """A command that starts an operation, and can wait for its end.

    :cvar action: the operation
    """

    action: ClassVar[str]

    def last_event(
        self, stacks: Stacks, place: Place, parsed: argparse.Namespace
    ) -> str | None:
        """Return the marker from which `wait` shows events; None without --wait."""
        return stacks.last_event(place) if parsed.wait else None

    def wait(
        self,
        stacks: Stacks,
        place: Place,
        parsed: argparse.Namespace,
        marker: str | None,
    ) -> None:
        """With --wait, wait until the operation has ended; report it if it failed.

        :param marker: the last event before it
        """
        if parsed.wait:
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
