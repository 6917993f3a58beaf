"""Base classes and options of the commands of the clustering API."""

import argparse
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.cli.command import Declarations, choice, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.poll import (
    EventPoll,
    Shown,
    Waiting,
    WaitingDelete,
    wait_options,
)
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
_SHOW = 'watcherlite cluster action show'

#: The level of an error event.
ERROR = '40'
#: The prefix of a status reason: the type of the action that set it.
_OF_ACTION = re.compile('([A-Z]+(?:_[A-Z]+)+): ')

#: Operations that recover a node.
RECOVERIES = ('REBOOT', 'REBUILD', 'RECREATE')

#: Attributes that are given as KEY=VALUE.
_KEY_VALUES = frozenset({'inputs', 'metadata', 'overrides', 'params'})

QUEUE = flag(
    '--queue', 'wait for the action in progress instead of failing with a conflict'
)
SCHEDULE = option(
    '--not-before', 'TIME', 'earliest start time, ISO 8601; UTC unless it has an offset'
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


class ClusterRemote(base.Remote):
    """A command that talks to the API of clusters."""

    service: ClassVar[str] = access.CLUSTERING
    identifier = 'name, ID, or prefix of an ID'

    def api(self, client: 'Client') -> Clustering:
        return Clustering(client)


def _add_long_option(parser: argparse.ArgumentParser, command: Any) -> None:
    if command.long:
        base.LONG(parser, command)


class ClusterObjectList(ClusterRemote, base.Rows):
    """A command that prints rows of a collection.

    :cvar long: the columns of --long; (): no such option
    """

    long: ClassVar[Sequence[Column]] = ()
    repeats_filters = True
    arguments: Declarations = (
        base.add_filters,
        base.LIMIT,
        option('--marker', 'UUID', 'list the rows after this one'),
        option(
            '--sort', 'KEY[:DIR]', 'sort keys, separated by commas; DIR is asc or desc'
        ),
        flag('--global-project', 'list the objects of all projects; admin only'),
        _add_long_option,
    )

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        found = clustering.list(self.collection, self.query(parsed), parsed.limit)
        return self.first_page(found, parsed)

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        return self.long if self.long and parsed.long else self.listed

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the arguments of the request, without the limit."""
        query = {
            **base.filter_query(self.filters, parsed),
            'marker': parsed.marker,
            'sort': parsed.sort,
            'global_project': 'true' if parsed.global_project else None,
        }
        return base.drop_none(query)


class _Changing(ClusterRemote, base.Show):
    """A command that sets attributes of an object, and prints it.

    :cvar names: the attributes that can be set
    """

    names: ClassVar[tuple[str, ...]]

    def values(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the attributes to set."""
        return given_attribute_values(parsed, *self.names)


class ClusterObjectCreate(_Changing):
    """A command that creates an object synchronously."""

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        return clustering.create(self.collection, self.values(parsed))[0]


class ClusterObjectUpdate(_Changing):
    """A command that updates an object synchronously."""

    arguments: Declarations = (base.identifier_argument,)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        values = self.values(parsed)
        return clustering.update(self.collection, parsed.identifier, values)[0]


class ClusterPoll(EventPoll):
    """Shows the events of a cluster or node until an action on it has ended.

    For the other parameters see `Poll`.

    :param action: the id of the action
    :param about: the filter of the events: arguments of the API
    """

    def __init__(
        self,
        clustering: Clustering,
        action: str,
        event_filter: Mapping[str, str],
        err: Output,
        marker: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(err, marker, **options)
        self._clustering = clustering
        self._action = action
        self._event_filter = event_filter

    def poll(self) -> tuple[bool, Shown | None, bool]:
        # The action before the events: no event follows those of its end.
        action = self._clustering.get('actions', self._action)
        return action['status'] in states.FINAL, action, self.show_new_events()

    def result(self, found: Shown | None) -> tuple[int, str]:
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
            return self._clustering.events_after(self._event_filter, self.marker)
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

    arguments: Declarations = wait_options('cluster')

    def wait(
        self,
        clustering: Clustering,
        action: str,
        parsed: argparse.Namespace,
        event_filter: Mapping[str, str],
        marker: str | None,
    ) -> None:
        """With --wait, wait until an action has ended; report it if it failed.

        :param event_filter: the filter of the events to show
        :param marker: the last event before the action
        """
        if parsed.wait:
            poll = ClusterPoll(
                clustering,
                action,
                event_filter,
                Output(sys.stderr),
                marker,
                verbose=parsed.verbose,
            )
            self.await_end(poll, f'the action continues; see `{_SHOW} {action}`')


class CreateByAction(ClusterWaiting, _Changing):
    """A command that creates a cluster or node by an action, and prints it."""

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        made, action = clustering.create(
            self.collection, self.values(parsed), query=request_query(parsed)
        )
        event_filter = events_about(self.collection, made)
        self.wait(clustering, action, parsed, event_filter, None)
        return clustering.get(self.collection, made['id'])


class ClusterActionCommand(ClusterWaiting, base.Show):
    """A command that requests an action on a cluster or node, and prints it.

    :cvar action: the name of the action in the API
    :cvar names: the attributes that can be set
    :cvar place: the resource below the object: `actions` or `ops`
    """

    action: ClassVar[str]
    names: ClassVar[tuple[str, ...]] = ()
    place: ClassVar[str] = 'actions'
    columns = ACTION
    arguments: Declarations = (base.identifier_argument, QUEUE, SCHEDULE)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        body = self.body(parsed)
        target = clustering.get(self.collection, parsed.identifier)
        event_filter = events_about(self.collection, target)
        marker = self.last_event(clustering, event_filter, parsed)
        action = self.request(clustering, target['id'], body, request_query(parsed))
        self.wait(clustering, action, parsed, event_filter, marker)
        return self.changed(clustering, target['id'], action)

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return the body of the request: `{'check': {}}`."""
        return {self.action: given_attribute_values(parsed, *self.names)}

    def request(
        self,
        clustering: Clustering,
        target: str,
        body: Mapping[str, Any],
        query: Mapping[str, str],
    ) -> str:
        """Send the request; return the id of the action."""
        return clustering.request_action_id(
            self.collection, target, body, query, self.place
        )

    def changed(self, clustering: Clustering, target: str, action: str) -> Row:
        """Return the object to print."""
        return clustering.get('actions', action)


class UpdateByAction(ClusterActionCommand):
    """A command that updates a cluster or node by an action, and prints it."""

    arguments: Declarations = (
        option('--name', 'NAME', 'new name'),
        option(
            '--profile',
            'PROFILE',
            'new profile, of the same type: name or ID',
            dest='profile_id',
        ),
    )

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        return given_attribute_values(parsed, *self.names)

    def request(
        self,
        clustering: Clustering,
        target: str,
        body: Mapping[str, Any],
        query: Mapping[str, str],
    ) -> str:
        return clustering.update(self.collection, target, body, query)[1]

    def changed(self, clustering: Clustering, target: str, action: str) -> Row:
        return clustering.get(self.collection, target)


class DeleteByAction(ClusterWaiting, WaitingDelete):
    """A command that deletes each cluster or node by an action."""

    arguments = (
        base.identifiers_argument,
        flag('--force', 'delete even if another action is in progress'),
        base.YES,
        SCHEDULE,
    )

    def start_deletion(
        self, clustering: Clustering, identifier: str, parsed: argparse.Namespace
    ) -> Callable[[], None]:
        target = clustering.get(self.collection, identifier)
        event_filter = events_about(self.collection, target)
        marker = self.last_event(clustering, event_filter, parsed)
        action = clustering.delete(self.collection, target['id'], request_query(parsed))
        if not parsed.wait:
            self.print_message(f'{identifier} is being deleted; see `{_SHOW} {action}`')
        return lambda: self.wait(clustering, action, parsed, event_filter, marker)


def events_about(collection: str, target: Row) -> dict[str, str]:
    """Return the filter for the events of an object."""
    if collection == 'clusters':
        return {'cluster_id': target['id']}
    return {'oid': target['id']}


def request_query(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the request arguments of the given --queue, --not-before and --force."""
    flags = {'wait': 'queue', 'force': 'force'}
    found = {
        name: 'true' for name, dest in flags.items() if getattr(parsed, dest, False)
    }
    not_before = getattr(parsed, 'not_before', None)
    return found if not_before is None else {**found, 'not_before': not_before}


def given_attribute_values(parsed: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the attributes that are given on the command line."""
    found = base.drop_none({name: getattr(parsed, name) for name in names})
    for name in found:
        if name in _KEY_VALUES:
            found[name] = base.parameters(found[name])
    return found


def percentage(text: str) -> float:
    """Return a finite number."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f'{text!r} is not a number')
    return found


def integer_parser(minimum: int = 0) -> Any:
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
