"""`watcherlite node`."""

import argparse
from collections.abc import Mapping
from typing import Any

from watcherlite.cli.command import argument, exclusive, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.formatting import Row, fields

_CHANGES = (
    option('--role', 'TEXT', 'role of the node in its cluster'),
    cluster_command.METADATA,
)


class Nodes(cluster_command.ClusterRemote):
    """A command on nodes."""

    collection = 'nodes'
    metavar = 'NODE'
    listed = fields('id name index status cluster_id physical_id profile_name tainted')
    columns = fields(
        'id name cluster_id index role physical_id profile_id profile_name',
        'status status_reason tainted metadata data dependents details project',
        'user domain init_at created_at updated_at',
    )


class NodeList(Nodes, cluster_command.ClusterObjectList):
    """List nodes."""

    long = fields(*Nodes.listed, 'role status_reason created_at updated_at project')
    filters = (base.BY_NAME, base.BY_STATUS)
    arguments = (
        option(
            '--cluster', 'CLUSTER', 'filter by cluster: name or ID', dest='cluster_id'
        ),
    )

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        more = cluster_command.given_attribute_values(parsed, 'cluster_id')
        return {**super().query(parsed), **more}


class NodeShow(Nodes, base.ShowFound):
    """Show a node."""

    arguments = (flag('--details', 'show the details of the physical object as well'),)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        query = {'show_details': 'true'} if parsed.details else None
        return clustering.get(self.collection, parsed.identifier, query)


class NodeCreate(Nodes, cluster_command.CreateByAction):
    """Create a node, optionally in a cluster."""

    names = ('name', 'profile_id', 'cluster_id', 'role', 'metadata')
    arguments = (
        argument('name', 'NAME', 'name of the node'),
        cluster_command.SCHEDULE,
        option(
            '--profile',
            'PROFILE',
            'profile of the node: name or ID',
            dest='profile_id',
            required=True,
        ),
        option(
            '--cluster', 'CLUSTER', 'cluster of the node: name or ID', dest='cluster_id'
        ),
        *_CHANGES,
    )


class NodeUpdate(Nodes, cluster_command.UpdateByAction):
    """Update a node; a new profile updates its physical object as well."""

    names = ('name', 'profile_id', 'role', 'metadata', 'tainted')
    arguments = (
        exclusive(
            flag(
                '--tainted',
                'mark the node: it is removed first when the cluster shrinks',
                default=None,
            ),
            flag(
                '--not-tainted',
                'remove the mark that --tainted sets',
                action='store_false',
                default=None,
                dest='tainted',
            ),
        ),
        *_CHANGES,
    )


class NodeDelete(Nodes, cluster_command.DeleteByAction):
    """Delete nodes and their physical objects."""


class NodeCheck(cluster_command.ClusterActionCommand, Nodes):
    """Check the health of a node."""

    action = 'check'


class NodeRecover(cluster_command.ClusterActionCommand, Nodes):
    """Recover a node."""

    action = 'recover'
    names = ('operation', 'check', 'delete_timeout', 'force_recreate')
    arguments = (
        *cluster_command.RECOVERY,
        option(
            '--delete-timeout',
            'SECONDS',
            'time limit for the deletion of the old object',
            type=cluster_command.integer_parser(),
        ),
        flag(
            '--force-recreate',
            'recreate the node even if the old object cannot be deleted',
            default=None,
        ),
    )


class NodeOp(cluster_command.ClusterActionCommand, Nodes):
    """Run an operation of the profile on a node."""

    place = 'ops'
    arguments = (*cluster_command.OPERATION,)

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        return {parsed.operation: base.parameters(parsed.params)}


class NodeMarkUnhealthy(Nodes, base.Show):
    """Mark a node as unhealthy; the next recovery repairs it."""

    arguments = (
        base.identifier_argument,
        argument('reason', 'REASON', 'reason for the mark', nargs='?'),
        flag('--reset', 'remove the mark'),
        base.allow_intermixed,
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        mark: dict[str, Any] = {'mark_unhealthy': not parsed.reset}
        if parsed.reason is not None:
            mark['reason'] = parsed.reason
        clustering.request_action(
            'nodes', parsed.identifier, {'mark_unhealthy': mark}, {}
        )
        return clustering.get('nodes', parsed.identifier)


class NodeAdopt(cluster_command.ClusterRemote, base.Show):
    """Adopt an existing object as a node."""

    columns = fields(*Nodes.columns, 'type version properties')
    arguments = (
        argument('identity', 'IDENTITY', 'physical ID of the existing object'),
        option(
            '--type',
            'TYPE',
            'profile type of the object: local.process-1.0',
            required=True,
        ),
        option('--name', 'NAME', 'name of the node'),
        repeated(
            '--override',
            'KEY=VALUE',
            'property of the profile; may be repeated',
            dest='overrides',
        ),
        flag('--preview', 'show the profile of the node; adopt nothing'),
        *_CHANGES,
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Adopt the object; return the node, with --preview its profile."""
        names: tuple[str, ...] = ('identity', 'type')
        if not parsed.preview:
            names = (*names, 'name', 'role', 'metadata')
        elif parsed.name or parsed.role or parsed.metadata:
            raise self.usage_error(
                '--preview cannot be combined with --name, --role or --metadata'
            )
        values = cluster_command.given_attribute_values(parsed, *names, 'overrides')
        return clustering.adopt(values, preview=parsed.preview)
