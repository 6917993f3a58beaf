"""`watcherlite audit`: requests to propose action plans."""

import argparse
import datetime
import re
from typing import TYPE_CHECKING, Any

from watcherlite.cli import remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.remote import Filter
from watcherlite.cmd import exits

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

COLLECTION = 'audits'
IDENTIFIER = 'UUID or name'
#: What stands for the strategy of an audit that leaves the choice to the goal.
AUTO = 'auto'
TYPES = ('ONESHOT', 'CONTINUOUS', 'EVENT')

LISTED = (
    Column('UUID', 'uuid'),
    Column('Name', 'name'),
    Column('Audit Type', 'audit_type'),
    Column('State', 'state'),
    Column('Goal', 'goal_name'),
    Column('Strategy', 'strategy_name', empty=AUTO),
    Column('Auto Trigger', 'auto_trigger'),
)
SHOWN = (
    Column('UUID', 'uuid'),
    Column('Name', 'name'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
    Column('Deleted At', 'deleted_at'),
    Column('State', 'state'),
    Column('Audit Type', 'audit_type'),
    Column('Parameters', 'parameters'),
    Column('Interval', 'interval'),
    Column('Goal', 'goal_name'),
    Column('Strategy', 'strategy_name', empty=AUTO),
    Column('Audit Scope', 'scope'),
    Column('Auto Trigger', 'auto_trigger'),
    Column('Next Run Time', 'next_run_time'),
    Column('Hostname', 'hostname'),
    Column('Start Time', 'start_time'),
    Column('End Time', 'end_time'),
    Column('Force', 'force'),
    Column('Status Message', 'status_message'),
)
_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', re.IGNORECASE)


class AuditList(remote.List):
    """List audits."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter('--goal', 'goal', 'GOAL', 'those of this goal: UUID or name'),
        Filter(
            '--strategy', 'strategy', 'STRATEGY', 'those with this one: UUID or name'
        ),
        Filter('--state', 'state', 'STATE', 'those in this state'),
    )


class AuditShow(remote.ShowFound):
    """Show an audit."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class AuditCreate(remote.Show):
    """Create an audit.

    It needs a goal or an audit template. One of type ONESHOT runs at once,
    CONTINUOUS again and again, EVENT whenever it is triggered.
    """

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '-t',
            '--audit-type',
            '--audit_type',
            type=str.upper,
            choices=TYPES,
            default=TYPES[0],
            help=f'{TYPES[0]} if not given',
        )
        parser.add_argument('-g', '--goal', metavar='GOAL', help='UUID or name')
        parser.add_argument(
            '-a',
            '--audit-template',
            metavar='TEMPLATE',
            help='UUID or name of the template to take goal, strategy, scope and '
            'parameters from',
        )
        parser.add_argument('-s', '--strategy', metavar='STRATEGY', help='UUID or name')
        parser.add_argument(
            '-p',
            '--parameter',
            action='append',
            default=[],
            dest='parameters',
            metavar='NAME=VALUE',
            help='a parameter of the strategy; the value is JSON if it can be read '
            'as such; may be repeated',
        )
        parser.add_argument(
            '-i',
            '--interval',
            metavar='INTERVAL',
            help='how often a CONTINUOUS audit runs: seconds, or a cron line in '
            'quotation marks',
        )
        parser.add_argument(
            '--auto-trigger',
            action='store_true',
            help='start the plan that is proposed at once',
        )
        parser.add_argument('--name', metavar='NAME', help='one is made if not given')
        for option, said in (
            ('--start-time', 'a CONTINUOUS audit does not run before'),
            ('--end-time', 'a CONTINUOUS audit does not run after'),
        ):
            parser.add_argument(
                option,
                type=moment,
                metavar='TIME',
                help=f'{said}: YYYY-MM-DD hh:mm:ss, in local time unless it has an '
                'offset',
            )
        parser.add_argument(
            '--force',
            action='store_true',
            help='run even while another plan is executed',
        )
        return parser

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Create the audit; return it."""
        body: dict[str, Any] = {
            'audit_type': parsed.audit_type,
            'auto_trigger': parsed.auto_trigger,
        }
        for name in ('goal', 'strategy', 'interval', 'name', 'start_time', 'end_time'):
            value = getattr(parsed, name)
            if value is not None:
                body[name] = value
        if parsed.parameters:
            body['parameters'] = remote.parameters(parsed.parameters)
        if parsed.force:
            body['force'] = True
        if parsed.audit_template:
            body['audit_template_uuid'] = _template(client, parsed.audit_template)
        return client.post(COLLECTION, body=body)


class AuditUpdate(remote.Update):
    """Change attributes of an audit."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN
    as_text = frozenset({'interval'})


class AuditDelete(remote.Delete):
    """Delete audits that have ended."""

    collection = COLLECTION
    identifier = IDENTIFIER


class AuditTrigger(remote.Remote):
    """Let an EVENT audit run now."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        remote.add_identifier(parser, IDENTIFIER)
        parser.add_argument(
            '--data',
            metavar='FILE',
            help='what happened, in YAML or JSON, for the strategy; - for standard '
            'input',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Trigger the audit; return the exit code."""
        body: Any = {}
        if parsed_args.data:
            # Help needs no YAML
            from watcherlite.cli import plan_file

            body = plan_file.value(parsed_args.data)
        with self.client(parsed_args) as client:
            client.post('webhooks', parsed_args.identifier, body=body)
        return exits.SUCCESS


def _template(client: 'Client', text: str) -> str:
    """Return the uuid of a template; the API takes nothing else of an audit."""
    if _UUID.fullmatch(text):
        return text
    return str(client.get('audit_templates', text)['uuid'])


def moment(text: str) -> str:
    """Return a time as the API reads it, in UTC."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'{text!r} is no time; one looks like 2030-01-31 18:00:00'
        ) from None
    return found.astimezone(datetime.UTC).isoformat()
