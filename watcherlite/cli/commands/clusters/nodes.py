"""`watcherlite node`."""

import argparse
from collections.abc import Mapping
from typing import Any

from watcherlite.cli.command import argument, exclusive, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.clusters.cluster_command import (
    Acting,
    ClusterObjectDelete,
    ClusterObjectUpdate,
    ClusterShow,
    Create,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.formatting import Row, fields
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage

LISTED = fields('id name index status cluster_id physical_id profile_name tainted')
SHOWN = fields(
    'id name cluster_id index role physical_id profile_id profile_name',
    'status status_reason tainted metadata data dependents details project',
    'user domain init_at created_at updated_at',
)

_CHANGES = (
    option('--role', 'TEXT', 'role of the node in its cluster'),
    cluster_command.METADATA,
)


class NodeList(ListNouns):
    """List nodes."""

    noun = 'nodes'
    columns = LISTED
    long = fields(*LISTED, 'role status_reason created_at updated_at project')
    filters = (
        Filter('--name', 'name', 'NAME', 'filter by name'),
        Filter('--status', 'status', 'STATUS', 'filter by status'),
    )
    arguments = (
        option(
            '--cluster', 'CLUSTER', 'filter by cluster: name or ID', dest='cluster_id'
        ),
    )

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the arguments of the request, without the limit."""
        more = cluster_command.given_attributes(parsed, 'cluster_id')
        return {**super().query(parsed), **more}


class NodeDisplay(ShowNoun):
    """Show a node."""

    noun = 'nodes'
    columns = SHOWN
    arguments = (flag('--details', 'show the details of the physical object as well'),)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the node."""
        query = {'show_details': 'true'} if parsed.details else None
        return clustering.show(self.noun, parsed.identity, query)


class NodeCreate(Create):
    """Create a node, optionally in a cluster."""

    noun = 'nodes'
    names = ('name', 'profile_id', 'cluster_id', 'role', 'metadata')
    columns = SHOWN
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


class NodeUpdate(ClusterObjectUpdate):
    """Update a node; a new profile updates its physical object as well."""

    noun = 'nodes'
    names = ('name', 'profile_id', 'role', 'metadata', 'tainted')
    columns = SHOWN
    arguments = (
        exclusive(
            flag(
                '--tainted',
                'remove the node first when the cluster shrinks',
                default=None,
            ),
            flag(
                '--not-tainted',
                'reset --tainted',
                action='store_false',
                default=None,
                dest='tainted',
            ),
        ),
        *_CHANGES,
    )


class NodeDelete(ClusterObjectDelete):
    """Delete nodes and their physical objects."""

    noun = 'nodes'


class NodeCheck(Acting):
    """Check the health of a node."""

    noun = 'nodes'

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return the body of the request."""
        return {'check': {}}


class NodeRecover(Acting):
    """Recover a node."""

    noun = 'nodes'
    arguments = (
        *cluster_command.RECOVERY,
        option(
            '--delete-timeout',
            'SECONDS',
            'time limit for the deletion of the old object',
            type=cluster_command.whole(),
        ),
        flag(
            '--force-recreate',
            'recreate the node even if the old object cannot be deleted',
            default=None,
        ),
    )

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return the body of the request."""
        names = ('operation', 'check', 'delete_timeout', 'force_recreate')
        return {'recover': cluster_command.given_attributes(parsed, *names)}


class NodeOperate(Acting):
    """Run an operation of the profile on a node."""

    noun = 'nodes'
    place = 'ops'
    arguments = (*cluster_command.OPERATION,)

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return the body of the request."""
        return {parsed.operation: base.parameters(parsed.params)}


class NodeMarkUnhealthy(ClusterShow):
    """Mark a node as unhealthy; the next recovery repairs it."""

    columns = SHOWN
    arguments = (
        cluster_command.identity('nodes'),
        argument('reason', 'REASON', 'reason of the mark', nargs='?'),
        flag('--reset', 'remove the mark'),
        base.intermixed,
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Mark the node; return it."""
        mark: dict[str, Any] = {'mark_unhealthy': not parsed.reset}
        if parsed.reason is not None:
            mark['reason'] = parsed.reason
        clustering.begin('nodes', parsed.identity, {'mark_unhealthy': mark}, {})
        return clustering.show('nodes', parsed.identity)


class NodeAdopt(ClusterShow):
    """Adopt an existing object as a node."""

    columns = fields(*SHOWN, 'type version properties')
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
            raise exits.UsageError(
                usage(
                    'watcherlite node adopt',
                    '--preview cannot be combined with --name, --role or --metadata',
                )
            )
        values = cluster_command.given_attributes(parsed, *names)
        if parsed.overrides is not None:
            values['overrides'] = base.parameters(parsed.overrides)
        return clustering.adopt(values, preview=parsed.preview)
