"""`watcherlite cluster` actions: health, size, members and policies."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.cli.commands import base
from watcherlite.cli.commands.clusters import cluster_command, clusters
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.clusters.cluster_command import (
    Acting,
    ClusterRows,
    ClusterShow,
)
from watcherlite.cli.commands.clusters.nodes import LISTED as NODES
from watcherlite.cli.formatting import Column, Row
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage

BINDING = (
    Column('ID', 'id'),
    Column('Policy ID', 'policy_id'),
    Column('Policy Name', 'policy_name'),
    Column('Policy Type', 'policy_type'),
    Column('Enabled', 'enabled'),
)
BINDING_SHOWN = (
    *BINDING[:1],
    Column('Cluster ID', 'cluster_id'),
    Column('Cluster Name', 'cluster_name'),
    *BINDING[1:],
    Column('Priority', 'priority'),
    Column('Data', 'data'),
    Column('Last Op', 'last_op'),
)


class ClusterCheck(Acting):
    """Check the health of a cluster's nodes."""

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {'check': {}}


class ClusterRecover(Acting):
    """Recover the unhealthy nodes of a cluster."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_recovery(parser)
        parser.add_argument(
            '--check-capacity',
            action='store_true',
            default=None,
            help='create missing nodes as well',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        names = ('operation', 'check', 'check_capacity')
        return {'recover': cluster_command.said(parsed, *names)}


class ClusterLifecycleComplete(ClusterShow):
    """Complete the lifecycle hook of a node that is being deleted."""

    columns = cluster_command.ACTION

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        parser.add_argument(
            'token',
            metavar='TOKEN',
            help='lifecycle_action_token of the hook message',
        )
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Say that it may go; return the action that waited."""
        body = {'complete_lifecycle': {'lifecycle_action_token': parsed.token}}
        action = clustering.act('clusters', parsed.identity, body, {})
        return clustering.show('actions', action)


class ClusterOperate(Acting):
    """Run an operation of the profile on the nodes of a cluster."""

    place = 'ops'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_operation(parser)
        parser.add_argument(
            '--filter',
            action='append',
            default=[],
            dest='filters',
            metavar='KEY=VALUE',
            help='filter the nodes by name, profile_id, status or role; may be '
            'repeated',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        asked: dict[str, Any] = {'params': base.parameters(parsed.params)}
        if parsed.filters:
            asked['filters'] = base.parameters(parsed.filters)
        return {parsed.operation: asked}


class ClusterResize(Acting):
    """Change the capacity or the size limits of a cluster."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        number = parser.add_mutually_exclusive_group()
        number.add_argument(
            '--capacity',
            type=cluster_command.whole(),
            metavar='N',
            help='new number of nodes',
        )
        number.add_argument(
            '--adjustment',
            type=int,
            metavar='N',
            help='number of nodes to add; --adjustment=-2 removes two',
        )
        number.add_argument(
            '--percentage',
            type=cluster_command.percentage,
            metavar='PERCENT',
            help='percentage of nodes to add, or to remove if negative',
        )
        parser.add_argument(
            '--min-step',
            type=cluster_command.whole(1),
            metavar='N',
            help='with --percentage, minimum number of nodes to add or remove',
        )
        parser.add_argument(
            '--strict',
            action='store_true',
            help='fail if the size limits do not allow the full change; default: '
            'change as far as they allow',
        )
        clusters.add_sizes(parser)
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        asked: dict[str, Any] = {}
        for name, kind in (
            ('capacity', 'EXACT_CAPACITY'),
            ('adjustment', 'CHANGE_IN_CAPACITY'),
            ('percentage', 'CHANGE_IN_PERCENTAGE'),
        ):
            number = getattr(parsed, name)
            if number is not None:
                asked |= {
                    'adjustment_type': kind,
                    'number': number,
                    'strict': parsed.strict,
                }
        asked |= cluster_command.said(parsed, 'min_step', 'min_size', 'max_size')
        if not asked:
            raise _usage(
                'cluster resize', 'nothing to change: give --capacity N, for example'
            )
        if 'min_step' in asked and parsed.percentage is None:
            raise _usage('cluster resize', '--min-step needs --percentage')
        return {'resize': asked}


class _Scale(Acting):
    """A command that adds or removes nodes.

    :cvar name: how the API calls it
    """

    name: ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--count',
            type=cluster_command.whole(1),
            metavar='N',
            help='number of nodes; default: that of a scaling policy, or 1',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {self.name: cluster_command.said(parsed, 'count')}


class ClusterScaleIn(_Scale):
    """Remove nodes from a cluster."""

    name = 'scale_in'


class ClusterScaleOut(_Scale):
    """Add new nodes to a cluster."""

    name = 'scale_out'


class ClusterMembersAdd(Acting):
    """Add existing nodes to a cluster."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_nodes(parser)
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {'add_nodes': {'nodes': parsed.nodes}}


class ClusterMembersDel(Acting):
    """Remove nodes from a cluster."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_nodes(parser)
        parser.add_argument(
            '--destroy-after-deletion',
            action=argparse.BooleanOptionalAction,
            help='delete the nodes, or keep them outside of any cluster; default: '
            'that of a deletion policy of the cluster, or keep',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        destroy = parsed.destroy_after_deletion
        given = {} if destroy is None else {'destroy_after_deletion': destroy}
        return {'del_nodes': {'nodes': parsed.nodes, **given}}


class ClusterMembersReplace(Acting):
    """Replace nodes of a cluster by existing nodes."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'nodes',
            metavar='OLD=NEW',
            nargs='+',
            help='the node to remove and the node to add: name or ID',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        pairs = [text.partition('=') for text in parsed.nodes]
        for old, _, new in pairs:
            if not old or not new:
                text = f'{old or new!r} is not of the form OLD=NEW'
                raise _usage('cluster members replace', text)
        return {'replace_nodes': {'nodes': {old: new for old, _, new in pairs}}}


class ClusterMembersList(ClusterRows):
    """List the nodes of a cluster."""

    columns = NODES

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        parser.add_argument('--status', metavar='STATUS', help='filter by status')
        return parser

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each node, by their index."""
        query = {'cluster_id': parsed.identity, 'sort': 'index:asc'}
        if parsed.status is not None:
            query['status'] = parsed.status
        return clustering.list('nodes', query, 0)[0]


class _OnPolicy(Acting):
    """A command on what binds a cluster to a policy.

    :cvar name: how the API calls it
    """

    name: ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_policy(parser)
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        said = cluster_command.said(parsed, *({'enabled'} & vars(parsed).keys()))
        return {self.name: {'policy_id': parsed.policy, **said}}


class ClusterPolicyAttach(_OnPolicy):
    """Attach a policy to a cluster."""

    name = 'policy_attach'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--disabled',
            action='store_false',
            default=None,
            dest='enabled',
            help='attach the policy disabled',
        )
        return parser


class ClusterPolicyDetach(_OnPolicy):
    """Detach a policy from a cluster."""

    name = 'policy_detach'


class ClusterPolicyUpdate(_OnPolicy):
    """Enable or disable a policy of a cluster."""

    name = 'policy_update'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        which = parser.add_mutually_exclusive_group(required=True)
        for option, enabled in (('--enable', True), ('--disable', False)):
            which.add_argument(
                option,
                action='store_const',
                const=enabled,
                dest='enabled',
                help=f'{option.removeprefix("--")} it',
            )
        return parser


class ClusterPolicyList(ClusterRows):
    """List the policies of a cluster."""

    columns = BINDING

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        return parser

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each policy."""
        path = ('clusters', parsed.identity, 'policies')
        return clustering.members('cluster_policies', *path)


class ClusterPolicyShow(ClusterShow):
    """Show the binding of a policy to a cluster."""

    columns = BINDING_SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        _add_policy(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the binding."""
        path = ('clusters', parsed.identity, 'policies', parsed.policy)
        return dict(clustering.member('cluster_policy', *path))


def _add_nodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('nodes', metavar='NODE', nargs='+', help='node: name or ID')


def _add_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('policy', metavar='POLICY', help='policy: name or ID')


def _usage(command: str, text: str) -> exits.UsageError:
    return exits.UsageError(usage(f'watcherlite {command}', text))
