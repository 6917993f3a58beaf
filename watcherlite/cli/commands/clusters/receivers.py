"""`watcherlite receiver`."""

import argparse
from typing import Any

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
from watcherlite.cli.formatting import Column, Row

LISTED = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Type', 'type'),
    Column('Cluster ID', 'cluster_id'),
    Column('Action', 'action'),
    Column('Created At', 'created_at'),
)
SHOWN = (
    *LISTED[:5],
    Column('Params', 'params'),
    Column('Channel', 'channel'),
    Column('Actor', 'actor'),
    Column('Project', 'project'),
    Column('User', 'user'),
    Column('Domain', 'domain'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
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

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='name of the receiver')
        parser.add_argument(
            '--cluster',
            dest='cluster_id',
            metavar='CLUSTER',
            required=True,
            help='target cluster: name or ID',
        )
        parser.add_argument(
            '--action',
            metavar='TYPE',
            required=True,
            help='action type: CLUSTER_SCALE_OUT ...',
        )
        _add_params(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the receiver; return it."""
        values = cluster_command.said(parsed, 'name', 'cluster_id', 'action')
        values |= {'type': 'webhook', **_params(parsed)}
        return clustering.create('receivers', values)[0]


class ReceiverUpdate(ClusterShow):
    """Update a receiver."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'receivers')
        parser.add_argument('--name', metavar='NAME', help='new name')
        parser.add_argument('--action', metavar='TYPE', help='new action type')
        parser.add_argument(
            '--renew-token',
            action='store_true',
            help='issue a new token, which is shown once; the old one becomes invalid',
        )
        _add_params(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Change the receiver; return it."""
        values = {**cluster_command.said(parsed, 'name', 'action'), **_params(parsed)}
        if parsed.renew_token:
            values['renew_token'] = True
        return clustering.update('receivers', parsed.identity, values)[0]


class ReceiverDelete(DeleteNow):
    """Delete receivers."""

    noun = 'receivers'


def _add_params(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--param',
        action='append',
        dest='params',
        metavar='KEY=VALUE',
        help='input of the action; may be repeated',
    )


def _params(parsed: argparse.Namespace) -> dict[str, Any]:
    if parsed.params is None:
        return {}
    return {'params': base.parameters(parsed.params)}
