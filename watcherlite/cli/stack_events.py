"""`watcherlite stack event`: what has happened to a stack and its resources."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from cliff import lister

from watcherlite.cli import remote, stack_command
from watcherlite.cli.cells import Column
from watcherlite.cli.stack_command import StackRemote

LISTED = (
    Column('Time', 'event_time'),
    Column('Resource Name', 'resource_name'),
    Column('Resource Status', 'resource_status'),
    Column('Resource Status Reason', 'resource_status_reason'),
)
DETAILED = (
    Column('ID', 'id'),
    *LISTED,
    Column('Physical Resource ID', 'physical_resource_id'),
)


class StackEventList(remote.Printed, StackRemote, lister.Lister):
    """List what has happened to a stack and its resources."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument('--resource', metavar='NAME', help='to this resource alone')
        which.add_argument(
            '--nested-depth',
            type=remote.limit,
            metavar='N',
            help='to the stacks within it as well, so many levels deep',
        )
        parser.add_argument(
            '--limit',
            type=remote.limit,
            metavar='N',
            help='show so many; 0 for all; as many as the API gives at once if not '
            'given',
        )
        parser.add_argument('--marker', metavar='ID', help='begin behind this one')
        parser.add_argument(
            '--sort-dir',
            choices=('asc', 'desc'),
            default='asc',
            help='asc, the oldest first, if not given',
        )
        parser.add_argument(
            '--long', action='store_true', help='show more columns of each'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each event."""
        query: dict[str, Any] = {'sort_dir': parsed_args.sort_dir}
        if parsed_args.nested_depth:
            query['nested_depth'] = parsed_args.nested_depth
        if parsed_args.marker:
            query['marker'] = parsed_args.marker
        with self.stacks(parsed_args) as stacks:
            place = stacks.find(parsed_args.stack)
            rows = stacks.events(place, query, parsed_args.limit, parsed_args.resource)
        columns: Sequence[Column] = DETAILED if parsed_args.long else LISTED
        if rows and 'links' in rows[0] and parsed_args.nested_depth:
            rows = [{**row, 'stack_name': _stack_of(row)} for row in rows]
            columns = (Column('Stack Name', 'stack_name'), *columns)
        return remote.table(columns, rows, parsed_args.formatter)


def _stack_of(event: dict[str, Any]) -> str | None:
    """Return the name of the stack that an event is of, by its links."""
    for link in event['links']:
        if link.get('rel') == 'stack':
            name: str = link['href'].rpartition('/stacks/')[2].partition('/')[0]
            return name
    return None
