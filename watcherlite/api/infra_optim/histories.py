"""Histories, which grow at their end: pages, and streams of server-sent events."""

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.operation import Request, Response, unversioned
from watcherlite.clock import Clock

#: Maximum number of seconds between two queries without a wakeup.
POLL = 1.0
#: Minimum number of seconds between two queries.
SPACING = 0.1
#: Seconds between two keep-alive comments, which also detect disconnected clients.
HEARTBEAT = 5.0
#: Number of rows read at a time.
PAGE = 200

BEGIN = b': events follow\n\n'
ALIVE = b': nothing new\n\n'
AWAY = b': waiting for the database\n\n'
#: The last event of a stream: clients must not reconnect.
END = b'event: end\ndata: {}\n\n'


class Numbered(Protocol):
    """A row of a history."""

    @property
    def sequence(self) -> int:
        """Return the number of the row, which increases."""


@dataclasses.dataclass(frozen=True, slots=True)
class History:
    """The rows of one subject, such as the events of a plan.

    :param name: of its rows, in the plural
    :param represent: returns a row as JSON
    :param ended: returns whether the subject has ended; called before the query, so
        that all rows of an ended subject are found
    :param rows: (after, before, limit) -> a page of its rows, by sequence number; with
        `before`, the latest first
    """

    name: str
    represent: Callable[[Any], dict[str, Any]]
    ended: Callable[[], bool]
    rows: Callable[[int, int | None, int], Sequence[Numbered]]

    def chunk(self, row: Numbered) -> bytes:
        """Return a row in the format of server-sent events."""
        data = json.dumps(self.represent(row), ensure_ascii=False)
        return f'id: {row.sequence}\ndata: {data}\n\n'.encode()


def follow(
    history: History, streams: EventStreams, clock: Clock, after: int
) -> Iterator[bytes]:
    """Yield rows until the subject or the process has ended.

    :param after: the sequence number of the last known row
    """
    yield BEGIN
    shown = clock.monotonic()
    while not streams.ended:
        seen = streams.wakes()
        over = away = False
        try:
            over = history.ended()
            page = history.rows(after, None, PAGE)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            # The client reconnects and gets the missed rows.
            away, page = True, ()
        if page:
            yield b''.join(map(history.chunk, page))
            shown, after = clock.monotonic(), page[-1].sequence
        if len(page) == PAGE:
            continue
        if over:
            yield END
            return
        if clock.monotonic() - shown >= HEARTBEAT:
            yield AWAY if away else ALIVE
            shown = clock.monotonic()
        streams.wait(clock, seen, SPACING, POLL)


def is_over(history: History, after: int) -> bool:
    """Return whether the subject has ended and the client has all its rows."""
    return history.ended() and not history.rows(after, None, 1)


def respond(request: Request, history: History, place: str) -> Response:
    """Return a page or a stream, as the client accepts.

    :param place: the address of the history
    """
    if request.event_stream:
        return _stream(request, history)
    return _page(request, history, place)


def _page(request: Request, history: History, place: str) -> Response:
    """Return a page of rows by sequence number, with `next` if there are more.

    :raises Invalid: both `after` and `before` are given
    """
    limit = request.page_size
    before = request.query.get('before')
    if before is not None and 'after' in request.query:
        raise exceptions.Invalid('after and before cannot be given together')
    found = history.rows(request.query.get('after', 0), before, limit + 1)
    shown = found[:limit]
    body: dict[str, Any] = {history.name: [history.represent(row) for row in shown]}
    if len(found) > limit:
        bound = 'after' if before is None else 'before'
        last = shown[-1].sequence
        return Response({**body, 'next': f'{place}?{bound}={last}&limit={limit}'})
    return Response(body)


def _stream(request: Request, history: History) -> Response:
    """Return a stream; 204, which stops reconnections, if all rows are known.

    :raises TooManyStreams: the limit is reached
    """
    services = request.services
    after = _last_event_id(request)
    if is_over(history, after):
        return Response(status=204)
    chunks = follow(history, services.streams, services.clock, after)
    stream = services.streams.serve(services.max_event_streams, chunks)
    return Response(stream=stream)


def _last_event_id(request: Request) -> int:
    """Return the sequence number of the last row of a client; Invalid.

    The header of a reconnection overrides the argument of its URL.
    """
    header = request.last_event_id
    if not header:
        return int(request.query.get('after', 0))
    if not (header.isascii() and header.isdecimal() and len(header) <= 18):
        raise exceptions.Invalid(
            'Last-Event-ID is the sequence number of an event, a whole number'
        )
    return int(header)


QUERY = unversioned(
    {
        'type': 'object',
        'properties': {
            'after': {
                'type': 'integer',
                'minimum': 0,
                'description': 'Only those with a higher sequence number.',
            },
            'before': {
                'type': 'integer',
                'minimum': 1,
                'description': 'Only those with a lower sequence number, the latest '
                'first; for pages only.',
            },
            'limit': {
                'type': 'integer',
                'minimum': 1,
                'description': 'The maximum number of rows in the page; a stream '
                'has no pages.',
            },
        },
        'additionalProperties': False,
    }
)
