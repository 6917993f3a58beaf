"""`watcherlite receiver`."""

import argparse
from typing import Any

from watcherlite.cli.command import argument, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.clusters.cluster_command import (
    ClusterShow,
    DeleteNow,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.formatting import Row, fields

LISTED = fields('id name type cluster_id action created_at')
SHOWN = fields(
    *LISTED[:5], 'params channel actor project user domain created_at updated_at'
)

_PARAMS = repeated(
    '--param', 'KEY=VALUE', 'input of the action; may be repeated', dest='params'
)


class ReceiverList(ListNouns):
    """List receivers."""

    noun = 'receivers'
    columns = LISTED
    filters = (
        Filter('--name', 'name', 'NAME', 'filter by name'),
        Filter('--cluster', 'cluster_id', 'CLUSTER', 'filter by cluster'),
        Filter('--action', 'action', 'TYPE', 'filter by action'),
    )


class ReceiverShow(ShowNoun):
    """Show a receiver."""

    noun = 'receivers'
    columns = SHOWN


class ReceiverCreate(ClusterShow):
    """Create a receiver; its URL with the token is shown once."""

    columns = SHOWN
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

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the receiver; return it."""
        values = cluster_command.given_attributes(
            parsed, 'name', 'cluster_id', 'action'
        )
        values |= {'type': 'webhook', **_params(parsed)}
        return clustering.create('receivers', values)[0]


class ReceiverUpdate(ClusterShow):
    """Update a receiver."""

    columns = SHOWN
    arguments = (
        cluster_command.identity('receivers'),
        option('--name', 'NAME', 'new name'),
        option('--action', 'TYPE', 'new action type'),
        flag(
            '--renew-token',
            'issue a new token, which is shown once; the old one becomes invalid',
        ),
        _PARAMS,
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Change the receiver; return it."""
        values = {
            **cluster_command.given_attributes(parsed, 'name', 'action'),
            **_params(parsed),
        }
        if parsed.renew_token:
            values['renew_token'] = True
        return clustering.update('receivers', parsed.identity, values)[0]


class ReceiverDelete(DeleteNow):
    """Delete receivers."""

    noun = 'receivers'


def _params(parsed: argparse.Namespace) -> dict[str, Any]:
    if parsed.params is None:
        return {}
    return {'params': base.parameters(parsed.params)}
