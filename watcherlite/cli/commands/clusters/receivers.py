"""`watcherlite receiver`."""

import argparse
from typing import Any

from watcherlite.cli.command import argument, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.formatting import fields

_PARAMS = repeated(
    '--param', 'KEY=VALUE', 'input of the action; may be repeated', dest='params'
)


class _Receivers(cluster_command.ClusterRemote):
    collection = 'receivers'
    metavar = 'RECEIVER'
    listed = fields('id name type cluster_id action created_at')
    columns = fields(
        *listed[:5], 'params channel actor project user domain created_at updated_at'
    )


class ReceiverList(_Receivers, cluster_command.ClusterObjectList):
    """List receivers."""

    filters = (
        base.BY_NAME,
        Filter('--cluster', 'cluster_id', 'CLUSTER', 'filter by cluster'),
        Filter('--action', 'action', 'TYPE', 'filter by action'),
    )


class ReceiverShow(_Receivers, base.ShowFound):
    """Show a receiver."""


class ReceiverCreate(_Receivers, cluster_command.ClusterObjectCreate):
    """Create a receiver; its URL with the token is shown once."""

    names = ('name', 'cluster_id', 'action', 'params')
    arguments = (
        argument('name', 'NAME', 'name of the receiver'),
        option(
            '--cluster',
            'CLUSTER',
            'target cluster: name or ID',
            dest='cluster_id',
            required=True,
        ),
        option('--action', 'TYPE', 'action type: CLUSTER_SCALE_OUT ...', required=True),
        _PARAMS,
    )

    def values(self, parsed: argparse.Namespace) -> dict[str, Any]:
        return {'type': 'webhook', **super().values(parsed)}


class ReceiverUpdate(_Receivers, cluster_command.ClusterObjectUpdate):
    """Update a receiver."""

    names = ('name', 'action', 'params', 'renew_token')
    arguments = (
        option('--name', 'NAME', 'new name'),
        option('--action', 'TYPE', 'new action type'),
        flag(
            '--renew-token',
            'issue a new token, which is shown once; the old one becomes invalid',
            default=None,
        ),
        _PARAMS,
    )


class ReceiverDelete(_Receivers, base.Delete):
    """Delete receivers."""
