"""`watcherlite audittemplate`."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.formatting import Column, Row

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

COLLECTION = 'audit_templates'
IDENTIFIER = 'UUID or name'
LISTED = (
    Column('UUID', 'uuid'),
    Column('Name', 'name'),
    Column('Goal', 'goal_name'),
    Column('Strategy', 'strategy_name'),
)
SHOWN = (
    Column('UUID', 'uuid'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
    Column('Deleted At', 'deleted_at'),
    Column('Description', 'description'),
    Column('Name', 'name'),
    Column('Goal', 'goal_name'),
    Column('Strategy', 'strategy_name'),
    Column('Audit Scope', 'scope'),
    Column('Default Parameters', 'default_parameters'),
)


class AuditTemplateList(base.List):
    """List audit templates."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter('--goal', 'goal', 'GOAL', 'filter by goal: UUID or name'),
        Filter(
            '--strategy', 'strategy', 'STRATEGY', 'filter by strategy: UUID or name'
        ),
    )


class AuditTemplateShow(base.ShowFound):
    """Show an audit template."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class AuditTemplateCreate(base.Show):
    """Create an audit template."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='name of the template')
        parser.add_argument('goal', metavar='GOAL', help='UUID or name of the goal')
        parser.add_argument(
            '-s', '--strategy', metavar='STRATEGY', help='UUID or name of the strategy'
        )
        parser.add_argument(
            '-d', '--description', metavar='TEXT', help='description of the template'
        )
        parser.add_argument(
            '--scope',
            metavar='FILE',
            help='file with the scope of the audits, YAML or JSON; - for standard '
            'input',
        )
        parser.add_argument(
            '-p',
            '--default-parameter',
            action='append',
            default=[],
            dest='default_parameters',
            metavar='NAME=VALUE',
            help='default parameter of the strategy; may be repeated',
        )
        return parser

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Create the template; return it."""
        body: dict[str, Any] = {'name': parsed.name, 'goal': parsed.goal}
        if parsed.strategy:
            body['strategy'] = parsed.strategy
        if parsed.description is not None:
            body['description'] = parsed.description
        if parsed.scope:
            # Help needs no YAML
            from watcherlite.cli import input_files

            body['scope'] = input_files.value(parsed.scope)
        if parsed.default_parameters:
            body['default_parameters'] = base.parameters(parsed.default_parameters)
        return client.post(COLLECTION, body=body)


class AuditTemplateUpdate(base.Update):
    """Change attributes of an audit template."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class AuditTemplateDelete(base.Delete):
    """Delete audit templates."""

    collection = COLLECTION
    identifier = IDENTIFIER
