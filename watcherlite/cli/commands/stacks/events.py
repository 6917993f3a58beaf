"""`watcherlite stack event`."""

import argparse
from collections.abc import Sequence
from typing import Any

from watcherlite.cli.command import choice, exclusive, option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Stacks, stack_name_of
from watcherlite.cli.commands.stacks.stack_command import StackRows
from watcherlite.cli.formatting import Column, Row, fields

LISTED = fields(
    Column('Time', 'event_time'), 'resource_name resource_status resource_status_reason'
)
DETAILED = fields('id', *LISTED, 'physical_resource_id')


class StackEventList(StackRows):
    """List the events of a stack and its resources."""

    arguments = (
        stack_command.STACK,
        exclusive(
            option('--resource', 'NAME', 'list the events of this resource'),
            option(
                '--nested-depth',
                'N',
                'include the events of nested stacks, up to this depth',
                type=base.limit,
            ),
        ),
        base.LIMIT,
        option('--marker', 'ID', 'list the rows after this one'),
        choice(
            '--sort-dir',
            ('asc', 'desc'),
            'sort direction; default: asc, oldest first',
            default='asc',
        ),
        base.LONG,
    )

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
            return fields('stack_name', *columns)
        return columns
