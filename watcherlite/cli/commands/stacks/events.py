"""`watcherlite stack event`."""

import argparse
from collections.abc import Sequence
from typing import Any

from watcherlite.cli.commands import base
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Stacks, stack_name_of
from watcherlite.cli.commands.stacks.stack_command import StackRows
from watcherlite.cli.formatting import Column, Row

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


class StackEventList(StackRows):
    """List the events of a stack and its resources."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            '--resource', metavar='NAME', help='list the events of this resource'
        )
        which.add_argument(
            '--nested-depth',
            type=base.limit,
            metavar='N',
            help='include the events of nested stacks, up to this depth',
        )
        base.add_limit(parser)
        parser.add_argument(
            '--marker', metavar='ID', help='list the rows after this one'
        )
        parser.add_argument(
            '--sort-dir',
            choices=('asc', 'desc'),
            default='asc',
            help='sort direction; default: asc, oldest first',
        )
        base.add_long(parser)
        return parser

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return the events."""
        query: dict[str, Any] = {'sort_dir': parsed.sort_dir}
        if parsed.nested_depth:
            query['nested_depth'] = parsed.nested_depth
        if parsed.marker:
            query['marker'] = parsed.marker
        place = stacks.find(parsed.stack)
        found = stacks.events(place, query, parsed.limit, parsed.resource)
        if found and 'links' in found[0] and parsed.nested_depth:
            return [{**row, 'stack_name': stack_name_of(row)} for row in found]
        return found

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        """Return the columns; with those of nested stacks, the stack as well."""
        columns: Sequence[Column] = DETAILED if parsed.long else LISTED
        if rows and 'stack_name' in rows[0]:
            return (Column('Stack Name', 'stack_name'), *columns)
        return columns
