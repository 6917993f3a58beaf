"""`watcherlite stack` list, show, delete, abandon and export."""

import argparse
import json
import os
import sys
from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.cli import formatting
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.poll import add_wait
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Place, Stacks
from watcherlite.cli.commands.stacks.stack_command import (
    StackRemote,
    StackRows,
    StackShow,
    StackWaiting,
)
from watcherlite.cli.formatting import Column, Row
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import stack as states

LISTED = (
    Column('ID', 'id'),
    Column('Stack Name', 'stack_name'),
    Column('Stack Status', 'stack_status'),
    Column('Creation Time', 'creation_time'),
    Column('Updated Time', 'updated_time'),
)
DETAILED = (
    *LISTED[:2],
    Column('Project', 'project'),
    *LISTED[2:],
    Column('Deletion Time', 'deletion_time'),
    Column('Stack Owner', 'stack_owner'),
    Column('Parent', 'parent'),
    Column('Tags', 'tags'),
)
SHOWN = (
    Column('ID', 'id'),
    Column('Stack Name', 'stack_name'),
    Column('Description', 'description'),
    Column('Project', 'project'),
    Column('Stack Owner', 'stack_owner'),
    Column('Parent', 'parent'),
    Column('Creation Time', 'creation_time'),
    Column('Updated Time', 'updated_time'),
    Column('Deletion Time', 'deletion_time'),
    Column('Stack Status', 'stack_status'),
    Column('Stack Status Reason', 'stack_status_reason'),
    Column('Base Status', 'stack_base_status'),
    Column('Lock Level', 'lock_level'),
    Column('Lock Owner', 'lock_owner'),
    Column('Parameters', 'parameters', formatting.parameters),
    Column('Outputs', 'outputs', formatting.outputs),
    Column('Disable Rollback', 'disable_rollback'),
    Column('Timeout Minutes', 'timeout_mins'),
    Column('Tags', 'tags'),
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

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        base.add_filters(parser, self.filters)
        for option, argument, said in (
            ('--nested', 'show_nested', 'include nested stacks'),
            ('--deleted', 'show_deleted', 'include deleted stacks'),
            ('--all-projects', 'global_tenant', 'include the stacks of all projects'),
        ):
            parser.add_argument(option, action='store_true', dest=argument, help=said)
        base.add_long(parser)
        base.add_limit(parser)
        parser.add_argument(
            '--marker', metavar='ID', help='list the rows after this one'
        )
        parser.add_argument(
            '--sort-key',
            choices=_SORT_KEYS,
            help='sort key; default: creation_time',
        )
        parser.add_argument(
            '--sort-dir',
            choices=('asc', 'desc'),
            help='sort direction; default: newest first',
        )
        return parser

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
        """Return the columns; with those of all projects, the project as well."""
        if parsed.long:
            return DETAILED
        if parsed.global_tenant:
            return (*LISTED[:2], DETAILED[2], *LISTED[2:])
        return LISTED


class StackDisplay(StackShow):
    """Show a stack."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--no-resolve-outputs',
            action='store_true',
            help='omit the outputs, which are slow to resolve in a large stack',
        )
        return parser

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        """Return the stack."""
        place = stacks.find(parsed.stack)
        return stacks.show(place, outputs=not parsed.no_resolve_outputs)


class StackDelete(StackWaiting):
    """Delete stacks and their resources."""

    action = states.DELETE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser, nargs='+')
        base.add_yes(parser)
        add_wait(parser, 'stack')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        if not base.confirm_deletion(parsed_args.stack, parsed_args):
            self.say('nothing was deleted')
            return exits.FAILURE
        started: list[tuple[Place, str | None]] = []

        def delete(identity: str) -> None:
            place = stacks.find(identity)
            marker = stacks.last_event(place) if parsed_args.wait else None
            stacks.ask('DELETE', place)
            started.append((place, marker))

        with self.connect(parsed_args) as stacks:
            code = self.for_each(parsed_args.stack, delete, parsed_args)
            for place, marker in started if parsed_args.wait else ():
                self.wait(stacks, place, parsed_args, marker)
        return code


class StackAbandon(StackRemote):
    """Abandon a stack: delete its record, keep its resources.

    The output is the input of `stack adopt`.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--output-file',
            metavar='FILE',
            help='write to this file instead of standard output',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Abandon the stack; return the exit code."""
        with self.connect(parsed_args) as stacks:
            place = stacks.find(parsed_args.stack)
            if parsed_args.output_file is None:
                found = stacks.ask('DELETE', place, 'abandon')
                Output(sys.stdout).line(json.dumps(found, indent=2))
                return exits.SUCCESS
            try:
                # Before the stack is gone, as there is no second answer; and what is
                # in it stays there if the stack does
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

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--output-file',
            metavar='FILE',
            help='write to this file instead of standard output',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print it; return the exit code."""
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
