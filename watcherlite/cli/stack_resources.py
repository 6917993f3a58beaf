"""`watcherlite stack resource`: looked at, marked unhealthy, signalled."""

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cliff import lister

from watcherlite.cli import remote, stack_command
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.remote import Filter
from watcherlite.cli.stack_command import StackRemote, StackShow
from watcherlite.cmd import exits

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Place, Stacks

LISTED = (
    Column('Resource Name', 'resource_name'),
    Column('Physical Resource ID', 'physical_resource_id'),
    Column('Resource Type', 'resource_type'),
    Column('Resource Status', 'resource_status'),
    Column('Updated Time', 'updated_time'),
)
SHOWN = (
    Column('Resource Name', 'resource_name'),
    Column('Physical Resource ID', 'physical_resource_id'),
    Column('Resource Type', 'resource_type'),
    Column('Description', 'description'),
    Column('Creation Time', 'creation_time'),
    Column('Updated Time', 'updated_time'),
    Column('Resource Status', 'resource_status'),
    Column('Resource Status Reason', 'resource_status_reason'),
    Column('Required By', 'required_by'),
    Column('Parent Resource', 'parent_resource'),
    # By a lock of level all
    Column('Protected', 'protected'),
    Column('Attributes', 'attributes'),
)


class StackResourceList(remote.Printed, StackRemote, lister.Lister):
    """List the resources of a stack."""

    filters = (
        Filter('--name', 'name', 'NAME', 'the one of this name'),
        Filter('--type', 'type', 'TYPE', 'those of this type'),
        Filter('--status', 'status', 'STATUS', 'those that are COMPLETE, FAILED ...'),
        Filter('--action', 'action', 'ACTION', 'those whose last one was CREATE ...'),
        Filter(
            '--physical-id',
            'physical_resource_id',
            'ID',
            'the one that its type calls so',
        ),
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        for one in self.filters:
            parser.add_argument(
                one.option, dest=one.dest, metavar=one.metavar, help=one.help
            )
        parser.add_argument(
            '-n',
            '--nested-depth',
            type=remote.limit,
            metavar='N',
            help='show those of the stacks within it as well, so many levels deep',
        )
        parser.add_argument(
            '--long', action='store_true', help='show more columns of each'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each resource."""
        query = {one.argument: getattr(parsed_args, one.dest) for one in self.filters}
        query['nested_depth'] = parsed_args.nested_depth or None
        given = {name: value for name, value in query.items() if value is not None}
        with self.stacks(parsed_args) as stacks:
            place = stacks.find(parsed_args.stack)
            rows = stacks.members('resources', 'GET', place, 'resources', query=given)
        columns: Sequence[Column] = LISTED
        if parsed_args.long:
            columns = SHOWN[:-2]
        if parsed_args.nested_depth:
            rows = [{**row, 'stack_name': _stack_of(row)} for row in rows]
            columns = (*columns, Column('Stack Name', 'stack_name'))
        # Only some of them stand in another one
        kept = [c for c in columns if not rows or any(c.field in row for row in rows)]
        filled = [{**dict.fromkeys(c.field for c in kept), **row} for row in rows]
        return remote.table(kept, filled, parsed_args.formatter)


class _OfResource(StackRemote):
    """A command on one resource."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            'resource', metavar='RESOURCE', help='its name, or its physical ID'
        )
        return parser


class StackResourceShow(_OfResource, StackShow):
    """Show a resource."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--with-attr',
            action='append',
            default=[],
            metavar='NAME',
            help='ask for this attribute as well, which its type may not list; may be '
            'repeated',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Return the resource."""
        place = stacks.find(parsed.stack)
        return _resource(stacks, place, parsed.resource, parsed.with_attr)


class StackResourceMetadata(_OfResource, StackShow):
    """Show the metadata of a resource."""

    columns = (Column('Metadata', 'metadata'),)

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Return the metadata."""
        place = stacks.find(parsed.stack)
        found = stacks.ask('GET', place, 'resources', parsed.resource, 'metadata')
        return {'metadata': stacks.member(found, 'metadata')}


class StackResourceMarkUnhealthy(_OfResource, StackShow):
    """Mark a resource as unhealthy, so that the next update replaces it.

    For what only its users can see. --reset takes the mark back.
    """

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'reason', metavar='REASON', nargs='?', help='why, for whoever reads it'
        )
        parser.add_argument(
            '--reset', action='store_true', help='say that it is healthy after all'
        )
        return remote.intermixed(parser)

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Mark it; return it as it is then."""
        place = stacks.find(parsed.stack)
        body: dict[str, Any] = {'mark_unhealthy': not parsed.reset}
        if parsed.reason is not None:
            body['resource_status_reason'] = parsed.reason
        stacks.ask('PATCH', place, 'resources', parsed.resource, body=body)
        return _resource(stacks, place, parsed.resource)


class StackResourceSignal(_OfResource):
    """Send a signal to a resource."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--data',
            metavar='JSON',
            help='what to send along, as JSON; @FILE to read it from a file',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Send the signal; return the exit code."""
        body = None
        if parsed_args.data is not None:
            # Help needs no YAML
            from watcherlite.cli import stack_files

            body = stack_files.data(parsed_args.data)
        with self.stacks(parsed_args) as stacks:
            place = stacks.find(parsed_args.stack)
            stacks.ask(
                'POST', place, 'resources', parsed_args.resource, 'signal', body=body
            )
        return exits.SUCCESS


def _resource(
    stacks: 'Stacks', place: 'Place', name: str, attributes: Sequence[str] = ()
) -> Row:
    query = {'with_attr': list(attributes)} if attributes else None
    return stacks.one('resource', 'GET', place, 'resources', name, query=query)


def _stack_of(resource: Row) -> str | None:
    """Return the name of the stack that a resource is in, by its links."""
    for link in resource.get('links') or ():
        if link.get('rel') == 'stack':
            name: str = link['href'].rpartition('/stacks/')[2].partition('/')[0]
            return name
    return None
