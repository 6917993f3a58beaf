"""`watcherlite cluster action`, `cluster event` and `cluster service`."""

import argparse
import datetime
from collections.abc import Sequence
from typing import Any

from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.clusters.cluster_command import (
    ClusterRows,
    ClusterShow,
    ClusterWaiting,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.formatting import Column, Row

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
        Filter('--name', 'name', 'NAME', 'filter by name'),
        Filter('--action', 'action', 'TYPE', 'filter by type: CLUSTER_CREATE ...'),
        Filter('--target', 'target', 'UUID', 'filter by target: a cluster or node'),
        Filter('--status', 'status', 'STATUS', 'filter by status'),
        Filter(
            '--cluster',
            'cluster_id',
            'UUID',
            'filter by cluster, including its nodes',
        ),
    )


class ClusterActionShow(ShowNoun):
    """Show an action on a cluster or node."""

    noun = 'actions'
    columns = SHOWN


class ClusterActionSignal(ClusterShow):
    """Send a signal to an action and to its derived actions."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'actions')
        parser.add_argument(
            'signal',
            choices=sorted(SIGNALS),
            help='CANCEL: stop the action; SUSPEND: start no further actions; RESUME: '
            'continue',
        )
        parser.add_argument(
            '--force',
            action='store_true',
            help='with CANCEL, do not wait for the worker that executes it; admin only',
        )
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Send the signal; return the action."""
        action = clustering.show('actions', parsed.identity)
        clustering.signal(action['id'], SIGNALS[parsed.signal], parsed.force)
        return clustering.show('actions', action['id'])


class ClusterActionCreate(ClusterWaiting, ClusterShow):
    """Create an action of any type on a cluster or node."""

    columns = SHOWN
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'action', metavar='TYPE', help='action type: CLUSTER_SCALE_OUT, command ...'
        )
        parser.add_argument(
            'target', metavar='TARGET', help='target cluster or node: name or ID'
        )
        parser.add_argument('--name', metavar='NAME', help='name of the action')
        parser.add_argument(
            '--input',
            action='append',
            dest='inputs',
            metavar='KEY=VALUE',
            help='input of the action; may be repeated. The value is parsed as JSON '
            'if possible, otherwise it is text',
        )
        parser.add_argument(
            '--interval',
            type=cluster_command.whole(),
            metavar='SECONDS',
            help='repeat the action; seconds from one start to the next',
        )
        parser.add_argument(
            '--not-before', metavar='TIME', help='earliest start, ISO 8601'
        )
        parser.add_argument(
            '--timeout',
            type=cluster_command.whole(1),
            metavar='SECONDS',
            help='time limit of the operation. (To set the timeout of API requests, '
            'give --timeout before the command, or set WATCHERLITE_TIMEOUT.)',
        )
        cluster_command.add_queue(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Ask for the action; return it."""
        names = ('action', 'target', 'name', 'interval', 'not_before', 'timeout')
        values = cluster_command.said(parsed, *names)
        if parsed.inputs is not None:
            values['inputs'] = base.parameters(parsed.inputs)
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
    """List the events of clusters and nodes."""

    noun = 'events'
    columns = EVENT
    long = EVENT_SHOWN
    filters = (
        Filter(
            '--cluster',
            'cluster_id',
            'CLUSTER',
            'filter by cluster, including its nodes: name or ID',
        ),
        Filter('--object', 'oid', 'UUID', 'filter by cluster or node'),
        Filter('--name', 'oname', 'NAME', 'filter by object name'),
        Filter('--action', 'action', 'TYPE', 'filter by action type'),
        Filter('--level', 'level', 'LEVEL', 'filter by level: INFO or ERROR'),
    )


class ClusterEventShow(ShowNoun):
    """Show an event."""

    noun = 'events'
    columns = EVENT_SHOWN


class ClusterServiceList(ClusterRows):
    """List the engines."""

    columns = (
        Column('ID', 'id'),
        Column('Binary', 'binary'),
        Column('Host', 'host'),
        Column('State', 'state'),
        Column('Updated At', 'updated_at'),
    )

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each engine."""
        return clustering.members('services', 'services')
