"""`watcherlite cluster action`, `cluster event` and `cluster service`."""

import argparse
import datetime
from collections.abc import Sequence
from typing import Any

from watcherlite.cli.command import argument, choice, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.formatting import Column, Row, fields

#: Signal -> the requested status.
SIGNALS = {'CANCEL': 'CANCELLED', 'SUSPEND': 'SUSPENDED', 'RESUME': 'RUNNING'}

#: Level of an event -> its name.
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
    """Return a Unix time in ISO 8601."""
    moment = datetime.datetime.fromtimestamp(float(seconds), datetime.UTC)
    return moment.strftime('%Y-%m-%dT%H:%M:%SZ')


class _Actions(cluster_command.ClusterRemote):
    collection = 'actions'
    metavar = 'ACTION'
    listed = fields('id name action status target depends_on depended_by created_at')
    columns = fields(
        *listed[:4],
        'status_reason target cluster_id cause owner control inputs outputs',
        'data',
        *listed[5:7],
        'not_before interval timeout',
        Column('Start Time', 'start_time', _clock),
        Column('End Time', 'end_time', _clock),
        'created_at updated_at project user',
    )


class _Events(cluster_command.ClusterRemote):
    collection = 'events'
    metavar = 'EVENT'
    listed = fields(
        'timestamp',
        Column('Object Type', 'otype'),
        Column('Object Name', 'oname'),
        'action status status_reason user',
    )
    columns = fields(
        'id',
        *listed[:3],
        Column('Object ID', 'oid'),
        'cluster_id',
        Column('Level', 'level', _level),
        *listed[3:],
        Column('Metadata', 'meta_data'),
        'project',
    )


class ClusterActionList(_Actions, cluster_command.ClusterObjectList):
    """List actions on clusters and nodes."""

    long = fields(*_Actions.listed, 'cause status_reason project')
    filters = (
        base.BY_NAME,
        Filter('--action', 'action', 'TYPE', 'filter by type: CLUSTER_CREATE ...'),
        Filter('--target', 'target', 'UUID', 'filter by target: a cluster or node'),
        base.BY_STATUS,
        Filter(
            '--cluster', 'cluster_id', 'UUID', 'filter by cluster, including its nodes'
        ),
    )


class ClusterActionShow(_Actions, base.ShowFound):
    """Show an action on a cluster or node."""


class ClusterActionSignal(_Actions, base.Show):
    """Send a signal to an action and to its derived actions."""

    arguments = (
        base.identifier_argument,
        choice(
            'signal',
            sorted(SIGNALS),
            'CANCEL: stop the action; SUSPEND: start no further actions; RESUME: '
            'continue',
        ),
        flag(
            '--force',
            'with CANCEL, do not wait for the worker that executes it; admin only',
        ),
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        action = clustering.get('actions', parsed.identifier)
        clustering.signal(action['id'], SIGNALS[parsed.signal], parsed.force)
        return clustering.get('actions', action['id'])


class ClusterActionCreate(_Actions, cluster_command.ClusterWaiting, base.Show):
    """Create an action of any type on a cluster or node."""

    not_connecting = frozenset({'timeout'})
    arguments = (
        argument('action', 'TYPE', 'action type: CLUSTER_SCALE_OUT, command ...'),
        argument('target', 'TARGET', 'target cluster or node: name or ID'),
        option('--name', 'NAME', 'name of the action'),
        repeated(
            '--input',
            'KEY=VALUE',
            'input of the action; may be repeated. The value is parsed as JSON '
            'if possible, otherwise it is text',
            dest='inputs',
        ),
        option(
            '--interval',
            'SECONDS',
            'repeat the action; seconds from one start to the next',
            type=cluster_command.integer_parser(),
        ),
        option('--not-before', 'TIME', 'earliest start time, ISO 8601'),
        option(
            '--timeout',
            'SECONDS',
            'time limit of the operation. (To set the timeout of API requests, '
            'give --timeout before the command, or set WATCHERLITE_TIMEOUT.)',
            type=cluster_command.integer_parser(1),
        ),
        cluster_command.QUEUE,
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        names = (
            'action',
            'target',
            'name',
            'interval',
            'not_before',
            'timeout',
            'inputs',
        )
        values = cluster_command.given_attribute_values(parsed, *names)
        marker = self.last_event(clustering, {}, parsed)
        query = {'wait': 'true'} if parsed.queue else {}
        made, _ = clustering.create('actions', values, query=query)
        target = made['target']
        on = 'clusters' if made.get('cluster_id') == target else 'nodes'
        about = cluster_command.events_about(on, {'id': target})
        self.wait(clustering, made['id'], parsed, about, marker)
        return clustering.get('actions', made['id'])


class ClusterEventList(_Events, cluster_command.ClusterObjectList):
    """List the events of clusters and nodes."""

    long = _Events.columns
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


class ClusterEventShow(_Events, base.ShowFound):
    """Show an event."""


class ClusterServiceList(cluster_command.ClusterRemote, base.Rows):
    """List the engines."""

    columns = fields('id binary host state updated_at')

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        return clustering.read('services', 'services')
