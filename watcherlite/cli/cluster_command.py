"""What the commands on clusters, and on all that belongs to them, have in common."""

import abc
import argparse
import contextlib
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from cliff import lister

from watcherlite import exceptions
from watcherlite.cli import access, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.output import Output
from watcherlite.cli.remote import Filter
from watcherlite.cmd import exits

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

#: Of an action that was asked for.
ACTION = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Action', 'action'),
    Column('Target', 'target'),
    Column('Status', 'status'),
    Column('Status Reason', 'status_reason'),
)

#: Where it is told what becomes of an action.
_SEE = 'watcherlite cluster action show'

#: How a node is recovered.
RECOVERIES = ('REBOOT', 'REBUILD', 'RECREATE')


class ClusterRemote(remote.Remote):
    """A command that talks to the API of clusters."""

    service: ClassVar[str] = access.CLUSTERING

    @contextlib.contextmanager
    def clustering(self, parsed: argparse.Namespace) -> Iterator[Clustering]:
        """Give the API of clusters."""
        with self.client(parsed) as client:
            yield Clustering(client)


class ClusterShow(remote.Show, ClusterRemote):
    """A command that prints one object of the API of clusters."""

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Do what is asked; return what is to be shown."""
        return self.found(Clustering(client), parsed)

    @abc.abstractmethod
    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Do what is asked; return what is to be shown."""


class ShowNoun(ClusterShow):
    """A command that prints an object that is there.

    :cvar noun: as it stands in addresses
    """

    noun: ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_identity(parser, self.noun)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the object."""
        return clustering.show(self.noun, parsed.identity)


class ListNouns(remote.Printed, ClusterRemote, lister.Lister):
    """A command that prints rows of a collection.

    :cvar noun: as it stands in addresses
    :cvar long: the columns of --long; () if there is no such option
    :cvar sorts: whether the API sorts, and goes through pages
    :cvar wide: whether those of all projects can be listed
    """

    noun: ClassVar[str]
    columns: ClassVar[Sequence[Column]]
    long: ClassVar[Sequence[Column]] = ()
    filters: ClassVar[Sequence[Filter]] = ()

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        for one in self.filters:
            parser.add_argument(
                one.option,
                dest=one.dest,
                metavar=one.metavar,
                action='append',
                help=f'{one.help}; may be repeated',
            )
        parser.add_argument(
            '--limit',
            type=remote.limit,
            metavar='N',
            help='show so many; 0 for all; as many as the API gives at once if not '
            'given',
        )
        parser.add_argument('--marker', metavar='UUID', help='begin behind this one')
        parser.add_argument(
            '--sort',
            metavar='KEY[:DIR]',
            help='sort by these, with commas between; DIR is asc or desc',
        )
        parser.add_argument(
            '--global-project',
            action='store_true',
            help='those of all projects; for admins',
        )
        if self.long:
            parser.add_argument(
                '--long', action='store_true', help='show more columns of each'
            )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each object."""
        with self.clustering(parsed_args) as clustering:
            rows, more = clustering.listed(
                self.noun, self.query(parsed_args), parsed_args.limit
            )
        if more and parsed_args.limit is None:
            self.say(f'these are the first {len(rows)}; --limit 0 shows all')
        long = self.long and parsed_args.long
        columns = self.long if long else self.columns
        return remote.table(columns, rows, parsed_args.formatter)

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the arguments of the request, except how many are wanted."""
        found = {one.argument: getattr(parsed, one.dest) for one in self.filters}
        found['marker'] = parsed.marker
        found['sort'] = parsed.sort
        found['global_project'] = 'true' if parsed.global_project else None
        return {name: value for name, value in found.items() if value is not None}


class Waiting(ClusterRemote):
    """A command that asks for an action, and can wait for its end."""

    _code = exits.SUCCESS

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--wait',
            action='store_true',
            help='wait until it has ended, and show what happens on standard error',
        )
        parser.add_argument(
            '-v',
            '--verbose',
            action='store_true',
            help='with --wait, show every event of a large cluster, too',
        )
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Do it; return the exit code, that of what was waited for as well."""
        code: int = super().run(parsed_args)
        return code or self._code

    def wait(
        self,
        clustering: Clustering,
        action: str,
        parsed: argparse.Namespace,
        about: Mapping[str, str],
        marker: str | None,
    ) -> None:
        """Wait until an action has ended; say so if it has not succeeded.

        :param about: which events are shown
        :param marker: the last one before it
        """
        # Help needs none of it
        from watcherlite.cli import cluster_following

        follower = cluster_following.Follower(
            *(clustering, action, about, Output(sys.stderr), marker),
            verbose=parsed.verbose,
        )
        try:
            found = follower.follow()
        except KeyboardInterrupt:
            self.say(f'it goes on; {_SEE} {action}')
            self._code = exits.INTERRUPTED
            return
        code, why = cluster_following.code_of(found)
        self._code = self._code or code
        if why:
            self.say(why)


class Acting(Waiting, ClusterShow):
    """A command that asks for an action on a cluster or node, and prints it.

    :cvar noun: `clusters` or `nodes`
    :cvar place: what is asked below the address of the object
    """

    noun: ClassVar[str] = 'clusters'
    place: ClassVar[str] = 'actions'
    columns = ACTION

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_identity(parser, self.noun)
        add_queue(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Ask for the action; return it."""
        body = self.body(parsed)
        target = clustering.show(self.noun, parsed.identity)
        about = events_about(self.noun, target)
        marker = clustering.last_event(about) if parsed.wait else None
        action = clustering.act(
            self.noun, target['id'], body, queued(parsed), self.place
        )
        if parsed.wait:
            self.wait(clustering, action, parsed, about, marker)
        return clustering.show('actions', action)

    @abc.abstractmethod
    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for: `{'check': {}}`."""


class Delete(Waiting):
    """A command that deletes objects by an action each.

    :cvar noun: `clusters` or `nodes`
    """

    noun: ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_identity(parser, self.noun, nargs='+')
        parser.add_argument(
            '--force',
            action='store_true',
            help='although something else is done with it',
        )
        parser.add_argument(
            '-y', '--yes', action='store_true', help='do not ask whether to'
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        if not parsed_args.yes and not confirmed(parsed_args.identity):
            self.say('nothing was deleted')
            return exits.FAILURE
        code = exits.SUCCESS
        begun = []
        query = {'force': 'true'} if parsed_args.force else {}
        with self.clustering(parsed_args) as clustering:
            for identity in parsed_args.identity:
                try:
                    target = clustering.show(self.noun, identity)
                    about = events_about(self.noun, target)
                    marker = clustering.last_event(about) if parsed_args.wait else None
                    action = clustering.delete(self.noun, target['id'], query)
                except exceptions.ApiUnavailable:
                    raise
                except exceptions.WatcherliteError as error:
                    told = exits.tell(remote.NAME, error, self.debug(parsed_args))
                    code = code or told
                else:
                    begun.append((action, about, marker))
                    if not parsed_args.wait:
                        self.say(f'{identity} goes; {_SEE} {action}')
            for action, about, marker in begun if parsed_args.wait else ():
                self.wait(clustering, action, parsed_args, about, marker)
        return code


class DeleteNow(ClusterRemote):
    """A command that deletes objects at once."""

    noun: ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_identity(parser, self.noun, nargs='+')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        code = exits.SUCCESS
        with self.clustering(parsed_args) as clustering:
            for identity in parsed_args.identity:
                try:
                    clustering.delete(self.noun, identity)
                except exceptions.ApiUnavailable:
                    raise
                except exceptions.WatcherliteError as error:
                    told = exits.tell(remote.NAME, error, self.debug(parsed_args))
                    code = code or told
        return code


def events_about(noun: str, target: Row) -> dict[str, str]:
    """Return which events are of interest while something is done with an object."""
    if noun == 'clusters':
        return {'cluster_id': target['id']}
    return {'oid': target['id']}


def add_identity(
    parser: argparse.ArgumentParser, noun: str, nargs: str | None = None
) -> None:
    """Add the argument that says which object is meant."""
    one = noun.removesuffix('s').replace('policie', 'policy').upper()
    parser.add_argument(
        'identity', metavar=one, nargs=nargs, help='name, ID, or the beginning of an ID'
    )


def add_queue(parser: argparse.ArgumentParser) -> None:
    """Add the option that says to queue."""
    parser.add_argument(
        '--queue',
        action='store_true',
        help='queue behind what it is busy with, instead of being refused',
    )


def queued(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the arguments of a request that may be queued."""
    return {'wait': 'true'} if parsed.queue else {}


def add_recovery(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how nodes are repaired."""
    parser.add_argument(
        '--operation',
        choices=RECOVERIES,
        help='how: RECREATE if not given; the others where the profile can',
    )
    parser.add_argument(
        '--check',
        action='store_true',
        default=None,
        help='look first, and leave alone what is well',
    )


def add_operation(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which operation, and how."""
    parser.add_argument(
        '--operation',
        metavar='NAME',
        required=True,
        help='one of those that `profile type ops` lists',
    )
    parser.add_argument(
        '--params',
        action='append',
        default=[],
        metavar='KEY=VALUE',
        help='a parameter of it; may be repeated',
    )


def add_metadata(parser: argparse.ArgumentParser) -> None:
    """Add the option for metadata."""
    parser.add_argument(
        '--metadata',
        action='append',
        metavar='KEY=VALUE',
        help='metadata; may be repeated. A value is JSON if it can be read as such, '
        'else text',
    )


def said(parsed: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return what the command line says of these, without what it does not."""
    found = {name: getattr(parsed, name) for name in names}
    if found.get('metadata') is not None:
        found['metadata'] = remote.parameters(found['metadata'])
    return {name: value for name, value in found.items() if value is not None}


def percentage(text: str) -> float:
    """Return a number; neither infinity nor what is none is one."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f'{text!r} is no number')
    return found


def whole(minimum: int = 0) -> Any:
    """Return what reads a whole number that is not below a minimum."""

    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = minimum - 1
        if found < minimum:
            raise argparse.ArgumentTypeError(
                f'{text!r} is no whole number from {minimum} on'
            )
        return found

    return number


def confirmed(names: Sequence[str]) -> bool:
    """Ask whoever sits at the terminal; a script means what it says."""
    if not sys.stdin.isatty():
        return True
    Output(sys.stderr).write(f'Delete {", ".join(names)}? [y/N] ')
    return sys.stdin.readline().strip().lower() in ('y', 'yes')
