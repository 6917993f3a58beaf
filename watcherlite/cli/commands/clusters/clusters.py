"""`watcherlite cluster` create, list, show, update, delete and collect."""

import argparse
from collections.abc import Sequence
from typing import Any

from watcherlite.cli.command import argument, flag, option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.formatting import Row, fields


def assignments(text: str) -> dict[str, Any]:
    """Return the mapping in `key=value;key=value`."""
    return base.parameters(part for part in text.split(';') if part.strip())


_CHANGES = ('timeout', 'metadata', 'config')
SIZES = (
    option(
        '--min-size',
        'N',
        'minimum number of nodes',
        type=cluster_command.integer_parser(),
    ),
    option(
        '--max-size',
        'N',
        'maximum number of nodes; -1: unlimited',
        type=cluster_command.integer_parser(-1),
    ),
)
CHANGES = (
    option(
        '--timeout',
        'SECONDS',
        'time limit of actions on the cluster. (To set the timeout of API '
        'requests, give --timeout before the command, or set WATCHERLITE_TIMEOUT.)',
        type=cluster_command.integer_parser(1),
    ),
    cluster_command.METADATA,
    option(
        '--config',
        'KEY=VALUE[;KEY=VALUE...]',
        'configuration of the cluster: node.name.format=web-$nI',
        type=assignments,
    ),
)


class Clusters(cluster_command.ClusterRemote):
    """A command on clusters."""

    collection = 'clusters'
    metavar = 'CLUSTER'
    listed = fields('id name status desired_capacity created_at updated_at')
    columns = fields(
        'id name profile_id profile_name status status_reason desired_capacity',
        'min_size max_size timeout metadata config data dependents nodes',
        'policies project user domain init_at created_at updated_at',
    )


class ClusterList(Clusters, cluster_command.ClusterObjectList):
    """List clusters."""

    long = fields(
        *Clusters.listed, 'profile_name min_size max_size status_reason project'
    )
    filters = (base.BY_NAME, base.BY_STATUS)


class ClusterShow(Clusters, base.ShowFound):
    """Show a cluster."""


class ClusterCreate(Clusters, cluster_command.CreateByAction):
    """Create a cluster with its nodes."""

    names = (
        'name',
        'profile_id',
        'desired_capacity',
        'min_size',
        'max_size',
        *_CHANGES,
    )
    # An attribute of the cluster, as in other clients.
    not_connecting = frozenset({'timeout'})
    arguments = (
        argument('name', 'NAME', 'name of the cluster'),
        cluster_command.SCHEDULE,
        option(
            '--profile',
            'PROFILE',
            'profile of the nodes: name or ID',
            dest='profile_id',
            required=True,
        ),
        option(
            '--desired-capacity',
            'N',
            'desired number of nodes; default: --min-size',
            type=cluster_command.integer_parser(),
        ),
        *SIZES,
        *CHANGES,
    )


class ClusterUpdate(Clusters, cluster_command.UpdateByAction):
    """Update a cluster; a new profile updates its nodes as well."""

    names = ('name', 'profile_id', 'profile_only', *_CHANGES)
    not_connecting = frozenset({'timeout'})
    arguments = (
        flag('--profile-only', 'use the profile for new nodes only', default=None),
        *CHANGES,
    )


class ClusterDelete(Clusters, cluster_command.DeleteByAction):
    """Delete clusters with their nodes."""


class ClusterCollect(Clusters, base.Rows):
    """Show the value of a JSON path for each node of a cluster."""

    columns = fields('id value')
    arguments = (
        base.identifier_argument,
        argument('path', 'PATH', 'JSON path: $.details.port, or details.port'),
    )

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        path = ('clusters', parsed.identifier, 'attrs', parsed.path)
        return clustering.read('cluster_attributes', *path)
