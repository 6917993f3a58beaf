"""`watcherlite stack` list, show, delete, abandon and export."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.cli import formatting
from watcherlite.cli.command import choice, flag, option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.poll import WaitingDelete, wait_options
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Stacks
from watcherlite.cli.commands.stacks.stack_command import StackRemote, StackWaiting
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import stack as states

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


class StackList(StackRemote, base.Rows):
    """List stacks."""

    listed = fields('id stack_name stack_status creation_time updated_time')
    columns = fields(
        *listed[:2], 'project', *listed[2:], 'deletion_time stack_owner parent tags'
    )
    filters = (
        base.BY_NAME,
        Filter('--id', 'id', 'ID', 'filter by ID'),
        stack_command.BY_STATUS,
        stack_command.BY_ACTION,
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
        query = {
            **base.filter_query(self.filters, parsed),
            'marker': parsed.marker,
            'sort_keys': parsed.sort_key,
            'sort_dir': parsed.sort_dir,
        }
        for name in ('show_nested', 'show_deleted', 'global_tenant'):
            query[name] = 'true' if getattr(parsed, name) else None
        return self.first_page(stacks.list(base.drop_none(query), parsed.limit), parsed)

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        if parsed.long:
            return self.columns
        if parsed.global_tenant:
            return fields(*self.listed[:2], 'project', *self.listed[2:])
        return self.listed


class StackShow(StackRemote, base.Show):
    """Show a stack."""

    columns = SHOWN
    arguments = (
        base.identifier_argument,
        flag(
            '--no-resolve-outputs',
            'omit the outputs, which are slow to resolve in a large stack',
        ),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        return stacks.show(place, outputs=not parsed.no_resolve_outputs)


class StackDelete(StackWaiting, WaitingDelete):
    """Delete stacks and their resources."""

    action = states.DELETE
    arguments = (base.identifiers_argument, base.YES, *wait_options('stack'))

    def start_deletion(
        self, stacks: Stacks, identifier: str, parsed: argparse.Namespace
    ) -> Callable[[], None]:
        place = stacks.find(identifier)
        marker = self.last_event(stacks, place, parsed)
        stacks.request('DELETE', place)
        return lambda: self.wait(stacks, place, parsed, marker)


class StackAbandon(StackRemote):
    """Abandon a stack: delete its record, keep its resources.

    The output is the input of `stack adopt`.
    """

    arguments = (base.identifier_argument, stack_command.OUTPUT_FILE)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        with self.connect(parsed_args) as stacks:
            place = stacks.find(parsed_args.identifier)
            if parsed_args.output_file is None:
                found = stacks.request('DELETE', place, 'abandon')
                Output(sys.stdout).line(json.dumps(found, indent=2))
                return exits.SUCCESS
            try:
                # Open the file before the stack is deleted: the response cannot be
                # repeated. Keep the old content if the request fails.
                with open(parsed_args.output_file, 'a', encoding='utf-8') as file:
                    found = stacks.request('DELETE', place, 'abandon')
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

    arguments = (base.identifier_argument, stack_command.OUTPUT_FILE)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        with self.connect(parsed_args) as stacks:
            found = stacks.request('GET', stacks.find(parsed_args.identifier), 'export')
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
