"""`watcherlite cluster` create, list, show, update, delete and collect."""

import argparse
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
    Delete,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.formatting import Column, Row

SHOWN = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Profile ID', 'profile_id'),
    Column('Profile Name', 'profile_name'),
    Column('Status', 'status'),
    Column('Status Reason', 'status_reason'),
    Column('Desired Capacity', 'desired_capacity'),
    Column('Min Size', 'min_size'),
    Column('Max Size', 'max_size'),
    Column('Timeout', 'timeout'),
    Column('Metadata', 'metadata'),
    Column('Config', 'config'),
    Column('Data', 'data'),
    Column('Dependents', 'dependents'),
    Column('Nodes', 'nodes'),
    Column('Policies', 'policies'),
    Column('Project', 'project'),
    Column('User', 'user'),
    Column('Domain', 'domain'),
    Column('Init At', 'init_at'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
)
LISTED = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Status', 'status'),
    Column('Desired Capacity', 'desired_capacity'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
)


class ClusterList(ListNouns):
    """List clusters."""

    noun = 'clusters'
    columns = LISTED
    long = (
        *LISTED,
        Column('Profile Name', 'profile_name'),
        Column('Min Size', 'min_size'),
        Column('Max Size', 'max_size'),
        Column('Status Reason', 'status_reason'),
        Column('Project', 'project'),
    )
    filters = (
        Filter('--name', 'name', 'NAME', 'filter by name'),
        Filter('--status', 'status', 'STATUS', 'filter by status'),
    )


class ClusterDisplay(ShowNoun):
    """Show a cluster."""

    noun = 'clusters'
    columns = SHOWN


class ClusterCreate(ClusterWaiting, ClusterShow):
    """Create a cluster with its nodes."""

    columns = SHOWN
    # It is said of the cluster, as other clients do
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='name of the cluster')
        cluster_command.add_schedule(parser)
        parser.add_argument(
            '--profile',
            dest='profile_id',
            metavar='PROFILE',
            required=True,
            help='profile of the nodes: name or ID',
        )
        parser.add_argument(
            '--desired-capacity',
            type=cluster_command.whole(),
            metavar='N',
            help='desired number of nodes; default: --min-size',
        )
        add_sizes(parser)
        add_changes(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the cluster; return it."""
        names = ('name', 'profile_id', 'desired_capacity', 'min_size', 'max_size')
        values = cluster_command.said(parsed, *names, *_CHANGES)
        made, action = clustering.create(
            'clusters', values, query=cluster_command.scheduled(parsed)
        )
        if parsed.wait:
            about = cluster_command.events_about('clusters', made)
            self.wait(clustering, action, parsed, about, None)
        return clustering.show('clusters', made['id'])


class ClusterUpdate(ClusterWaiting, ClusterShow):
    """Update a cluster; a new profile updates its nodes as well."""

    columns = SHOWN
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        cluster_command.add_queue(parser)
        cluster_command.add_schedule(parser)
        parser.add_argument('--name', metavar='NAME', help='new name')
        parser.add_argument(
            '--profile',
            dest='profile_id',
            metavar='PROFILE',
            help='new profile, of the same type: name or ID',
        )
        parser.add_argument(
            '--profile-only',
            action='store_true',
            default=None,
            help='use the profile for new nodes only',
        )
        add_changes(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Update the cluster; return it."""
        names = ('name', 'profile_id', 'profile_only')
        values = cluster_command.said(parsed, *names, *_CHANGES)
        target = clustering.show('clusters', parsed.identity)
        about = cluster_command.events_about('clusters', target)
        marker = clustering.last_event(about) if parsed.wait else None
        asked = {
            **cluster_command.queued(parsed),
            **cluster_command.scheduled(parsed),
        }
        _, action = clustering.update('clusters', target['id'], values, asked)
        if parsed.wait:
            self.wait(clustering, action, parsed, about, marker)
        return clustering.show('clusters', target['id'])


class ClusterDelete(Delete):
    """Delete clusters with their nodes."""

    noun = 'clusters'


class ClusterCollect(ClusterRows):
    """Show the value of a JSON path for each node of a cluster."""

    columns = (Column('ID', 'id'), Column('Value', 'value'))

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        parser.add_argument(
            'path', metavar='PATH', help='JSON path: $.details.port, or details.port'
        )
        return parser

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each node that has it."""
        path = ('clusters', parsed.identity, 'attrs', parsed.path)
        return clustering.members('cluster_attributes', *path)


_CHANGES = ('timeout', 'metadata', 'config')


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how many nodes a cluster may have."""
    parser.add_argument(
        '--min-size',
        type=cluster_command.whole(),
        metavar='N',
        help='minimum number of nodes',
    )
    parser.add_argument(
        '--max-size',
        type=cluster_command.whole(-1),
        metavar='N',
        help='maximum number of nodes; -1: unlimited',
    )


def add_changes(parser: argparse.ArgumentParser) -> None:
    """Add the options for what of a cluster can be said at any time."""
    parser.add_argument(
        '--timeout',
        type=cluster_command.whole(1),
        metavar='SECONDS',
        help='time limit of actions on the cluster. (To set the timeout of API '
        'requests, give --timeout before the command, or set WATCHERLITE_TIMEOUT.)',
    )
    cluster_command.add_metadata(parser)
    parser.add_argument(
        '--config',
        type=assignments,
        metavar='KEY=VALUE[;KEY=VALUE...]',
        help='configuration of the cluster: node.name.format=web-$nI',
    )


def assignments(text: str) -> dict[str, Any]:
    """Return what `key=value;key=value` says."""
    return base.parameters(part for part in text.split(';') if part.strip())
