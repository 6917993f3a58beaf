"""`watcherlite audittemplate`."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli.command import argument, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, Row, fields

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


class _AuditTemplates(base.Remote):
    collection = 'audit_templates'
    listed = fields(
        'uuid name', Column('Goal', 'goal_name'), Column('Strategy', 'strategy_name')
    )
    columns = fields(
        'uuid created_at updated_at deleted_at description name',
        Column('Goal', 'goal_name'),
        Column('Strategy', 'strategy_name'),
        Column('Audit Scope', 'scope'),
        'default_parameters',
    )


class AuditTemplateList(_AuditTemplates, base.List):
    """List audit templates."""

    filters = (base.BY_GOAL, base.BY_STRATEGY)


class AuditTemplateShow(_AuditTemplates, base.ShowFound):
    """Show an audit template."""


class AuditTemplateCreate(_AuditTemplates, base.Show):
    """Create an audit template."""

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
        return client.post(self.collection, body=body)


class AuditTemplateUpdate(_AuditTemplates, base.Update):
    """Change attributes of an audit template."""


class AuditTemplateDelete(_AuditTemplates, base.Delete):
    """Delete audit templates."""
