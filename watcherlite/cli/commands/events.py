"""`watcherlite event` and `watcherlite request`."""

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


REQUESTS_LISTED = fields(
    Column('Time', 'occurred_at'),
    Column('User', 'user'),
    'method path',
    Column('Object', 'object_type'),
    Column('Name', 'object_name'),
    Column('UUID', 'object_uuid'),
)
REQUESTS_SHOWN = fields(*REQUESTS_LISTED, 'created changes request_id project_id roles')


class RequestList(base.Rows):
    """List the requests that changed something, the latest first."""

    arguments = (
        option('--user', 'USER', 'list the requests of this user: ID or name'),
        option('--project-id', 'ID', 'list the requests of this project'),
        option('--object', 'UUID', 'list the requests that changed this object'),
        option('--since', 'TIME', 'list the requests since this time, in UTC'),
        option('--until', 'TIME', 'list the requests until this time, in UTC'),
        option(
            '--limit',
            'N',
            'maximum number of rows, 0: all; default: one page of the API',
            type=base.limit,
        ),
        flag('--detail', 'show all columns'),
    )

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        names = ('user', 'project_id', 'object', 'since', 'until')
        asked = {name: getattr(parsed, name) for name in names}
        query = {name: value for name, value in asked.items() if value is not None}
        rows, _ = client.list('requests', query=query, limit=parsed.limit)
        return [_flatten(row) for row in rows]

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        return REQUESTS_SHOWN if parsed.detail else REQUESTS_LISTED


def _flatten(request: Row) -> Row:
    """Return a request with the members of its object as columns."""
    changed = request.get('object') or {}
    return {
        **request,
        'user': request.get('user_name') or request.get('user_id'),
        'created': changed.get('created', False),
        **{f'object_{name}': changed.get(name) for name in ('type', 'name', 'uuid')},
    }


def user(event: Row) -> Any:
    """Return the name of the user who requested the change, else the id, or None."""
    return initiator_name((event.get('detail') or {}).get(events.INITIATOR))


def initiator_name(initiator: Row | None) -> Any:
    """Return the name of an initiator, else the id; None if there is no initiator."""
    return initiator and (initiator.get('user_name') or initiator.get('user_id'))


def name(event: Row) -> Any:
    """Return the name of an event; of a step `strategy.start`."""
    step = (event.get('detail') or {}).get('step')
    return step if event.get('kind') == events.STEPPED and step else event.get('kind')
