"""`watcherlite stack` list, show, delete, abandon and export."""

import argparse
import json
import os
import sys
from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.cli import formatting
from watcherlite.cli.command import choice, flag, option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.poll import waiting
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Place, Stacks
from watcherlite.cli.commands.stacks.stack_command import (
    StackRemote,
    StackRows,
    StackShow,
    StackWaiting,
)
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import stack as states

LISTED = fields('id stack_name stack_status creation_time updated_time')
DETAILED = fields(
    *LISTED[:2], 'project', *LISTED[2:], 'deletion_time stack_owner parent tags'
)
SHOWN = fields(
    'id stack_name description project stack_owner parent creation_time',
    'updated_time deletion_time stack_status stack_status_reason',
    Column('Base Status', 'stack_base_status'),
    'lock_level lock_owner',
    Column('Parameters', 'parameters', formatting.parameters),
    Column('Outputs', 'outputs', formatting.outputs),
    'disable_rollback',
    Column('Timeout Minutes', 'timeout_mins'),
    'tags',
)
_SORT_KEYS = ('stack_name', 'stack_status', 'creation_time', 'updated_time')


class StackList(StackRows):
    """List stacks."""

    filters = (
        Filter('--name', 'name', 'NAME', 'filter by name'),
        Filter('--id', 'id', 'ID', 'filter by ID'),
        Filter(
            '--status', 'status', 'STATUS', 'filter by status: COMPLETE, FAILED ...'
        ),
        Filter(
            '--action', 'action', 'ACTION', 'filter by last action: CREATE, UPDATE ...'
        ),
        Filter('--owner', 'username', 'NAME', 'filter by owner'),
        Filter('--parent', 'owner_id', 'ID', 'filter by parent stack'),
        Filter('--tags', 'tags', 'TAG,TAG...', 'filter by tags: all of these'),
        Filter(
            '--tags-any',
            'tags_any',
            'TAG,TAG...',
            'filter by tags: at least one of these',
        ),
        Filter(
            '--not-tags', 'not_tags', 'TAG,TAG...', 'filter by tags: not all of these'
        ),
        Filter(
            '--not-tags-any',
            'not_tags_any',
            'TAG,TAG...',
            'filter by tags: none of these',
        ),
    )

    arguments = (
        base.add_filters,
        flag('--nested', 'include nested stacks', dest='show_nested'),
        flag('--deleted', 'include deleted stacks', dest='show_deleted'),
        flag(
            '--all-projects', 'include the stacks of all projects', dest='global_tenant'
        ),
        base.LONG,
        base.LIMIT,
        option('--marker', 'ID', 'list the rows after this one'),
        choice('--sort-key', _SORT_KEYS, 'sort key; default: creation_time'),
        choice('--sort-dir', ('asc', 'desc'), 'sort direction; default: newest first'),
    )

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return the stacks."""
        query = {
            **base.filter_query(self.filters, parsed),
            'marker': parsed.marker,
            'sort_keys': parsed.sort_key,
            'sort_dir': parsed.sort_dir,
        }
        for name in ('show_nested', 'show_deleted', 'global_tenant'):
            query[name] = 'true' if getattr(parsed, name) else None
        return self.first_page(stacks.list(base.given(query), parsed.limit), parsed)

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        """Return the columns; with --global-tenant also the project."""
        if parsed.long:
            return DETAILED
        if parsed.global_tenant:
            return (*LISTED[:2], DETAILED[2], *LISTED[2:])
        return LISTED


class StackDisplay(StackShow):
    """Show a stack."""

    columns = SHOWN
    arguments = (
        stack_command.STACK,
        flag(
            '--no-resolve-outputs',
            'omit the outputs, which are slow to resolve in a large stack',
        ),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        """Return the stack."""
        place = stacks.find(parsed.stack)
        return stacks.show(place, outputs=not parsed.no_resolve_outputs)


class StackDelete(StackWaiting):
    """Delete stacks and their resources."""

    action = states.DELETE
    arguments = (stack_command.STACKS, base.YES, *waiting('stack'))

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete the objects; report errors and continue."""
        if not base.confirm_deletion(parsed_args.stack, parsed_args):
            self.note('nothing was deleted')
            return exits.FAILURE
        started: list[tuple[Place, str | None]] = []

        def delete(identity: str) -> None:
            place = stacks.find(identity)
            marker = self.last_event(stacks, place, parsed_args)
            stacks.ask('DELETE', place)
            started.append((place, marker))

        with self.connect(parsed_args) as stacks:
            code = self.for_each(parsed_args.stack, delete, parsed_args)
            for place, marker in started:
                self.wait(stacks, place, parsed_args, marker)
        return code


class StackAbandon(StackRemote):
    """Abandon a stack: delete its record, keep its resources.

    The output is the input of `stack adopt`.
    """

    arguments = (
        stack_command.STACK,
        option(
            '--output-file', 'FILE', 'write to this file instead of standard output'
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Abandon the stack; return the exit code."""
        with self.connect(parsed_args) as stacks:
            place = stacks.find(parsed_args.stack)
            if parsed_args.output_file is None:
                found = stacks.ask('DELETE', place, 'abandon')
                Output(sys.stdout).line(json.dumps(found, indent=2))
                return exits.SUCCESS
            try:
                # Open the file before the stack is deleted: the response cannot be
                # repeated. Keep the old content if the request fails.
                with open(parsed_args.output_file, 'a', encoding='utf-8') as file:
                    found = stacks.ask('DELETE', place, 'abandon')
                    file.truncate(0)
                    file.write(json.dumps(found, indent=2) + '\n')
            except OSError as error:
                raise exceptions.Invalid(
                    f'{parsed_args.output_file} cannot be written: {error.strerror}'
                ) from None
        return exits.SUCCESS


class StackExport(StackRemote):
    """Export a stack and its resources as JSON.

    The stack is kept. The output contains the values of hidden parameters: protect it.
    """

    arguments = (
        stack_command.STACK,
        option(
            '--output-file', 'FILE', 'write to this file instead of standard output'
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the export; return the exit code."""
        with self.connect(parsed_args) as stacks:
            found = stacks.ask('GET', stacks.find(parsed_args.stack), 'export')
        text = json.dumps(found, indent=2)
        if parsed_args.output_file is None:
            Output(sys.stdout).line(text)
            return exits.SUCCESS
        try:
            with open(
                parsed_args.output_file, 'w', encoding='utf-8', opener=_private
            ) as file:
                file.write(f'{text}\n')
        except OSError as error:
            raise exceptions.Invalid(
                f'{parsed_args.output_file} cannot be written: {error.strerror}'
            ) from None
        return exits.SUCCESS


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags, 0o600)
