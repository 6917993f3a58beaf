"""`watcherlite cluster`: created, listed, shown, updated, deleted, looked into."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from cliff import lister

from watcherlite.cli import cluster_command, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.cluster_command import (
    ClusterRemote,
    ClusterShow,
    Delete,
    ListNouns,
    ShowNoun,
    Waiting,
)
from watcherlite.cli.remote import Filter

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
        Filter('--name', 'name', 'NAME', 'those of this name'),
        Filter('--status', 'status', 'STATUS', 'those that are in this status'),
    )


class ClusterDisplay(ShowNoun):
    """Show a cluster."""

    noun = 'clusters'
    columns = SHOWN


class ClusterCreate(Waiting, ClusterShow):
    """Create a cluster, and as many nodes as are desired."""

    columns = SHOWN
    # It is said of the cluster, as other clients do
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='of the new cluster')
        parser.add_argument(
            '--profile',
            dest='profile_id',
            metavar='PROFILE',
            required=True,
            help='the profile that its nodes are made from: name or ID',
        )
        parser.add_argument(
            '--desired-capacity',
            type=cluster_command.whole(),
            metavar='N',
            help='how many nodes it is to have; --min-size if not given',
        )
        add_sizes(parser)
        add_changes(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the cluster; return it."""
        names = ('name', 'profile_id', 'desired_capacity', 'min_size', 'max_size')
        values = cluster_command.said(parsed, *names, *_CHANGES)
        made, action = clustering.create('clusters', values)
        if parsed.wait:
            about = cluster_command.events_about('clusters', made)
            self.wait(clustering, action, parsed, about, None)
        return clustering.show('clusters', made['id'])


class ClusterUpdate(Waiting, ClusterShow):
    """Update a cluster; with another profile, its nodes as well."""

    columns = SHOWN
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        cluster_command.add_queue(parser)
        parser.add_argument('--name', metavar='NAME', help='its new name')
        parser.add_argument(
            '--profile',
            dest='profile_id',
            metavar='PROFILE',
            help='another profile of the same type: name or ID',
        )
        parser.add_argument(
            '--profile-only',
            action='store_true',
            default=None,
            help='leave the nodes as they are: the profile is that of new ones',
        )
        add_changes(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Update the cluster; return it."""
        names = ('name', 'profile_id', 'profile_only')
        values = cluster_command.said(parsed, *names, *_CHANGES)
        target = clustering.show('clusters', parsed.identity)
        about = cluster_command.events_about('clusters', target)
        marker = clustering.last_event(about) if parsed.wait else None
        _, action = clustering.update(
            'clusters', target['id'], values, cluster_command.queued(parsed)
        )
        if parsed.wait:
            self.wait(clustering, action, parsed, about, marker)
        return clustering.show('clusters', target['id'])


class ClusterDelete(Delete):
    """Delete clusters with their nodes."""

    noun = 'clusters'


class ClusterCollect(remote.Printed, ClusterRemote, lister.Lister):
    """Show what a path leads to in each node of a cluster."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        parser.add_argument(
            'path', metavar='PATH', help='a JSON path: $.details.port, or details.port'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each node that has it."""
        path = ('clusters', parsed_args.identity, 'attrs', parsed_args.path)
        with self.clustering(parsed_args) as clustering:
            rows = clustering.members('cluster_attributes', *path)
        columns = (Column('ID', 'id'), Column('Value', 'value'))
        return remote.table(columns, rows, parsed_args.formatter)


_CHANGES = ('timeout', 'metadata', 'config')


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how many nodes a cluster may have."""
    parser.add_argument(
        '--min-size',
        type=cluster_command.whole(),
        metavar='N',
        help='how many nodes it must have',
    )
    parser.add_argument(
        '--max-size',
        type=cluster_command.whole(-1),
        metavar='N',
        help='how many nodes it may have; -1: any number',
    )


def add_changes(parser: argparse.ArgumentParser) -> None:
    """Add the options for what of a cluster can be said at any time."""
    parser.add_argument(
        '--timeout',
        type=cluster_command.whole(1),
        metavar='SECONDS',
        help='how long an action on it may take. (How long to wait for an answer of '
        'the API is --timeout in front of the command, or WATCHERLITE_TIMEOUT.)',
    )
    cluster_command.add_metadata(parser)
    parser.add_argument(
        '--config',
        type=assignments,
        metavar='KEY=VALUE[;KEY=VALUE...]',
        help='how it is run: node.name.format=web-$nI',
    )


def assignments(text: str) -> dict[str, Any]:
    """Return what `key=value;key=value` says."""
    return remote.parameters(part for part in text.split(';') if part.strip())
