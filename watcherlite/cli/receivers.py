"""`watcherlite receiver`: what has an action be asked for from outside."""

import argparse
from typing import Any

from watcherlite.cli import cluster_command, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.cluster_command import (
    ClusterShow,
    DeleteNow,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.remote import Filter

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
        Filter('--name', 'name', 'NAME', 'those of this name'),
        Filter('--cluster', 'cluster_id', 'CLUSTER', 'those of this cluster'),
        Filter('--action', 'action', 'TYPE', 'those that ask for this action'),
    )


class ReceiverShow(ShowNoun):
    """Show a receiver, and how it is triggered."""

    noun = 'receivers'
    columns = SHOWN


class ReceiverCreate(ClusterShow):
    """Create a receiver: who knows its address can have its action be done."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='of the new receiver')
        parser.add_argument(
            '--cluster',
            dest='cluster_id',
            metavar='CLUSTER',
            required=True,
            help='the cluster that the action is on: name or ID',
        )
        parser.add_argument(
            '--action',
            metavar='TYPE',
            required=True,
            help='what is asked for: CLUSTER_SCALE_OUT ...',
        )
        _add_params(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create the receiver; return it."""
        values = cluster_command.said(parsed, 'name', 'cluster_id', 'action')
        values |= {'type': 'webhook', **_params(parsed)}
        return clustering.create('receivers', values)[0]


class ReceiverUpdate(ClusterShow):
    """Change a receiver."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, 'receivers')
        parser.add_argument('--name', metavar='NAME', help='its new name')
        parser.add_argument('--action', metavar='TYPE', help='what it asks for then')
        _add_params(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Change the receiver; return it."""
        values = {**cluster_command.said(parsed, 'name', 'action'), **_params(parsed)}
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
        help='an input of the action; may be repeated',
    )


def _params(parsed: argparse.Namespace) -> dict[str, Any]:
    if parsed.params is None:
        return {}
    return {'params': remote.parameters(parsed.params)}
