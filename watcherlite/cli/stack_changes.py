"""`watcherlite stack create` and `update`: what a stack is to be."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli import stack_command, stack_texts
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.stack_command import StackShow, Waiting
from watcherlite.cli.stacks import SHOWN
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage
from watcherlite.states import stack as states

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Stacks

#: What a preview has besides what is shown of stacks.
_PLANNED = (
    Column('Resources', 'resources', stack_texts.resources),
    *(
        Column(name.capitalize(), name, stack_texts.resources)
        for name in ('unchanged', 'updated', 'replaced', 'added', 'deleted')
    ),
)


class _Change(Waiting, StackShow):
    """A command that says what a stack is to be."""

    columns = (*SHOWN, *_PLANNED)
    # It is said of the operation, as other clients do
    not_connecting = frozenset({'timeout'})

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_parameters(parser)
        parser.add_argument(
            '--parameter-file',
            action='append',
            default=[],
            dest='parameter_files',
            metavar='NAME=FILE',
            help='a parameter whose value is what the file holds; may be repeated',
        )
        parser.add_argument(
            '--timeout',
            type=_minutes,
            dest='timeout_mins',
            metavar='MINUTES',
            help='how long it may take. (How long to wait for an answer of the API is '
            '--timeout in front of the command, or WATCHERLITE_TIMEOUT.)',
        )
        parser.add_argument(
            '--tags',
            metavar='TAG,TAG...',
            help='tags of the stack, with commas between',
        )
        stack_command.add_wait(parser)
        return parser

    def body(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return what the command line says that the stack is to be."""
        # Help needs no YAML
        from watcherlite.cli import stack_files

        collection = stack_files.Collection()
        body: dict[str, Any] = {
            'parameters': stack_files.values(parsed.parameters, parsed.parameter_files)
        }
        if parsed.template is not None:
            body['template'] = collection.template(parsed.template)
        if parsed.environments:
            body['environment_files'] = [
                collection.environment(name) for name in parsed.environments
            ]
        body['files'] = collection.files
        if parsed.timeout_mins is not None:
            body['timeout_mins'] = parsed.timeout_mins
        if parsed.tags is not None:
            body['tags'] = parsed.tags
        return body


class StackCreate(_Change):
    """Create a stack.

    Its template, the environments, and all files that they name are read here and
    sent to the API. Nothing is fetched from other machines.
    """

    action = states.CREATE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='of the new stack')
        parser.add_argument(
            '-t',
            '--template',
            metavar='FILE',
            required=True,
            help='the template, YAML or JSON; - for standard input',
        )
        parser.add_argument(
            '--enable-rollback',
            action='store_true',
            help='if it fails, delete what was made; if an update fails, go back',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='create nothing; check everything, and show the stack as it would be',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Create the stack; return it."""
        body = {
            'stack_name': parsed.name,
            'disable_rollback': not parsed.enable_rollback,
            **self.body(parsed),
        }
        if parsed.dry_run:
            found = stacks.ask_all('POST', 'stacks', 'preview', body=body)
            return dict(stacks.member(found, 'stack'))
        made = stacks.member(stacks.ask_all('POST', 'stacks', body=body), 'stack')
        place = stacks.find(made['id'])
        if parsed.wait:
            self.wait(stacks, place, parsed, None)
        return stacks.show(place)


class StackAdopt(_Change):
    """Create a stack of the resources that an abandoned one has left.

    What `stack abandon` printed says which these are, and with which template.
    """

    action = states.ADOPT

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='of the new stack')
        parser.add_argument(
            '--adopt-file',
            metavar='FILE',
            required=True,
            help='what `stack abandon` printed',
        )
        parser.add_argument(
            '-t', '--template', metavar='FILE', help='another template than that'
        )
        parser.add_argument(
            '--enable-rollback',
            action='store_true',
            help='if an update fails, go back to what was before',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Adopt the resources; return the new stack."""
        # Help needs no YAML
        from watcherlite.cli import stack_files

        body = {
            'stack_name': parsed.name,
            'disable_rollback': not parsed.enable_rollback,
            **self.body(parsed),
            'adopt_stack_data': stack_files.data(f'@{parsed.adopt_file}'),
        }
        made = stacks.member(stacks.ask_all('POST', 'stacks', body=body), 'stack')
        place = stacks.find(made['id'])
        if parsed.wait:
            self.wait(stacks, place, parsed, None)
        return stacks.show(place)


class StackUpdate(_Change):
    """Update a stack.

    It becomes what the template and the parameters say; what is not given has its
    default again. With --existing all that is not given stays as it is. What is
    FAILED, or was marked unhealthy, is replaced either way.
    """

    action = states.UPDATE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '-t',
            '--template',
            metavar='FILE',
            help='the template, YAML or JSON; - for standard input',
        )
        parser.add_argument(
            '--existing',
            action='store_true',
            help='keep template, environment and parameters that are not given',
        )
        parser.add_argument(
            '--clear-parameter',
            action='append',
            default=[],
            dest='clear_parameters',
            metavar='NAME',
            help='with --existing, give this parameter its default again; may be '
            'repeated',
        )
        parser.add_argument(
            '--rollback',
            choices=('enabled', 'disabled', 'keep'),
            default='keep',
            help='whether to go back to what was before if it fails; keep, as before, '
            'if not given',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='change nothing; check everything, and show what would change',
        )
        parser.add_argument(
            '--show-nested',
            action='store_true',
            help='with --dry-run, show the resources of nested stacks, too',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Update the stack; return it."""
        body = self._body(parsed)
        method = 'PATCH' if parsed.existing else 'PUT'
        place = stacks.find(parsed.stack)
        if parsed.dry_run:
            query = {'show_nested': 'true'} if parsed.show_nested else None
            found = stacks.ask(method, place, 'preview', query=query, body=body)
            changes = dict(stacks.member(found, 'resource_changes'))
            return {'id': place.uuid, 'stack_name': place.name, **changes}
        marker = stacks.last_event(place) if parsed.wait else None
        stacks.ask(method, place, body=body)
        if parsed.wait:
            self.wait(stacks, place, parsed, marker)
        return stacks.show(place)

    def _body(self, parsed: argparse.Namespace) -> dict[str, Any]:
        if parsed.template is None and not parsed.existing:
            raise _usage('say what it is to be: -t TEMPLATE, --existing, or both')
        if parsed.clear_parameters and not parsed.existing:
            raise _usage('--clear-parameter needs --existing')
        if parsed.show_nested and not parsed.dry_run:
            raise _usage('--show-nested needs --dry-run')
        body = self.body(parsed)
        if parsed.rollback != 'keep':
            body['disable_rollback'] = parsed.rollback == 'disabled'
        if parsed.clear_parameters:
            body['clear_parameters'] = parsed.clear_parameters
        return body


def _usage(text: str) -> exits.UsageError:
    return exits.UsageError(usage('watcherlite stack update', text))


def _minutes(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of minutes')
    return int(text)
