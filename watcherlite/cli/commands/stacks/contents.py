"""`watcherlite stack` template, environment, outputs, failures and events."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.cli import formatting
from watcherlite.cli.command import argument, choice, exclusive, flag, option
from watcherlite.cli.commands import base, events
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Stacks, stack_name_of
from watcherlite.cli.commands.stacks.stack_command import StackRemote
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cli.output import Output
from watcherlite.cmd import exits

#: More than the maximum nesting depth of stacks.
_DEPTH = 100
OUTPUT = fields(
    'output_key description',
    Column('Output Value', 'output_value', formatting.format_plain),
    'output_error',
)


class _Document(StackRemote):
    """A command that prints a document of a stack.

    :cvar part: its path below the stack
    """

    part: ClassVar[str]

    arguments = (
        base.identifier_argument,
        choice(
            '-f --format',
            ('yaml', 'json'),
            'output format; default: yaml',
            default='yaml',
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        with self.connect(parsed_args) as stacks:
            place = stacks.find(parsed_args.identifier)
            found = stacks.request('GET', place, self.part)
        if parsed_args.format == 'json':
            Output(sys.stdout).line(json.dumps(found, indent=2))
            return exits.SUCCESS
        # Help needs no YAML
        import yaml

        text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True)
        Output(sys.stdout).write(text)
        return exits.SUCCESS


class StackTemplateShow(_Document):
    """Show the template of a stack."""

    part = 'template'


class StackEnvironmentShow(_Document):
    """Show the environment and the parameters of a stack."""

    part = 'environment'


class StackFailuresList(StackRemote, base.Rows):
    """List the failed resources of a stack and of its nested stacks.

    A nested stack is omitted if its failed resources are listed.
    """

    columns = fields(
        Column('Resource', 'path'),
        'resource_type physical_resource_id resource_status',
        'resource_status_reason',
    )
    arguments = (base.identifier_argument,)

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        place = stacks.find(parsed.identifier)
        query = {'nested_depth': _DEPTH}
        return failures(stacks.read('resources', place, 'resources', query=query))


def failures(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the failed resources, each with its path.

    :param rows: the resources of a stack and of its nested stacks
    """
    owners = {
        _link(row, 'nested'): row for row in rows if _link(row, 'nested') is not None
    }
    failed = [row for row in rows if row['resource_status'].endswith('_FAILED')]
    explained = {_link(row, 'stack') for row in failed}
    return [
        {**row, 'path': _path(row, owners)}
        for row in failed
        if _link(row, 'nested') not in explained
    ]


def _path(
    row: Mapping[str, Any], owners: Mapping[str | None, Mapping[str, Any]]
) -> str:
    names = [row['resource_name']]
    owner = owners.get(_link(row, 'stack'))
    while owner is not None and len(names) <= _DEPTH:
        names.insert(0, owner['resource_name'])
        owner = owners.get(_link(owner, 'stack'))
    return '.'.join(names)


def _link(row: Mapping[str, Any], rel: str) -> str | None:
    hrefs = (link['href'] for link in row.get('links') or () if link['rel'] == rel)
    return next(hrefs, None)


class StackOutputList(StackRemote, base.Rows):
    """List the outputs of a stack."""

    listed = OUTPUT[:2]
    columns = OUTPUT[:-1]
    arguments = (
        base.identifier_argument,
        base.flag('--long', 'show the values as well'),
    )

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        place = stacks.find(parsed.identifier)
        if parsed.long:
            return stacks.show(place).get('outputs') or []
        return stacks.read('outputs', place, 'outputs')

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        return self.columns if parsed.long else self.listed


class StackOutputShow(StackRemote, base.Show):
    """Show an output of a stack."""

    columns = OUTPUT
    arguments = (base.identifier_argument, argument('output', 'OUTPUT', 'output key'))

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        return stacks.read('output', place, 'outputs', parsed.output)


class StackTemplateValidate(StackRemote, base.Show):
    """Validate a template and show its parameters."""

    columns = fields(
        'Description Parameters',
        Column('Parameter Groups', 'ParameterGroups'),
        'Environment',
        Column('Nested Parameters', 'NestedParameters'),
    )
    arguments = (
        stack_command.TEMPLATE,
        *stack_command.PARAMETERS,
        flag('--show-nested', 'show the parameters of nested templates as well'),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        # Help needs no YAML
        from watcherlite.cli.commands.stacks import template_files

        body = template_files.documents(parsed.template, parsed.environments)
        if parsed.parameters:
            given = template_files.values(parsed.parameters, [])
            body['environment'] = {'parameters': given}
        query = {'show_nested': 'true'} if parsed.show_nested else None
        return dict(
            stacks.request_in_project('POST', 'validate', query=query, body=body)
        )


class StackEventList(StackRemote, base.Rows):
    """List the events of a stack and its resources."""

    listed = fields(
        Column('Time', 'event_time'),
        'resource_name resource_status resource_status_reason user',
    )
    columns = fields('id', *listed, 'physical_resource_id')
    arguments = (
        base.identifier_argument,
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
        query: dict[str, Any] = {'sort_dir': parsed.sort_dir}
        if parsed.nested_depth:
            query['nested_depth'] = parsed.nested_depth
        if parsed.marker:
            query['marker'] = parsed.marker
        place = stacks.find(parsed.identifier)
        found = stacks.events(place, query, parsed.limit, parsed.resource)
        rows = [
            {**row, 'user': events.initiator_name(row.get('initiator'))}
            for row in found
        ]
        if found and 'links' in found[0] and parsed.nested_depth:
            return [{**row, 'stack_name': stack_name_of(row)} for row in rows]
        return rows

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        columns = self.columns if parsed.long else self.listed
        if rows and 'stack_name' in rows[0]:
            return fields('stack_name', *columns)
        return columns
