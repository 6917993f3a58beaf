"""`watcherlite stack` create, adopt and update."""

import argparse
from typing import Any

from watcherlite.cli import formatting
from watcherlite.cli.command import (
    Declarations,
    argument,
    choice,
    flag,
    option,
    repeated,
)
from watcherlite.cli.commands import base
from watcherlite.cli.commands.poll import wait_options
from watcherlite.cli.commands.stacks import stack_command
from watcherlite.cli.commands.stacks.stack_client import Stacks
from watcherlite.cli.commands.stacks.stack_command import StackWaiting
from watcherlite.cli.commands.stacks.stacks import SHOWN
from watcherlite.cli.formatting import Column, Row
from watcherlite.states import stack as states

#: The additional columns of a preview.
_PLANNED = (
    Column('Resources', 'resources', formatting.resources),
    *(
        Column(name.capitalize(), name, formatting.resources)
        for name in ('unchanged', 'updated', 'replaced', 'added', 'deleted')
    ),
)


def _minutes(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of minutes')
    return int(text)


class _Change(StackWaiting, base.Show):
    """A command that defines a stack."""

    columns = (*SHOWN, *_PLANNED)
    # A time limit of the operation, as in other clients
    not_connecting = frozenset({'timeout'})
    arguments: Declarations = (
        *stack_command.PARAMETERS,
        repeated(
            '--parameter-file',
            'NAME=FILE',
            'parameter whose value is read from a file; may be repeated',
            default=[],
            dest='parameter_files',
        ),
        option(
            '--timeout',
            'MINUTES',
            'time limit of the operation. (To set the timeout of API requests, '
            'give --timeout before the command, or set WATCHERLITE_TIMEOUT.)',
            type=_minutes,
            dest='timeout_mins',
        ),
        option('--tags', 'TAG,TAG...', 'tags of the stack, separated by commas'),
        *wait_options('stack'),
    )

    def body(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the request body that the command line defines."""
        # Help needs no YAML
        from watcherlite.cli.commands.stacks import template_files

        body: dict[str, Any] = {
            'parameters': template_files.values(
                parsed.parameters, parsed.parameter_files
            ),
            **template_files.documents(parsed.template, parsed.environments),
        }
        if parsed.timeout_mins is not None:
            body['timeout_mins'] = parsed.timeout_mins
        if parsed.tags is not None:
            body['tags'] = parsed.tags
        return body


class _CreateCommand(_Change):
    """A command that creates a stack."""

    def body(self, parsed: argparse.Namespace) -> dict[str, Any]:
        return {
            'stack_name': parsed.name,
            'disable_rollback': not parsed.enable_rollback,
            **super().body(parsed),
        }

    def create(
        self, stacks: Stacks, body: dict[str, Any], parsed: argparse.Namespace
    ) -> Row:
        """Create the stack; return it."""
        made = stacks.member(
            stacks.request_in_project('POST', 'stacks', body=body), 'stack'
        )
        place = stacks.find(made['id'])
        self.wait(stacks, place, parsed, None)
        return stacks.show(place)


class StackCreate(_CreateCommand):
    """Create a stack.

    The template, the environments and all files that they refer to are read locally
    and sent to the API. Nothing is fetched from other hosts.
    """

    action = states.CREATE
    arguments = (
        argument('name', 'NAME', 'name of the stack'),
        stack_command.TEMPLATE,
        flag(
            '--enable-rollback', 'roll back if the creation, or a later update, fails'
        ),
        flag('--dry-run', 'validate the request and show the stack; create nothing'),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        body = self.body(parsed)
        if parsed.dry_run:
            found = stacks.request_in_project('POST', 'stacks', 'preview', body=body)
            return dict(stacks.member(found, 'stack'))
        return self.create(stacks, body, parsed)


class StackAdopt(_CreateCommand):
    """Create a stack from the resources of an abandoned stack.

    The output of `stack abandon` contains the resources and the template.
    """

    action = states.ADOPT
    arguments = (
        argument('name', 'NAME', 'name of the stack'),
        option(
            '--adopt-file',
            'FILE',
            'file with the output of `stack abandon`',
            required=True,
        ),
        option('-t --template', 'FILE', 'template that replaces the one in the file'),
        flag('--enable-rollback', 'roll back if a later update fails'),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        # Help needs no YAML
        from watcherlite.cli.commands.stacks import template_files

        body = {
            **self.body(parsed),
            'adopt_stack_data': template_files.data(f'@{parsed.adopt_file}'),
        }
        return self.create(stacks, body, parsed)


class StackUpdate(_Change):
    """Update a stack.

    The template and the parameters replace the current ones; parameters that are not
    given are reset to their defaults. With --existing, everything that is not given is
    kept. Resources that have FAILED or are marked as unhealthy are replaced.
    """

    action = states.UPDATE
    arguments = (
        base.identifier_argument,
        option('-t --template', 'FILE', 'template, YAML or JSON; - for standard input'),
        flag(
            '--existing',
            'keep the template, environment and parameters that are not given',
        ),
        repeated(
            '--clear-parameter',
            'NAME',
            'with --existing, reset this parameter to its default; may be repeated',
            default=[],
            dest='clear_parameters',
        ),
        choice(
            '--rollback',
            ('enabled', 'disabled', 'keep'),
            'roll back if the update fails; default: keep the current setting',
            default='keep',
        ),
        flag('--dry-run', 'validate the request and show the changes; change nothing'),
        flag(
            '--show-nested',
            'with --dry-run, show the resources of nested stacks as well',
        ),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        body = self._body(parsed)
        method = 'PATCH' if parsed.existing else 'PUT'
        place = stacks.find(parsed.identifier)
        if parsed.dry_run:
            query = {'show_nested': 'true'} if parsed.show_nested else None
            found = stacks.request(method, place, 'preview', query=query, body=body)
            changes = dict(stacks.member(found, 'resource_changes'))
            return {'id': place.uuid, 'stack_name': place.name, **changes}
        marker = self.last_event(stacks, place, parsed)
        stacks.request(method, place, body=body)
        self.wait(stacks, place, parsed, marker)
        return stacks.show(place)

    def _body(self, parsed: argparse.Namespace) -> dict[str, Any]:
        if parsed.template is None and not parsed.existing:
            raise self.usage_error('specify -t TEMPLATE, --existing, or both')
        if parsed.clear_parameters and not parsed.existing:
            raise self.usage_error('--clear-parameter requires --existing')
        if parsed.show_nested and not parsed.dry_run:
            raise self.usage_error('--show-nested requires --dry-run')
        body = self.body(parsed)
        if parsed.rollback != 'keep':
            body['disable_rollback'] = parsed.rollback == 'disabled'
        if parsed.clear_parameters:
            body['clear_parameters'] = parsed.clear_parameters
        return body
