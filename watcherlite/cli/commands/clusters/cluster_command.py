"""Base classes and options of the commands of the clustering API."""

import abc
import argparse
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.cli.command import (
    Declaration,
    Declarations,
    argument,
    choice,
    flag,
    option,
    repeated,
)
from watcherlite.cli.commands import base
from watcherlite.cli.commands.clusters.cluster_client import NOUNS, Clustering
from watcherlite.cli.commands.poll import Poll, Shown, Waiting, waiting
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cli.http import access
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import action as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

#: Of an action that was asked for.
ACTION = fields('id name action target status status_reason')

#: Where it is told what becomes of an action.
_SEE = 'watcherlite cluster action show'

#: The level of an error event.
ERROR = '40'
#: The beginning of a status reason that names the action which left it.
_OF_ACTION = re.compile('([A-Z]+(?:_[A-Z]+)+): ')

#: Operations that recover a node.
RECOVERIES = ('REBOOT', 'REBUILD', 'RECREATE')

QUEUE = flag(
    '--queue', 'wait for the action in progress instead of failing with a conflict'
)
SCHEDULE = option(
    '--not-before', 'TIME', 'earliest start, ISO 8601; UTC unless it has an offset'
)
RECOVERY = (
    choice(
        '--operation',
        RECOVERIES,
        'recovery operation; default: RECREATE; the profile type must support '
        'the others',
    ),
    flag('--check', 'check the health first, and skip healthy nodes', default=None),
)
OPERATION = (
    option(
        '--operation',
        'NAME',
        'name of the operation, as listed by `profile type ops`',
        required=True,
    ),
    repeated(
        '--params',
        'KEY=VALUE',
        'parameter of the operation; may be repeated',
        default=[],
    ),
)
METADATA = repeated(
    '--metadata',
    'KEY=VALUE',
    'metadata; may be repeated. The value is parsed as JSON if possible, '
    'otherwise it is text',
)


def identity(noun: str | None = None, nargs: str | None = None) -> Declaration:
    """Return the declaration of the argument that says which object is meant.

    :param noun: as it stands in addresses; None: that of the command
    """

    def declare(parser: argparse.ArgumentParser, command: Any) -> None:
        one = NOUNS[noun or command.noun].upper()
        argument('identity', one, 'name, ID, or prefix of an ID', nargs=nargs)(
            parser, command
        )

    return declare


class ClusterRemote(base.Remote):
    """A command that talks to the API of clusters."""

    service: ClassVar[str] = access.CLUSTERING

    def api(self, client: 'Client') -> Clustering:
        """Return the clustering API."""
        return Clustering(client)


class ClusterShow(base.Show, ClusterRemote):
    """A command that prints one object of the clustering API."""


class ClusterRows(base.Rows, ClusterRemote):
    """A command that prints a table of the clustering API."""


class ShowNoun(ClusterShow):
    """A command that prints an object that is there.

    :cvar noun: as it stands in addresses
    """

    noun: ClassVar[str]

    arguments = (identity(),)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the object."""
        return clustering.show(self.noun, parsed.identity)


def _add_long(parser: argparse.ArgumentParser, command: Any) -> None:
    if command.long:
        base.LONG(parser, command)


class ListNouns(ClusterRows):
    """A command that prints rows of a collection.

    :cvar noun: as it stands in addresses
    :cvar long: the columns of --long; () if there is no such option
    :cvar sorts: whether the API sorts, and goes through pages
    :cvar wide: whether those of all projects can be listed
    """

    noun: ClassVar[str]
    long: ClassVar[Sequence[Column]] = ()
    repeats_filters = True
    arguments: Declarations = (
        base.add_filters,
        base.LIMIT,
        option('--marker', 'UUID', 'list the rows after this one'),
        option(
            '--sort',
            'KEY[:DIR]',
            'sort keys, separated by commas; DIR is asc or desc',
        ),
        flag('--global-project', 'list those of all projects; admin only'),
        _add_long,
    )

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return the rows of the collection."""
        found = clustering.list(self.noun, self.query(parsed), parsed.limit)
        return self.first_page(found, parsed)

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        """Return the columns, with --long more of them."""
        return self.long if self.long and parsed.long else self.columns

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the arguments of the request, without the limit."""
        query = {
            **base.filter_query(self.filters, parsed),
            'marker': parsed.marker,
            'sort': parsed.sort,
            'global_project': 'true' if parsed.global_project else None,
        }
        return base.given(query)


class ClusterPoll(Poll):
    """Shows the events of a cluster or node until an action on it has ended.

    For the other parameters see `Poll`.

    :param action: its id
    :param about: the filter of the events, as arguments of the API
    """

    def __init__(
        self,
        clustering: Clustering,
        action: str,
        about: Mapping[str, str],
        err: Output,
        marker: str | None = None,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(err, marker, verbose=verbose, wait=wait, monotonic=monotonic)
        self._clustering = clustering
        self._action = action
        self._about = about

    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the action, and whether anything happened."""
        # The action before the events: no event follows those of its end.
        action = self._clustering.show('actions', self._action)
        return action['status'] in states.FINAL, action, self._show_events()

    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of an action that has ended, and why if it failed."""
        action = found or {}
        if action.get('status') == states.SUCCEEDED:
            return exits.SUCCESS, ''
        reason = action.get('status_reason')
        why = f': {reason}' if reason else ''
        text = f'the action {action.get("name")} is {action.get("status")}{why}'
        return exits.FAILURE, text

    def _show_events(self) -> bool:
        news = False
        try:
            events = self._clustering.events_after(self._about, self.marker)
        except (exceptions.NotFound, exceptions.Invalid):
            # The subject of the events is deleted by now.
            return False
        for event in events:
            news = True
            self.marker = event['id']
            self._show_event(event)
        return news

    def _show_event(self, event: Shown) -> None:
        of_node = event.get('otype') == 'NODE'
        clock = str(event.get('timestamp') or '')[11:19]
        words = (clock, event.get('oname'), event.get('action'), event.get('status'))
        reason = str(event.get('status_reason') or '')
        action = _OF_ACTION.match(reason)
        if action and action[1] != event.get('action'):
            # An earlier action has left this reason.
            reason = ''
        text = ' '.join(str(word) for word in (*words, reason))
        self.show(text, minor=of_node and event.get('level') != ERROR)


class ClusterWaiting(Waiting, ClusterRemote):
    """A command that requests an action, and can wait for its end."""

    arguments: Declarations = waiting('cluster')

    def wait(
        self,
        clustering: Clustering,
        action: str,
        parsed: argparse.Namespace,
        about: Mapping[str, str],
        marker: str | None,
    ) -> None:
        """Wait until an action has ended; report it if it has not succeeded.

        :param about: the filter of the events to show
        :param marker: the last event before the action
        """
        poll = ClusterPoll(
            clustering,
            action,
            about,
            Output(sys.stderr),
            marker,
            verbose=parsed.verbose,
        )
        self.await_end(poll, f'the action continues; {_SEE} {action}')


class Create(ClusterWaiting, ClusterShow):
    """A command that creates a cluster or node by an action, and prints it.

    :cvar noun: `clusters` or `nodes`
    :cvar names: the attributes that the command line may have
    """

    noun: ClassVar[str]
    names: ClassVar[tuple[str, ...]]

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the object; return it."""
        values = said(parsed, *self.names)
        made, action = clustering.create(self.noun, values, query=scheduled(parsed))
        if parsed.wait:
            about = events_about(self.noun, made)
            self.wait(clustering, action, parsed, about, None)
        return clustering.show(self.noun, made['id'])


class ClusterObjectUpdate(ClusterWaiting, ClusterShow):
    """A command that updates a cluster or node by an action, and prints it.

    :cvar noun: `clusters` or `nodes`
    :cvar names: the attributes that the command line may have
    """

    noun: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    arguments: Declarations = (
        identity(),
        QUEUE,
        SCHEDULE,
        option('--name', 'NAME', 'new name'),
        option(
            '--profile',
            'PROFILE',
            'new profile, of the same type: name or ID',
            dest='profile_id',
        ),
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Update the object; return it."""
        values = said(parsed, *self.names)
        target = clustering.show(self.noun, parsed.identity)
        about = events_about(self.noun, target)
        marker = clustering.last_event(about) if parsed.wait else None
        asked = {**queued(parsed), **scheduled(parsed)}
        _, action = clustering.update(self.noun, target['id'], values, asked)
        if parsed.wait:
            self.wait(clustering, action, parsed, about, marker)
        return clustering.show(self.noun, target['id'])


class Acting(ClusterWaiting, ClusterShow):
    """A command that asks for an action on a cluster or node, and prints it.

    :cvar noun: `clusters` or `nodes`
    :cvar place: what is asked below the address of the object
    """

    noun: ClassVar[str] = 'clusters'
    place: ClassVar[str] = 'actions'
    columns = ACTION
    arguments: Declarations = (identity(), QUEUE, SCHEDULE)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Ask for the action; return it."""
        body = self.body(parsed)
        target = clustering.show(self.noun, parsed.identity)
        about = events_about(self.noun, target)
        marker = clustering.last_event(about) if parsed.wait else None
        action = clustering.act(
            self.noun,
            target['id'],
            body,
            {**queued(parsed), **scheduled(parsed)},
            self.place,
        )
        if parsed.wait:
            self.wait(clustering, action, parsed, about, marker)
        return clustering.show('actions', action)

    @abc.abstractmethod
    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for: `{'check': {}}`."""


class ClusterObjectDelete(ClusterWaiting):
    """A command that deletes objects by an action each.

    :cvar noun: `clusters` or `nodes`
    """

    noun: ClassVar[str]

    arguments = (
        identity(nargs='+'),
        flag('--force', 'delete even if another action is in progress'),
        base.YES,
        SCHEDULE,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        if not base.confirm_deletion(parsed_args.identity, parsed_args):
            self.say('nothing was deleted')
            return exits.FAILURE
        forced = {'force': 'true'} if parsed_args.force else {}
        query = {**forced, **scheduled(parsed_args)}
        started: list[tuple[str, Mapping[str, str], str | None]] = []

        def delete(identity: str) -> None:
            target = clustering.show(self.noun, identity)
            about = events_about(self.noun, target)
            marker = clustering.last_event(about) if parsed_args.wait else None
            action = clustering.delete(self.noun, target['id'], query)
            started.append((action, about, marker))
            if not parsed_args.wait:
                self.say(f'{identity} is being deleted; {_SEE} {action}')

        with self.connect(parsed_args) as clustering:
            code = self.for_each(parsed_args.identity, delete, parsed_args)
            for action, about, marker in started if parsed_args.wait else ():
                self.wait(clustering, action, parsed_args, about, marker)
        return code


class DeleteNow(ClusterRemote):
    """A command that deletes objects at once."""

    noun: ClassVar[str]

    arguments = (identity(nargs='+'),)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        with self.connect(parsed_args) as clustering:
            return self.for_each(
                parsed_args.identity,
                lambda identity: clustering.delete(self.noun, identity),
                parsed_args,
            )


def events_about(noun: str, target: Row) -> dict[str, str]:
    """Return which events are of interest while something is done with an object."""
    if noun == 'clusters':
        return {'cluster_id': target['id']}
    return {'oid': target['id']}


def queued(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the arguments of a request that may be queued."""
    return {'wait': 'true'} if parsed.queue else {}


def scheduled(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the arguments of a request that may be due later."""
    return {} if parsed.not_before is None else {'not_before': parsed.not_before}


def said(parsed: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return what the command line says of these, without what it does not."""
    found = {name: getattr(parsed, name) for name in names}
    if found.get('metadata') is not None:
        found['metadata'] = base.parameters(found['metadata'])
    return base.given(found)


def percentage(text: str) -> float:
    """Return a number; neither infinity nor what is none is one."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f'{text!r} is not a number')
    return found


def whole(minimum: int = 0) -> Any:
    """Return what reads a whole number that is not below a minimum."""

    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = minimum - 1
        if found < minimum:
            raise argparse.ArgumentTypeError(f'{text!r} is not an integer >= {minimum}')
        return found

    return number
