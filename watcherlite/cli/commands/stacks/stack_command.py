"""Base classes and options of the commands of the orchestration API."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.cli.command import option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.poll import EventPoll, Shown, Waiting
from watcherlite.cli.commands.stacks.stack_client import Place, Stacks
from watcherlite.cli.http import access
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import stack as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


TEMPLATE = option(
    '-t --template',
    'FILE',
    'template, YAML or JSON; - for standard input',
    required=True,
)
OUTPUT_FILE = option(
    '--output-file', 'FILE', 'write to this file instead of standard output'
)
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
BY_STATUS = base.Filter(
    '--status', 'status', 'STATUS', 'filter by status: COMPLETE, FAILED ...'
)
BY_ACTION = base.Filter(
    '--action', 'action', 'ACTION', 'filter by last action: CREATE, UPDATE ...'
)


class StackRemote(base.Remote):
    """A command that talks to the API of stacks."""

    service: ClassVar[str] = access.ORCHESTRATION
    metavar = 'STACK'
    identifier = 'stack: name or ID'

    def api(self, client: 'Client') -> Stacks:
        return Stacks(client)


class StackPoll(EventPoll):
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
        # The stack before its events: no event follows those of its end.
        try:
            stack = self._stacks.show(self._place, outputs=False)
            news = self.show_new_events()
        except exceptions.NotFound:
            return True, None, False
        return not stack['stack_status'].endswith(states.IN_PROGRESS), stack, news

    def result(self, found: Shown | None) -> tuple[int, str]:
        if found is None:
            if self._action == states.DELETE:
                return exits.SUCCESS, ''
            return exits.FAILURE, f'the stack {self._place.name} no longer exists'
        state = found['stack_status']
        if state == f'{self._action}_{states.COMPLETE}':
            return exits.SUCCESS, ''
        reason = found.get('stack_status_reason')
        why = f': {reason}' if reason else ''
        return exits.FAILURE, f'the stack {self._place.name} is {state}{why}'

    def new_events(self) -> Sequence[Shown]:
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
                poll,
                f'the operation continues; see `watcherlite stack show {place.uuid}`',
            )
