"""`watcherlite event`: what has happened, as the API keeps it."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from cliff import lister

from watcherlite.cli import remote
from watcherlite.cli.cells import Column, Row
from watcherlite.domain import events

LISTED = (
    Column('Sequence', 'sequence'),
    Column('Time', 'occurred_at'),
    Column('Subject', 'subject'),
    Column('Event', 'kind'),
    Column('Action', 'action_name'),
    Column('Old State', 'old_state'),
    Column('New State', 'new_state'),
    Column('Message', 'message'),
)
SHOWN = (
    *LISTED,
    Column('UUID', 'uuid'),
    Column('Action UUID', 'action_uuid'),
    Column('Action Type', 'action_type'),
    Column('Suspended', 'suspended'),
    Column('Detail', 'detail'),
)


class EventList(remote.Printed, remote.Remote, lister.Lister):
    """List what has happened.

    To an action plan and its actions, or to an audit. `watcherlite actionplan watch`
    shows what goes on.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        of = parser.add_mutually_exclusive_group(required=True)
        of.add_argument(
            '--plan', '--action-plan', metavar='UUID', help='to this action plan'
        )
        of.add_argument('--audit', metavar='ID', help='to this audit: UUID or name')
        parser.add_argument(
            '--after',
            type=int,
            metavar='SEQUENCE',
            help='only what came after the event of this number',
        )
        parser.add_argument(
            '--limit',
            type=remote.limit,
            default=0,
            metavar='N',
            help='show so many; all if not given',
        )
        parser.add_argument(
            '--detail', action='store_true', help='show all there is of each'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each event."""
        query = {} if parsed_args.after is None else {'after': parsed_args.after}
        if parsed_args.plan is not None:
            place = ('action_plans', parsed_args.plan, 'events')
        else:
            place = ('audits', parsed_args.audit, 'events')
        with self.client(parsed_args) as client:
            rows, _ = client.list(*place, query=query, limit=parsed_args.limit)
        columns = SHOWN if parsed_args.detail else LISTED
        named = [{**row, 'kind': name(row)} for row in rows]
        return remote.table(columns, named, parsed_args.formatter)


def name(event: Row) -> Any:
    """Return what happened; of a step its name, `strategy.start`."""
    step = (event.get('detail') or {}).get('step')
    return step if event.get('kind') == events.STEPPED and step else event.get('kind')
