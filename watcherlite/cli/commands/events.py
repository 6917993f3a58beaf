"""`watcherlite event`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, Row
from watcherlite.domain import events

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

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


class EventList(base.Rows):
    """List the events of an action plan or audit.

    `watcherlite actionplan watch` follows the events of a plan.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        of = parser.add_mutually_exclusive_group(required=True)
        of.add_argument(
            '--plan',
            '--action-plan',
            metavar='UUID',
            help='list the events of this action plan',
        )
        of.add_argument(
            '--audit', metavar='ID', help='list the events of this audit: UUID or name'
        )
        parser.add_argument(
            '--after',
            type=int,
            metavar='SEQUENCE',
            help='list the events after this sequence number',
        )
        parser.add_argument(
            '--limit',
            type=base.limit,
            default=0,
            metavar='N',
            help='maximum number of rows; default: all',
        )
        parser.add_argument('--detail', action='store_true', help='show all columns')
        return parser

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each event."""
        query = {} if parsed.after is None else {'after': parsed.after}
        if parsed.plan is not None:
            path = ('action_plans', parsed.plan, 'events')
        else:
            path = ('audits', parsed.audit, 'events')
        rows, _ = client.list(*path, query=query, limit=parsed.limit)
        return [{**row, 'kind': name(row)} for row in rows]

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        """Return the columns, with --detail all of them."""
        return SHOWN if parsed.detail else LISTED


def name(event: Row) -> Any:
    """Return what happened; of a step its name, `strategy.start`."""
    step = (event.get('detail') or {}).get('step')
    return step if event.get('kind') == events.STEPPED and step else event.get('kind')
