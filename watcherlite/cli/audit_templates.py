"""`watcherlite audittemplate`: what audits of one kind have in common."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli import remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.remote import Filter

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

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


class AuditTemplateList(remote.List):
    """List audit templates."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter('--goal', 'goal', 'GOAL', 'those of this goal: UUID or name'),
        Filter(
            '--strategy', 'strategy', 'STRATEGY', 'those with this one: UUID or name'
        ),
    )


class AuditTemplateShow(remote.ShowFound):
    """Show an audit template."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class AuditTemplateCreate(remote.Show):
    """Create an audit template."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='of the template')
        parser.add_argument('goal', metavar='GOAL', help='UUID or name of the goal')
        parser.add_argument(
            '-s', '--strategy', metavar='STRATEGY', help='UUID or name of the strategy'
        )
        parser.add_argument(
            '-d', '--description', metavar='TEXT', help='what it is for'
        )
        parser.add_argument(
            '--scope',
            metavar='FILE',
            help='what part of the infrastructure audits look at, in YAML or JSON; '
            '- for standard input',
        )
        parser.add_argument(
            '-p',
            '--default-parameter',
            action='append',
            default=[],
            dest='default_parameters',
            metavar='NAME=VALUE',
            help='a parameter of the strategy, for audits that name none; may be '
            'repeated',
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
            from watcherlite.cli import plan_file

            body['scope'] = plan_file.value(parsed.scope)
        if parsed.default_parameters:
            body['default_parameters'] = remote.parameters(parsed.default_parameters)
        return client.post(COLLECTION, body=body)


class AuditTemplateUpdate(remote.Update):
    """Change attributes of an audit template."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class AuditTemplateDelete(remote.Delete):
    """Delete audit templates."""

    collection = COLLECTION
    identifier = IDENTIFIER
