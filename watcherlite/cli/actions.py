"""`watcherlite action`: skipped before they run, signalled while they do."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from watcherlite.cli import remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.remote import Filter
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

COLLECTION = 'actions'
IDENTIFIER = 'UUID'
LISTED = (
    Column('UUID', 'uuid'),
    Column('Parents', 'parents'),
    Column('State', 'state'),
    Column('Action Plan', 'action_plan_uuid'),
    Column('Action', 'action_type'),
)
SHOWN = (
    Column('UUID', 'uuid'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
    Column('Deleted At', 'deleted_at'),
    Column('Parents', 'parents'),
    Column('State', 'state'),
    Column('Action Plan', 'action_plan_uuid'),
    Column('Action', 'action_type'),
    Column('Parameters', 'input_parameters'),
    Column('Description', 'description'),
    Column('Status Message', 'status_message'),
    Column('Name', 'name'),
    Column('Target', 'target'),
    Column('Suspended', 'suspended'),
    Column('Start Time', 'start_time'),
    Column('End Time', 'end_time'),
)


class ActionList(remote.List):
    """List actions."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter(
            '--action-plan', 'action_plan_uuid', 'UUID', 'those of this action plan'
        ),
        Filter('--audit', 'audit_uuid', 'UUID', 'those that this audit proposed'),
        Filter('--state', 'state', 'STATE', 'those in this state'),
        Filter('--action-type', 'action_type', 'TYPE', 'those of this type'),
        Filter('--target', 'target', 'TARGET', 'those that work on this'),
    )


class ActionShow(remote.ShowFound):
    """Show an action."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class ActionUpdate(remote.ShowFound):
    """Skip an action, or edit the message of one that was skipped.

    An action is skipped while it is PENDING and its plan has not begun:
    `--state skipped`.
    """

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--state', type=str.upper, metavar='STATE', help='the new state: skipped'
        )
        parser.add_argument(
            '--message', '--reason', metavar='TEXT', help='why, for whoever reads it'
        )
        return parser

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Change the action; return it as it is then."""
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
                    'say what to change: --state skipped, --message TEXT, or both',
                )
            )
        return client.patch(COLLECTION, parsed.identifier, changes=changes)


class _Signal(remote.ShowFound):
    """A command that sends a signal to an action."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN
    signal: str

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Send the signal; return the action, which heeds it when it next looks."""
        return client.post(COLLECTION, parsed.identifier, self.signal, body={})


class ActionCancel(_Signal):
    """Cancel an action.

    One that runs is told to stop, and is CANCELLED when it has.
    """

    signal = 'cancel'


class ActionSuspend(_Signal):
    """Suspend a running action.

    It pauses when it next can. Its time does not stand still.
    """

    signal = 'suspend'


class ActionResume(_Signal):
    """Let a suspended action go on."""

    signal = 'resume'
