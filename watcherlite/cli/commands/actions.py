"""`watcherlite action`."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from watcherlite.cli.command import option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.action_plans import (
    PLAN_COLUMNS,
    START,
    start_if_requested,
)
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.formatting import Column, Row, fields

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


_DETAILED = fields(
    'uuid created_at updated_at deleted_at parents state',
    Column('Action Plan', 'action_plan_uuid'),
    Column('Action', 'action_type'),
    Column('Parameters', 'input_parameters'),
    'description status_message name target suspended start_time end_time',
)


class _Actions(base.Remote):
    collection = 'actions'
    metavar = 'UUID'
    identifier = 'UUID of the object'
    listed = fields(
        'uuid parents state',
        Column('Action Plan', 'action_plan_uuid'),
        Column('Action', 'action_type'),
    )
    columns = fields(*_DETAILED, 'outputs')


class ActionList(_Actions, base.List):
    """List actions."""

    columns = _DETAILED
    filters = (
        Filter('--action-plan', 'action_plan_uuid', 'UUID', 'filter by action plan'),
        base.BY_AUDIT,
        base.BY_STATE,
        Filter('--action-type', 'action_type', 'TYPE', 'filter by type'),
        Filter('--target', 'target', 'TARGET', 'filter by target'),
        *base.SEARCH,
    )


class ActionShow(_Actions, base.ShowFound):
    """Show an action."""


class ActionUpdate(_Actions, base.ShowFound):
    """Skip an action, or change the message of a skipped action.

    An action can be skipped, with `--state skipped`, while it is PENDING and its plan
    has not started.
    """

    arguments = (
        option('--state', 'STATE', 'new state: skipped', type=str.upper),
        option('--message --reason', 'TEXT', 'reason for the skip'),
    )

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        desired = {'state': parsed.state, 'status_message': parsed.message}
        changes: list[Mapping[str, Any]] = [
            {'op': 'replace', 'path': f'/{name}', 'value': value}
            for name, value in desired.items()
            if value is not None
        ]
        if not changes:
            raise self.usage_error(
                'nothing to change: specify --state skipped, --message TEXT, or both'
            )
        return client.patch(self.collection, parsed.identifier, changes=changes)


class ActionRetry(_Actions, base.ShowFound):
    """Create an action plan that retries an unsuccessful action.

    The action must be FAILED or CANCELLED, and its plan must have ended. The new plan
    also contains the unsuccessful actions that depend on it. It is RECOMMENDED until it
    is started.
    """

    columns = PLAN_COLUMNS
    arguments = (START,)

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        found = client.post(self.collection, parsed.identifier, 'retry', body={})
        return start_if_requested(client, parsed, found)


class _Signal(_Actions, base.ShowFound):
    """A command that sends a signal to an action."""

    signal: str

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Send the signal; return the action, which handles it asynchronously."""
        return client.post(self.collection, parsed.identifier, self.signal, body={})


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
