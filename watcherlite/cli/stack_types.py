"""`watcherlite stack resource type`: what stacks can be made of."""

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cliff import lister

from watcherlite.cli import remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.stack_command import StackRemote, StackShow

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Stacks

LISTED = (
    Column('Resource Type', 'resource_type'),
    Column('Description', 'description'),
)
SHOWN = (
    *LISTED,
    Column('Properties', 'properties'),
    Column('Attributes', 'attributes'),
)


class StackResourceTypeList(remote.Printed, StackRemote, lister.Lister):
    """List the types of resources that there are."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--name', metavar='REGEX', help='those that begin with what this matches'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each type."""
        query = {'with_description': 'true'}
        if parsed_args.name is not None:
            query['name'] = parsed_args.name
        with self.stacks(parsed_args) as stacks:
            found = stacks.ask_all('GET', 'resource_types', query=query)
            rows = list(stacks.member(found, 'resource_types'))
        return remote.table(LISTED, rows, parsed_args.formatter)


class StackResourceTypeShow(StackShow):
    """Show a type of resources: its properties and attributes."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('type', metavar='TYPE', help='its name')
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Return the type."""
        query = {'with_description': 'true'}
        return dict(stacks.ask_all('GET', 'resource_types', parsed.type, query=query))
