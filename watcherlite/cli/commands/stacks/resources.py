"""`watcherlite stack resource` and `stack resource type`."""

import argparse
from collections.abc import Sequence
from typing import Any

from watcherlite.cli.command import Declarations, argument, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Place, Stacks, stack_name_of
from watcherlite.cli.commands.stacks.stack_command import StackRemote
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cmd import exits

SHOWN = fields(
    'resource_name physical_resource_id resource_type description',
    'creation_time updated_time resource_status resource_status_reason',
    Column('Base Status', 'resource_base_status'),
    'hook',
    'required_by parent_resource protected attributes',
)


class StackResourceList(StackRemote, base.Rows):
    """List the resources of a stack."""

    listed = fields(
        'resource_name physical_resource_id resource_type resource_status',
        'updated_time',
    )
    filters = (
        base.BY_NAME,
        Filter('--type', 'type', 'TYPE', 'filter by type'),
        stack_command.BY_STATUS,
        stack_command.BY_ACTION,
        Filter(
            '--physical-id',
            'physical_resource_id',
            'ID',
            'filter by physical resource ID',
        ),
    )
    arguments = (
        base.identifier_argument,
        base.add_filters,
        option(
            '-n --nested-depth',
            'N',
            'include the resources of nested stacks, up to this depth',
            type=base.limit,
        ),
        base.LONG,
    )

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        query = base.filter_query(self.filters, parsed)
        if parsed.nested_depth:
            query['nested_depth'] = parsed.nested_depth
        place = stacks.find(parsed.identifier)
        rows = stacks.read('resources', place, 'resources', query=query)
        # Only resources of nested stacks have some of the fields.
        fields = {column.field: None for column in SHOWN if _has(rows, column)}
        return [{**fields, **row, 'stack_name': stack_name_of(row)} for row in rows]

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        columns: Sequence[Column] = SHOWN[:-2] if parsed.long else self.listed
        if parsed.nested_depth:
            columns = fields(*columns, 'stack_name')
        return [column for column in columns if not rows or _has(rows, column)]


def _has(rows: Sequence[Row], column: Column) -> bool:
    return any(column.field in row for row in rows)


class _OfResource(StackRemote):
    """A command on one resource."""

    arguments: Declarations = (
        base.identifier_argument,
        argument('resource', 'RESOURCE', 'resource: name or physical ID'),
    )


class StackResourceShow(_OfResource, base.Show):
    """Show a resource."""

    columns = SHOWN
    arguments = (
        repeated(
            '--with-attr',
            'NAME',
            'show this attribute as well, even if its type does not list it; may '
            'be repeated',
            default=[],
        ),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        return _resource(stacks, place, parsed.resource, parsed.with_attr)


class StackResourceMetadata(_OfResource, base.Show):
    """Show the metadata of a resource."""

    columns = fields('metadata')

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        found = stacks.request('GET', place, 'resources', parsed.resource, 'metadata')
        return {'metadata': stacks.member(found, 'metadata')}


class StackResourceMarkUnhealthy(_OfResource, base.Show):
    """Mark a resource as unhealthy; the next update replaces it.

    For failures that a health check does not detect. --reset removes the mark.
    """

    columns = SHOWN
    arguments = (
        argument('reason', 'REASON', 'reason for the mark', nargs='?'),
        flag('--reset', 'remove the mark'),
        base.allow_intermixed,
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        body: dict[str, Any] = {'mark_unhealthy': not parsed.reset}
        if parsed.reason is not None:
            body['resource_status_reason'] = parsed.reason
        stacks.request('PATCH', place, 'resources', parsed.resource, body=body)
        return _resource(stacks, place, parsed.resource)


class StackResourceSignal(_OfResource):
    """Send a signal to a resource."""

    arguments = (
        option(
            '--data', 'JSON', 'data of the signal, JSON; @FILE reads it from a file'
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        body = None
        if parsed_args.data is not None:
            # Help needs no YAML
            from watcherlite.cli.commands.stacks import template_files

            body = template_files.data(parsed_args.data)
        with self.connect(parsed_args) as stacks:
            place = stacks.find(parsed_args.identifier)
            stacks.request(
                'POST', place, 'resources', parsed_args.resource, 'signal', body=body
            )
        return exits.SUCCESS


def _resource(
    stacks: Stacks, place: Place, name: str, attributes: Sequence[str] = ()
) -> Row:
    query = {'with_attr': list(attributes)} if attributes else None
    return stacks.read('resource', place, 'resources', name, query=query)


class StackResourceTypeList(StackRemote, base.Rows):
    """List resource types."""

    columns = fields('resource_type description')
    arguments = (
        option(
            '--name',
            'REGEX',
            'filter by name: a regular expression, matched at the start',
        ),
    )

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        query = {'with_description': 'true'}
        if parsed.name is not None:
            query['name'] = parsed.name
        found = stacks.request_in_project('GET', 'resource_types', query=query)
        return list(stacks.member(found, 'resource_types'))


class StackResourceTypeShow(StackRemote, base.Show):
    """Show a resource type with its properties and attributes."""

    columns = fields('resource_type description properties attributes')
    arguments = (argument('type', 'TYPE', 'name of the type'),)

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        query = {'with_description': 'true'}
        return dict(
            stacks.request_in_project('GET', 'resource_types', parsed.type, query=query)
        )
