"""`watcherlite cluster action` and `cluster event`: what is done, and what happened."""

import argparse
import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from cliff import lister

from watcherlite.cli import cluster_command, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.cluster_command import (
    ClusterShow,
    ListNouns,
    ShowNoun,
    Waiting,
)
from watcherlite.cli.remote import Filter

#: signal -> the status that is asked for
SIGNALS = {'CANCEL': 'CANCELLED', 'SUSPEND': 'SUSPENDED', 'RESUME': 'RUNNING'}

#: level of an event -> its name
_LEVELS = {
    '10': 'DEBUG',
    '20': 'INFO',
    '30': 'WARNING',
    '40': 'ERROR',
    '50': 'CRITICAL',
}


def _level(number: Any) -> str:
    return _LEVELS.get(number, str(number))


def _clock(seconds: Any) -> str:
    """Return seconds since 1970 as people read a time."""
    moment = datetime.datetime.fromtimestamp(float(seconds), datetime.UTC)
    return moment.strftime('%Y-%m-%dT%H:%M:%SZ')


LISTED = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Action', 'action'),
    Column('Status', 'status'),
    Column('Target', 'target'),
    Column('Depends On', 'depends_on'),
    Column('Depended By', 'depended_by'),
    Column('Created At', 'created_at'),
)
SHOWN = (
    *LISTED[:4],
    Column('Status Reason', 'status_reason'),
    Column('Target', 'target'),
    Column('Cluster ID', 'cluster_id'),
    Column('Cause', 'cause'),
    Column('Owner', 'owner'),
    Column('Control', 'control'),
    Column('Inputs', 'inputs'),
    Column('Outputs', 'outputs'),
    Column('Data', 'data'),
    *LISTED[5:7],
    Column('Not Before', 'not_before'),
    Column('Interval', 'interval'),
    Column('Timeout', 'timeout'),
    Column('Start Time', 'start_time', _clock),
    Column('End Time', 'end_time', _clock),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
    Column('Project', 'project'),
    Column('User', 'user'),
)
EVENT = (
    Column('Timestamp', 'timestamp'),
    Column('Object Type', 'otype'),
    Column('Object Name', 'oname'),
    Column('Action', 'action'),
    Column('Status', 'status'),
    Column('Status Reason', 'status_reason'),
)
EVENT_SHOWN = (
    Column('ID', 'id'),
    *EVENT[:3],
    Column('Object ID', 'oid'),
    Column('Cluster ID', 'cluster_id'),
    Column('Level', 'level', _level),
    *EVENT[3:],
    Column('Metadata', 'meta_data'),
    Column('Project', 'project'),
    Column('User', 'user'),
)


class ClusterActionList(ListNouns):
    """List actions on clusters and nodes."""

    noun = 'actions'
    columns = LISTED
    long = (
        *LISTED,
        Column('Cause', 'cause'),
        Column('Status Reason', 'status_reason'),
        Column('Project', 'project'),
    )
    filters = (
        Filter('--name', 'name', 'NAME', 'those of this name'),
        Filter('--action', 'action', 'TYPE', 'those of this type: CLUSTER_CREATE ...'),
        Filter('--target', 'target', 'UUID', 'those on this cluster or node'),
        Filter('--status', 'status', 'STATUS', 'those that are in this status'),
        Filter(
            '--cluster',
            'cluster_id',
            'UUID',
            'those on this cluster and on its nodes',
        ),
    )


class ClusterActionShow(ShowNoun):
    """Show an action on a cluster or node."""

    noun = 'actions'
    columns = SHOWN


class ClusterActionSignal(ClusterShow):
    """Send a signal to an action, and to all that it derived."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'actions')
        parser.add_argument(
            'signal',
            choices=sorted(SIGNALS),
            help='CANCEL: stop; SUSPEND: start nothing more; RESUME: go on',
        )
        parser.add_argument(
            '--force',
            action='store_true',
            help='with CANCEL, do not wait for who executes it; for admins',
        )
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Send the signal; return the action."""
        action = clustering.show('actions', parsed.identity)
        clustering.signal(action['id'], SIGNALS[parsed.signal], parsed.force)
        return clustering.show('actions', action['id'])


class ClusterActionCreate(Waiting, ClusterShow):
    """Ask for an action of any type on a cluster or node, now or later."""

    columns = SHOWN
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'action', metavar='TYPE', help='CLUSTER_SCALE_OUT, command ...'
        )
        parser.add_argument(
            'target', metavar='TARGET', help='the cluster or node: name or ID'
        )
        parser.add_argument('--name', metavar='NAME', help='of the action')
        parser.add_argument(
            '--input',
            action='append',
            dest='inputs',
            metavar='KEY=VALUE',
            help='an input of it; may be repeated. A value is JSON if it can be read '
            'as such, else text',
        )
        parser.add_argument(
            '--interval',
            type=cluster_command.whole(),
            metavar='SECONDS',
            help='again and again, so long from start to start',
        )
        parser.add_argument(
            '--not-before', metavar='TIME', help='not before this time, in ISO 8601'
        )
        parser.add_argument(
            '--timeout',
            type=cluster_command.whole(1),
            metavar='SECONDS',
            help='how long it may take. (How long to wait for an answer of the API is '
            '--timeout in front of the command, or WATCHERLITE_TIMEOUT.)',
        )
        cluster_command.add_queue(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Ask for the action; return it."""
        names = ('action', 'target', 'name', 'interval', 'not_before', 'timeout')
        values = cluster_command.said(parsed, *names)
        if parsed.inputs is not None:
            values['inputs'] = remote.parameters(parsed.inputs)
        marker = clustering.last_event({}) if parsed.wait else None
        made, _ = clustering.create(
            'actions', values, query=cluster_command.queued(parsed)
        )
        if parsed.wait:
            target = made['target']
            on = 'clusters' if made.get('cluster_id') == target else 'nodes'
            about = cluster_command.events_about(on, {'id': target})
            self.wait(clustering, made['id'], parsed, about, marker)
        return clustering.show('actions', made['id'])


class ClusterEventList(ListNouns):
    """List what has happened to clusters and nodes."""

    noun = 'events'
    columns = EVENT
    long = EVENT_SHOWN
    filters = (
        Filter(
            '--cluster',
            'cluster_id',
            'CLUSTER',
            'to this cluster and its nodes: name or ID',
        ),
        Filter('--object', 'oid', 'UUID', 'to this cluster or node alone'),
        Filter('--name', 'oname', 'NAME', 'to what has this name'),
        Filter('--action', 'action', 'TYPE', 'by actions of this type'),
        Filter('--level', 'level', 'LEVEL', 'of this level: INFO or ERROR'),
    )


class ClusterEventShow(ShowNoun):
    """Show what has happened once."""

    noun = 'events'
    columns = EVENT_SHOWN


class ClusterServiceList(remote.Printed, cluster_command.ClusterRemote, lister.Lister):
    """List the engines that work on clusters."""

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each engine."""
        with self.clustering(parsed_args) as clustering:
            rows = clustering.members('services', 'services')
        columns = (
            Column('ID', 'id'),
            Column('Binary', 'binary'),
            Column('Host', 'host'),
            Column('State', 'state'),
            Column('Updated At', 'updated_at'),
        )
        return remote.table(columns, rows, parsed_args.formatter)
