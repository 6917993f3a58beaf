"""`watcherlite audit`."""

import argparse
import datetime
import re
import sys
from typing import TYPE_CHECKING, Any

from watcherlite.cli.command import choice, flag, option, repeated
from watcherlite.cli.commands import base
from watcherlite.cli.commands.poll import Poll, Shown, Waiting
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.states import audit as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

#: Shown if the goal selects the strategy.
AUTO = 'auto'
#: The format of times.
_FORMAT = 'YYYY-MM-DD hh:mm:ss, local time unless it has an offset'
TYPES = ('ONESHOT', 'CONTINUOUS', 'EVENT')

_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', re.IGNORECASE)


def parse_time(text: str) -> str:
    """Return a time in UTC, in the format of the API."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a valid time; example: 2030-01-31 18:00:00'
        ) from None
    return found.astimezone(datetime.UTC).isoformat()


class _Audits(base.Remote):
    collection = 'audits'
    listed = fields(
        'uuid name audit_type state',
        Column('Goal', 'goal_name'),
        Column('Strategy', 'strategy_name', empty=AUTO),
        'auto_trigger',
    )
    columns = fields(
        'uuid name created_at updated_at deleted_at state audit_type parameters',
        'interval',
        Column('Goal', 'goal_name'),
        Column('Strategy', 'strategy_name', empty=AUTO),
        Column('Audit Scope', 'scope'),
        'auto_trigger next_run_time hostname start_time end_time force',
        'status_message',
    )


class AuditList(_Audits, base.List):
    """List audits."""

    filters = (base.BY_GOAL, base.BY_STRATEGY, base.BY_STATE, *base.SEARCH)


class AuditShow(_Audits, base.ShowFound):
    """Show an audit."""


class AuditPoll(Poll):
    """Shows the states of an audit until it has ended.

    For the other parameters see `Poll`.
    """

    def __init__(
        self, client: 'Client', audit: Shown, err: Output, **options: Any
    ) -> None:
        super().__init__(err, **options)
        self._client = client
        self._audit = audit

    def poll(self) -> tuple[bool, Shown | None, bool]:
        found = self._client.get('audits', str(self._audit['uuid']))
        changed = found['state'] != self._audit['state']
        if changed:
            self.show(f'audit {found["name"]}: {found["state"]}')
        self._audit = found
        return found['state'] in states.ENDED, found, changed

    def result(self, found: Shown | None) -> tuple[int, str]:
        audit = found or self._audit
        if audit['state'] == states.SUCCEEDED:
            return exits.SUCCESS, ''
        reason = audit.get('status_message')
        why = f': {reason}' if reason else ''
        return exits.FAILURE, f'audit {audit["name"]} is {audit["state"]}{why}'


class AuditCreate(_Audits, Waiting, base.Show):
    """Create an audit.

    It requires a goal or an audit template. A ONESHOT audit runs once, a CONTINUOUS
    audit runs periodically, an EVENT audit runs when it is triggered.
    """

    arguments = (
        choice(
            '-t --audit-type --audit_type',
            TYPES,
            f'type of the audit; default: {TYPES[0]}',
            type=str.upper,
            default=TYPES[0],
        ),
        option('-g --goal', 'GOAL', 'goal: UUID or name'),
        option(
            '-a --audit-template',
            'TEMPLATE',
            'audit template that provides goal, strategy, scope and parameters: '
            'UUID or name',
        ),
        option('-s --strategy', 'STRATEGY', 'strategy: UUID or name'),
        repeated(
            '-p --parameter',
            'NAME=VALUE',
            'parameter of the strategy; the value is parsed as JSON if possible; '
            'may be repeated',
            default=[],
            dest='parameters',
        ),
        option(
            '-i --interval',
            'INTERVAL',
            'interval of a CONTINUOUS audit: seconds, or a quoted cron expression',
        ),
        flag('--auto-trigger', 'start the proposed action plan automatically'),
        option('--name', 'NAME', 'name of the audit; default: generated'),
        option(
            '--start-time',
            'TIME',
            f'first run of a CONTINUOUS audit: {_FORMAT}',
            type=parse_time,
        ),
        option(
            '--end-time',
            'TIME',
            f'last run of a CONTINUOUS audit: {_FORMAT}',
            type=parse_time,
        ),
        flag('--force', 'run even if another action plan is ongoing'),
        flag('--wait', 'wait for the end of an audit of type ONESHOT'),
    )

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Create the audit; return the exit code, with --wait that of its run."""
        if parsed_args.wait and parsed_args.audit_type != TYPES[0]:
            raise exits.UsageError(
                f'--wait requires an audit of type {TYPES[0]}; one of type '
                f'{parsed_args.audit_type} does not end'
            )
        return super().run(parsed_args)

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Create the audit; return it, with --wait after its end."""
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
        audit = client.post(self.collection, body=body)
        if not parsed.wait:
            return audit
        poll = AuditPoll(client, audit, Output(sys.stderr))
        interrupted = (
            f'the audit continues; see `watcherlite audit show {audit["uuid"]}`'
        )
        return self.await_end(poll, interrupted) or audit


class AuditUpdate(_Audits, base.Update):
    """Change attributes of an audit."""

    as_text = frozenset({'interval'})


class AuditDelete(_Audits, base.Delete):
    """Delete audits that have ended."""


class AuditTrigger(_Audits):
    """Trigger an EVENT audit."""

    arguments = (
        base.identifier_argument,
        option(
            '--data',
            'FILE',
            'file with event data for the strategy, YAML or JSON; - for standard input',
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        body: Any = {}
        if parsed_args.data:
            # Help needs no YAML
            from watcherlite.cli import input_files

            body = input_files.value(parsed_args.data)
        with self.connect(parsed_args) as client:
            client.post('webhooks', parsed_args.identifier, body=body)
        return exits.SUCCESS


def _template(client: 'Client', text: str) -> str:
    """Return the uuid of a template: the creation of an audit requires the uuid."""
    if _UUID.fullmatch(text):
        return text
    return str(client.get('audit_templates', text)['uuid'])
