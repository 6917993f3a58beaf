"""Base classes and options of the commands of the clustering API."""

import abc
import argparse
import math
import re
import sys
from collections.abc import Mapping, Sequence
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

#: The columns of a requested action.
ACTION = fields('id name action target status status_reason')

#: The command that shows the action.
_SEE = 'watcherlite cluster action show'

#: The level of an error event.
ERROR = '40'
#: The prefix of a status reason: the type of the action that set it.
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
    """Return the declaration of the argument that identifies the object.

    :param noun: the collection; None: that of the command
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
    """A command that prints one object of a collection.

    :cvar noun: the collection
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

    :cvar noun: the collection
    :cvar long: the columns of --long; (): no such option
    """

    noun: ClassVar[str]
    long: ClassVar[Sequence[Column]] = ()
    repeats_filters = True
    arguments: Declarations = (
        base.add_filters,
        base.LIMIT,
        option('--marker', 'UUID', 'list the rows after this one'),
        option(
            '--sort', 'KEY[:DIR]', 'sort keys, separated by commas; DIR is asc or desc'
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
        """Return the columns; more with --long."""
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

    :param action: the id of the action
    :param about: the filter of the events: arguments of the API
    """

    def __init__(
        self,
        clustering: Clustering,
        action: str,
        about: Mapping[str, str],
        err: Output,
        marker: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(err, marker, **options)
        self._clustering = clustering
        self._action = action
        self._about = about

    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the action, and whether there were events."""
        # The action before the events: no event follows those of its end.
        action = self._clustering.show('actions', self._action)
        return action['status'] in states.FINAL, action, self.show_new_events()

    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of an ended action, and the reason if it failed."""
        action = found or {}
        if action.get('status') == states.SUCCEEDED:
            return exits.SUCCESS, ''
        reason = action.get('status_reason')
        why = f': {reason}' if reason else ''
        text = f'the action {action.get("name")} is {action.get("status")}{why}'
        return exits.FAILURE, text

    def new_events(self) -> Sequence[Shown]:
        """Return the events after the marker; none if their subject is deleted."""
        try:
            return self._clustering.events_after(self._about, self.marker)
        except (exceptions.NotFound, exceptions.Invalid):
            return ()

    def event_line(self, event: Shown) -> tuple[str, bool]:
        """Return the line of an event; events of nodes are minor, unless errors."""
        of_node = event.get('otype') == 'NODE'
        clock = str(event.get('timestamp') or '')[11:19]
        words = (clock, event.get('oname'), event.get('action'), event.get('status'))
        reason = str(event.get('status_reason') or '')
        action = _OF_ACTION.match(reason)
        if action and action[1] != event.get('action'):
            # An earlier action has set this reason.
            reason = ''
        text = ' '.join(str(word) for word in (*words, reason))
        return text, of_node and event.get('level') != ERROR


class ClusterWaiting(Waiting, ClusterRemote):
    """A command that requests an action, and can wait for its end."""

    arguments: Declarations = waiting('cluster')

    def last_event(
        self,
        clustering: Clustering,
        about: Mapping[str, str],
        parsed: argparse.Namespace,
    ) -> str | None:
        """Return the marker from which `wait` shows events; None without --wait."""
        return clustering.last_event(about) if parsed.wait else None

    def wait(
        self,
        clustering: Clustering,
        action: str,
        parsed: argparse.Namespace,
        about: Mapping[str, str],
        marker: str | None,
    ) -> None:
        """With --wait, wait until an action has ended; report it if it failed.

        :param about: the filter of the events to show
        :param marker: the last event before the action
        """
        if parsed.wait:
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
    :cvar names: the attributes that can be set
    """

    noun: ClassVar[str]
    names: ClassVar[tuple[str, ...]]

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the object; return it."""
        values = given_attributes(parsed, *self.names)
        made, action = clustering.create(
            self.noun, values, query=schedule_query(parsed)
        )
        self.wait(clustering, action, parsed, events_about(self.noun, made), None)
        return clustering.show(self.noun, made['id'])


class ClusterObjectUpdate(ClusterWaiting, ClusterShow):
    """A command that updates a cluster or node by an action, and prints it.

    :cvar noun: `clusters` or `nodes`
    :cvar names: the attributes that can be set
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
        values = given_attributes(parsed, *self.names)
        target = clustering.show(self.noun, parsed.identity)
        about = events_about(self.noun, target)
        marker = self.last_event(clustering, about, parsed)
        asked = {**queue_query(parsed), **schedule_query(parsed)}
        _, action = clustering.update(self.noun, target['id'], values, asked)
        self.wait(clustering, action, parsed, about, marker)
        return clustering.show(self.noun, target['id'])


class Acting(ClusterWaiting, ClusterShow):
    """A command that requests an action on a cluster or node, and prints it.

    :cvar noun: `clusters` or `nodes`
    :cvar place: the resource below the object: `actions` or `ops`
    """

    noun: ClassVar[str] = 'clusters'
    place: ClassVar[str] = 'actions'
    columns = ACTION
    arguments: Declarations = (identity(), QUEUE, SCHEDULE)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Request the action; return it."""
        body = self.body(parsed)
        target = clustering.show(self.noun, parsed.identity)
        about = events_about(self.noun, target)
        marker = self.last_event(clustering, about, parsed)
        action = clustering.act(
            self.noun,
            target['id'],
            body,
            {**queue_query(parsed), **schedule_query(parsed)},
            self.place,
        )
        self.wait(clustering, action, parsed, about, marker)
        return clustering.show('actions', action)

    @abc.abstractmethod
    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return the body of the request: `{'check': {}}`."""


class ClusterObjectDelete(ClusterWaiting):
    """A command that deletes each object by an action.

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
        """Delete the objects; report errors and continue."""
        if not base.confirm_deletion(parsed_args.identity, parsed_args):
            self.note('nothing was deleted')
            return exits.FAILURE
        forced = {'force': 'true'} if parsed_args.force else {}
        query = {**forced, **schedule_query(parsed_args)}
        started: list[tuple[str, Mapping[str, str], str | None]] = []

        def delete(identity: str) -> None:
            target = clustering.show(self.noun, identity)
            about = events_about(self.noun, target)
            marker = self.last_event(clustering, about, parsed_args)
            action = clustering.delete(self.noun, target['id'], query)
            started.append((action, about, marker))
            if not parsed_args.wait:
                self.note(f'{identity} is being deleted; {_SEE} {action}')

        with self.connect(parsed_args) as clustering:
            code = self.for_each(parsed_args.identity, delete, parsed_args)
            for action, about, marker in started:
                self.wait(clustering, action, parsed_args, about, marker)
        return code


class DeleteNow(ClusterRemote):
    """A command that deletes objects synchronously."""

    noun: ClassVar[str]

    arguments = (identity(nargs='+'),)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete the objects; report errors and continue."""
        with self.connect(parsed_args) as clustering:
            return self.for_each(
                parsed_args.identity,
                lambda identity: clustering.delete(self.noun, identity),
                parsed_args,
            )


def events_about(noun: str, target: Row) -> dict[str, str]:
    """Return the filter for the events of an object."""
    if noun == 'clusters':
        return {'cluster_id': target['id']}
    return {'oid': target['id']}


def queue_query(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the request argument of --queue."""
    return {'wait': 'true'} if parsed.queue else {}


def schedule_query(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the request argument of --not-before."""
    return {} if parsed.not_before is None else {'not_before': parsed.not_before}


def given_attributes(parsed: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the attributes that are given on the command line."""
    found = {name: getattr(parsed, name) for name in names}
    if found.get('metadata') is not None:
        found['metadata'] = base.parameters(found['metadata'])
    return base.given(found)


def percentage(text: str) -> float:
    """Return a finite number."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f'{text!r} is not a number')
    return found


def whole(minimum: int = 0) -> Any:
    """Return a parser of integers with a minimum."""

    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = minimum - 1
        if found < minimum:
            raise argparse.ArgumentTypeError(f'{text!r} is not an integer >= {minimum}')
        return found

    return number
