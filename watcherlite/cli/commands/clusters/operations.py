"""`watcherlite cluster` actions: health, size, members and policies."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.cli.command import argument, exclusive, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.clusters import cluster_command, clusters, nodes
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.formatting import Row, fields

BINDING = fields('id policy_id policy_name policy_type enabled')
BINDING_SHOWN = fields(
    *BINDING[:1], 'cluster_id cluster_name', *BINDING[1:], 'priority data last_op'
)

_NODES = argument('nodes', 'NODE', 'node: name or ID', nargs='+')
_POLICY = argument('policy_id', 'POLICY', 'policy: name or ID')


class _ClusterCommand(cluster_command.ClusterActionCommand, clusters.Clusters):
    """A command that requests an action on a cluster."""


class ClusterCheck(_ClusterCommand):
    """Check the health of a cluster's nodes."""

    action = 'check'


class ClusterRecover(_ClusterCommand):
    """Recover the unhealthy nodes of a cluster."""

    action = 'recover'
    names = ('operation', 'check', 'check_capacity')
    arguments = (
        *cluster_command.RECOVERY,
        flag('--check-capacity', 'create missing nodes as well', default=None),
    )


class ClusterLifecycleComplete(clusters.Clusters, base.Show):
    """Complete the lifecycle hook of a node that is being deleted."""

    columns = cluster_command.ACTION
    arguments = (
        base.identifier_argument,
        argument('token', 'TOKEN', 'lifecycle_action_token of the hook message'),
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Complete the hook; return the action that waited for it."""
        body = {'complete_lifecycle': {'lifecycle_action_token': parsed.token}}
        action = clustering.request_action_id('clusters', parsed.identifier, body, {})
        return clustering.get('actions', action)


class ClusterOp(_ClusterCommand):
    """Run an operation of the profile on the nodes of a cluster."""

    place = 'ops'
    arguments = (
        *cluster_command.OPERATION,
        repeated(
            '--filter',
            'KEY=VALUE',
            'filter the nodes by name, profile_id, status or role; may be repeated',
            default=[],
            dest='filters',
        ),
    )

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        asked: dict[str, Any] = {'params': base.parameters(parsed.params)}
        if parsed.filters:
            asked['filters'] = base.parameters(parsed.filters)
        return {parsed.operation: asked}


class ClusterResize(_ClusterCommand):
    """Change the capacity or the size limits of a cluster."""

    arguments = (
        exclusive(
            option(
                '--capacity',
                'N',
                'new number of nodes',
                type=cluster_command.integer_parser(),
            ),
            option(
                '--adjustment',
                'N',
                'number of nodes to add; --adjustment=-2 removes two',
                type=int,
            ),
            option(
                '--percentage',
                'PERCENT',
                'percentage of nodes to add, or to remove if negative',
                type=cluster_command.percentage,
            ),
        ),
        option(
            '--min-step',
            'N',
            'with --percentage, minimum number of nodes to add or remove',
            type=cluster_command.integer_parser(1),
        ),
        flag(
            '--strict',
            'fail if the size limits do not allow the full change; default: change as '
            'far as they allow',
        ),
        *clusters.SIZES,
    )

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
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
        asked |= cluster_command.given_attribute_values(
            parsed, 'min_step', 'min_size', 'max_size'
        )
        if not asked:
            raise self.usage_error(
                'nothing to change: specify --capacity N, for example'
            )
        if 'min_step' in asked and parsed.percentage is None:
            raise self.usage_error('--min-step requires --percentage')
        return {'resize': asked}


class _Scale(_ClusterCommand):
    """A command that adds or removes nodes."""

    names = ('count',)
    arguments = (
        option(
            '--count',
            'N',
            'number of nodes; default: that of the scaling policy, or 1',
            type=cluster_command.integer_parser(1),
        ),
    )


class ClusterScaleIn(_Scale):
    """Remove nodes from a cluster."""

    action = 'scale_in'


class ClusterScaleOut(_Scale):
    """Add new nodes to a cluster."""

    action = 'scale_out'


class ClusterMembersAdd(_ClusterCommand):
    """Add existing nodes to a cluster."""

    action = 'add_nodes'
    names = ('nodes',)
    arguments = (_NODES,)


class ClusterMembersDel(_ClusterCommand):
    """Remove nodes from a cluster."""

    action = 'del_nodes'
    names = ('nodes', 'destroy_after_deletion')
    arguments = (
        _NODES,
        flag(
            '--destroy-after-deletion',
            'delete the nodes, or keep them outside of any cluster; default: '
            'that of the deletion policy of the cluster, or keep',
            action=argparse.BooleanOptionalAction,
        ),
    )


class ClusterMembersReplace(_ClusterCommand):
    """Replace nodes of a cluster by existing nodes."""

    arguments = (
        argument(
            'nodes',
            'OLD=NEW',
            'the node to remove and the node to add: name or ID',
            nargs='+',
        ),
    )

    def body(self, parsed: argparse.Namespace) -> Mapping[str, Any]:
        pairs = [text.partition('=') for text in parsed.nodes]
        for old, _, new in pairs:
            if not old or not new:
                text = f'{old or new!r} is not of the form OLD=NEW'
                raise self.usage_error(text)
        return {'replace_nodes': {'nodes': {old: new for old, _, new in pairs}}}


class ClusterMembersList(clusters.Clusters, base.Rows):
    """List the nodes of a cluster."""

    columns = nodes.Nodes.listed
    arguments = (
        base.identifier_argument,
        option('--status', 'STATUS', 'filter by status'),
    )

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        query = {'cluster_id': parsed.identifier, 'sort': 'index:asc'}
        if parsed.status is not None:
            query['status'] = parsed.status
        return clustering.list('nodes', query, 0)[0]


class _OnPolicy(_ClusterCommand):
    """A command on the binding of a policy to a cluster."""

    names: ClassVar[tuple[str, ...]] = ('policy_id', 'enabled')
    arguments = (_POLICY,)


class ClusterPolicyAttach(_OnPolicy):
    """Attach a policy to a cluster."""

    action = 'policy_attach'
    arguments = (
        flag(
            '--disabled',
            'attach the policy disabled',
            action='store_false',
            default=None,
            dest='enabled',
        ),
    )


class ClusterPolicyDetach(_OnPolicy):
    """Detach a policy from a cluster."""

    action = 'policy_detach'
    names = ('policy_id',)


class ClusterPolicyUpdate(_OnPolicy):
    """Enable or disable a policy of a cluster."""

    action = 'policy_update'

    arguments = (
        exclusive(
            flag('--enable', 'enable it', default=None, dest='enabled'),
            flag(
                '--disable',
                'disable it',
                action='store_false',
                default=None,
                dest='enabled',
            ),
            required=True,
        ),
    )


class ClusterPolicyList(clusters.Clusters, base.Rows):
    """List the policies of a cluster."""

    columns = BINDING
    arguments = (base.identifier_argument,)

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        path = ('clusters', parsed.identifier, 'policies')
        return clustering.read('cluster_policies', *path)


class ClusterPolicyShow(clusters.Clusters, base.Show):
    """Show the binding of a policy to a cluster."""

    columns = BINDING_SHOWN
    arguments = (base.identifier_argument, _POLICY)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        path = ('clusters', parsed.identifier, 'policies', parsed.policy_id)
        return dict(clustering.read('cluster_policy', *path))
