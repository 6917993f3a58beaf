"""`watcherlite action`."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from watcherlite.cli.command import option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

COLLECTION = 'actions'
IDENTIFIER = 'UUID'
LISTED = fields(
    'uuid parents state',
    Column('Action Plan', 'action_plan_uuid'),
    Column('Action', 'action_type'),
)
SHOWN = fields(
    'uuid created_at updated_at deleted_at parents state',
    Column('Action Plan', 'action_plan_uuid'),
    Column('Action', 'action_type'),
    Column('Parameters', 'input_parameters'),
    'description status_message name target suspended start_time end_time',
)


class ActionList(base.List):
    """List actions."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter('--action-plan', 'action_plan_uuid', 'UUID', 'filter by action plan'),
        Filter(
            '--audit',
            'audit_uuid',
            'UUID',
            'filter by the audit that proposed the plan',
        ),
        Filter('--state', 'state', 'STATE', 'filter by state'),
        Filter('--action-type', 'action_type', 'TYPE', 'filter by type'),
        Filter('--target', 'target', 'TARGET', 'filter by target'),
    )


class ActionShow(base.ShowFound):
    """Show an action."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class ActionUpdate(base.ShowFound):
    """Skip an action, or change the message of a skipped action.

    An action can be skipped, with `--state skipped`, while it is PENDING and its plan
    has not started.
    """

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN
    arguments = (
        option('--state', 'STATE', 'new state: skipped', type=str.upper),
        option('--message --reason', 'TEXT', 'reason'),
    )

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Change the action; return the changed action."""
        wanted = {'state': parsed.state, 'status_message': parsed.message}
        changes: list[Mapping[str, Any]] = [
            {'op': 'replace', 'path': f'/{name}', 'value': value}
            for name, value in wanted.items()
            if value is not None
        ]
        if not changes:
            raise exits.UsageError(
                usage(
                    'watcherlite action update',
                    'nothing to change: give --state skipped, --message TEXT, or both',
                )
            )
        return client.patch(COLLECTION, parsed.identifier, changes=changes)


class _Signal(base.ShowFound):
    """A command that sends a signal to an action."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN
    signal: str

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Send the signal; return the action, which handles it asynchronously."""
        return client.post(COLLECTION, parsed.identifier, self.signal, body={})


class ActionCancel(_Signal):
    """Cancel an action.

    A running action receives a signal, and becomes CANCELLED when it has stopped.
    """

    signal = 'cancel'


class ActionSuspend(_Signal):
    """Suspend a running action.

    It pauses as soon as it can. Its timeout keeps running.
    """

    signal = 'suspend'


class ActionResume(_Signal):
    """Resume a suspended action."""

    signal = 'resume'
