"""`watcherlite stack output`: what a stack tells of itself."""

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cliff import lister

from watcherlite.cli import remote, stack_command, stack_texts
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.stack_command import StackRemote, StackShow

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Stacks

LISTED = (
    Column('Output Key', 'output_key'),
    Column('Description', 'description'),
)
SHOWN = (
    *LISTED,
    Column('Output Value', 'output_value', stack_texts.plain),
    Column('Output Error', 'output_error'),
)


class StackOutputList(remote.Printed, StackRemote, lister.Lister):
    """List the outputs of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--long', action='store_true', help='show their values, too'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each output."""
        with self.stacks(parsed_args) as stacks:
            place = stacks.find(parsed_args.stack)
            if parsed_args.long:
                rows = stacks.show(place).get('outputs') or []
            else:
                rows = stacks.members('outputs', 'GET', place, 'outputs')
        columns = SHOWN[:-1] if parsed_args.long else LISTED
        return remote.table(columns, rows, parsed_args.formatter)


class StackOutputShow(StackShow):
    """Show an output of a stack."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument('output', metavar='OUTPUT', help='its key')
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Return the output."""
        place = stacks.find(parsed.stack)
        return stacks.one('output', 'GET', place, 'outputs', parsed.output)
