"""`watcherlite stack`: listed, shown, deleted, abandoned."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cliff import lister

from watcherlite import exceptions
from watcherlite.cli import remote, stack_command, stack_texts
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.output import Output
from watcherlite.cli.remote import Filter
from watcherlite.cli.stack_command import StackRemote, StackShow, Waiting
from watcherlite.cmd import exits
from watcherlite.states import stack as states

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Stacks

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
    Column('Lock Level', 'lock_level'),
    Column('Lock Owner', 'lock_owner'),
    Column('Parameters', 'parameters', stack_texts.parameters),
    Column('Outputs', 'outputs', stack_texts.outputs),
    Column('Disable Rollback', 'disable_rollback'),
    Column('Timeout Minutes', 'timeout_mins'),
    Column('Tags', 'tags'),
)
_SORT_KEYS = ('stack_name', 'stack_status', 'creation_time', 'updated_time')


class StackList(remote.Printed, StackRemote, lister.Lister):
    """List stacks."""

    filters = (
        Filter('--name', 'name', 'NAME', 'the one of this name'),
        Filter('--id', 'id', 'ID', 'the one of this ID'),
        Filter('--status', 'status', 'STATUS', 'those that are COMPLETE, FAILED ...'),
        Filter('--action', 'action', 'ACTION', 'those whose last one was CREATE ...'),
        Filter('--owner', 'username', 'NAME', 'those that this user made'),
        Filter('--parent', 'owner_id', 'ID', 'those nested in this one'),
        Filter('--tags', 'tags', 'TAG,TAG...', 'those with all of these tags'),
        Filter('--tags-any', 'tags_any', 'TAG,TAG...', 'those with any of them'),
        Filter('--not-tags', 'not_tags', 'TAG,TAG...', 'those without all of them'),
        Filter('--not-tags-any', 'not_tags_any', 'TAG,TAG...', 'those with none'),
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        for one in self.filters:
            parser.add_argument(
                one.option, dest=one.dest, metavar=one.metavar, help=one.help
            )
        for option, argument, said in (
            ('--nested', 'show_nested', 'show the stacks within stacks, too'),
            ('--deleted', 'show_deleted', 'show what was deleted, too'),
            ('--all-projects', 'global_tenant', 'show those of all projects'),
        ):
            parser.add_argument(option, action='store_true', dest=argument, help=said)
        parser.add_argument(
            '--long', action='store_true', help='show more columns of each'
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
            '--sort-key',
            choices=_SORT_KEYS,
            help='sort by this; by creation_time if not given',
        )
        parser.add_argument(
            '--sort-dir', choices=('asc', 'desc'), help='the newest first if not given'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each stack."""
        with self.stacks(parsed_args) as stacks:
            rows, more = stacks.listed(self._query(parsed_args), parsed_args.limit)
        if more and parsed_args.limit is None:
            self.say(f'these are the first {len(rows)}; --limit 0 shows all')
        columns: Sequence[Column] = DETAILED if parsed_args.long else LISTED
        if parsed_args.global_tenant and not parsed_args.long:
            columns = (*LISTED[:2], DETAILED[2], *LISTED[2:])
        return remote.table(columns, rows, parsed_args.formatter)

    def _query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        found = {one.argument: getattr(parsed, one.dest) for one in self.filters}
        found['marker'] = parsed.marker
        found['sort_keys'] = parsed.sort_key
        found['sort_dir'] = parsed.sort_dir
        for name in ('show_nested', 'show_deleted', 'global_tenant'):
            found[name] = 'true' if getattr(parsed, name) else None
        return {name: value for name, value in found.items() if value is not None}


class StackDisplay(StackShow):
    """Show a stack."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--no-resolve-outputs',
            action='store_true',
            help='without the outputs, which take time in a large stack',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Return the stack."""
        place = stacks.find(parsed.stack)
        return stacks.show(place, outputs=not parsed.no_resolve_outputs)


class StackDelete(Waiting):
    """Delete stacks with all that they are made of."""

    action = states.DELETE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser, nargs='+')
        parser.add_argument(
            '-y', '--yes', action='store_true', help='do not ask whether to'
        )
        stack_command.add_wait(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        if not parsed_args.yes and not _confirmed(parsed_args.stack):
            self.say('nothing was deleted')
            return exits.FAILURE
        code = exits.SUCCESS
        begun = []
        with self.stacks(parsed_args) as stacks:
            for identity in parsed_args.stack:
                try:
                    place = stacks.find(identity)
                    marker = stacks.last_event(place) if parsed_args.wait else None
                    stacks.ask('DELETE', place)
                except exceptions.ApiUnavailable:
                    raise
                except exceptions.WatcherliteError as error:
                    told = exits.tell(remote.NAME, error, self.debug(parsed_args))
                    code = code or told
                else:
                    begun.append((place, marker))
            for place, marker in begun if parsed_args.wait else ():
                self.wait(stacks, place, parsed_args, marker)
        return code


class StackAbandon(StackRemote):
    """Forget a stack, and leave its resources where they are.

    What is printed is what `stack adopt` needs to take care of them again.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--output-file', metavar='FILE', help='write to this file instead'
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Abandon the stack; return the exit code."""
        with self.stacks(parsed_args) as stacks:
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


def _confirmed(names: Sequence[str]) -> bool:
    """Ask whoever sits at the terminal; a script means what it says."""
    if not sys.stdin.isatty():
        return True
    Output(sys.stderr).write(f'Delete {", ".join(names)}? [y/N] ')
    return sys.stdin.readline().strip().lower() in ('y', 'yes')
