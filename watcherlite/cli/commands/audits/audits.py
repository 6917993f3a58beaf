"""`watcherlite audit`."""

import argparse
import datetime
import re
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.poll import Poll, Shown, Waiting
from watcherlite.cli.formatting import Column, Row
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import audit as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

COLLECTION = 'audits'
IDENTIFIER = 'UUID or name'
#: Shown for audits whose goal selects the strategy.
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


class AuditList(base.List):
    """List audits."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter('--goal', 'goal', 'GOAL', 'filter by goal: UUID or name'),
        Filter(
            '--strategy', 'strategy', 'STRATEGY', 'filter by strategy: UUID or name'
        ),
        Filter('--state', 'state', 'STATE', 'filter by state'),
    )


class AuditShow(base.ShowFound):
    """Show an audit."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class AuditPoll(Poll):
    """Shows the states of an audit until it has ended.

    For the other parameters see `Poll`.
    """

    def __init__(
        self,
        client: 'Client',
        audit: Shown,
        err: Output,
        *,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(err, wait=wait, monotonic=monotonic)
        self._client = client
        self._audit = audit

    def poll(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the audit, and whether its state changed."""
        found = self._client.get(COLLECTION, str(self._audit['uuid']))
        changed = found['state'] != self._audit['state']
        if changed:
            self.show(f'audit {found["name"]}: {found["state"]}')
        self._audit = found
        return found['state'] in states.ENDED, found, changed

    def result(self, found: Shown | None) -> tuple[int, str]:
        """Return the exit code of an audit that has ended, and why if it failed."""
        audit = found or self._audit
        if audit['state'] == states.SUCCEEDED:
            return exits.SUCCESS, ''
        reason = audit.get('status_message')
        why = f': {reason}' if reason else ''
        return exits.FAILURE, f'audit {audit["name"]} is {audit["state"]}{why}'


class AuditCreate(Waiting, base.Show):
    """Create an audit.

    It requires a goal or an audit template. A ONESHOT audit runs once, a CONTINUOUS
    audit runs periodically, an EVENT audit runs when it is triggered.
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
            help=f'type of the audit; default: {TYPES[0]}',
        )
        parser.add_argument('-g', '--goal', metavar='GOAL', help='goal: UUID or name')
        parser.add_argument(
            '-a',
            '--audit-template',
            metavar='TEMPLATE',
            help='audit template that provides goal, strategy, scope and parameters: '
            'UUID or name',
        )
        parser.add_argument(
            '-s', '--strategy', metavar='STRATEGY', help='strategy: UUID or name'
        )
        parser.add_argument(
            '-p',
            '--parameter',
            action='append',
            default=[],
            dest='parameters',
            metavar='NAME=VALUE',
            help='parameter of the strategy; the value is parsed as JSON if possible; '
            'may be repeated',
        )
        parser.add_argument(
            '-i',
            '--interval',
            metavar='INTERVAL',
            help='interval of a CONTINUOUS audit: seconds, or a quoted cron expression',
        )
        parser.add_argument(
            '--auto-trigger',
            action='store_true',
            help='start the proposed action plan automatically',
        )
        parser.add_argument(
            '--name', metavar='NAME', help='name of the audit; default: generated'
        )
        for option, said in (
            ('--start-time', 'first run of a CONTINUOUS audit'),
            ('--end-time', 'last run of a CONTINUOUS audit'),
        ):
            parser.add_argument(
                option,
                type=moment,
                metavar='TIME',
                help=f'{said}: YYYY-MM-DD hh:mm:ss, local time unless it has an offset',
            )
        parser.add_argument(
            '--force',
            action='store_true',
            help='run even if another action plan is ongoing',
        )
        parser.add_argument(
            '--wait',
            action='store_true',
            help='wait for the end of an audit of type ONESHOT',
        )
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Create the audit; return the exit code, that of its run with --wait."""
        if parsed_args.wait and parsed_args.audit_type != TYPES[0]:
            raise exits.UsageError(
                f'--wait needs an audit of type {TYPES[0]}; one of type '
                f'{parsed_args.audit_type} does not end'
            )
        return super().run(parsed_args)

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Create the audit; return it as it is then, or at its end."""
        body: dict[str, Any] = {
            'audit_type': parsed.audit_type,
            'auto_trigger': parsed.auto_trigger,
        }
        for name in ('goal', 'strategy', 'interval', 'name', 'start_time', 'end_time'):
            value = getattr(parsed, name)
            if value is not None:
                body[name] = value
        if parsed.parameters:
            body['parameters'] = base.parameters(parsed.parameters)
        if parsed.force:
            body['force'] = True
        if parsed.audit_template:
            body['audit_template_uuid'] = _template(client, parsed.audit_template)
        audit = client.post(COLLECTION, body=body)
        if not parsed.wait:
            return audit
        poll = AuditPoll(client, audit, Output(sys.stderr))
        interrupted = f'the audit continues; watcherlite audit show {audit["uuid"]}'
        return self.await_end(poll, interrupted) or audit


class AuditUpdate(base.Update):
    """Change attributes of an audit."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN
    as_text = frozenset({'interval'})


class AuditDelete(base.Delete):
    """Delete audits that have ended."""

    collection = COLLECTION
    identifier = IDENTIFIER


class AuditTrigger(base.Remote):
    """Trigger an EVENT audit."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        base.add_identifier(parser, IDENTIFIER)
        parser.add_argument(
            '--data',
            metavar='FILE',
            help='file with event data for the strategy, YAML or JSON; - for standard '
            'input',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Trigger the audit; return the exit code."""
        body: Any = {}
        if parsed_args.data:
            # Help needs no YAML
            from watcherlite.cli import input_files

            body = input_files.value(parsed_args.data)
        with self.connect(parsed_args) as client:
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
            f'{text!r} is not a valid time; example: 2030-01-31 18:00:00'
        ) from None
    return found.astimezone(datetime.UTC).isoformat()
