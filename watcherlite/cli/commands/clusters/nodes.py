"""`watcherlite node`."""

import argparse
from collections.abc import Mapping
from typing import Any

from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.clusters.cluster_command import (
    Acting,
    ClusterShow,
    ClusterWaiting,
    Delete,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.formatting import Column, Row
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage

LISTED = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Index', 'index'),
    Column('Status', 'status'),
    Column('Cluster ID', 'cluster_id'),
    Column('Physical ID', 'physical_id'),
    Column('Profile Name', 'profile_name'),
    Column('Tainted', 'tainted'),
)
SHOWN = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Cluster ID', 'cluster_id'),
    Column('Index', 'index'),
    Column('Role', 'role'),
    Column('Physical ID', 'physical_id'),
    Column('Profile ID', 'profile_id'),
    Column('Profile Name', 'profile_name'),
    Column('Status', 'status'),
    Column('Status Reason', 'status_reason'),
    Column('Tainted', 'tainted'),
    Column('Metadata', 'metadata'),
    Column('Data', 'data'),
    Column('Dependents', 'dependents'),
    Column('Details', 'details'),
    Column('Project', 'project'),
    Column('User', 'user'),
    Column('Domain', 'domain'),
    Column('Init At', 'init_at'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
)


class NodeList(ListNouns):
    """List nodes."""

    noun = 'nodes'
    columns = LISTED
    long = (
        *LISTED,
        Column('Role', 'role'),
        Column('Status Reason', 'status_reason'),
        Column('Created At', 'created_at'),
        Column('Updated At', 'updated_at'),
        Column('Project', 'project'),
    )
    filters = (
        Filter('--name', 'name', 'NAME', 'filter by name'),
        Filter('--status', 'status', 'STATUS', 'filter by status'),
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--cluster',
            dest='cluster_id',
            metavar='CLUSTER',
            help='filter by cluster: name or ID',
        )
        return parser

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the arguments of the request, except how many are wanted."""
        more = cluster_command.said(parsed, 'cluster_id')
        return {**super().query(parsed), **more}


class NodeDisplay(ShowNoun):
    """Show a node."""

    noun = 'nodes'
    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--details',
            action='store_true',
            help='show the details of the physical object as well',
        )
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the node."""
        query = {'show_details': 'true'} if parsed.details else None
        return clustering.show(self.noun, parsed.identity, query)


class NodeCreate(ClusterWaiting, ClusterShow):
    """Create a node, optionally in a cluster."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='name of the node')
        cluster_command.add_schedule(parser)
        parser.add_argument(
            '--profile',
            dest='profile_id',
            metavar='PROFILE',
            required=True,
            help='profile of the node: name or ID',
        )
        parser.add_argument(
            '--cluster',
            dest='cluster_id',
            metavar='CLUSTER',
            help='cluster of the node: name or ID',
        )
        _add_changes(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the node; return it."""
        names = ('name', 'profile_id', 'cluster_id', 'role', 'metadata')
        values = cluster_command.said(parsed, *names)
        made, action = clustering.create(
            'nodes', values, query=cluster_command.scheduled(parsed)
        )
        if parsed.wait:
            about = cluster_command.events_about('nodes', made)
            self.wait(clustering, action, parsed, about, None)
        return clustering.show('nodes', made['id'])


class NodeUpdate(ClusterWaiting, ClusterShow):
    """Update a node; a new profile updates its physical object as well."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'nodes')
        cluster_command.add_queue(parser)
        cluster_command.add_schedule(parser)
        parser.add_argument('--name', metavar='NAME', help='new name')
        parser.add_argument(
            '--profile',
            dest='profile_id',
            metavar='PROFILE',
            help='new profile, of the same type: name or ID',
        )
        tainted = parser.add_mutually_exclusive_group()
        for option, value, text in (
            ('--tainted', True, 'remove the node first when the cluster shrinks'),
            ('--not-tainted', False, 'reset --tainted'),
        ):
            tainted.add_argument(
                option, action='store_const', const=value, dest='tainted', help=text
            )
        _add_changes(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Update the node; return it."""
        names = ('name', 'profile_id', 'role', 'metadata', 'tainted')
        values = cluster_command.said(parsed, *names)
        target = clustering.show('nodes', parsed.identity)
        about = cluster_command.events_about('nodes', target)
        marker = clustering.last_event(about) if parsed.wait else None
        asked = {
            **cluster_command.queued(parsed),
            **cluster_command.scheduled(parsed),
        }
        _, action = clustering.update('nodes', target['id'], values, asked)
        if parsed.wait:
            self.wait(clustering, action, parsed, about, marker)
        return clustering.show('nodes', target['id'])


class NodeDelete(Delete):
    """Delete nodes and their physical objects."""

    noun = 'nodes'


class NodeCheck(Acting):
    """Check the health of a node."""

    noun = 'nodes'

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {'check': {}}


class NodeRecover(Acting):
    """Recover a node."""

    noun = 'nodes'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_recovery(parser)
        parser.add_argument(
            '--delete-timeout',
            type=cluster_command.whole(),
            metavar='SECONDS',
            help='time limit for the deletion of the old object',
        )
        parser.add_argument(
            '--force-recreate',
            action='store_true',
            default=None,
            help='recreate the node even if the old object cannot be deleted',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        names = ('operation', 'check', 'delete_timeout', 'force_recreate')
        return {'recover': cluster_command.said(parsed, *names)}


class NodeOperate(Acting):
    """Run an operation of the profile on a node."""

    noun = 'nodes'
    place = 'ops'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_operation(parser)
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {parsed.operation: base.parameters(parsed.params)}


class NodeMarkUnhealthy(ClusterShow):
    """Mark a node as unhealthy; the next recovery repairs it."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'nodes')
        parser.add_argument(
            'reason', metavar='REASON', nargs='?', help='reason of the mark'
        )
        parser.add_argument('--reset', action='store_true', help='remove the mark')
        return base.intermixed(parser)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Mark the node; return it."""
        mark: dict[str, Any] = {'mark_unhealthy': not parsed.reset}
        if parsed.reason is not None:
            mark['reason'] = parsed.reason
        clustering.begin('nodes', parsed.identity, {'mark_unhealthy': mark}, {})
        return clustering.show('nodes', parsed.identity)


class NodeAdopt(ClusterShow):
    """Adopt an existing object as a node."""

    columns = (
        *SHOWN,
        Column('Type', 'type'),
        Column('Version', 'version'),
        Column('Properties', 'properties'),
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'identity', metavar='IDENTITY', help='physical ID of the existing object'
        )
        parser.add_argument(
            '--type',
            metavar='TYPE',
            required=True,
            help='profile type of the object: local.process-1.0',
        )
        parser.add_argument('--name', metavar='NAME', help='name of the node')
        parser.add_argument(
            '--override',
            action='append',
            dest='overrides',
            metavar='KEY=VALUE',
            help='property of the profile; may be repeated',
        )
        parser.add_argument(
            '--preview',
            action='store_true',
            help='show the profile of the node; adopt nothing',
        )
        _add_changes(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Adopt it; return the node, or the profile that it would get."""
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
        values = cluster_command.said(parsed, *names)
        if parsed.overrides is not None:
            values['overrides'] = base.parameters(parsed.overrides)
        return clustering.adopt(values, preview=parsed.preview)


def _add_changes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--role', metavar='TEXT', help='role of the node in its cluster'
    )
    cluster_command.add_metadata(parser)
