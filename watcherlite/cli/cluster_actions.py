"""`watcherlite cluster`: checked, recovered, resized, its members and policies."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from cliff import lister

from watcherlite.cli import cluster_command, clusters, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.cluster_command import Acting, ClusterRemote, ClusterShow
from watcherlite.cli.nodes import LISTED as NODES
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
    """Look how the nodes of a cluster are."""

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {'check': {}}


class ClusterRecover(Acting):
    """Repair the nodes of a cluster that are not well."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_recovery(parser)
        parser.add_argument(
            '--check-capacity',
            action='store_true',
            default=None,
            help='make the nodes that are missing, too',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        names = ('operation', 'check', 'check_capacity')
        return {'recover': cluster_command.said(parsed, *names)}


class ClusterLifecycleComplete(ClusterShow):
    """Let a node go that waits for its hook."""

    columns = cluster_command.ACTION

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        parser.add_argument(
            'token',
            metavar='TOKEN',
            help='the lifecycle_action_token of the message that told of the node',
        )
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Say that it may go; return the action that waited."""
        body = {'complete_lifecycle': {'lifecycle_action_token': parsed.token}}
        action = clustering.act('clusters', parsed.identity, body, {})
        return clustering.show('actions', action)


class ClusterOperate(Acting):
    """Have the nodes of a cluster do an operation of their profile."""

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
            help='only nodes of this name, profile_id, status or role; may be repeated',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        asked: dict[str, Any] = {'params': remote.parameters(parsed.params)}
        if parsed.filters:
            asked['filters'] = remote.parameters(parsed.filters)
        return {parsed.operation: asked}


class ClusterResize(Acting):
    """Change how many nodes a cluster has, or may have."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        number = parser.add_mutually_exclusive_group()
        number.add_argument(
            '--capacity',
            type=cluster_command.whole(),
            metavar='N',
            help='how many nodes it is to have',
        )
        number.add_argument(
            '--adjustment',
            type=int,
            metavar='N',
            help='how many nodes are to come; as --adjustment=-2, to go',
        )
        number.add_argument(
            '--percentage',
            type=cluster_command.percentage,
            metavar='PERCENT',
            help='likewise, as a part of those that it has',
        )
        parser.add_argument(
            '--min-step',
            type=cluster_command.whole(1),
            metavar='N',
            help='with --percentage, come or go at least so many',
        )
        parser.add_argument(
            '--strict',
            action='store_true',
            help='fail if the limits allow less than that; else go as far as they do',
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
            raise _usage('cluster resize', 'say what is to change: --capacity N, ...')
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
            help='how many nodes; as a policy says, or 1, if not given',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {self.name: cluster_command.said(parsed, 'count')}


class ClusterScaleIn(_Scale):
    """Remove nodes from a cluster."""

    name = 'scale_in'


class ClusterScaleOut(_Scale):
    """Make more nodes of a cluster."""

    name = 'scale_out'


class ClusterMembersAdd(Acting):
    """Make nodes that are in no cluster members of one."""

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
            action='store_true',
            help='delete them, too; else they stay, in no cluster',
        )
        return parser

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        """Return what is asked for."""
        return {
            'del_nodes': {
                'nodes': parsed.nodes,
                'destroy_after_deletion': parsed.destroy_after_deletion,
            }
        }


class ClusterMembersReplace(Acting):
    """Replace nodes of a cluster by others that are in none."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'nodes',
            metavar='OLD=NEW',
            nargs='+',
            help='the node that goes and the one that comes: name or ID',
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


class ClusterMembersList(remote.Printed, ClusterRemote, lister.Lister):
    """List the nodes of a cluster."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        parser.add_argument(
            '--status', metavar='STATUS', help='those that are in this status'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each node, by their index."""
        query = {'cluster_id': parsed_args.identity, 'sort': 'index:asc'}
        if parsed_args.status is not None:
            query['status'] = parsed_args.status
        with self.clustering(parsed_args) as clustering:
            rows, _ = clustering.listed('nodes', query, 0)
        return remote.table(NODES, rows, parsed_args.formatter)


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
            help='attach it, but do not ask it before it is enabled',
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


class ClusterPolicyList(remote.Printed, ClusterRemote, lister.Lister):
    """List the policies that a cluster is bound to."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each policy."""
        path = ('clusters', parsed_args.identity, 'policies')
        with self.clustering(parsed_args) as clustering:
            rows = clustering.members('cluster_policies', *path)
        return remote.table(BINDING, rows, parsed_args.formatter)


class ClusterPolicyShow(ClusterShow):
    """Show what binds a cluster to a policy."""

    columns = BINDING_SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'clusters')
        _add_policy(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the binding."""
        path = ('clusters', parsed.identity, 'policies', parsed.policy)
        return dict(clustering.members('cluster_policy', *path))


def _add_nodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('nodes', metavar='NODE', nargs='+', help='name or ID of a node')


def _add_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('policy', metavar='POLICY', help='name or ID of the policy')


def _usage(command: str, text: str) -> exits.UsageError:
    return exits.UsageError(usage(f'watcherlite {command}', text))
