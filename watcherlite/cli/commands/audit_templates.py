"""`watcherlite audittemplate`."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli.command import argument, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.formatting import Column, Row, fields

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

COLLECTION = 'audit_templates'
IDENTIFIER = 'UUID or name'
LISTED = fields(
    'uuid name', Column('Goal', 'goal_name'), Column('Strategy', 'strategy_name')
)
SHOWN = fields(
    'uuid created_at updated_at deleted_at description name',
    Column('Goal', 'goal_name'),
    Column('Strategy', 'strategy_name'),
    Column('Audit Scope', 'scope'),
    'default_parameters',
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
    arguments = (
        argument('name', 'NAME', 'name of the template'),
        argument('goal', 'GOAL', 'UUID or name of the goal'),
        option('-s --strategy', 'STRATEGY', 'UUID or name of the strategy'),
        option('-d --description', 'TEXT', 'description of the template'),
        option(
            '--scope',
            'FILE',
            'file with the scope of the audits, YAML or JSON; - for standard input',
        ),
        repeated(
            '-p --default-parameter',
            'NAME=VALUE',
            'default parameter of the strategy; may be repeated',
            default=[],
            dest='default_parameters',
        ),
    )

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
