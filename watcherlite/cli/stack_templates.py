"""`watcherlite stack template`: checked before a stack is made of it."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli import stack_command
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.stack_command import StackShow

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Stacks


class StackTemplateValidate(StackShow):
    """Check a template; show the parameters that it has."""

    columns = (
        Column('Description', 'Description'),
        Column('Parameters', 'Parameters'),
        Column('Parameter Groups', 'ParameterGroups'),
        Column('Environment', 'Environment'),
        Column('Nested Parameters', 'NestedParameters'),
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '-t',
            '--template',
            metavar='FILE',
            required=True,
            help='the template, YAML or JSON; - for standard input',
        )
        stack_command.add_parameters(parser)
        parser.add_argument(
            '--show-nested',
            action='store_true',
            help='show the parameters of nested templates, too',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Have it checked; return what it is."""
        # Help needs no YAML
        from watcherlite.cli import stack_files

        collection = stack_files.Collection()
        body: dict[str, Any] = {'template': collection.template(parsed.template)}
        if parsed.environments:
            body['environment_files'] = [
                collection.environment(name) for name in parsed.environments
            ]
        if parsed.parameters:
            given = stack_files.values(parsed.parameters, [])
            body['environment'] = {'parameters': given}
        body['files'] = collection.files
        query = {'show_nested': 'true'} if parsed.show_nested else None
        return dict(stacks.ask_all('POST', 'validate', query=query, body=body))
