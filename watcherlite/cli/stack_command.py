"""What the commands on stacks have in common."""

import abc
import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from watcherlite.cli import access, remote
from watcherlite.cli.cells import Row
from watcherlite.cli.output import Output
from watcherlite.cli.stack_api import Place, Stacks
from watcherlite.cmd import exits

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

WAIT_HELP = 'wait until it has ended, and show what happens on standard error'


class StackRemote(remote.Remote):
    """A command that talks to the API of stacks."""

    service: ClassVar[str] = access.ORCHESTRATION

    @contextlib.contextmanager
    def stacks(self, parsed: argparse.Namespace) -> Iterator[Stacks]:
        """Give the stacks of the project that is meant."""
        with self.client(parsed) as client:
            yield Stacks(client)


class StackShow(remote.Show, StackRemote):
    """A command that prints one object of the API of stacks."""

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Do what is asked; return what is to be shown."""
        return self.found(Stacks(client), parsed)

    @abc.abstractmethod
    def found(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        """Do what is asked; return what is to be shown."""


class Waiting(StackRemote):
    """A command that begins an operation, and can wait for its end.

    :cvar action: what a stack does then
    """

    action: ClassVar[str]
    _code = exits.SUCCESS

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Do it; return the exit code, that of what was waited for as well."""
        code: int = super().run(parsed_args)
        return code or self._code

    def wait(
        self,
        stacks: Stacks,
        place: Place,
        parsed: argparse.Namespace,
        marker: str | None,
    ) -> None:
        """Wait until the operation has ended; say so if it has not succeeded.

        :param marker: the last event before it
        """
        # Help needs none of it
        from watcherlite.cli import stack_following

        follower = stack_following.Follower(
            stacks, place, Output(sys.stderr), marker, verbose=parsed.verbose
        )
        try:
            found = follower.follow()
        except KeyboardInterrupt:
            self.say(f'the stack goes on; watcherlite stack show {place.uuid}')
            self._code = exits.INTERRUPTED
            return
        code, why = stack_following.code_of(place, self.action, found)
        self._code = self._code or code
        if why:
            self.say(why)


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add the options that say to wait, and how much to show of it."""
    parser.add_argument('--wait', action='store_true', help=WAIT_HELP)
    parser.add_argument(
        '-v',
        '--verbose',
        action='store_true',
        help='with --wait, show every event of a large stack, too',
    )


def add_stack(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the argument that says which stack is meant."""
    parser.add_argument('stack', metavar='STACK', nargs=nargs, help='name or ID')


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the options that say with what values a template is filled."""
    parser.add_argument(
        '-e',
        '--environment',
        action='append',
        default=[],
        dest='environments',
        metavar='FILE',
        help='an environment, YAML or JSON; may be repeated, and a later one '
        'counts more',
    )
    parser.add_argument(
        '--parameter',
        action='append',
        default=[],
        dest='parameters',
        metavar='NAME=VALUE',
        help='a parameter of the template; may be repeated',
    )
