"""`watcherlite event`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from watcherlite.cli.command import exclusive, flag, option
from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.domain import events

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

LISTED = fields(
    'sequence',
    Column('Time', 'occurred_at'),
    'subject',
    Column('Event', 'kind'),
    Column('Action', 'action_name'),
    'old_state new_state message',
    Column('User', 'user'),
)
SHOWN = fields(*LISTED, 'uuid action_uuid action_type suspended detail')


class EventList(base.Rows):
    """List the events of an action plan or audit.

    `watcherlite actionplan watch` follows the events of a plan.
    """

    arguments = (
        exclusive(
            option(
                '--plan --action-plan', 'UUID', 'list the events of this action plan'
            ),
            option('--audit', 'ID', 'list the events of this audit: UUID or name'),
            required=True,
        ),
        option(
            '--after',
            'SEQUENCE',
            'list the events after this sequence number',
            type=int,
        ),
        option(
            '--limit',
            'N',
            'maximum number of rows; default: all',
            type=base.limit,
            default=0,
        ),
        flag('--detail', 'show all columns'),
    )

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        query = {} if parsed.after is None else {'after': parsed.after}
        if parsed.plan is not None:
            path = ('action_plans', parsed.plan, 'events')
        else:
            path = ('audits', parsed.audit, 'events')
        rows, _ = client.list(*path, query=query, limit=parsed.limit)
        return [{**row, 'kind': name(row), 'user': user(row)} for row in rows]

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        return SHOWN if parsed.detail else LISTED


def user(event: Row) -> Any:
    """Return the name of the user who requested the change, else the id, or None."""
    initiator = (event.get('detail') or {}).get(events.INITIATOR) or {}
    return initiator.get('user_name') or initiator.get('user_id')


def name(event: Row) -> Any:
    """Return the name of an event; of a step `strategy.start`."""
    step = (event.get('detail') or {}).get('step')
    return step if event.get('kind') == events.STEPPED and step else event.get('kind')
